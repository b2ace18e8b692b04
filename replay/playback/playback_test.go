package playback_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/compare"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/playback"
	"a2atap/replay/refagent"
)

// diary is a client's observations as text.
type diary struct {
	t     testing.TB
	lines []string
}

func (d *diary) add(what string, v any, err error) {
	var refusal string
	if err != nil {
		refusal = err.Error()
	}
	text := must.Get(json.Marshal(v))(d.t)
	d.lines = append(d.lines, fmt.Sprintf("%s %s %s", what, text, refusal))
}

// task is the relevant part of a task. The agent makes its id, so it must be the recorded one.
func task(t *client.Task) any {
	if t == nil {
		return nil
	}
	return []any{t.ID, t.Status.State, len(t.Artifacts), len(t.History)}
}

// talk uses all features of a reference agent and records its observations.
func talk(t testing.TB, agentURL string, p client.Protocol) []string {
	d := &diary{t: t}
	c := connect(t, agentURL, p)
	ctx := t.Context()
	send := func(m client.Message) *client.Task {
		r, err := c.Send(ctx, m, client.SendOptions{})
		if err != nil || r.Task == nil {
			d.add("send", r, err)
			return nil
		}
		d.add("send", task(r.Task), err)
		return r.Task
	}
	stream := func(text string, each func(client.Event)) {
		for e, err := range c.Stream(ctx, client.Text(text), client.SendOptions{}) {
			d.add("event", []any{task(e.Task), e.State(), e.Artifact != nil && e.Artifact.LastChunk}, err)
			if each != nil {
				each(e)
			}
		}
	}
	done := send(client.Text("task-lifecycle"))
	got, err := c.Get(ctx, done.ID, nil)
	d.add("get", task(got), err)
	_, err = c.Get(ctx, "no-such-task", nil)
	d.add("get", nil, err)
	_, err = c.Cancel(ctx, done.ID, nil)
	d.add("cancel", nil, err)
	stream("streaming", nil)
	asked := send(client.Text("multi-turn"))
	for _, text := range []string{"more", "done"} {
		m := client.Text(text)
		m.TaskID, m.ContextID = asked.ID, asked.ContextID
		send(m)
		got, err := c.Get(ctx, asked.ID, nil)
		d.add("get", task(got), err)
	}
	stream("task-cancel", func(e client.Event) {
		if e.Status != nil && e.State() == client.Working {
			got, err := c.Cancel(ctx, e.Status.TaskID, nil)
			d.add("cancel", task(got), err)
		}
	})
	return d.lines
}

type way struct {
	agent    string
	protocol client.Protocol
}

// start starts the agent, which serves only the protocol of the way, and returns its URL.
func (w way) start(t testing.TB) string {
	return agenttest.Start(t, w.agent, refagent.Options{Bindings: []string{w.protocol.Binding}})
}

var ways = []way{
	{"spec", client.JSONRPC10},
	{"spec", client.REST10},
	{"spec", client.GRPC10},
	{"spec03", client.JSONRPC03},
	{"spec03", client.GRPC03},
	{"spec03-rest", client.REST03},
}

// A client observes what the recorded client observed, also on a second run.
func TestPlaybackGivesTheRecordedRun(t *testing.T) {
	for _, w := range ways {
		t.Run(w.agent+" "+w.protocol.String(), func(t *testing.T) {
			var was []string
			src := record(t, w.start(t),
				func(tapURL string) { was = talk(t, tapURL, w.protocol) })
			p, origin := perform(t, src, playback.Options{OnMiss: func(m playback.Miss) { t.Error(m) }})
			expect.Same(t, "what the client saw", was, talk(t, origin+"/"+w.agent, w.protocol))
			if r := p.Report(); r.Missed > 0 || len(r.Unused) > 0 || r.Served != r.Exchange {
				t.Errorf("%s; unused %v, misses %v", r.Verdict(), r.Unused, r.Misses)
			}
		})
	}
}

