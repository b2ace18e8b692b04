package proxy_test

import (
	"bufio"
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A client that waits for what never comes gives up, and that is what the record says of it.
func TestFaultsThatLast(t *testing.T) {
	for _, tt := range []struct {
		fault, ask string
		status     int
		asked      int64
		events     string
	}{
		{"drop", askOnce, 0, 0, ""},
		{"drop", askStream, 0, 0, ""},
		{"stall-stream=2", askStream, 200, 1, eventTexts(1, 2)},
	} {
		t.Run(tt.fault+" "+tt.ask[26:34], func(t *testing.T) {
			agent := newTalker(t)
			r := newRig(t, withFaults(t, "*:"+tt.fault), "a="+agent.URL)
			ctx, giveUp := context.WithCancel(context.Background())
			defer giveUp()
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://"+r.tap(0).Addr(), strings.NewReader(tt.ask))
			c, done := newClient(t), make(chan error, 1)
			go func() {
				resp, err := c.Do(req)
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				done <- err
			}()
			r.follow(func(s capture.Step) bool {
				f, isFact := s.What.(capture.Fact)
				e, isEvent := s.What.(capture.ResponseEvent)
				return isFact && f.Note != "" && tt.events == "" || isEvent && e.Event.K == 2
			})
			giveUp()
			expect.ErrorIs(t, "", context.Canceled, <-done)
			r.follow(func(s capture.Step) bool { _, closed := s.What.(capture.Closed); return closed })
			if got := agent.asked.Load(); got != tt.asked {
				t.Errorf("the agent got %d requests, want %d", got, tt.asked)
			}
			x := r.record()[0]
			// A system resets a connection that is closed before all of its bytes were read.
			if x.Fault == nil || x.Fault.Kind != "client-left" && x.Fault.Kind != "reset" || x.Fault.Side != "client" || x.FaultMade() != tt.fault {
				t.Errorf("the record has fault %v and notes %q", x.Fault, x.Notes)
			}
			expect.Equal(t, "recorded", tt.events, recordedAnswer(x))
		})
	}
}

// A proxy that stops does not wait for what never comes.
func TestFaultThatLastsWhenTheProxyStops(t *testing.T) {
	agent := newTalker(t)
	r := newRig(t, withFaults(t, "a:drop"), "a="+agent.URL)
	done := make(chan error, 1)
	c := newClient(t)
	go func() {
		_, _, _, err := askFor(t, c, "http://"+r.tap(0).Addr(), askOnce)
		done <- err
	}()
	r.follow(func(s capture.Step) bool { f, ok := s.What.(capture.Fact); return ok && f.Note != "" })
	x := r.record()[0]
	expect.Error(t, "the client got an answer", <-done)
	if x.Fault == nil || x.Fault.Kind != "shutdown" {
		t.Errorf("the record has %v", x.Fault)
	}
}

// Operation and number select the calls that get a fault; all other calls on the same connection pass.
func TestWhichCallsGetFaults(t *testing.T) {
	agent := newTalker(t)
	r := newRig(t, withFaults(t, "a:status=500@SendMessage#2", "a:status=501@#4..5", "b:status=502",
		"a:status=404@GetAgentCard#2"), "a="+agent.URL, "b="+agent.URL)
	c, url := newClient(t), "http://"+r.tap(0).Addr()
	var got []int
	for _, body := range []string{askOnce, askStream, askOnce, askOnce, askOnce, askOnce, `{"no":"call"}`} {
		status, _, _, err := askFor(t, c, url, body)
		must.Do(t, err)
		got = append(got, status)
	}
	for range 2 {
		resp, _ := get(t, c, url+"/.well-known/agent-card.json")
		got = append(got, resp.StatusCode)
	}
	expect.Same(t, "", []int{200, 200, 500, 501, 501, 200, 200, 200, 404}, got)
	all := r.record()
	conns := map[uint64]bool{}
	for i, x := range all {
		conns[x.Conn] = true
		if (x.FaultMade() != "") != (got[i] != 200) {
			t.Errorf("exchange %d was answered with %d and has notes %q", i+1, got[i], x.Notes)
		}
	}
	expect.Equal(t, "connections", 1, len(conns))
}

// A fault is made in what comes over TLS, too, and where the agent was silent on a connection before.
func TestFaultsWithTLS(t *testing.T) {
	agent := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, wholeAnswer)
	}))
	t.Cleanup(agent.Close)
	roots := x509.NewCertPool()
	roots.AddCert(agent.Certificate())
	faults := withFaults(t, "a:status=503@#2", "a:reset@#4")
	r := newRig(t, func(o *proxy.Options, ro *recording.Options) { o.RootCAs = roots; faults(o, ro) }, "a="+agent.URL)
	c := newClient(t)
	for i, want := range []int{200, 503, 200, 0} {
		status, _, text, err := askFor(t, c, "http://"+r.tap(0).Addr(), askOnce)
		if status != want || status == 200 && text != wholeAnswer || (err != nil) != (want == 0) {
			t.Errorf("call %d: got %d %q and %v", i+1, status, text, err)
		}
	}
}

