package replay_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

// A said is one request to a scripted agent, with its response writer.
type said struct {
	http.ResponseWriter
	r    *http.Request
	id   json.RawMessage
	body string
}

// Unwrap lets a response controller flush.
func (s *said) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// result answers with a JSON-RPC result.
func (s *said) result(text string) {
	s.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(s, `{"jsonrpc":"2.0","id":%s,"result":%s}`, s.id, text)
}

// event sends results as events of a stream.
func (s *said) event(texts ...string) {
	for _, text := range texts {
		s.write(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", s.id, text))
	}
}

// write sends a piece of a stream.
func (s *said) write(text string) {
	s.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(s, text) //nolint:errcheck // a client that left is what some tests are about
	http.NewResponseController(s.ResponseWriter).Flush()
}

// ping sends comments and empty events until the client has left.
func (s *said) ping() {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.r.Context().Done():
			return
		case <-tick.C:
			s.write(": ping - now\n\nevent: ping\n\n")
		}
	}
}

// A script is an agent's behavior, by JSON-RPC method.
type script map[string]func(s *said)

// startScript runs a scripted agent until the test ends, and returns its URL.
func startScript(t testing.TB, does script) string {
	t.Helper()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // net/http notices a client's disconnect only after this
		expect.OK(t, err)
		var asked struct {
			ID     json.RawMessage
			Method string
		}
		if asked.Method = r.Method; r.Method == http.MethodPost {
			expect.OK(t, json.Unmarshal(body, &asked))
		}
		if does[asked.Method] == nil {
			http.Error(w, "unknown", http.StatusNotFound)
			return
		}
		does[asked.Method](&said{w, r, asked.ID, string(body)})
	}))
	t.Cleanup(agent.Close)
	return agent.URL
}

// call posts a request of 1.0 and returns the answer, to be closed.
func call(t testing.TB, to, method, params string) *http.Response {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(body)))(t)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	return must.Get((&http.Transport{DisableKeepAlives: true}).RoundTrip(r))(t)
}

// ask calls, and reads the whole answer.
func ask(t testing.TB, to, method, params string) {
	t.Helper()
	res := call(t, to, method, params)
	defer res.Body.Close()
	must.Get(io.ReadAll(res.Body))(t)
}

// readAndLeave calls, and leaves the stream after the given number of events.
func readAndLeave(t testing.TB, to, method, params string, events int) {
	t.Helper()
	res := call(t, to, method, params)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for events > 0 && lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data:") {
			events--
		}
	}
}

const (
	hello = `{"message":{"role":"ROLE_USER","messageId":"m1","parts":[{"text":"hello"}]}}`
	theID = `{"id":"task-00000001"}`
)

// taskIn is a snapshot of the only task of these tests, with its artifacts as JSON.
func taskIn(state, artifacts string) string {
	return fmt.Sprintf(`{"id":"task-00000001","contextId":"ctx-00000001","status":{"state":"TASK_STATE_%s"},`+
		`"artifacts":[%s]}`, state, artifacts)
}

func snapshot(state string) string { return `{"task":` + taskIn(state, "") + `}` }

func status(state string) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"task-00000001","contextId":"ctx-00000001",`+
		`"status":{"state":"TASK_STATE_%s"}}}`, state)
}

func chunk(text string, last bool) string {
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":"task-00000001","contextId":"ctx-00000001","append":true,`+
		`"lastChunk":%t,"artifact":{"artifactId":"a1","parts":[{"text":%q}]}}}`, last, text)
}

// within replays; the test fails if the replay does not end by itself.
func within(t testing.TB, src capture.Source, to string, o replay.Options) *report.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	return must.Get(replay.Run(ctx, src, to, o))(t)
}

// No agent keeps a replay from ending: not with pings, a slow answer, or repeated events.
func TestReplayEnds(t *testing.T) {
	t.Parallel()
	src := record(t, startScript(t, script{"SendStreamingMessage": func(s *said) {
		s.write(": ping\n\n")
		s.event(snapshot("SUBMITTED"), status("WORKING"), status("COMPLETED"))
	}}), func(tapURL string) { ask(t, tapURL, "SendStreamingMessage", hello) })
	for name, does := range map[string]func(s *said){
		"pings at once":    func(s *said) { s.ping() },
		"pings in between": func(s *said) { s.event(snapshot("SUBMITTED"), status("WORKING")); s.ping() },
		"pings at the end": func(s *said) {
			s.event(snapshot("SUBMITTED"), status("WORKING"), status("COMPLETED"))
			s.ping()
		},
		"repeats": func(s *said) {
			for s.event(snapshot("SUBMITTED")); s.r.Context().Err() == nil; {
				s.event(status("WORKING"))
			}
		},
		"drips": func(s *said) {
			for s.Header().Set("Content-Type", "application/json"); s.r.Context().Err() == nil; {
				fmt.Fprint(s, " ")
				http.NewResponseController(s.ResponseWriter).Flush()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := startScript(t, script{"SendStreamingMessage": does})
			r := within(t, src, to, replay.Options{Timeout: 300 * time.Millisecond})
			if len(r.Differences) == 0 || r.Differences[0].Kind != compare.DifferentEnd {
				t.Errorf("%s %v; want a difference in how it ended", r.Verdict(), r.Differences)
			}
		})
	}
}

