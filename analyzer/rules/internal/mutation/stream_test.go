package mutation_test

import (
	"slices"
	"strings"
	"time"

	"a2atap/proxy/capture"
)

// streamMutations break events, and the order of those in one stream.
var streamMutations = []mutation{
	broken("event without a kind", kinds, "event-kind task-kind", "update",
		dropped("kind")).with("stream-chunk-append-known"),
	broken("event of a kind that is none", kinds, "event-kind", "update",
		set("kind", `"progress"`)).with("stream-chunk-append-known " + unfinished),
	broken("update without a task", later, "event-ids", "update",
		dropped("taskId")).with("id-stream-task-consistent hook-payload stream-chunk-append-known " + unfinished),
	broken("update without a context", later, "event-ids", "update", dropped("contextId")),
	broken("update with an empty task", later, "event-ids", "update",
		set("taskId", `""`)).with("id-stream-task-consistent stream-chunk-append-known " + unfinished),
	broken("update of 0.1 without an id", v01, "event-id-v01", "update",
		dropped("id")).with("stream-chunk-append-known " + unfinished),
	broken("update of 0.1 about another task", v01, "id-event-echo-v01 id-subscribe-match id-stream-task-consistent",
		"update", set("id", `"t99"`)).
		with("stream-chunk-append-known " + otherTask + " " + unfinished).elsewhere(),
	broken("update about another task", later, "id-stream-task-consistent id-subscribe-match", "update",
		when(inStream, set("taskId", `"t99"`))).
		with("stream-chunk-append-known " + otherTask + " " + unfinished).elsewhere(),
	broken("update about another context", later, "id-stream-context-consistent id-context-stable", "update",
		when(inStream, set("contextId", `"c99"`))).with(otherContext).elsewhere(),
	broken("status update without a status", every, "event-status", "statusUpdate",
		dropped("status")).with("event-kind stream-rpc-envelope task-status-present stream-response-oneof " +
		unfinished),
	broken("status update with an empty status", every&^rest03, "event-status", "statusUpdate",
		set("status", `{}`)).with(unfinished),
	broken("artifact update without an artifact", later, "event-artifact", "artifactUpdate",
		dropped("artifact")).with(otherContent + " stream-response-oneof"),
	broken("artifact update with null", later, "event-artifact field-null-required", "artifactUpdate",
		set("artifact", `null`)).with(otherContent),
	broken("final is a text", older&^rest03, "event-final-type", "statusUpdate",
		set("final", `"true"`)).with(unfinished),
	broken("final is a number", older&^rest03, "event-final-type", "statusUpdate", set("final", `1`)).with(unfinished),
	broken("append is a text", later, "event-flags-type", "artifactUpdate", set("append", `"true"`)).with(otherContent),
	broken("last chunk is a text", later, "event-flags-type", "artifactUpdate",
		set("lastChunk", `"false"`)).with(otherContent),
	broken("last chunk of 0.1 is a number", v01, "event-flags-type", "artifact",
		set("lastChunk", `1`)).with(otherContent),
	broken("final in 1.0", modern, "legacy-field-emitted", "statusUpdate",
		give("final", `true`)).with("version-semantics-mixed dialect-mismatch"),
	broken("wrapper with two updates", modern, "stream-response-oneof hook-payload", "wrapper",
		when(has("statusUpdate"), give("artifactUpdate",
			`{"taskId":"t2","contextId":"c3","artifact":{"artifactId":"z","parts":[{"text":"x"}]}}`))).
		with("hook-payload " + otherContent),
	broken("wrapper with an update of another name", modern, "stream-response-oneof", "wrapper",
		when(inStream, rename("statusUpdate", "taskStatusUpdate"))).
		with("json-camelcase " + unfinished),
	broken("update in snake case", modern, "json-camelcase", "wrapper",
		rename("statusUpdate", "status_update")).with(unfinished + " stream-response-oneof hook-payload"),

	broken("terminal update is not the last", modern, "stream-closed-on-terminal", "",
		streamed(repeatBeforeEnd)).with("state-terminal-immutable stream-same-events"),
	broken("something after final", older, "stream-nothing-after-final", "",
		streamed(repeatBeforeEnd)).with("state-terminal-immutable"),
	broken("a state after the end", every,
		"stream-closed-on-terminal stream-nothing-after-final state-terminal-immutable", "",
		ended("completed", func(s *spot, e []capture.Event) []capture.Event {
			return append(e, eventBut(e[len(e)-1], "completed", "working"))
		})).with("state-terminal-immutable stream-terminal-without-final stream-final-active-state " +
		"stream-truncated state-final-state-agrees"),
	broken("another end after the end", modern, "stream-closed-on-terminal state-terminal-immutable", "",
		ended("completed", func(s *spot, e []capture.Event) []capture.Event {
			return append(e, eventBut(e[len(e)-1], "completed", "failed"))
		})).with("state-final-state-agrees state-terminal-immutable stream-closed-on-terminal"),
	broken("first event is an update", modern, "stream-first-event", "",
		when(called("stream"), events(func(_ *spot, e []capture.Event) []capture.Event {
			if !strings.Contains(string(e[0].Raw), `"task":`) || len(e) < 2 {
				return nil
			}
			return e[1:]
		}))),
	broken("first event of a subscription is an update", modern, "stream-subscribe-first-task", "",
		when(called("subscribe"), events(func(_ *spot, e []capture.Event) []capture.Event {
			if !strings.Contains(string(e[0].Raw), `"task":`) || len(e) < 2 {
				return nil
			}
			return e[1:]
		}))),
	broken("more after a message", modern, "stream-message-only", "",
		when(called("stream"), events(func(_ *spot, e []capture.Event) []capture.Event {
			if len(e) != 1 || !strings.Contains(string(e[0].Raw), `"message":{`) {
				return nil
			}
			return append(e, e[0])
		}))),
	broken("message in the stream of a task", modern, "stream-no-message-in-task-stream", "",
		when(called("stream"), events(messageInside))),
	broken("message in the stream of a task of 0.3", kinds, "stream-no-message-in-task-stream-0x", "",
		when(called("stream"), events(messageInside))),
	broken("task in the middle of its stream", modern, "stream-task-snapshot-position", "",
		when(called("stream"), events(func(_ *spot, e []capture.Event) []capture.Event {
			if len(e) < 4 || !strings.Contains(string(e[0].Raw), `"task":`) {
				return nil
			}
			return slices.Insert(slices.Clone(e), 2, e[0])
		}))),
	broken("stream without an event", modern, "stream-empty", "",
		when(called("stream"), events(func(*spot, []capture.Event) []capture.Event { return []capture.Event{} }))),
	broken("stream of older versions without an event", older, "stream-empty", "",
		when(called("stream"), events(func(*spot,
			[]capture.Event,
		) []capture.Event {
			return []capture.Event{}
		}))).faithfully(),
	broken("stream ends while the task works", every, "stream-truncated", "",
		when(called("stream"), events(func(_ *spot, e []capture.Event) []capture.Event {
			last := string(e[len(e)-1].Raw)
			if len(e) < 3 || !strings.Contains(last, "ompleted") && !strings.Contains(last, "COMPLETED") {
				return nil
			}
			return e[:len(e)-1]
		}))),
	broken("end without final", older, "stream-terminal-without-final", "",
		streamed(func(_ *spot, e []capture.Event) []capture.Event {
			last := eventBut(e[len(e)-1], `"final":true`, `"final":false`)
			return append(slices.Clone(e[:len(e)-1]), last)
		})).faithfully(),
	broken("events after an error", rpc, "stream-error-last", "",
		streamed(func(s *spot, e []capture.Event) []capture.Event {
			root, ok := parseValue(string(e[1].Fields().Data))
			if !ok || root.get("result") == nil {
				return nil
			}
			root.remove("result")
			root.put("error", `{"code":-32603,"message":"Internal error"}`)
			return slices.Insert(slices.Clone(e), 1, newEvent(1, root.text(""), e[1].At))
		})).with("stream-first-event error-internal-for-named-case"),
	broken("data that is not JSON", every, "json-wellformed", "", streamed(rawEvent("data: {oops\n\n"))),
	broken("data without an envelope", rpc, "stream-rpc-envelope", "",
		streamed(func(s *spot, e []capture.Event) []capture.Event {
			root, ok := parseValue(string(e[1].Fields().Data))
			if !ok || root.get("result") == nil {
				return nil
			}
			return replaced(e, 1, "data: "+root.get("result").text("")+"\n\n")
		})).with("stream-chunk-append-known"),
	broken("data in an envelope over REST", rest10, "stream-rest-bare", "",
		streamed(func(s *spot, e []capture.Event) []capture.Event {
			return replaced(e, 1, `data: {"jsonrpc":"2.0","id":1,"result":`+string(e[1].Fields().Data)+"}\n\n")
		})).with("stream-response-oneof"),
	broken("data that is a text", every, "stream-rpc-envelope stream-response-oneof", "",
		streamed(rawEvent("data: \"working\"\n\n"))),
	broken("data that is a list", every, "stream-rpc-envelope stream-response-oneof", "",
		streamed(func(s *spot, e []capture.Event) []capture.Event {
			return replaced(e, 1, "data: ["+string(e[1].Fields().Data)+"]\n\n")
		})).faithfully(),
	broken("blank data", every, "sse-empty-data", "", streamed(rawEvent("data: \n\n"))),
	broken("two objects in one event", every, "sse-one-json", "",
		streamed(func(s *spot, e []capture.Event) []capture.Event {
			return replaced(e, 1, strings.TrimSuffix(string(e[1].Raw), "\n")+string(e[1].Raw))
		})),
	broken("line without data", every, "sse-stray-line", "", streamed(func(s *spot, e []capture.Event) []capture.Event {
		return replaced(e, 1, strings.TrimSuffix(string(e[1].Raw), "\n")+"{\"more\":1}\n\n")
	})),
	broken("lines that end in CR alone", every, "sse-cr-line", "", streamed(func(s *spot, e []capture.Event) []capture.Event {
		return replaced(e, 1, strings.ReplaceAll(string(e[1].Raw), "\n", "\r"))
	})),
	broken("retry in words", every, "sse-retry-digits", "", streamed(func(s *spot, e []capture.Event) []capture.Event {
		return replaced(e, 1, "retry: soon\n"+string(e[1].Raw))
	})),
	broken("event in Latin-1", every, "sse-utf8", "", streamed(func(s *spot, e []capture.Event) []capture.Event {
		i := slices.IndexFunc(e, func(e capture.Event) bool { return strings.Contains(string(e.Raw), `"text":"`) })
		if i < 0 {
			return nil
		}
		return replaced(e, i, strings.Replace(string(e[i].Raw), `"text":"`, "\"text\":\"\xfc", 1))
	})).with(otherContent),
	broken("last event without a blank line", every, "sse-unterminated-event", "",
		streamed(func(s *spot, e []capture.Event) []capture.Event {
			e = slices.Clone(e)
			last := &e[len(e)-1]
			last.Raw, last.Unterminated = []byte(strings.TrimSuffix(string(last.Raw), "\n")), true
			return e
		})).with(unfinished),
	broken("piece before its beginning", every, "stream-chunk-append-known", "",
		when(opening, streamed(func(_ *spot, e []capture.Event) []capture.Event {
			i := slices.IndexFunc(e, func(e capture.Event) bool {
				return strings.Contains(string(e.Raw),
					`"append":true`)
			})
			if i < 1 {
				return nil
			}
			return slices.Delete(slices.Clone(e), i-1, i)
		}))).with("stream-artifact-consistent").faithfully(),
	broken("piece after the last one", every, "stream-chunk-after-last", "",
		streamed(func(_ *spot, e []capture.Event) []capture.Event {
			i := slices.IndexFunc(e, func(e capture.Event) bool {
				return strings.Contains(string(e.Raw), `"append":true`) &&
					strings.Contains(string(e.Raw), `"lastChunk":true`)
			})
			if i < 0 {
				return nil
			}
			return slices.Insert(slices.Clone(e), i+1, e[i])
		})).with("stream-artifact-consistent"),
	broken("piece is lost", every, "stream-artifact-consistent", "",
		streamed(func(_ *spot, e []capture.Event) []capture.Event {
			i := slices.IndexFunc(e, func(e capture.Event) bool {
				return strings.Contains(string(e.Raw), `"append":true`) &&
					!strings.Contains(string(e.Raw), `"lastChunk":true`)
			})
			if i < 0 {
				return nil
			}
			return slices.Delete(slices.Clone(e), i, i+1)
		})).elsewhere().faithfully(),
	broken("pieces are swapped", every, "stream-artifact-consistent", "",
		streamed(func(_ *spot, e []capture.Event) []capture.Event {
			e = slices.Clone(e)
			for i := 1; i < len(e)-1; i++ {
				a, b := string(e[i].Raw), string(e[i+1].Raw)
				if strings.Contains(a, `"append":true`) && strings.Contains(b, `"append":true`) &&
					strings.Contains(b, `"lastChunk":true`) {
					e[i], e[i+1] = eventBut(e[i+1], `"lastChunk":true`, `"lastChunk":false`),
						eventBut(e[i], `"lastChunk":false`, `"lastChunk":true`)
					return e
				}
			}
			return nil
		})).elsewhere().faithfully(),
}