// Calls that follow one another without waiting get the answers that are theirs.
func TestFaultsOfPipelinedCalls(t *testing.T) {
	agent := newTalker(t)
	r := newRig(t, withFaults(t, "a:status=503@#2", "a:duplicate-event=1", "a:content-type=text/plain@#5"), "a="+agent.URL)
	conn := must.Get(net.Dial("tcp", r.tap(0).Addr()))(t)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(must.Patience))
	var all strings.Builder
	for _, body := range []string{askOnce, askOnce, askStream, askOnce, askOnce} {
		req, _ := http.NewRequest("POST", "http://"+r.tap(0).Addr()+"/", strings.NewReader(body))
		must.Do(t, req.Write(&all))
	}
	must.Get(io.WriteString(conn, all.String()))(t)
	in := bufio.NewReader(conn)
	for i, want := range []string{
		"200 application/json " + wholeAnswer, "503 application/json ", "200 text/event-stream " + eventTexts(1, 1, 2, 3),
		"200 application/json " + wholeAnswer, "200 text/plain " + wholeAnswer,
	} {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatalf("answer %d: %v", i+1, err)
		}
		got := resp.Status[:3] + " " + resp.Header.Get("Content-Type") + " " + string(body)
		if !strings.HasPrefix(got, want) {
			t.Errorf("answer %d: got %q, want %q", i+1, got, want)
		}
	}
	xs := r.record()
	if len(xs) != 5 || len(xs[4].Rewrites) != 1 || xs[4].Rewrites[0].Was != "application/json" {
		t.Errorf("recorded %d exchanges, the last with rewrites %v", len(xs), xs[len(xs)-1].Rewrites)
	}
}

// A request that waits for 100, or is too long to be held, goes to the agent.
func TestRequestsThatAreNotKept(t *testing.T) {
	agent := newTalker(t)
	r := newRig(t, withFaults(t, "a:status=503"), "a="+agent.URL)
	c, url := newClient(t), "http://"+r.tap(0).Addr()
	req, _ := http.NewRequest("POST", url, strings.NewReader(askOnce))
	req.Header.Set("Expect", "100-continue")
	resp, err := c.Do(req)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("got %v and %v", resp, err)
	}
	resp.Body.Close()
	long := askOnce[:len(askOnce)-3] + `{"x":"` + strings.Repeat("y", 2<<20) + `"}}`
	if status, _, _, err := askFor(t, c, url, long); err != nil || status != 200 {
		t.Errorf("got %d and %v", status, err)
	}
	for _, x := range r.record() {
		if x.FaultMade() != "" {
			t.Errorf("exchange %d has notes %q", x.Seq, x.Notes)
		}
	}
}

// Taps whose agents have no fault, and all without any, have the agent's own connection in their path.
func TestNoFaultNoWrapper(t *testing.T) {
	agent := newTalker(t)
	r := newRig(t, withFaults(t, "a:reset"), "a="+agent.URL, "b="+agent.URL)
	if _, _, text, err := askFor(t, newClient(t), "http://"+r.tap(1).Addr(), askOnce); err != nil || text != wholeAnswer {
		t.Errorf("got %q and %v", text, err)
	}
	if x := r.record()[0]; x.FaultMade() != "" || x.Fault != nil {
		t.Errorf("recorded %v and %q", x.Fault, x.Notes)
	}
}
