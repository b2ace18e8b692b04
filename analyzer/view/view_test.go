package view_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
)

// A snapshot is a store with results that cannot be read.
type stored struct{}

func (stored) Snapshot(context.Context) (*snapshot.Results, func() error, error) {
	return new(snapshot.Results), nil, nil
}
func (stored) Recorder(context.Context) *snapshot.Results { return nil }
func (stored) Mark() []byte                               { return nil }
func (stored) Keep(context.Context, capture.Shelf)        {}

// Stored results that a reader cannot read are replaced, whenever the reader notices: also at the moment in which the View
// has published them and does nothing else yet.
func TestDoubt(t *testing.T) {
	damaged := errors.New("damaged")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 3000 {
		v := view.Open(capture.NewMemory(capture.Info{}), view.Options{
			Once: true, Store: func(context.Context) view.Store { return stored{} },
		})
		state, err := v.Wait(ctx)
		if err != nil || !state.Stored {
			t.Fatalf("%+v, %v", state, err)
		}
		v.Doubt(state.Results, damaged)
		if state, err = v.Wait(ctx); err != nil || state.Stored || state.Notice != "damaged; the capture is checked again" {
			t.Fatalf("%+v, %v", state, err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