// The replay leaves a stream at the recorded event, and sends the client's next request at once, however the agent
// splits its earlier chunks.
func TestReplayLeavesAtTheSameEvent(t *testing.T) {
	t.Parallel()
	upTo := func(events ...string) func(s *said) {
		return func(s *said) { s.event(events...); s.ping() }
	}
	tests := []struct {
		name     string
		method   string
		recorded []string
		now      []string
	}{
		{
			"same", "SendStreamingMessage",
			[]string{snapshot("SUBMITTED"), status("WORKING")},
			[]string{snapshot("SUBMITTED"), status("WORKING")},
		},
		{"at its beginning", "SendStreamingMessage", nil, nil},
		{
			"working at once", "SendStreamingMessage",
			[]string{snapshot("SUBMITTED"), status("WORKING")},
			[]string{snapshot("WORKING")},
		},
		{
			"fewer chunks", "SendStreamingMessage",
			[]string{snapshot("WORKING"), chunk("a", false), chunk("b", false), chunk("c", true)},
			[]string{snapshot("WORKING"), chunk("abc", true)},
		},
		{
			"found further", "SubscribeToTask",
			[]string{snapshot("SUBMITTED"), status("WORKING")},
			[]string{snapshot("WORKING")},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			params := hello
			if test.method == "SubscribeToTask" {
				params = theID
			}
			agent := func(events []string, canceled *atomic.Int64) string {
				return startScript(t, script{
					test.method:   upTo(events...),
					"SendMessage": func(s *said) { s.result(snapshot("SUBMITTED")) },
					"CancelTask": func(s *said) {
						canceled.Add(1)
						s.result(taskIn("CANCELED", ""))
					},
				})
			}
			var canceled atomic.Int64
			src := record(t, agent(test.recorded, &canceled), func(tapURL string) {
				ask(t, tapURL, "SendMessage", `{"message":{"role":"ROLE_USER","messageId":"m0","parts":[{"text":"go"}]},`+
					`"configuration":{"returnImmediately":true}}`)
				readAndLeave(t, tapURL, test.method, params, len(test.recorded))
				ask(t, tapURL, "CancelTask", theID)
			})
			r := within(t, src, agent(test.now, &canceled), replay.Options{Timeout: time.Hour})
			wantSame(t, r)
			expect.Equal(t, "the agents were asked to cancel", 2, canceled.Load())
		})
	}
}

// An agent may begin with "working" instead of "submitted", or the other way round.
func TestReplayOfFirstSnapshots(t *testing.T) {
	t.Parallel()
	late := []string{snapshot("SUBMITTED"), status("WORKING"), chunk("a", true), status("COMPLETED")}
	early := []string{snapshot("WORKING"), chunk("a", true), status("COMPLETED")}
	repeats := []string{snapshot("WORKING"), status("WORKING"), chunk("a", true), status("COMPLETED")}
	runs := map[string][]string{"late": late, "early": early, "repeats": repeats}
	agent := func(events []string) string {
		return startScript(t, script{"SendStreamingMessage": func(s *said) { s.event(events...) }})
	}
	for was, recorded := range runs {
		src := record(t, agent(recorded), func(tapURL string) { ask(t, tapURL, "SendStreamingMessage", hello) })
		for is, now := range runs {
			if was != is && (was == "early" && is == "repeats" || was == "repeats" && is == "early") {
				continue // one sends "working" twice: an additional event
			}
			r := within(t, src, agent(now), replay.Options{})
			if !r.Same() {
				t.Errorf("recorded %s, now %s: %s %v", was, is, r.Verdict(), r.Differences)
			}
		}
	}
}

