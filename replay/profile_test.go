package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/replay"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

const rich = `{"task":{"id":"task-00000001","contextId":"ctx-00000001","status":{"state":"TASK_STATE_COMPLETED",` +
	`"timestamp":"2026-01-02T03:04:05Z","message":{"role":"ROLE_AGENT","messageId":"m-9","parts":[{"text":"done"}]}},` +
	`"artifacts":[{"artifactId":"a1","name":"tickets","parts":[{"text":"two seats"},` +
	`{"data":{"seats":2,"rows":["a","b"]},"mediaType":"application/json"}]}],"metadata":{"model":"m1"}}}`

// named is an artifact's chunk with a name.
func named(text string) string {
	return strings.Replace(chunk(text, false), `"artifactId"`, `"name":"tickets","artifactId"`, 1)
}

// planted are changes in what was recorded, and the kind of the only difference by each profile; "" is none. Exchange 1
// is a send, 2 a stream.
var planted = []struct {
	name, was, now string
	in             uint64
	protocol       report.Kind
	shape          report.Kind
	exact          report.Kind
}{
	{"a text", "two seats", "three seats", 1, "", "", "value"},
	{"another part", `{"text":"two seats"}`, `{"data":{"x":1}}`, 1, "part", "part", "part"},
	{"two texts", `{"text":"two seats"}`, `{"text":"two "},{"text":"seats"}`, 1, "", "structure", "value"},
	{"a part more", `{"text":"two seats"},`, ``, 1, "part", "part", "part"},
	{"a type", `"seats":2`, `"seats":"2"`, 1, "type", "type", "type"},
	{"a number", `"seats":2`, `"seats":3`, 1, "", "", "value"},
	{"a name of a member", `"seats":2`, `"chairs":2`, 1, "member", "member", "member"},
	{"a member less", `"contextId":"ctx-00000001",`, ``, 1, "member", "member", "member"},
	{"a member more", `"metadata":`, `"owner":"o","metadata":`, 1, "member", "member", "member"},
	{"an empty member", `"metadata":`, `"history":[],"metadata":`, 1, "", "structure", "value"},
	{"a media type", `application/json`, `text/csv`, 1, "media-type", "media-type", "media-type"},
	{"a name of an artifact", `"tickets"`, `"passes"`, 1, "", "structure", "value"},
	{"an element less", `["a","b"]`, `["a"]`, 1, "", "structure", "value"},
	{"metadata", `"m1"`, `"m2"`, 1, "", "", "value"},
	{"a role", `ROLE_AGENT`, `ROLE_USER`, 1, "content", "content", "content"},
	{"a state", `TASK_STATE_COMPLETED`, `TASK_STATE_FAILED`, 1, "state", "state", "state"},
	{"a time", `2026-01-02T03:04:05Z`, `2025-01-02T03:04:05.123Z`, 1, "", "", ""},
	{"a task id", `task-00000001`, `task-00000002`, 3, "", "", ""},
	{"a message id", `"m-9"`, `"m-10"`, 1, "", "", ""},
	{"a text of a chunk", `"one"`, `"eins"`, 2, "", "", "value"},
	{"a name in a chunk", `"tickets"`, `"passes"`, 2, "", "structure", "value"},
	{"a part of a chunk", `{"text":"one"}`, `{"data":{"x":1}}`, 2, "part", "part", "part"},
	{"a member in a chunk", `"artifactId":"a1"`, `"artifactId":"a1","metadata":{"x":1}`, 2, "member", "member", "member"},
	{"the size of chunks", `{"text":"one"}`, `{"text":"o"},{"text":"ne"}`, 2, "", "", "value"},
	{"a state of an event", `TASK_STATE_WORKING`, `TASK_STATE_INPUT_REQUIRED`, 2, "state", "state", "state"},
}

// What the agent does otherwise is found by the profiles that compare it, at its exchange, and by no other.
func TestProfiles(t *testing.T) {
	t.Parallel()
	agent := startScript(t, script{
		"SendMessage": func(s *said) { s.result(rich) },
		"SendStreamingMessage": func(s *said) {
			s.event(snapshot("SUBMITTED"), status("WORKING"), named("one"), named("two"), status("COMPLETED"))
		},
	})
	src := record(t, agent, func(tapURL string) {
		ask(t, tapURL, "SendMessage", hello)
		ask(t, tapURL, "SendStreamingMessage", hello)
	})
	for _, p := range planted {
		for profile, want := range map[compare.Profile]report.Kind{
			compare.Protocol: p.protocol, compare.Shape: p.shape, compare.Exact: p.exact,
		} {
			found := false
			r := within(t, edited(t, src, func(x *capture.Exchange) {
				if x.Seq&p.in != 0 {
					found = replaceIn(x, p.was, p.now) || found
				}
			}), agent, replay.Options{Profile: profile})
			if !found {
				t.Fatalf("%s: nothing to change", p.name)
			}
			got := ""
			for _, d := range r.Differences {
				got += fmt.Sprintf("%d %s ", d.Exchange, d.Kind)
			}
			wanted := ""
			if want != "" {
				wanted = fmt.Sprintf("%d %s ", p.in, want)
			}
			if got != wanted {
				t.Errorf("%s by %s: found %q, want %q: %v", p.name, profile, got, wanted, r.Differences)
			}
			if texts := strings.Contains(r.Verdict(), "texts not compared: "); texts == (profile == compare.Exact) {
				t.Errorf("%s: the verdict is %q", profile, r.Verdict())
			}
		}
	}
}
