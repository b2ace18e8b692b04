package replay_test

import (
	"strings"
	"testing"

	"a2atap/replay"
)

// regressed is a session with the features that clients depend on. Edits of its answers change the agent's side.
func regressed(edits ...string) *session {
	edit := strings.NewReplacer(edits...)
	said := `"history":[{"role":"ROLE_USER","messageId":"m-1","parts":[{"text":"hello"}]},` +
		`{"role":"ROLE_AGENT","messageId":"m-2","parts":[{"text":"at once"}]}]`
	done := `{"id":"task-00000001","contextId":"ctx-00000001","status":{"state":"TASK_STATE_COMPLETED"},` + said +
		`,"artifacts":[{"artifactId":"a1","name":"tickets","parts":[{"text":"one "},{"text":"two "},{"text":"three"}]}],` +
		`"metadata":{"model":"m1"}}`
	k := &session{version: "1.0", turns: []turn{
		{name: "card", method: "GET /.well-known/agent-card.json", answer: []string{richCard}},
		{
			name: "stream", method: "SendStreamingMessage", params: hello, media: events,
			answer: rpc(snapshot("SUBMITTED"), status("WORKING"), update("one ", ""),
				update("two ", `"append":true,`), update("three", `"append":true,"lastChunk":true,`), status("COMPLETED")),
		},
		{name: "get", method: "GetTask", params: theID, answer: rpc(done)},
		{name: "unknown", method: "GetTask", params: unknown, answer: failure(noTask)},
	}}
	for i := range k.turns {
		for j := range k.turns[i].answer {
			k.turns[i].answer[j] = edit.Replace(k.turns[i].answer[j])
		}
	}
	for i := range k.turns { // an edit may take an event away
		kept := k.turns[i].answer[:0]
		for _, text := range k.turns[i].answer {
			if !strings.Contains(text, "GONE") {
				kept = append(kept, text)
			}
		}
		k.turns[i].answer = kept
	}
	return k
}

// update is an update of the artifact.
func update(text, flags string) string {
	return `{"artifactUpdate":{"taskId":"task-00000001","contextId":"ctx-00000001",` + flags +
		`"artifact":{"artifactId":"a1","name":"tickets","parts":[{"text":"` + text + `"}]}}}`
}

// The default profile finds each regression that users notice, as one cause.
func TestRegressions(t *testing.T) {
	t.Parallel()
	working, one := status("WORKING"), update("one ", "")
	two := `"append":true,"artifact":{"artifactId":"a1","name":"tickets","parts":[{"text":"two "`
	for name, tt := range map[string]struct {
		edits []string
		says  string
	}{
		"append lost": {[]string{`"append":true,`, ``}, "its reader keeps 1 of 3 chunks, recorded all 3"},
		"append false": {
			[]string{`"append":true,`, `"append":false,`}, "its reader keeps 1 of 3 chunks, recorded all 3",
		},
		"chunk lost": {[]string{two, `GONE`}, "artifact 1 (tickets) lacks 1 piece of its text; the rest is identical"},
		"part lost":  {[]string{`{"text":"two "},`, ``}, "artifact 1 (tickets) lacks 1 piece of its text"},
		"part type":  {[]string{`{"text":"one "}`, `{"data":{"one":1}}`}, "the parts are [data text], recorded [text]"},
		"state skipped": {
			[]string{working, `GONE`}, "TaskStatusUpdateEvent working is missing",
		},
		"error code":       {[]string{`-32001`, `-32004`, `TASK_NOT_FOUND`, `UNSUPPORTED_OPERATION`}, "error"},
		"artifact renamed": {[]string{`"tickets"`, `"passes"`}, `has the name "passes", recorded "tickets"`},
		"metadata dropped": {[]string{`,"metadata":{"model":"m1"}`, ``}, `member "metadata" is missing`},
		"history cut":      {[]string{`{"role":"ROLE_USER","messageId":"m-1","parts":[{"text":"hello"}]},`, ``}, "the history has 1 message, recorded 2"},
		"order of events": {
			[]string{working, one, one, working}, "has moved: it is event 3, recorded as event 2",
		},
		"version changed": {[]string{`"version":"1.0.0"`, `"version":"2.0.0"`}, `the card's version is "2.0.0", recorded "1.0.0"`},
		"capability gone": {[]string{`"streaming":true`, `"streaming":false`}, "the card no longer offers streaming"},
		"chunks are cut anew": {
			[]string{`"text":"one "`, `"text":"one tw"`, `"text":"two "`, `"text":"o "`}, "",
		},
		"everything each time": {
			[]string{`"append":true,`, ``, `"text":"two "`, `"text":"one two "`, `"text":"three"`, `"text":"one two three"`}, "",
		},
		"other words": {[]string{`"text":"two "`, `"text":"deux "`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorded := regressed()
			src := recorded.record(t, recorded.start(t))
			r := within(t, src, regressed(tt.edits...).start(t), replay.Options{})
			causes := r.Causes()
			var list []string
			for _, c := range causes {
				for _, d := range c.Differences {
					list = append(list, d.String())
				}
			}
			if tt.says == "" {
				if len(causes) > 0 {
					t.Errorf("found %q", list)
				}
				return
			}
			if len(causes) != 1 || !strings.Contains(causes[0].Differences[0].Message, tt.says) {
				t.Errorf("%d causes of %q, want one that says %q", len(causes), list, tt.says)
			}
		})
	}
}

// Texts are ignored unless the options compare them; then they are compared everywhere.
func TestTextsAreCompared(t *testing.T) {
	t.Parallel()
	recorded := regressed()
	src := recorded.record(t, recorded.start(t))
	live := regressed(`"text":"two "`, `"text":"deux "`)
	for _, texts := range []bool{false, true} {
		r := within(t, src, live.start(t), replay.Options{Texts: texts})
		if differs := len(r.Differences) > 0; differs != texts {
			t.Errorf("with texts %t: %v", texts, r.Differences)
		}
		if free := strings.Contains(r.Verdict(), "texts not compared"); free == texts {
			t.Errorf("with texts %t: the verdict is %q", texts, r.Verdict())
		}
	}
	wantSame(t, within(t, src, recorded.start(t), replay.Options{Texts: true}))
}

// How far an agent had come when its task was canceled is chance: its messages and artifacts do not count, those of the
// client do.
func TestCanceledWhenever(t *testing.T) {
	t.Parallel()
	canceled := []string{`"state":"TASK_STATE_COMPLETED"},"history"`, `"state":"TASK_STATE_CANCELED",` +
		`"message":{"role":"ROLE_AGENT","messageId":"m-3","parts":[{"text":"stopped"}]}},"history"`}
	for lost, says := range map[string]string{
		`,{"role":"ROLE_AGENT","messageId":"m-2","parts":[{"text":"at once"}]}`: "",
		`,{"text":"two "}`: "",
		`{"role":"ROLE_USER","messageId":"m-1","parts":[{"text":"hello"}]},`: "the history has 0 messages, recorded 1",
	} {
		recorded := regressed(canceled...)
		src := recorded.record(t, recorded.start(t))
		r := within(t, src, regressed(append([]string{lost, ""}, canceled...)...).start(t), replay.Options{})
		if causes := r.Causes(); len(causes) > 0 != (says != "") || says != "" && causes[0].Differences[0].Message != says {
			t.Errorf("without %s: %v, want %q", lost, r.Differences, says)
		}
	}
}