// unfinished is what comes along with a stream whose end is not seen as one.
const unfinished = "stream-terminal-without-final stream-truncated stream-same-events hook-attempted"

func inStream(s *spot) bool { return s.kind.operation == "stream" || s.kind.operation == "subscribe" }

// events changes the events of a stream; comments in between go.
func events(change func(*spot, []capture.Event) []capture.Event) func(*spot) bool {
	return func(s *spot) bool {
		r := s.x().Response
		list := slices.DeleteFunc(slices.Clone(r.Events), func(e capture.Event) bool { return e.K == 0 })
		if !r.Stream || len(list) == 0 || slices.ContainsFunc(list,
			func(e capture.Event) bool { return e.Unterminated || e.Dropped > 0 }) {
			return false
		}
		now := change(s, list)
		if now == nil {
			return false
		}
		r.Events = slices.Clone(now)
		k := 0
		for i := range r.Events {
			if e := &r.Events[i]; e.Fields().HasData {
				k++
				e.K = k
			} else {
				e.K = 0
			}
			r.Events[i].At = list[min(i, len(list)-1)].At
		}
		return true
	}
}

// streamed changes the events of a stream of a task that ends with it.
func streamed(change func(*spot, []capture.Event) []capture.Event) func(*spot) bool {
	return when(called("stream"), events(func(s *spot, e []capture.Event) []capture.Event {
		if last := strings.ToLower(string(e[len(e)-1].Raw)); len(e) < 3 || !strings.Contains(last, "completed") &&
			!strings.Contains(last, "failed") {
			return nil
		}
		return change(s, e)
	}))
}

