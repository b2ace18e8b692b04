package playback_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/unreachable"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/playback"
	"a2atap/replay/refagent"
)

func forwardTo(t testing.TB, agentURL string) *playback.Forward {
	t.Helper()
	return playback.NewForward(must.Get(url.Parse(agentURL))(t), nil)
}

// The live agent answers unmatched requests, whatever their path; the others get the recorded answers.
func TestForward(t *testing.T) {
	for _, w := range ways {
		t.Run(w.agent+" "+w.protocol.String(), func(t *testing.T) {
			src := lifecycle(t, w)
			m, n := &marks{}, newTold()
			p, origin := perform(t, src, playback.Options{
				Forward:   forwardTo(t, w.start(t)),
				OnMiss:    func(m playback.Miss) { t.Error(m) },
				OnRequest: m.request, OnNotice: n.notice,
			})
			c := connect(t, origin+"/"+w.agent, w.protocol)
			r := send(t, c, "hello")
			if got := m.take(); len(got) > 0 {
				t.Errorf("marks of what is played: %q", got)
			}
			var live string
			events := 0
			for e, err := range c.Stream(t.Context(), client.Text("streaming"), client.SendOptions{}) {
				must.Do(t, err)
				if e.Task != nil {
					live = e.Task.ID
				}
				events++
			}
			if events < 3 || live == "" {
				t.Fatalf("%d events of task %q", events, live)
			}
			const mark = "playback: answered by the live agent at http://127.0.0.1:"
			if got := m.take(); len(got) != 1 || !strings.HasPrefix(got[0], mark) {
				t.Errorf("marks %q", got)
			}
			if got := n.take(); len(got) > 0 {
				t.Errorf("notices %q", got)
			}
			expect.Equal(t, "the live agent's task",
				client.Completed, must.Get(c.Get(t.Context(), live, nil))(t).Status.State)
			// The live agent does not know the task of the recording.
			var refused *client.Error
			if _, err := c.Cancel(t.Context(), r.ID, nil); !errors.As(err, &refused) {
				t.Errorf("the recorded task at the live agent: %v", err)
			}
			got := n.take()
			if len(got) != 1 || !strings.Contains(got[0], "CancelTask about task "+r.ID) ||
				!strings.Contains(got[0], "from the recording") {
				t.Errorf("notices %q", got)
			}
			if r := p.Report(); r.Forwarded != 3 || r.Missed > 0 || !strings.Contains(r.Verdict(), "; 3 forwarded") {
				t.Errorf("%s", r.Verdict())
			}
		})
	}
}

// The live agent gets the request unmodified, and the client the answer: each piece on arrival, byte for byte.
func TestForwardPassesAtOnce(t *testing.T) {
	seen := make(chan struct{})
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"any": "body" }` || r.URL.Path != "/live/v1/odd path" ||
			r.URL.RawQuery != "a=%20b" || r.Header.Get("X-Own") != "1" || r.Header.Get("Connection") != "" ||
			r.Header.Get("Accept-Encoding") != "" || r.Header.Get("User-Agent") != "" || r.Method != http.MethodPut {
			t.Errorf("the live agent got %s %s %v %q, %v", r.Method, r.URL, r.Header, body, err)
		}
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("X-Answer", "yes")
		w.Header()["Content-Type"] = nil
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "first\r\n") //nolint:errcheck // the client tells
		http.NewResponseController(w).Flush()
		<-seen
		io.WriteString(w, "\x00second") //nolint:errcheck // the client tells
		w.Header().Set("X-Sum", "sum")
	}))
	defer live.Close()
	u := must.Get(url.Parse(live.URL + "/live"))(t)
	_, origin := perform(t, lifecycle(t, way{"spec", client.JSONRPC10}), playback.Options{
		Forward: &playback.Forward{URL: u, Transport: &http.Transport{DisableCompression: true}},
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, origin+"/spec/v1/odd%20path?a=%20b",
		strings.NewReader(`{"any": "body" }`))
	must.Do(t, err)
	req.Header.Set("X-Own", "1")
	req.Header.Set("User-Agent", "")
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	res := must.Get(transport.RoundTrip(req))(t)
	defer res.Body.Close()
	first := make([]byte, 7)
	if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "first\r\n" {
		t.Errorf("first %q, %v", first, err)
	}
	close(seen)
	rest, err := io.ReadAll(res.Body)
	if err != nil || string(rest) != "\x00second" || res.StatusCode != http.StatusTeapot ||
		res.Header.Get("X-Answer") != "yes" || res.Header["Content-Type"] != nil || res.Trailer.Get("X-Sum") != "sum" {
		t.Errorf("%d %v %q, trailer %v, %v", res.StatusCode, res.Header, rest, res.Trailer, err)
	}
}

// A card from the live agent points to the player, so that its traffic passes through the player.
func TestForwardedCardLeadsBack(t *testing.T) {
	agent := agenttest.Start(t, "spec", refagent.Options{})
	p, origin := perform(t, capture.NewMemory(capture.Info{}), playback.Options{Forward: forwardTo(t, agent)})
	c := connect(t, origin, client.JSONRPC10)
	send(t, c, "task-lifecycle")
	if r := p.Report(); r.Forwarded != 2 {
		t.Errorf("%s; want the card and the message", r.Verdict())
	}
}

// An unreachable live agent is reported to the client in its protocol.
func TestForwardToNobody(t *testing.T) {
	gone := "http://" + unreachable.Address(t)
	for _, w := range ways {
		t.Run(w.agent+" "+w.protocol.String(), func(t *testing.T) {
			n := newTold()
			p, origin := perform(t, lifecycle(t, w), playback.Options{
				Forward: forwardTo(t, gone), OnNotice: n.notice,
			})
			c := connect(t, origin+"/"+w.agent, w.protocol)
			var refused *client.Error
			_, err := c.Cancel(t.Context(), "other", nil)
			if !errors.As(err, &refused) || !strings.Contains(refused.Message, gone+" could not be reached") {
				t.Errorf("%v; want a refusal that says who is not there", err)
			}
			if got := n.take(); len(got) != 1 || !strings.Contains(got[0], "connection refused") {
				t.Errorf("notices %q", got)
			}
			if r := p.Report(); r.Forwarded != 0 || r.Missed != 1 {
				t.Errorf("%s", r.Verdict())
			}
		})
	}
}

// If the live agent uses an id of the recording for its task, requests about the id go to the live agent.
func TestForwardToAnAgentWithTheSameIDs(t *testing.T) {
	ids := func() func() string {
		n := 0
		return func() string { n++; return "id-" + string(rune('a'+n)) }
	}
	src := record(t, agenttest.Start(t, "spec", refagent.Options{NewID: ids()}), func(tapURL string) {
		c := connect(t, tapURL, client.JSONRPC10)
		expect.OK(t, expect.Err(c.Get(t.Context(), send(t, c, "task-lifecycle").ID, nil)))
	})
	n := newTold()
	p, origin := perform(t, src, playback.Options{
		Match: playback.ByValue, OnNotice: n.notice,
		Forward: forwardTo(t, agenttest.Start(t, "spec", refagent.Options{NewID: ids()})),
	})
	c := connect(t, origin+"/spec", client.JSONRPC10)
	r := send(t, c, "multi-turn") // another text: forwarded
	expect.Equal(t, "", client.InputRequired, must.Get(c.Get(t.Context(), r.ID, nil))(t).Status.State)
	if got := n.take(); len(got) != 1 || !strings.Contains(got[0], "both have a task "+r.ID) {
		t.Errorf("notices %q; %s", got, p.Report().Misses)
	}
}