// Tasks of two concurrent requests may be listed in either order, even before the requests are answered.
func TestReplayOfListsInAnotherOrder(t *testing.T) {
	t.Parallel()
	task := func(name string) string {
		return fmt.Sprintf(`{"id":"task-%s","contextId":"ctx-%[1]s","status":{"state":"TASK_STATE_COMPLETED"}}`, name)
	}
	// Both sends are answered after the list: without the test's help, or when the test allows it.
	agent := func(run, first, second string, byItself bool) (url string, arrived chan bool, answer func()) {
		arrived, listed := make(chan bool, 2), make(chan struct{})
		answer = sync.OnceFunc(func() { close(listed) })
		return startScript(t, script{
			"SendMessage": func(s *said) {
				arrived <- true
				<-listed
				name := "b"
				if strings.Contains(s.body, "make a") {
					name = "a"
				}
				s.result(`{"task":` + task(name+run) + `}`)
			},
			"ListTasks": func(s *said) {
				s.result(`{"tasks":[` + task(first+run) + "," + task(second+run) + `],"nextPageToken":"","pageSize":50,"totalSize":2}`)
				if byItself {
					http.NewResponseController(s.ResponseWriter).Flush()
					answer()
				}
			},
		}), arrived, answer
	}
	recorded, arrived, answer := agent("1", "a", "b", false)
	src := record(t, recorded, func(tapURL string) {
		defer answer()
		var sends sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			sends.Go(func() { ask(t, tapURL, "SendMessage", strings.Replace(hello, "hello", "make "+name, 1)) })
			<-arrived
		}
		ask(t, tapURL, "ListTasks", `{}`)
		answer()
		sends.Wait()
	})
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		live, _, _ := agent("2", order[0], order[1], true)
		wantSame(t, within(t, src, live, replay.Options{Profile: compare.Shape}))
	}
}

// A list requested right after a send is requested again until it shows the recorded tasks.
func TestReplayOfListsSettles(t *testing.T) {
	t.Parallel()
	agent := func(lists ...string) string {
		var asked atomic.Int64
		return startScript(t, script{
			"SendMessage": func(s *said) { s.result(snapshot("SUBMITTED")) },
			"ListTasks": func(s *said) {
				n := min(int(asked.Add(1)), len(lists))
				s.result(fmt.Sprintf(`{"tasks":[%s],"nextPageToken":"","pageSize":50,"totalSize":1}`, lists[n-1]))
			},
		})
	}
	src := record(t, agent(taskIn("COMPLETED", "")), func(tapURL string) {
		ask(t, tapURL, "SendMessage", hello)
		ask(t, tapURL, "ListTasks", `{}`)
	})
	r := within(t, src, agent("", taskIn("WORKING", ""), taskIn("COMPLETED", "")), replay.Options{})
	wantSame(t, r)
	expect.Equal(t, "the list was asked for", 3, r.Lines[1].Requests)
	r = within(t, src, agent(taskIn("INPUT_REQUIRED", ""), taskIn("COMPLETED", "")), replay.Options{})
	if wantSame(t, r); r.Lines[1].Requests != 2 {
		t.Errorf("a task that waits for its client was listed %d times, want 2", r.Lines[1].Requests)
	}
	r = within(t, src, agent(taskIn("FAILED", "")), replay.Options{Timeout: time.Hour})
	if len(r.Differences) != 1 || r.Differences[0].Kind != compare.DifferentState {
		t.Errorf("another end: %s %v", r.Verdict(), r.Differences)
	}
	r = within(t, src, agent(taskIn("WORKING", "")), replay.Options{Timeout: 2 * time.Second})
	if len(r.Differences) != 1 || r.Differences[0].Kind != compare.DifferentState {
		t.Errorf("never ready: %s %v", r.Verdict(), r.Differences)
	}
}

// Faults of the recorded client are sent again, and are not a difference, even if only the live agent rejects them.
func TestReplayOfFaultyClients(t *testing.T) {
	t.Parallel()
	agent := func(security string) string {
		var to string
		to = startScript(t, script{
			"GET": func(s *said) {
				s.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(s,
					`{"name":"a","description":"d","version":"1","capabilities":{},"defaultInputModes":["text/plain"],`+
						`"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"s","description":"d","tags":["t"]}],`+
						`"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]%s}`, to, security)
			},
			"SendMessage": func(s *said) { s.result(snapshot("COMPLETED")) },
		})
		return to
	}
	src := record(t, agent(""), func(tapURL string) {
		res := must.Get(http.Get(tapURL + "/.well-known/agent-card.json"))(t)
		must.Get(io.ReadAll(res.Body))(t)
		res.Body.Close()
		ask(t, tapURL, "SendMessage", hello)
		http.DefaultClient.CloseIdleConnections()
	})
	guarded := agent(`,"securitySchemes":{"b":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},` +
		`"securityRequirements":[{"schemes":{"b":{"list":[]}}}]`)
	kept := capture.NewMemory(capture.Info{Name: "replayed"})
	for _, f := range play(t, src, guarded, replay.Options{Sink: kept}).Findings {
		expect.Equal(t, "the recorded client's: "+f.String(), a2a.Agent, f.Side)
	}
	must.Do(t, kept.Close())
	judged := must.Get(engine.Run(t.Context(), rules.All, kept, nil))(t)
	if !slices.ContainsFunc(judged.Findings, func(f analysis.Finding) bool { return f.Side == a2a.Client }) {
		t.Errorf("the client breaks no rule, and so proves nothing: %v", judged.Findings)
	}
}