// In 1.0 a recording of one binding answers clients of another. The card offers that binding if the options say so.
func TestPlaybackChangesTheBinding(t *testing.T) {
	protocols := []client.Protocol{client.JSONRPC10, client.REST10, client.GRPC10}
	for _, from := range protocols {
		for _, to := range protocols {
			if from == to {
				continue
			}
			t.Run(from.Binding+" to "+to.Binding, func(t *testing.T) {
				var was []string
				src := record(t, way{"spec", from}.start(t), func(tapURL string) { was = talk(t, tapURL, from) })
				binding, _ := a2a.ParseBinding(to.Binding)
				p, origin := perform(t, src, playback.Options{Binding: binding})
				now := talk(t, origin+"/spec", to)
				card := must.Get(http.Get(origin + "/spec/.well-known/agent-card.json"))(t)
				card.Body.Close()
				http.DefaultTransport.(*http.Transport).CloseIdleConnections()
				if tag := card.Header.Get("ETag"); !strings.HasSuffix(tag, "-"+binding.String()+`"`) {
					t.Errorf("a card that offers something else has the tag %s", tag)
				}
				expect.Same(t, "what the client saw", kinds(was), kinds(now))
				if r := p.Report(); r.Missed > 0 {
					t.Errorf("%s; misses %v", r.Verdict(), r.Misses)
				}
			})
		}
	}
}

// kinds reduces errors to their reason: the client names its binding.
func kinds(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		what, refusal, _ := strings.Cut(l, " null ")
		out[i] = what + " " + reason.FindString(refusal)
	}
	return out
}

var reason = regexp.MustCompile(`TASK_NOT_\w+`)

// An unmatched request gets an error of its binding and an explanation.
func TestPlaybackExplainsMisses(t *testing.T) {
	for _, w := range ways {
		t.Run(w.agent+" "+w.protocol.String(), func(t *testing.T) {
			src := record(t, w.start(t), func(tapURL string) {
				c := connect(t, tapURL, w.protocol)
				send(t, c, "task-lifecycle")
			})
			var misses []playback.Miss
			p, origin := perform(t, src,
				playback.Options{Match: playback.ByValue, OnMiss: func(m playback.Miss) { misses = append(misses, m) }})
			c := connect(t, origin+"/"+w.agent, w.protocol)
			_, err := c.Send(t.Context(), client.Text("something else"), client.SendOptions{})
			if _, ok := err.(*client.Error); !ok {
				t.Errorf("a message that was not recorded: %v; want a refusal of the agent", err)
			}
			if _, err = c.Get(t.Context(), "t-1", nil); err == nil {
				t.Error("an operation that was not recorded was answered")
			}
			if len(misses) != 2 {
				t.Fatalf("misses %v; want 2", misses)
			}
			at := "/message/parts/0/text"
			if w.protocol == client.GRPC03 { // whose definition uses other names
				at = "/message/content/0/text"
			}
			change := []compare.Change{{Pointer: at, Was: `"task-lifecycle"`, Now: `"something else"`}}
			if diff := cmp.Diff(change, misses[0].Changes); diff != "" || misses[0].Nearest != 2 {
				t.Errorf("nearest %d, changes (-want +got):\n%s", misses[0].Nearest, diff)
			}
			if got := misses[1].String(); !strings.Contains(got, "GetTask") ||
				!strings.Contains(got, "GetAgentCard, SendMessage") {
				t.Errorf("miss %q does not name what there is", got)
			}
			if r := p.Report(); r.Missed != 2 || r.Used != 1 || len(r.Unused) != 1 || r.Unused[0].Operation != "SendMessage" {
				t.Errorf("report %+v", r)
			}
		})
	}
}

// Answers about a task depend on earlier operations on it, however often the client asks.
func TestPlaybackKeepsStates(t *testing.T) {
	src := record(t, agenttest.Start(t, "spec", refagent.Options{}), func(tapURL string) {
		c := connect(t, tapURL, client.JSONRPC10)
		r := send(t, c, "multi-turn")
		for range 3 {
			expect.OK(t, expect.Err(c.Get(t.Context(), r.ID, nil)))
		}
		expect.OK(t, expect.Err(c.Cancel(t.Context(), r.ID, nil)))
		expect.OK(t, expect.Err(c.Get(t.Context(), r.ID, nil)))
	})
	get := func(t *testing.T, c *client.Client, id string, want client.State) {
		t.Helper()
		expect.Equal(t, "", want, must.Get(c.Get(t.Context(), id, nil))(t).Status.State)
	}
	for name, polls := range map[string]int{"fewer": 1, "more": 7} {
		t.Run(name, func(t *testing.T) {
			_, origin := perform(t, src, playback.Options{})
			c := connect(t, origin+"/spec", client.JSONRPC10)
			r := send(t, c, "multi-turn")
			for range polls {
				get(t, c, r.ID, client.InputRequired)
			}
			expect.OK(t, expect.Err(c.Cancel(t.Context(), r.ID, nil)))
			get(t, c, r.ID, client.Canceled)
		})
	}
	t.Run("used up", func(t *testing.T) {
		_, origin := perform(t, src, playback.Options{UsedUp: playback.Refuse})
		c := connect(t, origin+"/spec", client.JSONRPC10)
		for i, ok := range []bool{true, false} {
			if _, err := c.Send(t.Context(), client.Text("multi-turn"), client.SendOptions{}); (err == nil) != ok {
				t.Errorf("request %d: %v; want an answer: %t", i+1, err, ok)
			}
		}
	})
}

