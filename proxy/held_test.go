package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/hold"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// withDesk gives a rig a desk.
func withDesk(d *hold.Desk) func(*proxy.Options, *recording.Options) {
	return func(o *proxy.Options, _ *recording.Options) { o.Hold = d }
}

// sends chooses what asks for SendMessage.
func sends(x *capture.Exchange) bool {
	return bytes.Contains(x.Request.Body.Data, []byte("SendMessage"))
}

// waiting waits until so many messages are held, and returns them.
func waiting(t *testing.T, d *hold.Desk, n int) []hold.Message {
	t.Helper()
	return until(t, d, func(held []hold.Message) bool { return len(held) == n })
}

// until waits until what is held is as it should be, and returns it.
func until(t *testing.T, d *hold.Desk, is func([]hold.Message) bool) []hold.Message {
	t.Helper()
	late := time.After(must.Patience)
	for {
		if held := d.State().Held; is(held) {
			return held
		}
		select {
		case <-d.Changed():
		case <-late:
			t.Fatalf("held are %v", d.State().Held)
		}
	}
}

// letGoAll lets go whatever is held, until the test ends.
func letGoAll(t *testing.T, d *hold.Desk) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			for _, m := range d.State().Held {
				d.LetGo(m.ID) //nolint:errcheck // it may be gone
			}
			select {
			case <-d.Changed():
			case <-stop:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
	})
}

// An asking is a call that is under way.
type asking struct {
	status int
	text   string
	err    error
	done   chan struct{}
}

// askBeside posts a body in parallel with the test.
func askBeside(ctx context.Context, c *http.Client, url, body string) *asking {
	a := &asking{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
		if err != nil {
			a.err = err
			return
		}
		r.Header.Set("Content-Type", "application/json")
		resp, err := c.Do(r)
		if err != nil {
			a.err = err
			return
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		a.status, a.text, a.err = resp.StatusCode, string(b), err
	}()
	return a
}

// end waits until the call is over.
func (a *asking) end(t *testing.T) {
	t.Helper()
	select {
	case <-a.done:
	case <-time.After(must.Patience):
		t.Fatal("the call does not end")
	}
}

// A witness is an agent that answers whatever it gets, and remembers it.
type witness struct {
	URL  string
	got  chan string
	stop func() // closes the connections of its clients
}

func newWitness(t *testing.T, answer string) *witness {
	w := &witness{got: make(chan string, 10)}
	agent := newAgent(t, func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.got <- fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Word"), body)
		rw.Header().Set("Content-Type", "application/json")
		io.WriteString(rw, answer)
	})
	w.URL, w.stop = agent.URL, agent.CloseClientConnections
	return w
}

