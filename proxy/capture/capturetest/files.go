package capturetest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
)

// ReadAll returns the exchanges of a source.
func ReadAll(t testing.TB, s capture.Source) []*capture.Exchange {
	t.Helper()
	var xs []*capture.Exchange
	for x, err := range s.Exchanges(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		xs = append(xs, x)
	}
	return xs
}

// WriteFile writes a file into a folder of the test's own and returns its path.
func WriteFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Until reads the steps of a capture as they come, until want returns true for one. It fails the test if that takes half
// a minute, or if the capture ends before.
func Until(t testing.TB, s capture.Source, want func(capture.Step) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for from := uint64(1); ; {
		if err := s.Wait(ctx, from); err != nil {
			t.Fatalf("wait for a step: %v", err)
		}
		for step, err := range s.Steps(ctx, from) {
			if err != nil {
				t.Fatal(err)
			}
			if want(step) {
				return
			}
			from = step.Arrival + 1
		}
	}
}

// Compare reports how two exchanges differ, or "". Nil and empty slices differ: not kept is not empty.
func Compare(want, got *capture.Exchange) string { return cmp.Diff(want, got) }
