package bolt

import (
	"context"
	"errors"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/expect"
)

// TestRecordingGoesOn follows a capture to its end, and then through the next recording, of this and of another
// process.
func TestRecordingGoesOn(t *testing.T) {
	t.Parallel()
	path := closedCapture(t, Options{}, 1)
	r := mustRead(t, path)
	next := uint64(8)
	resumed := func() chan error {
		t.Helper()
		if err := r.Wait(patient(t), next); !errors.Is(err, capture.ErrEnded) {
			t.Fatalf("wait: %v, want that it has ended", err)
		}
		waited := make(chan error, 1)
		go func() { waited <- r.Resumed(patient(t), next) }()
		return waited
	}
	goesOn := func(waited chan error) {
		t.Helper()
		if err := <-waited; err != nil {
			t.Fatal("resumed:", err)
		}
	}

	waited := resumed()
	s := mustOpen(t, path, Options{Flush: time.Millisecond})
	goesOn(waited) // nothing was recorded yet
	mustAppend(t, s, exchangeSteps(2, 100)...)
	if err := r.Wait(patient(t), next); err != nil {
		t.Fatal("wait for the second recording:", err)
	}
	next += 7
	mustClose(t, s)

	waited = resumed()
	s = mustOpen(t, path, Options{Flush: time.Millisecond})
	mustAppend(t, s, exchangeSteps(3, 100)...)
	mustClose(t, s)
	goesOn(waited) // whether it was seen living or not
	if err := r.Wait(patient(t), next); err != nil {
		t.Fatal("wait for the third recording:", err)
	}
	next += 7

	waited = resumed()
	recorder := startHelper(t, "record", path, 0)
	if _, ok := recorder.line(); !ok {
		t.Fatal("the recorder did not begin")
	}
	goesOn(waited)
	if err := r.Wait(patient(t), next); err != nil {
		t.Fatal("wait for the recording of another process:", err)
	}
}

func TestResumedEndsWithItsContext(t *testing.T) {
	r := mustRead(t, closedCapture(t, Options{}, 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	expect.ErrorIs(t, "resumed", context.Canceled, r.Resumed(ctx, 8))
	r.Close()
	expect.ErrorIs(t, "resumed after close", remote.ErrReaderClosed, r.Resumed(t.Context(), 8))
}