// A held message is released, edited or dropped. The other side gets exactly the result, and the record notes it and
// blames no one.
func TestHold(t *testing.T) {
	t.Parallel()
	edited := strings.Replace(askOnce, `"params":{}`, `"params":{"x":1}`, 1)
	for _, tt := range []struct {
		name    string
		answer  bool
		decide  func(d *hold.Desk, m hold.Message) error
		got     string // by the agent; empty if it gets nothing
		text    string // that the client gets; empty if its connection breaks
		note    string
		request string // that is recorded
	}{
		{
			"let go a request", false, func(d *hold.Desk, m hold.Message) error { return d.LetGo(m.ID) },
			"POST /rpc  " + askOnce, wholeAnswer, "held=", askOnce,
		},
		{
			"edit a request", false, func(d *hold.Desk, m hold.Message) error {
				head := strings.Replace(string(m.Exchange.Request.Head), "\r\n\r\n", "\r\nX-Word: new\r\n\r\n", 1)
				return d.Replace(m.ID, []byte(strings.Replace(head, "/rpc", "/other", 1)), []byte(edited))
			},
			"POST /other new " + edited, wholeAnswer, "edited: the request, after ", askOnce,
		},
		{
			"drop a request", false, func(d *hold.Desk, m hold.Message) error { return d.Drop(m.ID) },
			"", "", "dropped: the request, after ", askOnce,
		},
		{
			"let go an answer", true, func(d *hold.Desk, m hold.Message) error { return d.LetGo(m.ID) },
			"POST /rpc  " + askOnce, wholeAnswer, "held=", askOnce,
		},
		{
			"edit an answer", true, func(d *hold.Desk, m hold.Message) error {
				return d.Replace(m.ID, m.Exchange.Response.Head, []byte(`{"new":true}`))
			},
			"POST /rpc  " + askOnce, `{"new":true}`, "edited: the answer, after ", askOnce,
		},
		{
			"drop an answer", true, func(d *hold.Desk, m hold.Message) error { return d.Drop(m.ID) },
			"POST /rpc  " + askOnce, "", "dropped: the answer, after ", askOnce,
		},
		{
			"want nothing more", true, func(d *hold.Desk, m hold.Message) error { d.Set(nil); return nil },
			"POST /rpc  " + askOnce, wholeAnswer, "held=", askOnce,
		},
		{
			"close the desk", false, func(d *hold.Desk, m hold.Message) error { d.Close(); return nil },
			"POST /rpc  " + askOnce, wholeAnswer, "held=", askOnce,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			agent, desk := newWitness(t, wholeAnswer), hold.NewDesk()
			r := newRig(t, withDesk(desk), "a="+agent.URL)
			client, url := newClient(t), "http://"+r.tap(0).Addr()+"/rpc"
			before := askBeside(t.Context(), client, url, `{"x":0}`) // on the same connection, before anything is held
			before.end(t)
			<-agent.got
			desk.Set(&hold.Want{Requests: !tt.answer, Answers: tt.answer, Match: sends})
			call := askBeside(t.Context(), client, url, askOnce)
			m := waiting(t, desk, 1)[0]
			if m.Answer != tt.answer || string(m.Exchange.Request.Body.Data) != askOnce {
				t.Errorf("held is %+v", m)
			}
			if n := len(agent.got); (n == 0) == tt.answer {
				t.Errorf("while it is held the agent has got %d requests", n)
			}
			select {
			case <-call.done:
				t.Errorf("the call is over: %+v", call)
			default:
			}
			must.Do(t, tt.decide(desk, m))
			call.end(t)
			if call.text != tt.text || (call.err == nil) != (tt.text != "") {
				t.Errorf("the client got %q and error %v, want %q", call.text, call.err, tt.text)
			}
			expect.Equal(t, "it can be let go again", hold.ErrGone, desk.LetGo(m.ID))
			desk.Set(nil)
			after := askBeside(t.Context(), client, url, `{"x":2}`)
			after.end(t)
			expect.Equal(t, fmt.Sprintf("what comes after it got %+v", after), wholeAnswer, after.text)
			if tt.got != "" {
				expect.Equal(t, "the agent", tt.got, <-agent.got)
			}
			x := r.record()[1]
			if !slices.ContainsFunc(x.Notes, func(n string) bool {
				return strings.HasPrefix(n, capture.FaultMadeHere+tt.note)
			}) {
				t.Errorf("the record has notes %q, want %s", x.Notes, tt.note)
			}
			expect.Equal(t, "recorded", tt.request, string(x.Request.Body.Data))
			switch {
			case tt.text == "" && (x.Fault == nil || x.Fault.Side != "proxy" || x.Fault.Kind != capture.KindInjected):
				t.Errorf("the record has the fault %v", x.Fault)
			case tt.text != "" && (x.Fault != nil || recordedAnswer(x) != tt.text):
				t.Errorf("the record has the fault %v and the answer %q", x.Fault, recordedAnswer(x))
			}
		})
	}
}