// ended does so where the task ended in a state.
func ended(state string, change func(*spot, []capture.Event) []capture.Event) func(*spot) bool {
	return streamed(func(s *spot, e []capture.Event) []capture.Event {
		last := string(e[len(e)-1].Raw)
		if strings.Contains(last, `"history"`) || !strings.Contains(last, state) &&
			!strings.Contains(last, strings.ToUpper(state)) || strings.Contains(last, `"kind":"task"`) {
			return nil
		}
		return change(s, e)
	})
}

func newEvent(k int, data string, at time.Duration) capture.Event {
	return capture.Event{K: k, At: at, Raw: []byte("data: " + data + "\n\n")}
}

// eventBut returns an event with another word in it, in lower or upper case.
func eventBut(e capture.Event, from, to string) capture.Event {
	text := strings.ReplaceAll(string(e.Raw), from, to)
	e.Raw = []byte(strings.ReplaceAll(text, strings.ToUpper(from), strings.ToUpper(to)))
	return e
}

func replaced(list []capture.Event, i int, raw string) []capture.Event {
	list = slices.Clone(list)
	list[i].Raw = []byte(raw)
	return list
}

// rawEvent replaces the second event with bytes.
func rawEvent(raw string) func(*spot, []capture.Event) []capture.Event {
	return func(_ *spot, e []capture.Event) []capture.Event {
		return slices.Insert(slices.Clone(e), 1, capture.Event{K: 1, Raw: []byte(raw)})
	}
}

