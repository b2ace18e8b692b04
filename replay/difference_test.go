package replay_test

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/compare"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// edited returns the capture with its exchanges changed.
func edited(t testing.TB, src capture.Source, edit func(x *capture.Exchange)) *capture.Memory {
	t.Helper()
	exchanges := func(yield func(*capture.Exchange, error) bool) {
		for x, err := range src.Exchanges(t.Context(), 1) {
			if err == nil {
				edit(x)
			}
			if !yield(x, err) {
				return
			}
		}
	}
	return must.Get(capture.ReadMemory(capture.Info{Name: "edited"}, iter.Seq2[*capture.Exchange, error](exchanges)))(t)
}

// replaceIn replaces text in the answer of an exchange, and reports whether it found the text.
func replaceIn(x *capture.Exchange, was, now string) bool {
	found := false
	replace := func(b []byte) []byte {
		found = found || bytes.Contains(b, []byte(was))
		return bytes.ReplaceAll(b, []byte(was), []byte(now))
	}
	x.Response.Head = replace(x.Response.Head)
	x.Response.Body.Data = replace(x.Response.Body.Data)
	for i := range x.Response.Events {
		x.Response.Events[i].Raw = replace(x.Response.Events[i].Raw)
	}
	return found
}

// sentBy reports whether the request of the exchange holds a text.
func sentBy(x *capture.Exchange, text string) bool {
	return bytes.Contains(x.Request.Head, []byte(text)) || bytes.Contains(x.Request.Body.Data, []byte(text))
}

// twoTasks makes two tasks, asks for one and for an unknown one, and reads a stream.
func twoTasks(t testing.TB, p client.Protocol) func(tapURL string) {
	return func(tapURL string) {
		c := agenttest.Connect(t, tapURL, p, client.Options{})
		send := func(v *client.Result, err error) *client.Result { return must.Get(v, err)(t) }
		var ids []string
		for range 2 {
			ids = append(ids, send(c.Send(t.Context(), client.Text("task-lifecycle please"), client.SendOptions{})).Task.ID)
		}
		for _, id := range ids {
			must.Get(c.Get(t.Context(), id, nil))(t)
		}
		expect.Error(t, "an unknown task was found", expect.Err(c.Get(t.Context(), "no-such-task", nil)))
		for _, err := range c.Stream(t.Context(), client.Text("streaming please"), client.SendOptions{}) {
			expect.OK(t, err)
		}
	}
}

// wanted is what a test expects of one difference.
type wanted struct {
	Kind    compare.Kind
	Place   string
	Want    string
	Got     string
	Changes int
}

// The exchanges: 1 card, 2 and 3 send, 4 and 5 get, 6 get unknown, 7 stream.
var differenceTests = []struct {
	name string
	edit func(t *testing.T, x *capture.Exchange)
	want []wanted
}{
	{
		"state", func(t *testing.T, x *capture.Exchange) {
			if x.Seq == 3 && !replaceIn(x, "TASK_STATE_COMPLETED", "TASK_STATE_REJECTED") {
				t.Error("nothing to change")
			}
		},
		[]wanted{{compare.DifferentState, "3.response.body#/result/task", "rejected", "completed", 1}},
	},
	{
		"error code", func(t *testing.T, x *capture.Exchange) {
			if x.Seq == 6 && !(replaceIn(x, "-32001", "-32004") && replaceIn(x, "TASK_NOT_FOUND", "UNSUPPORTED_OPERATION")) {
				t.Error("nothing to change")
			}
		},
		[]wanted{
			{
				compare.DifferentError, "6.response.body#/error", "error UnsupportedOperationError", "error TaskNotFoundError",
				1,
			},
		},
	},
	{
		"error for success", func(t *testing.T, x *capture.Exchange) {
			if x.Seq == 4 {
				x.Response.Body.Data = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no"}}`)
			}
		},
		[]wanted{{compare.DifferentOutcome, "4.response.body#/error", "error InternalError", "Task completed", 3}},
	},
	{
		"missing event", func(t *testing.T, x *capture.Exchange) {
			if x.Seq == 7 {
				x.Response.Events = slices.Insert(x.Response.Events, 2, x.Response.Events[1])
			}
		},
		[]wanted{{
			compare.DifferentEvent, "7.response.event[2]#/result/statusUpdate", "TaskStatusUpdateEvent working", "",
			1,
		}},
	},
	{
		"new event", func(t *testing.T, x *capture.Exchange) {
			if x.Seq == 7 {
				x.Response.Events = slices.Delete(x.Response.Events, 1, 2)
			}
		},
		[]wanted{{
			compare.DifferentEvent, "7.response.event[2]#/result/statusUpdate", "", "TaskStatusUpdateEvent working",
			1,
		}},
	},
	{
		"another chunking", func(t *testing.T, x *capture.Exchange) {
			if x.Seq == 7 {
				x.Response.Events = slices.Delete(x.Response.Events, 3, 5)
			}
		},
		nil,
	},
	{
		"another text", func(t *testing.T, x *capture.Exchange) {
			if x.Seq == 3 && !replaceIn(x, "Processed", "Did") {
				t.Error("nothing to change")
			}
		},
		nil,
	},
}