// A client that leaves takes its request with it as far as it would have come: the agent gets it, unchanged.
func TestHeldIsLetGoWhenTheClientLeaves(t *testing.T) {
	t.Parallel()
	agent, desk := newWitness(t, wholeAnswer), hold.NewDesk()
	r := newRig(t, withDesk(desk), "a="+agent.URL)
	desk.Set(&hold.Want{Requests: true, Match: sends})
	ctx, leave := context.WithCancel(t.Context())
	call := askBeside(ctx, newClient(t), "http://"+r.tap(0).Addr()+"/rpc", askOnce)
	waiting(t, desk, 1)
	leave()
	call.end(t)
	waiting(t, desk, 0)
	expect.Equal(t, "the agent", "POST /rpc  "+askOnce, <-agent.got)
}

// An agent closes a connection to which nothing is sent; the request gets to it on another one.
func TestHeldWhileTheAgentCloses(t *testing.T) {
	t.Parallel()
	agent, desk := newWitness(t, wholeAnswer), hold.NewDesk()
	r := newRig(t, withDesk(desk), "a="+agent.URL)
	client, url := newClient(t), "http://"+r.tap(0).Addr()+"/rpc"
	askBeside(t.Context(), client, url, `{"x":0}`).end(t)
	<-agent.got
	desk.Set(&hold.Want{Requests: true, Match: sends})
	call := askBeside(t.Context(), client, url, askOnce)
	m := waiting(t, desk, 1)[0]
	agent.stop()
	until(t, desk, func(held []hold.Message) bool { return held[0].AgentLeft })
	must.Do(t, desk.LetGo(m.ID))
	call.end(t)
	if call.text != wholeAnswer || call.err != nil {
		t.Errorf("got %+v", call)
	}
	if x := r.record()[1]; x.Fault != nil {
		t.Errorf("the record has the fault %v", x.Fault)
	}
}

// When the recorder ends, held messages are released.
func TestHeldWhenTheProxyStops(t *testing.T) {
	t.Parallel()
	agent, desk := newWitness(t, wholeAnswer), hold.NewDesk()
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.Hold, o.Grace = desk, must.Patience }, "a="+agent.URL)
	desk.Set(&hold.Want{Answers: true, Match: sends})
	call := askBeside(t.Context(), newClient(t), "http://"+r.tap(0).Addr()+"/rpc", askOnce)
	waiting(t, desk, 1)
	r.stop()
	call.end(t)
	if call.text != wholeAnswer || call.err != nil {
		t.Errorf("got %+v", call)
	}
}

// What cannot be held passes, and the desk says why.
func TestPassesWhatCannotBeHeld(t *testing.T) {
	t.Parallel()
	all := func(*capture.Exchange) bool { return true }
	for _, tt := range []struct {
		name string
		want hold.Want
		ask  func(c *http.Client, url string) (*http.Response, error)
		why  string
	}{
		{"a stream", hold.Want{Answers: true, Match: all}, func(c *http.Client, url string) (*http.Response, error) {
			return c.Post(url, "application/json", strings.NewReader(askStream))
		}, "streams are not held"},
		{"a long request", hold.Want{Requests: true, Match: all}, func(c *http.Client, url string) (*http.Response, error) {
			return c.Post(url, "application/json", strings.NewReader(strings.Repeat(" ", 2*hold.MaxBody)+askOnce))
		}, "messages of more than 1 MiB are not held"},
		{"Expect", hold.Want{Requests: true, Match: all}, func(c *http.Client, url string) (*http.Response, error) {
			r, err := http.NewRequest("POST", url, strings.NewReader(askOnce))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Expect", "100-continue")
			return c.Do(r)
		}, "requests with Expect or Upgrade are not held"},
		{"a filter that fails", hold.Want{Requests: true, Answers: true, Match: func(*capture.Exchange) bool {
			panic("at once")
		}}, func(c *http.Client, url string) (*http.Response, error) {
			return c.Post(url, "application/json", strings.NewReader(askOnce))
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			agent, desk := newTalker(t), hold.NewDesk()
			r := newRig(t, withDesk(desk), "a="+agent.URL)
			desk.Set(&tt.want)
			resp, err := tt.ask(newClient(t), "http://"+r.tap(0).Addr()+"/rpc")
			must.Do(t, err)
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != 200 || len(text) == 0 {
				t.Errorf("got %d %q, %v", resp.StatusCode, text, err)
			}
			if s := desk.State(); len(s.Held) > 0 || tt.why != "" && !slices.Contains(s.Passed, tt.why) {
				t.Errorf("held are %v, and passed has %q; want %q", s.Held, s.Passed, tt.why)
			}
			if x := r.record()[0]; x.FaultMade() != "" || x.Fault != nil {
				t.Errorf("the record has notes %q and the fault %v", x.Notes, x.Fault)
			}
		})
	}
}