// An exchange does not wait for operations on its task in exchanges that are not played.
func TestPlaybackOfSomeExchanges(t *testing.T) {
	var id string
	src := record(t, agenttest.Start(t, "spec", refagent.Options{}), func(tapURL string) {
		c := connect(t, tapURL, client.JSONRPC10)
		id = send(t, c, "multi-turn").ID
		expect.OK(t, expect.Err(c.Cancel(t.Context(), id, nil)))
		expect.OK(t, expect.Err(c.Get(t.Context(), id, nil)))
	})
	_, origin := perform(t, src, playback.Options{Keep: func(x *capture.Exchange) bool {
		o := reading.Read(x).Call.Operation
		return o == a2a.GetCard || o == a2a.GetTask
	}})
	task := must.Get(connect(t, origin+"/spec", client.JSONRPC10).Get(t.Context(), id, nil))(t)
	expect.Equal(t, "state", client.Canceled, task.Status.State)
}

// The client receives the context that it chose.
func TestPlaybackAnswersWithTheClientsContext(t *testing.T) {
	talk := func(agentURL, contextID string) (string, error) {
		m := client.Text("task-lifecycle")
		m.ContextID = contextID
		r, err := connect(t, agentURL, client.JSONRPC10).Send(t.Context(), m, client.SendOptions{})
		if err != nil {
			return "", err
		}
		return r.Task.ContextID, nil
	}
	src := record(t, agenttest.Start(t, "spec", refagent.Options{}), func(tapURL string) {
		expect.OK(t, expect.Err(talk(tapURL, "recorded-context-1")))
	})
	_, origin := perform(t, src, playback.Options{})
	for _, id := range []string{"live-context-1", "live-context-2", "live-context-1"} {
		expect.Equal(t, "context", id, must.Get(talk(origin+"/spec", id))(t))
	}
}

// Events keep their recorded pace. A stream can be cut; the cut is counted and marked.
func TestPlaybackStreams(t *testing.T) {
	t.Parallel()
	const step = 30 * time.Millisecond
	src := record(t, agenttest.Start(t, "spec", refagent.Options{StepTime: step}), func(tapURL string) {
		for _, err := range connect(t, tapURL, client.JSONRPC10).Stream(t.Context(), client.Text("streaming"),
			client.SendOptions{}) {
			expect.OK(t, err)
		}
	})
	m, verdict := &marks{}, ""
	stream := func(o playback.Options) (events int, spent time.Duration, err error) {
		o.OnRequest = m.request
		p, origin := perform(t, src, o)
		defer func() {
			r := p.Report()
			verdict = r.Verdict()
		}()
		c := connect(t, origin+"/spec", client.JSONRPC10)
		begun := time.Now()
		for _, err = range c.Stream(t.Context(), client.Text("streaming"), client.SendOptions{}) {
			if err != nil {
				break
			}
			events++
		}
		return events, time.Since(begun), err
	}
	if n, spent, err := stream(playback.Options{Speed: 1}); n != 7 || err != nil || spent < 3*step*9/10 {
		t.Errorf("at the recorded speed: %d events in %s, %v; want 7 in at least %s", n, spent, err, 3*step)
	}
	if n, _, err := stream(playback.Options{}); n != 7 || err != nil {
		t.Errorf("without pauses: %d events, %v; want 7", n, err)
	}
	if n, _, err := stream(playback.Options{BreakAfter: 3}); n != 3 || err == nil {
		t.Errorf("cut after 3: %d events, %v; want 3 and an error", n, err)
	}
	if diff := cmp.Diff([]string{"fault made here: the stream was cut after 3 events"}, m.take()); diff != "" ||
		!strings.Contains(verdict, "injected faults: 1 streams cut") {
		t.Errorf("%s; marks (-want +got):\n%s", verdict, diff)
	}
}
