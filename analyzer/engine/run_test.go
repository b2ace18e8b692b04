package engine_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// sampleCall is a call over HTTP+JSON at a path of which only a card can tell what it is.
func sampleCall() *capture.Exchange {
	return &capture.Exchange{
		Seq: 7, Started: time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC), Ended: time.Second, State: capture.StateClosed,
		Client: capture.Peer{Name: "traveller"}, Agent: capture.Peer{Name: "booker", URL: "http://booker.example/a2a"},
		Request: capture.Request{
			Head: []byte("GET /a2a/tasks/t-1 HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\n\r\n"),
			Body: capture.Body{Complete: true},
		},
		Response: &capture.Response{
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
			Body: capture.Body{
				Data: []byte(`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}`), Size: 71, Complete: true,
			},
		},
	}
}

func TestSummarize(t *testing.T) {
	known := func(agentURL, target string) (k a2a.Known) {
		if agentURL != "http://booker.example/a2a" || target != "/a2a/tasks/t-1" {
			t.Errorf("asked for %q at %q", target, agentURL)
		}
		k.Spoken(a2a.HTTPJSON, a2a.Of(a2a.V1_0))
		return k
	}
	s := engine.Summarize(sampleCall(), engine.Knowing(known))
	if s.Seq != 7 || s.Operation != a2a.GetTask || s.Status != 200 || s.Took != time.Second || s.ResponseSize != 71 {
		t.Errorf("exchange %d: %v, status %d, took %v, %d bytes", s.Seq, s.Operation, s.Status, s.Took, s.ResponseSize)
	}
	if got, want := s.OutcomeText(), "t-1 completed"; got != want {
		t.Errorf("what came of it is %q, want %q", got, want)
	}
	open := sampleCall()
	open.State, open.Response, open.Ended = capture.StateOpen, nil, capture.NotKnown
	if s := engine.Summarize(open, engine.Knowing(known)); s.Life != capture.StateOpen || s.Call ||
		s.OutcomeText() != "t-1, open" {
		t.Errorf("an open exchange: %v, a call: %v, %q", s.Life, s.Call, s.OutcomeText())
	}
}

// Exchanges that are open at the end are taken by their number: of what was not seen the first one is named.
func TestOpenAtTheEndAreInOrder(t *testing.T) {
	src := capture.NewMemory(capture.Info{})
	for seq := range uint64(40) {
		x := sampleCall()
		x.Seq, x.State, x.Response, x.Ended = seq+1, capture.StateOpen, nil, capture.NotKnown
		x.Request.Head = []byte("POST / HTTP/1.1\r\nHost: booker.example\r\nContent-Type: application/json\r\n\r\n")
		x.Request.Body.Data = []byte(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}`)
		must.Do(t, src.Append(capture.Steps(x)...))
	}
	must.Do(t, src.Close())
	r := must.Get(engine.Run(t.Context(), nil, src, nil))(t)
	if len(r.NotSeen) != 1 || r.NotSeen[0].Exchange != 1 || r.NotSeen[0].Count != 40 {
		t.Errorf("not seen: %+v; want 40, of which exchange 1 is the first", r.NotSeen)
	}
}

// A row of a list costs little even without a stored summary.
func BenchmarkSummarize(b *testing.B) {
	x := sampleCall()
	b.ReportAllocs()
	for b.Loop() {
		engine.Summarize(x)
	}
}

func TestRun(t *testing.T) {
	memory := capture.NewMemory(capture.Info{Name: "run.a2atap"})
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	must.Do(t, memory.Append(append(c.Steps, capture.Step{What: capture.Lost{Exchanges: 2}})...))
	r := enginetest.Rule("r", analysis.AnswerSeen, enginetest.At(enginetest.Here))
	result := must.Get(engine.Run(t.Context(), []*analysis.Rule{r}, memory, nil))(t)
	if len(result.Findings) != 1 || result.Findings[0].Capture != "run.a2atap" || !result.Live || result.Counts.Lost != 2 {
		t.Errorf("got %+v, want one finding of run.a2atap, live, 2 lost", result)
	}
	if len(result.Agents) != 1 || result.Agents[0].Operations[a2a.SendMessage] != 1 {
		t.Errorf("agents are %+v, want booker with one send", result.Agents)
	}
}

func TestRunRefuses(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	if _, err := engine.Run(t.Context(), []*analysis.Rule{{ID: "r"}}, memory, nil); err == nil {
		t.Error("Run takes rules that are not valid")
	}
}

// Follow ends with its context, and what is open then is not a finding.
func TestFollowEndsWithItsContext(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	c := &enginetest.Conversation{T: t}
	c.Stream("planner")
	c.Event(1, enginetest.Working)
	must.Do(t, memory.Append(c.Steps...))
	ctx, cancel := context.WithCancel(t.Context())
	var kinds []analysis.Kinds
	r := enginetest.Rule("r", analysis.EventSeen|analysis.StreamEnded, enginetest.At(enginetest.Here))
	result, err := engine.Follow(ctx, []*analysis.Rule{r}, memory, func(f analysis.Finding) {
		kinds = append(kinds, analysis.EventSeen)
		cancel()
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(kinds) != 1 || !result.Live {
		t.Errorf("got %d findings, live %v; want the event's alone, live", len(kinds), result.Live)
	}
}

// countedSteps is a source that counts the steps that were taken from it.
type countedSteps struct {
	capture.Source
	n int
}

func (c *countedSteps) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for s, err := range c.Source.Steps(context.WithoutCancel(ctx), from) {
			if c.n++; !yield(s, err) {
				return
			}
		}
	}
}

// Run ends with its context, even in the middle of what a source gives at once.
func TestRunEndsWithItsContext(t *testing.T) {
	memory := capture.NewMemory(capture.Info{})
	c := &enginetest.Conversation{T: t}
	c.Stream("planner")
	for range 1000 {
		c.Event(1, enginetest.Working)
	}
	must.Do(t, memory.Append(c.Steps...))
	ctx, cancel := context.WithCancel(t.Context())
	r := enginetest.Rule("r", analysis.EventSeen, enginetest.At(enginetest.Here))
	steps := &countedSteps{Source: memory}
	_, err := engine.Run(ctx, []*analysis.Rule{r}, steps, func(analysis.Finding) { cancel() })
	if !errors.Is(err, context.Canceled) || steps.n > 10 {
		t.Errorf("%d steps were read; %v", steps.n, err)
	}
}
