package replay_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/client/auth"
	"a2atap/replay/compare"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
	"a2atap/replay/report"
)

// A live agent that is slower than the recorded one is polled until it reaches the recorded state.
func TestReplayPolls(t *testing.T) {
	t.Parallel()
	for _, w := range refWays {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			name, _, _ := strings.Cut(w.name, " ")
			polls := 0
			src := record(t, w.start(t), func(tapURL string) {
				c := agenttest.Connect(t, tapURL, w.protocol, client.Options{})
				id := must.Get(c.Send(t.Context(), client.Text("streaming"), client.SendOptions{ReturnImmediately: true}))(t).Task.ID
				for ended := false; !ended; polls++ {
					ended = must.Get(c.Get(t.Context(), id, nil))(t).Status.State.Terminal()
				}
			})
			r := play(t, src, startLaggard(t, name, polls+1), replay.Options{})
			wantSame(t, r)
			if last := r.Lines[len(r.Lines)-1]; last.Requests < 2 {
				t.Errorf("the last poll was sent %d times; the agent cannot have been ready at once", last.Requests)
			}
			r = play(t, src, startLaggard(t, name, math.MaxInt), replay.Options{Timeout: time.Second})
			if len(r.Differences) != 1 || r.Differences[0].Kind != compare.DifferentState {
				t.Errorf("the agent is never ready, and yet: %s %v", r.Verdict(), r.Differences)
			}
		})
	}
}

// startLaggard runs a reference agent that answers the first polls of a task as if it still worked.
func startLaggard(t *testing.T, name string, answers int) string {
	t.Helper()
	inner := must.Get(refagent.New(name, refagent.Options{StepTime: time.Millisecond, Push: true}))(t)
	var asked atomic.Int64
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		get := r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/tasks/") ||
			bytes.Contains(body, []byte(`"GetTask"`)) || bytes.Contains(body, []byte(`"tasks/get"`))
		if !get || asked.Add(1) > int64(answers) {
			inner.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		inner.ServeHTTP(answer, r)
		text := strings.NewReplacer("TASK_STATE_COMPLETED", "TASK_STATE_WORKING", `"completed"`, `"working"`).Replace(
			answer.Body.String(),
		)
		maps.Copy(w.Header(), answer.Header())
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		w.WriteHeader(answer.Code)
		io.WriteString(w, text) //nolint:errcheck // a client that left is found by what it lacks
	}))
	t.Cleanup(func() {
		inner.Close()
		agent.Close()
	})
	return agent.URL + inner.Path()
}

// A client that left a stream leaves it again, after the same event. The agent sends nothing more until the task is
// canceled.
func TestReplayLeavesStreams(t *testing.T) {
	t.Parallel()
	agent := agenttest.Start(t, "spec", refagent.Options{CancelWait: time.Hour})
	src := record(t, agent, func(tapURL string) {
		c := agenttest.Connect(t, tapURL, client.JSONRPC10, client.Options{})
		for e, err := range c.Stream(t.Context(), client.Text("task-cancel please"), client.SendOptions{}) {
			must.Do(t, err)
			if e.State() == client.Working {
				break
			}
		}
	})
	kept := capture.NewMemory(capture.Info{Name: "replayed"})
	wantSame(t, play(t, src, agent, replay.Options{Sink: kept}))
	was, now := lastExchange(t, src), lastExchange(t, kept)
	if len(was.Response.Events) != len(now.Response.Events) {
		t.Errorf("the recorded client left after %d events, the replay after %d", len(was.Response.Events),
			len(now.Response.Events))
	}
	if now.Fault == nil || now.Fault.Side != "client" || !now.Replayed {
		t.Errorf("the replayed exchange has fault %+v, replayed %t; want one of the client, true", now.Fault, now.Replayed)
	}
}

func lastExchange(t testing.TB, src capture.Source) (last *capture.Exchange) {
	t.Helper()
	for x, err := range src.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		last = x
	}
	return last
}

