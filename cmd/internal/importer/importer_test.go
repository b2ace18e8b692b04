package importer

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// A cutShort is a source whose reader is interrupted after its first step.
type cutShort struct {
	capture.Source
	interrupt func()
}

func (c cutShort) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for s, err := range c.Source.Steps(ctx, from) {
			if !yield(s, err) {
				return
			}
			c.interrupt()
		}
	}
}

// An interrupted import leaves no capture behind, neither an empty nor a partial one.
func TestInterruptedImportLeavesNothing(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	must.Do(t, memory.Append(
		capture.Step{Seq: 1, What: capture.Opened{ID: uuid.New(), Head: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")}},
		capture.Step{Seq: 1, What: capture.Closed{}},
	))
	for name, interrupted := range map[string]bool{"interrupted": true, "whole": false} {
		output := filepath.Join(t.TempDir(), "c.a2atap")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		src := cutShort{memory, func() {}}
		if interrupted {
			src.interrupt = cancel
		}
		_, err := copyCapture(ctx, src, output, redacted.Options{Keep: true})
		if errors.Is(err, context.Canceled) != interrupted {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(output); errors.Is(err, os.ErrNotExist) != interrupted {
			t.Errorf("%s: the capture: %v", name, err)
		}
	}
}
