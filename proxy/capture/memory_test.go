package capture_test

import (
	"errors"
	"math"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestMemorySource(t *testing.T) {
	capturetest.TestSource(t, func(t *testing.T, xs []*capture.Exchange) capture.Source {
		return must.Get(capture.ReadMemory(capture.Info{}, capture.Each(xs...)))(t)
	})
}

func TestMemorySink(t *testing.T) {
	capturetest.TestSink(t, func(*testing.T) capturetest.Recording {
		var m capture.Memory
		return capturetest.Recording{Sink: &m, Source: m.Reader()}
	})
}

func TestMemoryEnds(t *testing.T) {
	m := capture.NewMemory(capture.Info{Name: "x"})
	expect.OK(t, m.Reader().Close())
	if err := m.Append(capture.Steps(capturetest.Exchanges()[0])...); err != nil {
		t.Errorf("after a reader has left: %v", err)
	}
	expect.OK(t, m.Close())
	expect.Error(t, "a capture that has ended took a step", m.Append(capture.Step{}))
	if info, err := m.Info(t.Context()); err != nil || info.Name != "x" || info.Live || info.Exchanges != 1 {
		t.Errorf("got %+v and %v", info, err)
	}
}

func TestReadMemoryFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := capture.ReadMemory(capture.Info{}, func(yield func(*capture.Exchange, error) bool) {
		_ = yield(capturetest.Exchanges()[0], nil) && yield(nil, broken)
	})
	expect.ErrorIs(t, "", broken, err)
}

// A sum of losses stays at the highest number there is, and does not become less.
func TestLossesDoNotWrap(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	for _, n := range []int64{math.MaxInt64, 1, -1} {
		must.Do(t, memory.Append(capture.Step{What: capture.Lost{Exchanges: n, Bytes: n}}))
	}
	info, err := memory.Info(t.Context())
	if err != nil || info.LostExchanges != math.MaxInt64 || info.LostBytes != math.MaxInt64 {
		t.Errorf("got %+v, %v", info, err)
	}
}
