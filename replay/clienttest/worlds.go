package clienttest

import (
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// steps is the agents' pause between two chunks of a stream.
const steps = 100 * time.Millisecond

// Worlds returns the worlds, in reading order. The first one has no anomalies.
func Worlds() []*World {
	quick := refagent.Options{StepTime: steps}
	return []*World{
		{
			Name: "usual", Title: "an agent of A2A 1.0", Agent: "spec", Options: quick, Text: "task-lifecycle hello",
			Expectations: []*Expectation{
				{
					ID: "client-sends", Title: "the client sends a message that the agent accepts", Category: analysis.Lifecycle,
					Level: analysis.Must, Sections: []string{"1.0 §3.1.1", "1.0 §9.4.1", "1.0 §11.3"},
					Fix: "Send messages in the form of the specification.", look: lookSends,
				},
				{
					ID: "client-version", Title: "every request names its version", Category: analysis.Interop,
					Level: analysis.Must, Sections: []string{"1.0 §3.6.1"},
					Fix: "Send A2A-Version: 1.0 with every request.", look: lookVersion,
				},
				{
					ID: "client-stops", Title: "a task that has ended is left alone", Category: analysis.Lifecycle,
					Level: analysis.Must, Sections: []string{"1.0 §3.1.1", "1.0 §3.1.6"},
					Fix:  "Send nothing to a task that has ended, and do not poll it any more.",
					look: func(s *Seen) error { return lookStops(s, probe.Unclear("no task was seen to end")) },
				},
			},
		},
		{
			Name: "older", Title: "an agent of A2A 0.3", Agent: "spec03", Options: quick, Text: "task-lifecycle hello",
			Expectations: []*Expectation{{
				ID: "client-offered-version", Title: "the client uses a version that the card offers, or sends nothing",
				Category: analysis.Interop, Level: analysis.Must, Sections: []string{"0.3 §5.6.3", "1.0 §3.6"},
				Fix:  "Use the version in the card. If the client does not support it, report that and send nothing.",
				look: lookOffered,
			}},
		},
		{
			Name: "unknown-interface", Title: "the card begins with an interface of an unknown binding", Agent: "spec", Options: quick,
			Text: "task-lifecycle hello", Around: strangeInterface,
			Expectations: []*Expectation{{
				ID: "client-first-known", Title: "the client uses the first interface that it supports",
				Category: analysis.Interop, Level: analysis.Must, Sections: []string{"1.0 §8.3.2"},
				Fix: "Go through supportedInterfaces in order, and use the first with a supported binding and version.",
				look: func(s *Seen) error {
					for _, c := range s.calls() {
						if c.sends() && c.status() == 200 {
							return nil
						}
					}
					return asBefore(s, probe.Fail("a call at the second interface, which the client supports", "%s", s.words()))
				},
			}},
		},
		{
			Name: "unknown-members", Title: "card and answers have unknown members", Agent: "spec", Options: quick,
			Text: "task-lifecycle hello", Around: strangeMembers,
			Expectations: []*Expectation{{
				ID: "client-unknown-members", Title: "members that the client does not know are ignored",
				Category: analysis.Interop, Level: analysis.Should, Sections: []string{"1.0 §5.7"},
				Fix: "Ignore unknown members.", look: lookSame,
			}},
		},
		{
			Name: "framing", Title: "a stream has unusual but valid framing", Agent: "spec", Options: quick, Stream: true,
			Text: "streaming hello", Around: strangeFrames,
			Expectations: []*Expectation{{
				ID: "client-sse", Title: "the client accepts comments, other line ends and unknown fields in a stream",
				Category: analysis.Streaming, Level: analysis.Must, Sections: []string{"1.0 §9.4.2", "SSE §9.2.6"},
				Fix: "Read streams as the HTML standard defines them: lines end with CR, LF or both; ignore comments and unknown fields.",
				look: func(s *Seen) error {
					if !s.streams() {
						return &probe.Skip{Why: "the client requests no stream"}
					}
					return lookSame(s)
				},
			}},
		},
		{
			Name: "no-card", Title: "the card's path serves a web page", Agent: "spec", Options: quick, Text: "task-lifecycle hello",
			Around: htmlCard,
			Expectations: []*Expectation{{
				ID: "client-bad-card", Title: "the client rejects a page that is not a card, and sends nothing", Category: analysis.AgentCard,
				Level: analysis.Advice, Sections: []string{"1.0 §8.2"},
				Fix: "Report that the card cannot be read. Do not guess the agent's address.",
				look: func(s *Seen) error {
					if calls := s.calls(); len(calls) > 0 {
						return probe.Fail("no call, since no card names an address", "%s", s.words())
					}
					if s.Started && s.Status == 0 && !s.Late {
						return probe.Fail("an error of the client", "exit status 0")
					}
					return nil
				},
			}},
		},
		{
			Name: "broken-stream", Title: "a stream breaks off in the middle", Agent: "spec",
			Options: refagent.Options{StepTime: 4 * steps}, Stream: true,
			Text: "streaming hello", Fault: "cut-stream=2@SendStreamingMessage",
			Expectations: []*Expectation{{
				ID: "client-comes-back", Title: "a client whose stream broke off requests the task again",
				Category: analysis.Streaming, Level: analysis.Advice, Sections: []string{"1.0 §3.1.6", "1.0 §3.5.2"},
				Fix:  "Subscribe to the task again, or poll it, until it has ended.",
				look: lookComesBack,
			}},
		},
		{
			Name: "silent-stream", Title: "a stream stays open after the end of its task", Agent: "spec", Options: quick, Stream: true,
			Text: "task-lifecycle hello", Fault: "stall-stream=4",
			Expectations: []*Expectation{{
				ID: "client-leaves", Title: "the client leaves a stream whose task has ended", Category: analysis.Streaming,
				Level: analysis.Advice, Sections: []string{"1.0 §3.1.2"},
				Fix: "Treat a terminal state as the end of the stream, even if the connection stays open.",
				look: func(s *Seen) error {
					switch {
					case !s.streams():
						return &probe.Skip{Why: "the client requests no stream"}
					case s.Late:
						return probe.Fail("the client to leave the stream, since its task has ended", "the client was still waiting")
					}
					return nil
				},
			}},
		},
		{
			Name: "working", Title: "a message is answered while its task is active", Agent: "spec",
			Options: refagent.Options{Fault: "state-blocking", StepTime: steps}, Text: "long-running hello",
			Expectations: []*Expectation{
				{
					ID: "client-follows", Title: "an active task is polled until it has ended", Category: analysis.Lifecycle,
					Level: analysis.Advice, Sections: []string{"1.0 §3.1.3", "1.0 §3.5.1"},
					Fix: "Poll the task, or subscribe to it, until it has ended or waits for the client.", look: lookFollows,
				},
				{
					ID: "client-stops-polling", Title: "a task that has ended is not polled again",
					Category: analysis.Lifecycle, Level: analysis.Should, Sections: []string{"1.0 §3.5.1"},
					Fix: "Stop polling when the task has ended.",
					look: func(s *Seen) error {
						return lookStops(s, &probe.Skip{Why: "the client did not see the end of the task"})
					},
				},
			},
		},
		{
			Name: "busy", Title: "calls are refused for one second: HTTP 503 with Retry-After", Agent: "spec", Options: quick,
			Text: "task-lifecycle hello", Fault: "status=503,retry-after=1",
			Expectations: []*Expectation{{
				ID: "client-waits", Title: "the client waits as long as Retry-After says",
				Category: analysis.ErrorHandling, Level: analysis.Should, Sections: []string{"RFC 9110 §10.2.3"},
				Fix: "Wait for the time in Retry-After before the next attempt.", look: lookWaits,
			}},
		},
		{
			Name: "guarded", Title: "the agent asks for credentials that the client does not have", Agent: "spec",
			Options: refagent.Options{
				StepTime: steps, Auth: &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "nobody-has-this"},
			},
			Text: "task-lifecycle hello", Excused: []string{"auth-credentials-sent"},
			Expectations: []*Expectation{{
				ID: "client-gives-up", Title: "a refused client does not retry forever", Category: analysis.ErrorHandling,
				Level: analysis.Advice, Sections: []string{"1.0 §7.3", "1.0 §7.4"},
				Fix: "Tell the user which credentials are required, instead of repeating the request.",
				look: func(s *Seen) error {
					n := 0
					for _, c := range s.calls() {
						if c.status() == 401 {
							n++
						}
					}
					if n > 3 {
						return probe.Fail("at most three attempts without credentials", "%d", n)
					}
					return nil
				},
			}},
		},
	}
}

