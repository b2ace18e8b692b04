package view_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"a2atap/analyzer/kept"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
)

// A snapshot is a store with results that cannot be read.
type snapshot struct{}

func (snapshot) Snapshot(context.Context) (*kept.Reading, func() error, error) {
	return new(kept.Reading), nil, nil
}
func (snapshot) Recorder(context.Context) *kept.Reading { return nil }
func (snapshot) Mark() []byte                           { return nil }
func (snapshot) Keep(context.Context, capture.Shelf)    {}

// Stored results that a reader cannot read are replaced, whenever the reader notices: also at the moment in which the View
// has published them and does nothing else yet.
func TestDoubt(t *testing.T) {
	damaged := errors.New("damaged")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 3000 {
		v := view.Open(capture.NewMemory(capture.Info{}), view.Options{
			Once: true, Store: func(context.Context) view.Store { return snapshot{} },
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