// An agent that is not asked is not blamed for being late.
func TestHeldIsNotTooLate(t *testing.T) {
	t.Parallel()
	agent, desk := newWitness(t, wholeAnswer), hold.NewDesk()
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) {
		o.Hold, o.AnswerTimeout = desk, 50*time.Millisecond
	}, "a="+agent.URL)
	desk.Set(&hold.Want{Requests: true, Match: sends})
	call := askBeside(t.Context(), newClient(t), "http://"+r.tap(0).Addr()+"/rpc", askOnce)
	call.end(t)
	expect.Equal(t, "", http.StatusGatewayTimeout, call.status)
	waiting(t, desk, 0)
	if x := r.record()[0]; x.Fault == nil || x.Fault.Side != "proxy" || x.FaultMade() == "" {
		t.Errorf("the record has the fault %v and notes %q", x.Fault, x.Notes)
	}
}

// Many clients at once, on connections that they use again, get each their own answer, whatever is held of them.
func TestHoldManyAtOnce(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.Copy(w, r.Body)
	})
	desk := hold.NewDesk()
	r := newRig(t, withDesk(desk), "a="+agent.URL)
	url := "http://" + r.tap(0).Addr() + "/rpc"
	stop := make(chan struct{})
	decided := make(chan int)
	go func() { // wants this and that, and lets go whatever is held
		n, times := 0, 0
		for {
			select {
			case <-stop:
				desk.Close()
				decided <- n
				return
			case <-desk.Changed():
			}
			for _, m := range desk.State().Held {
				if desk.LetGo(m.ID) == nil {
					n++
				}
			}
			if n/7 > times { // not more often: it lets go what is held, which is not counted
				times = n / 7
				desk.Set(&hold.Want{Requests: times%3 != 1, Answers: times%3 != 2, Match: sends})
			}
		}
	}()
	desk.Set(&hold.Want{Requests: true, Answers: true, Match: sends})
	var wg sync.WaitGroup
	for i := range 8 {
		client := newClient(t)
		wg.Go(func() {
			for k := range 20 {
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d-%d","method":"SendMessage","params":{}}`, i, k)
				_, _, text, err := askFor(t, client, url, body)
				if err != nil || text != body {
					t.Errorf("%s got %q, %v", body, text, err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	if n := <-decided; n < 20 {
		t.Errorf("%d messages were held, want some", n)
	}
	for _, x := range r.record() {
		if x.Fault != nil || recordedAnswer(x) != string(x.Request.Body.Data) {
			t.Errorf("recorded is %q with the fault %v for %q", recordedAnswer(x), x.Fault, x.Request.Body.Data)
		}
	}
}

// Over TLS, nothing is different: held messages are released, even if the agent has closed its connection meanwhile.
func TestHoldOverTLS(t *testing.T) {
	t.Parallel()
	agent := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.Copy(w, r.Body)
	}))
	t.Cleanup(agent.Close)
	desk := hold.NewDesk()
	r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.Hold, o.Insecure = desk, true }, "a="+agent.URL)
	desk.Set(&hold.Want{Requests: true, Answers: true, Match: sends})
	client, url := newClient(t), "http://"+r.tap(0).Addr()+"/rpc"
	for closes := range 2 {
		call := askBeside(t.Context(), client, url, askOnce)
		m := waiting(t, desk, 1)[0]
		if closes == 1 {
			agent.CloseClientConnections()
			until(t, desk, func(held []hold.Message) bool { return held[0].AgentLeft })
		}
		must.Do(t, desk.LetGo(m.ID))
		answer := until(t, desk, func(held []hold.Message) bool { return len(held) == 1 && held[0].Answer })[0]
		must.Do(t, desk.LetGo(answer.ID))
		call.end(t)
		if call.text != askOnce || call.err != nil {
			t.Errorf("got %+v", call)
		}
	}
	for _, x := range r.record() {
		if x.Fault != nil {
			t.Errorf("the record has the fault %v", x.Fault)
		}
	}
}