// Overlapping exchanges overlap again: an agent that answers none before all have arrived can complete.
func TestReplayIsConcurrent(t *testing.T) {
	t.Parallel()
	const clients = 8
	inner := must.Get(refagent.New("spec", refagent.Options{StepTime: time.Millisecond}))(t)
	defer inner.Close()
	var mu sync.Mutex
	waiting, gate := 0, make(chan struct{})
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			mu.Lock()
			open := gate
			if waiting++; waiting == clients {
				waiting, gate = 0, make(chan struct{})
				close(open)
			}
			mu.Unlock()
			select {
			case <-open:
			case <-r.Context().Done():
			}
		}
		inner.ServeHTTP(w, r)
	}))
	defer agent.Close()
	src := record(t, agent.URL+inner.Path(), func(tapURL string) {
		c := agenttest.Connect(t, tapURL, client.JSONRPC10, client.Options{})
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				expect.OK(t, expect.Err(c.Send(t.Context(), client.Text("task-lifecycle"), client.SendOptions{})))
			})
		}
		group.Wait()
	})
	wantSame(t, play(t, src, agent.URL+inner.Path(), replay.Options{}))
}

// Credentials replace the recording's placeholders. Without credentials, the header is omitted and the report says
// so.
func TestReplayPutsCredentials(t *testing.T) {
	t.Parallel()
	inner := must.Get(refagent.New("spec", refagent.Options{StepTime: time.Millisecond}))(t)
	defer inner.Close()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Authorization") != "Bearer s3cret" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer agent.Close()
	src := record(t, agent.URL+inner.Path(), func(tapURL string) {
		c := agenttest.Connect(t, tapURL, client.JSONRPC10, client.Options{Token: "s3cret"})
		must.Get(c.Send(t.Context(), client.Text("task-lifecycle"), client.SendOptions{}))(t)
	})
	if x := lastExchange(t, src); sentBy(x, "s3cret") {
		t.Fatalf("the recording holds the token: %s", x.Request.Head)
	}
	wantSame(t, play(t, src, agent.URL+inner.Path(), replay.Options{Authorize: auth.Bearer("s3cret")}))
	r := play(t, src, agent.URL+inner.Path(), replay.Options{})
	if len(r.Differences) == 0 || r.Differences[0].Kind != compare.DifferentOutcome ||
		!strings.Contains(strings.Join(r.Notes, "\n"), "Authorization") {
		t.Errorf("without credentials: %s, notes %q, %v", r.Verdict(), r.Notes, r.Differences)
	}
}

// The recorded traffic is an ordinary capture, and can be checked and replayed itself.
func TestReplayKeepsTraffic(t *testing.T) {
	t.Parallel()
	agent := agenttest.Start(t, "spec", refagent.Options{})
	src := record(t, agent, twoTasks(t, client.REST10))
	kept := capture.NewMemory(capture.Info{Name: "replayed"})
	wantSame(t, play(t, src, agent, replay.Options{Sink: kept}))
	must.Do(t, kept.Close())
	result, err := engine.Run(t.Context(), rules.All, kept, nil)
	if err != nil || len(result.Findings) > 0 || result.Counts.Judged == 0 {
		t.Errorf("the kept traffic: %d judged, findings %v, %v", result.Counts.Judged, result.Findings, err)
	}
	wantSame(t, play(t, kept, agent, replay.Options{}))
}

// A sink that fails does not disturb the replay; the error says that the traffic was not recorded.
func TestReplaySinkFails(t *testing.T) {
	t.Parallel()
	agent := agenttest.Start(t, "spec", refagent.Options{})
	src := record(t, agent, twoTasks(t, client.REST10))
	closed := capture.NewMemory(capture.Info{})
	must.Do(t, closed.Close())
	r, err := replay.Run(t.Context(), src, agent, replay.Options{Sink: closed})
	expect.ErrorHas(t, "error", "record the replayed traffic", err)
	wantSame(t, r)
}

func TestReplayErrors(t *testing.T) {
	agent := agenttest.Start(t, "spec", refagent.Options{})
	src := record(t, agent, twoTasks(t, client.JSONRPC10))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	deaf := "http://" + l.Addr().String()
	l.Close()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	two := edited(t, src, func(x *capture.Exchange) {
		if x.Seq == 3 {
			x.Agent.Name = "planner"
		}
	})
	tests := []struct {
		name string
		ctx  context.Context
		src  capture.Source
		to   string
		o    replay.Options
		want string
	}{
		{"unreachable", t.Context(), src, deaf, replay.Options{}, "reach the agent at " + deaf},
		{"no URL", t.Context(), src, "127.0.0.1", replay.Options{}, "invalid agent URL"},
		{"profile", t.Context(), src, agent, replay.Options{Profile: "strict"}, "use protocol, shape or exact"},
		{"several agents", t.Context(), two, agent, replay.Options{}, "booker, planner"},
		{"canceled", canceled, src, agent, replay.Options{}, "canceled"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := replay.Run(test.ctx, test.src, test.to, test.o)
			expect.ErrorHas(t, "error", test.want, err)
		})
	}
	if _, err := replay.Run(t.Context(), two, agent, replay.Options{}); !errors.Is(err, replay.ErrSeveralAgents) {
		t.Errorf("error %v is not ErrSeveralAgents", err)
	}
}

