package capturetest

import (
	"errors"
	"testing"

	"a2atap/proxy/capture"
)

// checkStepsOf reads each exchange in two parts, cut at every step.
func checkStepsOf(t *testing.T, s capture.Source, want []*capture.Exchange) {
	stepsOf := func(seq, from uint64) (steps []capture.Step) {
		for step, err := range s.StepsOf(t.Context(), seq, from) {
			if err != nil {
				t.Fatal(err)
			}
			if n := len(steps); step.Seq != seq || step.Arrival < from || n > 0 && step.Arrival <= steps[n-1].Arrival {
				t.Fatalf("step %d of exchange %d came for those of exchange %d from %d on", step.Arrival, step.Seq, seq, from)
			}
			steps = append(steps, step)
		}
		return steps
	}
	for _, x := range want {
		all := stepsOf(x.Seq, 0)
		for n := range len(all) + 1 {
			from := all[len(all)-1].Arrival + 1
			if n < len(all) {
				from = all[n].Arrival
			}
			var got *capture.Exchange
			for _, step := range append(stepsOf(x.Seq, 1)[:n:n], stepsOf(x.Seq, from)...) {
				got = capture.Assemble(got, step)
			}
			if diff := Compare(x, got); diff != "" {
				t.Errorf("exchange %d, cut at step %d: got +, want -:\n%s", x.Seq, n, diff)
			}
		}
	}
	for _, seq := range []uint64{0, uint64(len(want)) + 1} {
		for _, err := range s.StepsOf(t.Context(), seq, 1) {
			if !errors.Is(err, capture.ErrNotFound) {
				t.Errorf("steps of exchange %d: %v, want an error that wraps ErrNotFound", seq, err)
			}
		}
	}
}

// checkEnds reads exchanges shortened. Those that are short are as they are.
func checkEnds(t *testing.T, s capture.Source, want []*capture.Exchange) {
	const n = 1
	i := 0
	for got, err := range s.Ends(t.Context(), 1, n) {
		if err != nil || i == len(want) {
			t.Fatalf("after %d of %d exchanges: %v", i, len(want), err)
		}
		x := want[i]
		i++
		if x.Response != nil && len(x.Response.Events) > 2*n {
			all, events := x.Response.Events, got.Response.Events
			if len(events) < 2*n || Compare(event(all[0]), event(events[0])) != "" ||
				Compare(event(all[len(all)-1]), event(events[len(events)-1])) != "" || x.State != got.State {
				t.Errorf("exchange %d has not the ends of its %d events: %+v", x.Seq, len(all), events)
			}
			continue
		}
		if diff := Compare(x, got); diff != "" {
			t.Errorf("exchange %d: got +, want -:\n%s", x.Seq, diff)
		}
	}
	if i != len(want) {
		t.Errorf("%d exchanges, want %d", i, len(want))
	}
}

// event returns an exchange of one event, to be compared.
func event(e capture.Event) *capture.Exchange {
	return &capture.Exchange{Response: &capture.Response{Events: []capture.Event{e}}}
}