// repeatBeforeEnd sends the event before the last one again behind it.
func repeatBeforeEnd(_ *spot, e []capture.Event) []capture.Event {
	for i := len(e) - 2; i > 0; i-- {
		if text := string(e[i].Raw); strings.Contains(text, "orking") || strings.Contains(text, "WORKING") {
			return append(slices.Clone(e), e[i])
		}
	}
	return nil
}

func messageInside(s *spot, e []capture.Event) []capture.Event {
	root, ok := parseValue(string(e[0].Fields().Data))
	if !ok {
		return nil
	}
	o := root
	if r := root.get("result"); r != nil {
		o = r
	}
	switch {
	case len(e) < 3:
		return nil
	case o.get("task") != nil:
		o.remove("task")
	case s.kind.in&kinds != 0 && o != root:
		root.put("result", `{"kind":"message","messageId":"m77","role":"agent","contextId":"c3",`+
			`"parts":[{"kind":"text","text":"by the way"}]}`)
		return slices.Insert(slices.Clone(e), 2, newEvent(1, root.text(""), e[0].At))
	default:
		return nil
	}
	o.add("message", `{"messageId":"m77","role":"ROLE_AGENT","contextId":"c3","parts":[{"text":"by the way"}]}`)
	return slices.Insert(slices.Clone(e), 2, newEvent(1, root.text(""), e[0].At))
}