// Messages on paths where nothing can be held pass, and the desk names the reason.
func TestWaysOnWhichNothingIsHeld(t *testing.T) {
	t.Parallel()
	all := &hold.Want{Requests: true, Answers: true, Match: func(*capture.Exchange) bool { return true }}
	echo := func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }
	passes := func(desk *hold.Desk, client *http.Client, url, why string) {
		t.Helper()
		desk.Set(all)
		if _, _, text, err := askFor(t, client, url, askOnce); err != nil || text != askOnce {
			t.Errorf("got %q, %v", text, err)
		}
		if s := desk.State(); len(s.Held) > 0 || !slices.Contains(s.Passed, why) {
			t.Errorf("held are %v, and passed has %q; want %q", s.Held, s.Passed, why)
		}
	}
	desk := hold.NewDesk()
	r := newRig(t, withDesk(desk), "a="+newHTTP2Agent(t, false, echo).URL)
	passes(desk, newHTTP2Client(t), "http://"+r.tap(0).Addr()+"/", "messages over HTTP/2 are not held")

	desk = hold.NewDesk()
	r = newRig(t, func(o *proxy.Options, x *recording.Options) {
		withFaults(t, "a:delay=1ms")(o, x)
		o.Hold = desk
	}, "a="+newAgent(t, echo).URL)
	passes(desk, newClient(t), "http://"+r.tap(0).Addr()+"/", "agents with --fault are not held")

	desk = hold.NewDesk()
	f := newForwardRig(t, func(o *proxy.Options) { o.Hold = desk })
	client := newClient(t)
	through := must.Get(url.Parse(f.forward.URL()))(t)
	client.Transport.(*http.Transport).Proxy = http.ProxyURL(through)
	passes(desk, client, newAgent(t, echo).URL+"/", "traffic through the forward proxy is not held")
}

// If an agent is gone when a held request is released, the record reports that the agent is missing.
func TestHeldUntilTheAgentIsGone(t *testing.T) {
	t.Parallel()
	agent := newAgent(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	desk := hold.NewDesk()
	r := newRig(t, withDesk(desk), "a="+agent.URL)
	desk.Set(&hold.Want{Requests: true, Match: sends})
	call := askBeside(t.Context(), newClient(t), "http://"+r.tap(0).Addr()+"/rpc", askOnce)
	m := waiting(t, desk, 1)[0]
	agent.CloseClientConnections()
	agent.Close()
	until(t, desk, func(held []hold.Message) bool { return held[0].AgentLeft })
	must.Do(t, desk.LetGo(m.ID))
	call.end(t)
	expect.Error(t, fmt.Sprintf("%+v", call), call.err)
	if x := r.record()[0]; x.Fault == nil || x.Fault.Kind != "unreachable" || x.Fault.Side != "agent" {
		t.Errorf("the record has the fault %v", x.Fault)
	}
}
