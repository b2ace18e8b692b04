package clienttest

import (
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// steps is how long the agents pause between two chunks of a stream.
const steps = 100 * time.Millisecond

// Worlds returns the worlds, in reading order. In the first all is as usual.
func Worlds() []*World {
	quick := refagent.Options{StepTime: steps}
	return []*World{
		{
			Name: "usual", Title: "an agent of A2A 1.0", Agent: "spec", Options: quick, Text: "task-lifecycle hello",
			Expectations: []*Expectation{
				{
					ID: "client-sends", Title: "the client sends a message that the agent takes", Category: analysis.Lifecycle,
					Level: analysis.Must, Sections: []string{"1.0 §3.1.1", "1.0 §9.4.1", "1.0 §11.3"},
					Fix: "Send messages as the specification writes them.", look: lookSends,
				},
				{
					ID: "client-version", Title: "every request says which version is spoken", Category: analysis.Interop,
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
				ID: "client-offered-version", Title: "the client speaks what the card offers, or nothing",
				Category: analysis.Interop, Level: analysis.Must, Sections: []string{"0.3 §5.6.3", "1.0 §3.6"},
				Fix:  "Take the version from the card. Where the client does not speak it, say so and send nothing.",
				look: lookOffered,
			}},
		},
		{
			Name: "unknown-interface", Title: "the card begins with an interface that nobody speaks", Agent: "spec", Options: quick,
			Text: "task-lifecycle hello", Around: strangeInterface,
			Expectations: []*Expectation{{
				ID: "client-first-known", Title: "the client takes the first interface that it speaks",
				Category: analysis.Interop, Level: analysis.Must, Sections: []string{"1.0 §8.3.2"},
				Fix: "Go through supportedInterfaces in order, and take the first whose binding and version are spoken.",
				look: func(s *Seen) error {
					for _, c := range s.calls() {
						if c.sends() && c.status() == 200 {
							return nil
						}
					}
					return asBefore(s, probe.Fail("a call at the second interface, which the client speaks", "%s", s.words()))
				},
			}},
		},
		{
			Name: "unknown-members", Title: "card and answers have members that nobody knows", Agent: "spec", Options: quick,
			Text: "task-lifecycle hello", Around: strangeMembers,
			Expectations: []*Expectation{{
				ID: "client-unknown-members", Title: "members that the client does not know are ignored",
				Category: analysis.Interop, Level: analysis.Should, Sections: []string{"1.0 §5.7"},
				Fix: "Ignore members that are not known.", look: lookSame,
			}},
		},
		{
			Name: "framing", Title: "a stream is framed as few agents do", Agent: "spec", Options: quick, Stream: true,
			Text: "streaming hello", Around: strangeFrames,
			Expectations: []*Expectation{{
				ID: "client-sse", Title: "comments, other line ends and unknown fields of a stream do no harm",
				Category: analysis.Streaming, Level: analysis.Must, Sections: []string{"1.0 §9.4.2", "SSE §9.2.6"},
				Fix: "Read streams as the HTML standard says: lines end with CR, LF or both; comments and unknown fields are ignored.",
				look: func(s *Seen) error {
					if !s.streams() {
						return &probe.Skip{Why: "the client asks for no stream"}
					}
					return lookSame(s)
				},
			}},
		},
		{
			Name: "no-card", Title: "at the place of the card is a page", Agent: "spec", Options: quick, Text: "task-lifecycle hello",
			Around: htmlCard,
			Expectations: []*Expectation{{
				ID: "client-bad-card", Title: "what is not a card is refused, and nothing is sent", Category: analysis.AgentCard,
				Level: analysis.Advice, Sections: []string{"1.0 §8.2"},
				Fix: "Say that the card cannot be read. Do not guess where the agent is.",
				look: func(s *Seen) error {
					if calls := s.calls(); len(calls) > 0 {
						return probe.Fail("no call, since nobody said where to", "%s", s.words())
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
				ID: "client-comes-back", Title: "a client whose stream broke off asks for the task again",
				Category: analysis.Streaming, Level: analysis.Advice, Sections: []string{"1.0 §3.1.6", "1.0 §3.5.2"},
				Fix:  "Subscribe to the task once more, or read it, until it has ended.",
				look: lookComesBack,
			}},
		},
		{
			Name: "silent-stream", Title: "a stream stays open after the end of its task", Agent: "spec", Options: quick, Stream: true,
			Text: "task-lifecycle hello", Fault: "stall-stream=4",
			Expectations: []*Expectation{{
				ID: "client-leaves", Title: "a stream whose task has ended is left", Category: analysis.Streaming,
				Level: analysis.Advice, Sections: []string{"1.0 §3.1.2"},
				Fix: "Take the state that ends a task for the end of its stream, whether it is closed or not.",
				look: func(s *Seen) error {
					switch {
					case !s.streams():
						return &probe.Skip{Why: "the client asks for no stream"}
					case s.Late:
						return probe.Fail("an end of the stream, since its task has ended", "the client was still waiting")
					}
					return nil
				},
			}},
		},
		{
			Name: "working", Title: "a message is answered while the task is at work", Agent: "spec",
			Options: refagent.Options{Fault: "state-blocking", StepTime: steps}, Text: "long-running hello",
			Expectations: []*Expectation{
				{
					ID: "client-follows", Title: "a task at work is asked after until it has ended", Category: analysis.Lifecycle,
					Level: analysis.Advice, Sections: []string{"1.0 §3.1.3", "1.0 §3.5.1"},
					Fix: "Poll the task, or subscribe to it, until it has ended or waits.", look: lookFollows,
				},
				{
					ID: "client-stops-polling", Title: "a task that has ended is not asked after any more",
					Category: analysis.Lifecycle, Level: analysis.Should, Sections: []string{"1.0 §3.5.1"},
					Fix: "End polling with the state that ends the task.",
					look: func(s *Seen) error {
						return lookStops(s, &probe.Skip{Why: "the client did not see the end of the task"})
					},
				},
			},
		},
		{
			Name: "busy", Title: "calls are refused for a second: HTTP 503 with Retry-After", Agent: "spec", Options: quick,
			Text: "task-lifecycle hello", Fault: "status=503,retry-after=1",
			Expectations: []*Expectation{{
				ID: "client-waits", Title: "a client that is told when to come back does not come sooner",
				Category: analysis.ErrorHandling, Level: analysis.Should, Sections: []string{"RFC 9110 §10.2.3"},
				Fix: "Heed Retry-After.", look: lookWaits,
			}},
		},
		{
			Name: "guarded", Title: "the agent asks for credentials that the client does not have", Agent: "spec",
			Options: refagent.Options{
				StepTime: steps, Auth: &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "nobody-has-this"},
			},
			Text: "task-lifecycle hello", Excused: []string{"auth-credentials-sent"},
			Expectations: []*Expectation{{
				ID: "client-gives-up", Title: "a client that is refused does not retry forever", Category: analysis.ErrorHandling,
				Level: analysis.Advice, Sections: []string{"1.0 §7.3", "1.0 §7.4"},
				Fix: "Tell the user which credentials are wanted, instead of sending the same again.",
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

// words says what the client did.
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

// good reports whether one of the messages of the client was taken.
func (s *Seen) good() bool {
	return slices.ContainsFunc(s.calls(), func(c call) bool {
		return c.sends() && c.status() == 200 && len(c.Errors) == 0 && (len(c.Tasks) > 0 || len(c.Messages) > 1)
	})
}

// asBefore returns a failure, unless the client was no better in the usual world: then that tells.
func asBefore(s *Seen, failure error) error {
	if s.Before != nil && !s.Before.good() {
		return probe.Unclear("the client does not get on with the usual agent either: see client-sends")
	}
	return failure
}

func lookSends(s *Seen) error {
	if s.good() {
		return nil
	}
	if len(s.calls()) == 0 {
		return &probe.Skip{Why: "the client sends nothing to an agent of 1.0: it may not speak that"}
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
		return &probe.Skip{Why: "the client does not speak 0.3, and sends nothing, which is right"}
	}
	for _, c := range calls {
		if c.Call.Operation == a2a.NoOperation || !c.Call.Dialects.Has(a2a.V0_3) {
			return probe.Fail("calls of 0.3, which the card offers alone", "request %d: %s %s", c.Seq, c.Call.Operation,
				c.Call.Method)
		}
	}
	return nil
}

// lookSame asserts that the client did as in the usual world.
func lookSame(s *Seen) error {
	switch {
	case s.Before != nil && s.Before.good() && !s.good():
		return probe.Fail("the same call as with the usual agent", "%s", s.words())
	case !s.good():
		return asBefore(s, probe.Unclear("the client sent no message"))
	case s.Late:
		return probe.Fail("an end, as with the usual agent", "the client was still waiting")
	case s.Started && s.Before != nil && s.Before.Status == 0 && s.Status != 0:
		return probe.Fail("exit status 0, as with the usual agent", "%d", s.Status)
	case !s.Started:
		return probe.Unclear("what the client made of it shows its exit status alone; start it by a command, behind --")
	}
	return nil
}

// ended returns when the client was first shown that the task had ended, and its id.
func (s *Seen) ended() (at time.Time, id string) {
	for _, c := range s.calls() {
		if len(c.Tasks) > 0 && a2a.StateOf(c.Reading.State()).Terminal() {
			return c.until(), c.Tasks[0]
		}
	}
	return time.Time{}, ""
}

// lookStops asserts that nothing is asked about a task once the client knows that it has ended; one more look is allowed.
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
			return probe.Fail("nothing more for task "+id+", which has ended", "%s in request %d", c.Call.Operation, c.Seq)
		}
		if more++; more > 1 && c.Call.Operation == a2a.GetTask {
			return probe.Fail("no more questions after task "+id+", which has ended", "%d", more)
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
		return &probe.Skip{Why: "the client asks for no stream"}
	}
	return probe.Fail("a subscription to the task, or a look at it", "%s", s.words())
}

func lookFollows(s *Seen) error {
	begun := ""
	for _, c := range s.calls() {
		switch {
		case c.Call.Operation == a2a.SendStreamingMessage:
			return &probe.Skip{Why: "the client asks for a stream, in which it sees the end of the task"}
		case c.Call.Operation == a2a.SendMessage && len(c.Tasks) > 0:
			begun = c.Tasks[0]
		}
	}
	if begun == "" {
		return asBefore(s, probe.Unclear("the client sent no message"))
	}
	if _, id := s.ended(); id == "" {
		return probe.Fail("questions after task "+begun+" until it has ended", "%s", s.words())
	}
	return nil
}

func lookWaits(s *Seen) error {
	var refused time.Time
	for _, c := range s.calls() {
		if !refused.IsZero() && c.sends() && c.Started.Before(refused.Add(900*time.Millisecond)) {
			return probe.Fail("nothing for a second, as Retry-After says", "another attempt after %v",
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
