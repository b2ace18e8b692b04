package live_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/limits"
	"a2atap/replay/live"
)

// newTape returns a log, and the capture that it appends to.
func newTape() (*tape, *live.Log) {
	m := capture.NewMemory(capture.Info{})
	return &tape{m}, live.NewLog(0, m, nil)
}

type tape struct{ *capture.Memory }

func (p *tape) exchange(t *testing.T, n uint64) *capture.Exchange {
	t.Helper()
	return must.Get(p.Exchange(t.Context(), n))(t)
}

func newTransport(log *live.Log) *live.Transport {
	return &live.Transport{
		Log: log, Client: capture.Peer{Name: "c"},
		Agent: func(at *url.URL) capture.Peer { return capture.Peer{Name: "a", URL: at.Scheme + "://" + at.Host} },
	}
}

// agent gives each path a different answer.
func agent(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range []string{"one", "two"} {
			io.WriteString(w, "data: "+data+"\n\n")
			w.(http.Flusher).Flush()
		}
		if r.URL.RawQuery == "open" {
			<-r.Context().Done()
		}
	})
	mux.HandleFunc("GET /cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestTransportRecordsAnExchange(t *testing.T) {
	kept, log := newTape()
	c := &http.Client{Transport: newTransport(log)}
	res := must.Get(c.Post(agent(t).URL+"/echo", "application/json", strings.NewReader(`{"a":1}`)))(t)
	body, err := io.ReadAll(res.Body)
	if _, again := res.Body.Read(make([]byte, 1)); again != io.EOF {
		t.Errorf("after the end, reading on gives %v", again)
	}
	res.Body.Close()
	if err != nil || string(body) != `{"a":1}` {
		t.Fatalf("got %q, %v", body, err)
	}
	x := kept.exchange(t, 1)
	if head := string(x.Request.Head); !strings.HasPrefix(head, "POST /echo HTTP/1.1\r\nHost: ") ||
		!strings.Contains(head, "Content-Length: 7\r\n") || !strings.HasSuffix(head, "\r\n\r\n") {
		t.Errorf("the head of the request is %q", head)
	}
	if string(x.Request.Body.Data) != `{"a":1}` || string(x.Response.Body.Data) != `{"a":1}` {
		t.Errorf("bodies are %q and %q", x.Request.Body.Data, x.Response.Body.Data)
	}
	if !strings.HasPrefix(string(x.Response.Head), "HTTP/1.1 200 OK\r\n") || x.Fault != nil || !x.Replayed {
		t.Errorf("recorded %q, %v, replayed %v", x.Response.Head, x.Fault, x.Replayed)
	}
}

func TestTransportRecordsEvents(t *testing.T) {
	kept, log := newTape()
	c := &http.Client{Transport: newTransport(log)}
	agent := agent(t)
	res, err := c.Get(agent.URL + "/events")
	must.Do(t, err)
	must.Get(io.ReadAll(res.Body))(t)
	x := kept.exchange(t, 1)
	if len(x.Response.Events) != 2 || string(x.Response.Events[1].Raw) != "data: two\n\n" || x.Fault != nil {
		t.Errorf("events %v, %v", x.Response.Events, x.Fault)
	}

	res, err = c.Get(agent.URL + "/events?open") // does not end by itself
	must.Do(t, err)
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() && lines.Text() != "data: two" {
	}
	res.Body.Close()
	if x := kept.exchange(t, 2); x.Fault == nil || x.Fault.Kind != "client-left" {
		t.Errorf("left, and recorded %v", x.Fault)
	}
}

// Data beyond the limits is neither recorded nor passed on, however small it is on the wire.
func TestTransportHasLimits(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var out io.Writer = w
		if r.URL.Path == "/gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			out = z
		}
		if r.URL.Path != "/plain" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		for range 20_000 {
			if _, err := io.WriteString(out, "data: one\n\n"); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	for _, test := range []struct {
		path, flag string
		limits     limits.Limits
	}{
		{"/events", "--max-events", limits.Limits{Events: 100}},
		{"/gzip", "--max-events", limits.Limits{Events: 100}},
		{"/events", "--max-answer", limits.Limits{Answer: 1000}},
		{"/gzip", "--max-answer", limits.Limits{Answer: 1000}},
		{"/plain", "--max-answer", limits.Limits{Answer: 1000}},
	} {
		kept, log := newTape()
		transport := newTransport(log)
		transport.Limits = test.limits
		res := must.Get((&http.Client{Transport: transport}).Get(server.URL + test.path))(t)
		expect.ErrorHas(t, test.path, test.flag, expect.Err(io.Copy(io.Discard, res.Body)))
		res.Body.Close()
		x := kept.exchange(t, 1)
		if n := len(x.Response.Events); n > 100 || x.Fault == nil || x.Fault.Side != "client" {
			t.Errorf("%s %s: %d events are recorded, and the fault %v", test.path, test.flag, n, x.Fault)
		}
	}
}

func TestTransportRecordsFailure(t *testing.T) {
	kept, log := newTape()
	c := &http.Client{Transport: newTransport(log)}
	server := agent(t)
	res := must.Get(c.Get(server.URL + "/cut"))(t)
	expect.ErrorIs(t, "read", io.ErrUnexpectedEOF, expect.Err(io.ReadAll(res.Body)))
	res.Body.Close()
	if x := kept.exchange(t, 1); x.Fault == nil || x.Fault.Kind != "truncated" || string(x.Response.Body.Data) != "half" {
		t.Errorf("cut, and recorded %v, %q", x.Fault, x.Response.Body.Data)
	}

	server.Close()
	expect.Error(t, "no error from an agent that is down", expect.Err(c.Get(server.URL+"/echo")))
	if x := kept.exchange(t, 2); x.Fault == nil || x.Fault.Kind != "unreachable" {
		t.Errorf("down, and recorded %v", x.Fault)
	}
}

func TestTransportIsInterrupted(t *testing.T) {
	kept, log := newTape()
	c := &http.Client{Transport: newTransport(log)}
	ctx, cancel := context.WithCancel(context.Background())
	req := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, agent(t).URL+"/events?open", nil))(t)
	res := must.Get(c.Do(req))(t)
	cancel()
	expect.Error(t, "a stream that does not end was read to its end", expect.Err(io.ReadAll(res.Body)))
	if x := kept.exchange(t, 1); x.Fault == nil || x.Fault.Side != "client" {
		t.Errorf("interrupted, and recorded %v", x.Fault)
	}
}