// streams reports whether the client asks for streams.
func (s *Seen) streams() bool {
	return slices.ContainsFunc(s.calls(), func(c call) bool { return c.Call.Streams })
}

// words describes the client's actions.
func (s *Seen) words() string {
	calls := s.calls()
	if len(calls) == 0 {
		return "no call, only the card was read"
	}
	text := ""
	for i, c := range calls {
		if i == 5 {
			return text + ", …"
		}
		if i > 0 {
			text += ", "
		}
		text += c.Call.Operation.String()
		for _, e := range c.Errors {
			text += " (" + e.Name.String() + ")"
			break
		}
	}
	return text
}

// good reports whether the agent accepted one of the client's messages.
func (s *Seen) good() bool {
	return slices.ContainsFunc(s.calls(), func(c call) bool {
		return c.sends() && c.status() == 200 && len(c.Errors) == 0 && (len(c.Tasks) > 0 || len(c.Messages) > 1)
	})
}

// asBefore returns a failure, unless the client also failed in the first world, which then reports the failure.
func asBefore(s *Seen, failure error) error {
	if s.Before != nil && !s.Before.good() {
		return probe.Unclear("the client also fails with a normal agent: see client-sends")
	}
	return failure
}

func lookSends(s *Seen) error {
	if s.good() {
		return nil
	}
	if len(s.calls()) == 0 {
		return &probe.Skip{Why: "the client sends nothing to an agent of 1.0: it may not support that version"}
	}
	return probe.Fail("a message that is answered with a task or a message", "%s", s.words())
}