// An empty capture proves nothing, and neither does one without chosen exchanges.
func TestReplayOfNothing(t *testing.T) {
	t.Parallel()
	src := record(t, agenttest.Start(t, "spec", refagent.Options{}), twoTasks(t, client.JSONRPC10))
	for name, r := range map[string]*report.Report{
		"empty":  play(t, capture.NewMemory(capture.Info{}), "http://127.0.0.1:1", replay.Options{}),
		"chosen": play(t, src, "http://127.0.0.1:1", replay.Options{Keep: func(*capture.Exchange) bool { return false }}),
	} {
		if r.Same() || r.Sent != 0 || !strings.Contains(r.Verdict(), "inconclusive") {
			t.Errorf("%s: %s", name, r.Verdict())
		}
	}
}

// With Wait, the agent may start to listen later.
func TestReplayWaits(t *testing.T) {
	inner := must.Get(refagent.New("spec", refagent.Options{StepTime: time.Millisecond}))(t)
	defer inner.Close()
	src := record(t, agenttest.Start(t, "spec", refagent.Options{}), twoTasks(t, client.JSONRPC10))
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	addr := l.Addr().String()
	l.Close()
	done := make(chan struct{})
	server := &http.Server{Handler: inner}
	go func() {
		defer close(done)
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Error(err)
			return
		}
		expect.ErrorIs(t, "", http.ErrServerClosed, server.Serve(l))
	}()
	wantSame(t, play(t, src, "http://"+addr+inner.Path(), replay.Options{Wait: 5 * time.Second}))
	server.Close()
	<-done
}

// The replay follows the card of an agent that has moved its interfaces.
func TestReplayFollowsTheCard(t *testing.T) {
	t.Parallel()
	src := record(t, agenttest.Start(t, "spec", refagent.Options{}), twoTasks(t, client.REST10))
	inner := must.Get(refagent.New("spec", refagent.Options{StepTime: time.Millisecond}))(t)
	defer inner.Close()
	mux := http.NewServeMux()
	mux.Handle("/moved/to/here/", http.StripPrefix("/moved/to/here", rewriteCard(inner, "/moved/to/here")))
	agent := httptest.NewServer(mux)
	defer agent.Close()
	wantSame(t, play(t, src, agent.URL+"/moved/to/here"+inner.Path(), replay.Options{}))
}

// rewriteCard prefixes the paths in the agent's card.
func rewriteCard(h http.Handler, prefix string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !a2a.IsCardPath(r.URL.EscapedPath()) {
			h.ServeHTTP(w, r)
			return
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		body := strings.ReplaceAll(rec.Body.String(), "http://"+r.Host, "http://"+r.Host+prefix)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("ETag", `"moved"`)
		if _, err := w.Write([]byte(body)); err != nil {
			panic(err)
		}
	})
}

// An answer that the card has not changed equals one that contains the card: its tag has no meaning for another
// agent.
func TestReplayOfConditionalCards(t *testing.T) {
	t.Parallel()
	agent := agenttest.Start(t, "spec", refagent.Options{})
	src := record(t, agent, func(tapURL string) {
		tag := ""
		for i, want := range []int{http.StatusOK, http.StatusNotModified} {
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, tapURL+"/.well-known/agent-card.json", nil))(t)
			if tag != "" {
				r.Header.Set("If-None-Match", tag)
			}
			transport := &http.Transport{DisableKeepAlives: true}
			res := must.Get(transport.RoundTrip(r))(t)
			res.Body.Close()
			if tag = res.Header.Get("ETag"); res.StatusCode != want {
				t.Errorf("fetch %d: status %d, want %d", i+1, res.StatusCode, want)
			}
		}
	})
	wantSame(t, play(t, src, agent, replay.Options{}))
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-None-Match")
		res := must.Get(http.Get(agent + "/.well-known/agent-card.json"))(t)
		defer res.Body.Close()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("ETag", `"another"`)
		expect.OK(t, expect.Err(io.Copy(w, res.Body)))
	}))
	defer other.Close()
	wantSame(t, play(t, src, other.URL, replay.Options{}))
	http.DefaultClient.CloseIdleConnections()
}
