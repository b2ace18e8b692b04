package replay_test

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"testing"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/compare"
	"a2atap/replay/peers"
)

// sdkPairs are clients and agents of the official Go SDK, of both lines, over each binding and dialect that they
// share.
var sdkPairs = []peers.Pair{
	{Client: peers.Go2Client, Agent: peers.Go2Agent, Binding: peers.JSONRPC},
	{Client: peers.Go2Client, Agent: peers.Go2Agent, Binding: peers.HTTPJSON},
	{Client: peers.Go03Client, Agent: peers.Go03Agent, Binding: peers.JSONRPC},
	{Client: peers.Go2LegacyClient, Agent: peers.Go2HybridAgent, Binding: peers.HTTPJSON},
}

// recordSDK records a session of the pair through a tap.
func recordSDK(t *testing.T, p peers.Pair) *capture.Memory {
	t.Helper()
	return record(t, p.Agent.Start(t).URL, func(tapURL string) {
		ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
		defer cancel()
		must.Do(t, p.Client.Converse(ctx, t, tapURL, p.Binding))
	})
}

// The official client's recorded requests are replayed to the official agent, restarted each time: ten replays in a
// row show no difference.
func TestReplayOfSDKs(t *testing.T) {
	t.Parallel()
	for _, p := range sdkPairs {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			src := recordSDK(t, p)
			for range 10 {
				wantSame(t, play(t, src, p.Agent.Start(t).URL, replay.Options{}))
				if t.Failed() {
					return
				}
			}
		})
	}
}

// A plant is one change in the recorded answers of the agent.
type plant struct {
	name string
	edit func(t *testing.T, x *capture.Exchange)
	want func(differences []compare.Difference) bool
}

// plants change the answers to a session, found by operation. Each is reported with its kind and place.
func plants(sends, gets, streams []uint64, unknown uint64, answers [][]byte) []plant {
	named := func(kind compare.Kind, seqs ...uint64) func([]compare.Difference) bool {
		return func(differences []compare.Difference) bool {
			var at []uint64
			for _, d := range differences {
				if d.Kind != kind || len(d.Changes) == 0 {
					return false
				}
				at = append(at, d.Exchange)
			}
			slices.Sort(at)
			return slices.Equal(slices.Compact(at), seqs)
		}
	}
	return []plant{
		{"a state", func(t *testing.T, x *capture.Exchange) {
			if x.Seq == sends[1] && !replaceIn(x, "TASK_STATE_COMPLETED", "TASK_STATE_REJECTED") &&
				!replaceIn(x, `"completed"`, `"rejected"`) {
				t.Error("nothing to change")
			}
		}, named(compare.DifferentState, sends[1])},
		{"an error code", func(t *testing.T, x *capture.Exchange) {
			if x.Seq != unknown {
				return
			}
			if !replaceIn(x, "-32001", "-32004") && !replaceIn(x, "TASK_NOT_FOUND", "UNSUPPORTED_OPERATION") {
				t.Errorf("nothing to change in %s", x.Response.Body.Data)
			}
			replaceIn(x, "TASK_NOT_FOUND", "UNSUPPORTED_OPERATION")
		}, named(compare.DifferentError, unknown)},
		{"a missing event", func(_ *testing.T, x *capture.Exchange) {
			if x.Seq == streams[0] {
				x.Response.Events = slices.Insert(x.Response.Events, 2, x.Response.Events[1])
			}
		}, named(compare.DifferentEvent, streams[0])},
		{"two ids", func(_ *testing.T, x *capture.Exchange) {
			if slices.Contains(gets, x.Seq) {
				x.Response.Body.Data = swapIDs(x.Response.Body.Data, answers)
			}
		}, named(compare.DifferentID, gets...)},
	}
}

// One changed answer is reported, and nothing else.
func TestReplayOfSDKsNamesTheDifference(t *testing.T) {
	t.Parallel()
	for _, p := range sdkPairs {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			src := recordSDK(t, p)
			var sends, gets, streams []uint64
			var unknown uint64
			var answers [][]byte
			for x, err := range src.Exchanges(t.Context(), 1) {
				must.Do(t, err)
				switch r := reading.Read(x); {
				case r.Call.Operation == a2a.SendMessage:
					sends = append(sends, x.Seq)
				case r.Call.Operation == a2a.SendStreamingMessage:
					streams = append(streams, x.Seq)
				case r.Call.Operation == a2a.GetTask && len(r.Errors) > 0:
					unknown = x.Seq
				case r.Call.Operation == a2a.GetTask:
					gets = append(gets, x.Seq)
					answers = append(answers, bytes.Clone(x.Response.Body.Data))
				}
			}
			for _, plant := range plants(sends, gets, streams, unknown, answers) {
				r := play(t, edited(t, src, func(x *capture.Exchange) { plant.edit(t, x) }), p.Agent.Start(t).URL,
					replay.Options{})
				if r.Same() || !plant.want(r.Differences) {
					t.Errorf("%s changed: %s", plant.name, r.Verdict())
					for _, d := range r.Differences {
						t.Errorf("  %s %s %+v", d.Kind, d.String(), d.Changes)
					}
				}
			}
		})
	}
}

// The session has every operation that the clients of the SDKs have in common.
func TestConversationIsWhole(t *testing.T) {
	t.Parallel()
	for _, p := range sdkPairs {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			seen := make(map[string]bool)
			for x, err := range recordSDK(t, p).Exchanges(t.Context(), 1) {
				must.Do(t, err)
				seen[reading.Read(x).Call.Operation.String()] = true
			}
			want := []string{
				"CancelTask", "CreateTaskPushNotificationConfig", "DeleteTaskPushNotificationConfig", "GetAgentCard", "GetTask",
				"GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs", "SendMessage", "SendStreamingMessage",
				"SubscribeToTask",
			}
			if p.Client.Name == peers.Go03Client.Name {
				want = want[:len(want)-1] // see its driver
			}
			expect.Same(t, "operations", want, slices.Sorted(maps.Keys(seen)))
		})
	}
}