func lookVersion(s *Seen) error {
	calls := s.calls()
	if len(calls) == 0 {
		return probe.Unclear("the client made no call")
	}
	for _, c := range calls {
		if got := c.Call.Version; got != "1.0" {
			return probe.Fail("A2A-Version 1.0 in every request", "%q in request %d, %s", got, c.Seq, c.Call.Operation)
		}
	}
	return nil
}

func lookOffered(s *Seen) error {
	calls := s.calls()
	if len(calls) == 0 {
		return &probe.Skip{Why: "the client does not support 0.3, and sends nothing, which is correct"}
	}
	for _, c := range calls {
		if c.Call.Operation == a2a.NoOperation || !c.Call.Dialects.Has(a2a.V0_3) {
			return probe.Fail("calls of 0.3, the only version in the card", "request %d: %s %s", c.Seq, c.Call.Operation,
				c.Call.Method)
		}
	}
	return nil
}

// lookSame asserts that the client behaved as in the first world.
func lookSame(s *Seen) error {
	switch {
	case s.Before != nil && s.Before.good() && !s.good():
		return probe.Fail("the same call as with a normal agent", "%s", s.words())
	case !s.good():
		return asBefore(s, probe.Unclear("the client sent no message"))
	case s.Late:
		return probe.Fail("the client to end, as with a normal agent", "the client was still waiting")
	case s.Started && s.Before != nil && s.Before.Status == 0 && s.Status != 0:
		return probe.Fail("exit status 0, as with a normal agent", "%d", s.Status)
	case !s.Started:
		return probe.Unclear("only the client's exit status shows the result; start the client with a command after --")
	}
	return nil
}

// ended returns the time when the client first saw that the task had ended, and the task's id.
func (s *Seen) ended() (at time.Time, id string) {
	for _, c := range s.calls() {
		if len(c.Tasks) > 0 && a2a.StateOf(c.Reading.State()).Terminal() {
			return c.until(), c.Tasks[0]
		}
	}
	return time.Time{}, ""
}

// lookStops asserts that the client stops reading a task once it knows that the task ended; one more read is allowed.
func lookStops(s *Seen, unseen error) error {
	at, id := s.ended()
	if id == "" {
		return unseen
	}
	more := 0
	for _, c := range s.calls() {
		if c.Call.TaskID != id || !c.Started.After(at) {
			continue
		}
		if c.sends() || c.Call.Operation == a2a.SubscribeToTask {
			return probe.Fail("no further message to task "+id+", which has ended", "%s in request %d", c.Call.Operation, c.Seq)
		}
		if more++; more > 1 && c.Call.Operation == a2a.GetTask {
			return probe.Fail("no further poll of task "+id+", which has ended", "%d", more)
		}
	}
	return nil
}

func lookComesBack(s *Seen) error {
	var broken *call
	for _, c := range s.calls() {
		switch {
		case c.Call.Streams && c.streamed() && broken == nil:
			broken = &c
		case broken != nil && (c.Call.Operation == a2a.SubscribeToTask || c.Call.Operation == a2a.GetTask) &&
			slices.Contains(broken.Tasks, c.Call.TaskID):
			return nil
		}
	}
	if broken == nil {
		return &probe.Skip{Why: "the client requests no stream"}
	}
	return probe.Fail("a subscription to the task, or a poll of it", "%s", s.words())
}

func lookFollows(s *Seen) error {
	begun := ""
	for _, c := range s.calls() {
		switch {
		case c.Call.Operation == a2a.SendStreamingMessage:
			return &probe.Skip{Why: "the client requests a stream, in which it sees the end of the task"}
		case c.Call.Operation == a2a.SendMessage && len(c.Tasks) > 0:
			begun = c.Tasks[0]
		}
	}
	if begun == "" {
		return asBefore(s, probe.Unclear("the client sent no message"))
	}
	if _, id := s.ended(); id == "" {
		return probe.Fail("polls of task "+begun+" until it has ended", "%s", s.words())
	}
	return nil
}

func lookWaits(s *Seen) error {
	var refused time.Time
	for _, c := range s.calls() {
		if !refused.IsZero() && c.sends() && c.Started.Before(refused.Add(900*time.Millisecond)) {
			return probe.Fail("no request for one second, as Retry-After says", "another attempt after %v",
				c.Started.Sub(refused).Round(time.Millisecond))
		}
		if c.status() == 503 {
			refused = c.until()
		}
	}
	if refused.IsZero() {
		return asBefore(s, probe.Unclear("the client sent no message"))
	}
	return nil
}
