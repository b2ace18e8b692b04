package playback_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/playback"
	"a2atap/replay/refagent"
)

// tell sends two tasks, the second in two messages, and asks for both. It returns the resulting tasks.
func tell(t testing.TB, agentURL string, p client.Protocol, words ...string) (seen []string) {
	t.Helper()
	c := connect(t, agentURL, p)
	var tasks []*client.Task
	send := func(m client.Message) *client.Task {
		r, err := c.Send(t.Context(), m, client.SendOptions{})
		if err != nil || r.Task == nil {
			t.Fatalf("send: %v, %v", r, err)
		}
		seen = append(seen, fmt.Sprint(r.Task.Status.State))
		return r.Task
	}
	tasks = append(tasks, send(client.Text(words[0])), send(client.Text(words[1])))
	m := client.Text(words[2])
	m.TaskID, m.ContextID = tasks[1].ID, tasks[1].ContextID
	if again := send(m); again.ID != tasks[1].ID || again.ContextID != tasks[1].ContextID {
		t.Errorf("the answer is about %s in %s, want %s in %s", again.ID, again.ContextID, tasks[1].ID, tasks[1].ContextID)
	}
	for _, task := range tasks {
		got, err := c.Get(t.Context(), task.ID, nil)
		if err != nil || got.ID != task.ID {
			t.Fatalf("get: %v, %v", got, err)
		}
		seen = append(seen, fmt.Sprint(got.Status.State))
	}
	return seen
}

// A client with other texts is matched by its operations, and the ignored differences are counted. The same applies
// to a client of 0.1, which chooses the ids of its tasks.
func TestPlaybackForOtherWords(t *testing.T) {
	recorded := []string{"task-lifecycle please", "multi-turn please", "done"}
	others := []string{"two seats", "and more", "that is all"}
	for _, w := range append(slices.Clone(ways), way{"spec01", client.JSONRPC01}) {
		t.Run(w.agent+" "+w.protocol.String(), func(t *testing.T) {
			var was []string
			src := record(t, w.start(t), func(tapURL string) {
				was = tell(t, tapURL, w.protocol, recorded...)
			})
			p, origin := perform(t, src, playback.Options{OnMiss: func(m playback.Miss) { t.Error(m) }})
			expect.Same(t, "with the same words", was, tell(t, origin+"/"+w.agent, w.protocol, recorded...))
			if r := p.Report(); r.Ignored > 0 {
				t.Errorf("with the same words: %s", r.Verdict())
			}
			p, origin = perform(t, src, playback.Options{OnMiss: func(m playback.Miss) { t.Error(m) }})
			expect.Same(t, "with other words", was, tell(t, origin+"/"+w.agent, w.protocol, others...))
			r := p.Report()
			if r.Differed != 3 || !strings.Contains(r.Verdict(), "; ignored: ") {
				t.Errorf("%s; want 3 requests that differ", r.Verdict())
			}
		})
	}
}

// Options select the values that must be as recorded.
func TestMatch(t *testing.T) {
	src := record(t, agenttest.Start(t, "spec", refagent.Options{}), func(tapURL string) {
		c := connect(t, tapURL, client.JSONRPC10)
		send(t, c, "task-lifecycle")
	})
	words, data := client.Text("other words"), client.Text("")
	data.Parts = []client.Part{{Data: []byte(`{"seats":2}`)}}
	tests := []struct {
		name   string
		m      client.Message
		length *int
		served []playback.Match
	}{
		{"words", words, nil, []playback.Match{playback.ByOperation, playback.ByShape}},
		{"another parameter", words, new(7), []playback.Match{playback.ByOperation}},
		{"another part", data, nil, nil},
		{"the same", client.Text("task-lifecycle"), nil, []playback.Match{"", playback.ByShape, playback.ByValue}},
	}
	for _, test := range tests {
		for _, match := range []playback.Match{"", playback.ByOperation, playback.ByShape, playback.ByValue} {
			p, origin := perform(t, src, playback.Options{Match: match})
			c := connect(t, origin+"/spec", client.JSONRPC10)
			_, err := c.Send(t.Context(), test.m, client.SendOptions{HistoryLength: test.length})
			by := match
			if by == "" {
				by = playback.ByOperation
			}
			want := slices.Contains(test.served, by) || test.name == "the same"
			if (err == nil) != want {
				t.Errorf("%s, match %q: %v; want an answer: %t; %s", test.name, match, err, want, p.Report().Misses)
			}
		}
	}
	expect.Error(t, "an unknown match is taken",
		expect.Err(playback.New(t.Context(), src, playback.Options{Match: "words"})))
}