// Each change in the agent's answers is one difference, with its place and a JSON diff of that place alone.
func TestReplayNamesTheDifference(t *testing.T) {
	t.Parallel()
	src := record(t, agenttest.Start(t, "spec", refagent.Options{}), twoTasks(t, client.JSONRPC10))
	to := agenttest.Start(t, "spec", refagent.Options{})
	for _, test := range differenceTests {
		t.Run(test.name, func(t *testing.T) {
			r := play(t, edited(t, src, func(x *capture.Exchange) { test.edit(t, x) }), to, replay.Options{})
			var got []wanted
			for _, d := range r.Differences {
				got = append(got, wanted{d.Kind, d.Place, d.Want, d.Got, len(d.Changes)})
				if d.Live != d.Exchange {
					t.Errorf("exchange %d was replayed as %d, which is not its number", d.Exchange, d.Live)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s\n%+v", diff, r.Differences)
			}
			if r.Sent != 7 || r.Differing != len(test.want) {
				t.Errorf("verdict %q; want 7 sent and %d differing", r.Verdict(), len(test.want))
			}
		})
	}
}

// Two swapped ids are a difference in each of the two answers.
func TestReplayFindsSwappedIDs(t *testing.T) {
	t.Parallel()
	for _, w := range refWays {
		t.Run(w.name, func(t *testing.T) {
			src := record(t, w.start(t), twoTasks(t, w.protocol))
			var answers [][]byte
			for x := range src.Exchanges(t.Context(), 1) {
				if x.Seq == 4 || x.Seq == 5 {
					answers = append(answers, x.Response.Body.Data)
				}
			}
			swapped := edited(t, src, func(x *capture.Exchange) {
				if x.Seq == 4 || x.Seq == 5 {
					x.Response.Body.Data = swapIDs(x.Response.Body.Data, answers)
				}
			})
			r := play(t, swapped, w.start(t), replay.Options{})
			var got []string
			for _, d := range r.Differences {
				seq, _, _ := strings.Cut(d.Place, ".")
				_, pointer, _ := strings.Cut(d.Place, "#")
				got = append(got, string(d.Kind)+" "+seq+" "+pointer[strings.LastIndex(pointer, "/"):])
			}
			slices.Sort(got)
			want := []string{"id 4 /id", "id 5 /id"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s\n%+v", diff, r.Differences)
			}
		})
	}
}

// swapIDs swaps the task and context ids of two answers.
func swapIDs(data []byte, answers [][]byte) []byte {
	for _, member := range []string{`"id":"`, `"contextId":"`} {
		var ids [][]byte
		for _, a := range answers {
			rest := a
			if i := bytes.Index(a, []byte(`"result":`)); i >= 0 {
				rest = a[i:]
			}
			i := bytes.Index(rest, []byte(member)) + len(member)
			ids = append(ids, rest[i:i+bytes.IndexByte(rest[i:], '"')])
		}
		if bytes.Contains(data, ids[0]) {
			data = bytes.ReplaceAll(data, ids[0], ids[1])
		} else {
			data = bytes.ReplaceAll(data, ids[1], ids[0])
		}
	}
	return data
}

// A rule that the live agent breaks, and the recorded one did not, is a difference; one that both break is not.
func TestReplayFindsNewFindings(t *testing.T) {
	t.Parallel()
	talk := twoTasks(t, client.JSONRPC10)
	src := record(t, agenttest.Start(t, "spec", refagent.Options{}), talk)
	const fault = "rpc-response-content-type-v1"
	faulty := agenttest.Start(t, "spec", refagent.Options{Fault: fault})
	r := play(t, src, faulty, replay.Options{})
	isFault := func(f analysis.Finding) bool { return f.Rule.ID == fault }
	if !slices.ContainsFunc(r.Findings, isFault) || r.Same() {
		t.Errorf("replay against an agent that breaks %s: %s, findings %v", fault, r.Verdict(), r.Findings)
	}
	again := record(t, faulty, talk)
	if r := play(t, again, faulty, replay.Options{}); slices.ContainsFunc(r.Findings, isFault) {
		t.Errorf("the recorded agent broke %s too, and yet it is new: %v", fault, r.Findings)
	}
	known := func(context.Context) ([]analysis.Finding, error) { return nil, nil }
	if r := play(t, again, faulty, replay.Options{Found: known}); !slices.ContainsFunc(r.Findings, isFault) {
		t.Errorf("the recording is known to have broken nothing, and yet %s is not new", fault)
	}
}

// Requests that cannot be sent again are left out and reported.
func TestReplayLeavesOut(t *testing.T) {
	t.Parallel()
	agent := agenttest.Start(t, "spec", refagent.Options{})
	tests := []struct {
		name string
		edit func(x *capture.Exchange)
		why  string
	}{
		{"body not recorded", func(x *capture.Exchange) {
			x.Request.Body.Data, x.Request.Body.Dropped = x.Request.Body.Data[:5], 10
		}, "not recorded completely"},
		{"no answer", func(x *capture.Exchange) { x.Response = nil }, "its answer was not recorded"},
		{"another protocol", func(x *capture.Exchange) {
			x.Request.Body.Data = []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		}, "not an A2A request"},
		{"a fault made on request", func(x *capture.Exchange) {
			x.Notes = append(x.Notes, capture.FaultMadeHere+"content-type=text/html")
		}, "a fault was injected into its answer"},
		{"refused by the proxy", func(x *capture.Exchange) {
			x.Response, x.Fault = nil, &capture.TransportFault{Kind: "refused", Side: "proxy"}
		}, "did not reach the agent"},
		{"stopped before the answer", func(x *capture.Exchange) {
			x.Response, x.Fault = nil, &capture.TransportFault{Kind: "shutdown", Side: "proxy"}
		}, "the recorder stopped before an answer to it began"},
		{"stopped in the answer", func(x *capture.Exchange) {
			x.Fault = &capture.TransportFault{Kind: "shutdown", Side: "proxy"}
		}, "the recorder ended its answer before that was complete (shutdown)"},
		{"stopped in the stream", func(x *capture.Exchange) {
			x.Response.Events = make([]capture.Event, 4)
			x.Fault = &capture.TransportFault{Kind: "shutdown", Side: "proxy"}
		}, "the recorder ended its answer after 4 events (shutdown)"},
	}
	src := record(t, agent, func(tapURL string) {
		c := agenttest.Connect(t, tapURL, client.JSONRPC10, client.Options{})
		must.Get(c.Send(t.Context(), client.Text("message-only"), client.SendOptions{}))(t)
	})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := play(t, edited(t, src, func(x *capture.Exchange) {
				if x.Seq == 2 {
					test.edit(x)
				}
			}), agent, replay.Options{})
			if r.Sent != 1 || r.LeftOut != 1 || !strings.Contains(r.Lines[1].Why, test.why) {
				t.Errorf("%s: %+v; want exchange 2 left out since %q", r.Verdict(), r.Lines, test.why)
			}
		})
	}
}

// A task from before the recording cannot be created again.
func TestReplayLeavesOutOlderTasks(t *testing.T) {
	t.Parallel()
	agent := agenttest.Start(t, "spec", refagent.Options{})
	direct := agenttest.Connect(t, agent, client.JSONRPC10, client.Options{})
	old := must.Get(direct.Send(t.Context(), client.Text("task-lifecycle"), client.SendOptions{}))(t).Task
	src := record(t, agent, func(tapURL string) {
		c := agenttest.Connect(t, tapURL, client.JSONRPC10, client.Options{})
		must.Get(c.Get(t.Context(), old.ID, nil))(t)
	})
	r := play(t, src, agenttest.Start(t, "spec", refagent.Options{}), replay.Options{Timeout: time.Second})
	if r.LeftOut != 1 || len(r.Differences) > 0 || !strings.Contains(r.Lines[1].Why, "before the recording began") {
		t.Errorf("%s: %+v", r.Verdict(), r.Lines)
	}
}
