//go:build peers && linux && !race

package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/refagent"
	"a2atap/replay/refagent/hostile"
)

var soakTime = flag.Duration("soak", 10*time.Second, "how long TestSoak sends traffic")

// The traffic of a soak: a call every soakPeriod, of which one in soakHostile is to a hostile agent or by a hostile
// client. Of what a recorder takes, the last quarter may exceed the second by soakMemory, soakThreads and soakFiles. Of
// memory that is known after soakSettles, since the collector needs minutes to give back what a burst has taken.
const (
	soakSettles = 2 * time.Minute
	soakPeriod  = 100 * time.Millisecond
	soakHostile = 16
	soakCalls   = 64 // at once
	soakMemory  = 24 << 20
	soakThreads = 4
	soakFiles   = 16
)

// TestSoak sends mixed traffic at a fixed rate through one recorder: every binding, streams, webhooks, hostile agents
// and hostile clients. Memory, threads and open files stay flat, every answered call is in the capture, and the calls
// to the correct agent are clean.
func TestSoak(t *testing.T) {
	s := newSoak(t)
	var takes []usage
	for n := range hostile.Behaviors { // what they take comes first
		s.attack(n)
	}
	every := time.NewTicker(soakPeriod)
	defer every.Stop()
	var calls sync.WaitGroup
	turns := make(chan struct{}, soakCalls)
	for begun, n := time.Now(), 0; time.Since(begun) < *soakTime; n++ {
		<-every.C
		turns <- struct{}{}
		calls.Go(func() {
			defer func() { <-turns }()
			s.call(n)
		})
		takes = append(takes, usageOf(t, s.p.cmd.Process.Pid))
	}
	calls.Wait()
	s.agent.Close() // it has sent all notifications
	quarter := len(takes) / 4
	before, after := usual(takes[quarter:2*quarter]), usual(takes[3*quarter:])
	t.Logf("%d requests, %d notifications: %v in the second quarter, %v in the last", s.number.Load(), s.notified.Load(), before, after)
	if grows := after.memory > before.memory+soakMemory; grows && *soakTime >= soakSettles || after.threads > before.threads+soakThreads || after.files > before.files+soakFiles {
		t.Errorf("the recorder took %v in the second quarter, and %v in the last", before, after)
	}
	t.Logf("%d MiB at the most", s.p.endForMemory(t)>>20)
	s.checkCapture()
}

// A usage is what a process takes.
type usage struct {
	memory         int64 // bytes, without the pages of files
	threads, files int
}

func (u usage) String() string {
	return fmt.Sprintf("%d KiB, %d threads and %d files", u.memory>>10, u.threads, u.files)
}

func usageOf(t *testing.T, pid int) (u usage) {
	t.Helper()
	status := string(must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t))
	field := func(name string) int {
		_, rest, _ := strings.Cut(status, "\n"+name+":")
		return must.Get(strconv.Atoi(strings.Fields(rest)[0]))(t)
	}
	u.memory, u.threads = int64(field("RssAnon"))<<10, field("Threads")
	u.files = len(must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)))(t))
	return u
}

// usual returns the middle of each: what a leak raises, and neither a burst nor a collection of garbage changes much.
func usual(all []usage) (u usage) {
	middle := func(of func(usage) int64) int64 {
		values := make([]int64, len(all))
		for i := range all {
			values[i] = of(all[i])
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	return usage{
		memory:  middle(func(u usage) int64 { return u.memory }),
		threads: int(middle(func(u usage) int64 { return int64(u.threads) })),
		files:   int(middle(func(u usage) int64 { return int64(u.files) })),
	}
}

// A soak is one recorder between clients and agents.
type soak struct {
	t    *testing.T
	p    *killed
	path string // of the capture
	said lockedBuffer

	taps    map[string]string // URLs by names of agents
	speak   map[client.Protocol]*client.Client
	attacks map[string]*attack // by names of behaviors

	agent    *refagent.Agent        // the correct one
	hooks    chan *webhook.Receiver // the latest
	number   atomic.Uint64          // of requests to the correct agent
	notified atomic.Int64           // by it
}

// soakBindings are those in which the correct agent is called.
var soakBindings = []client.Protocol{client.JSONRPC10, client.REST10, client.GRPC10}

func newSoak(t *testing.T) *soak {
	s := &soak{
		t: t, path: filepath.Join(t.TempDir(), "c.a2atap"), taps: make(map[string]string),
		hooks: make(chan *webhook.Receiver, 2*soakCalls),
		speak: make(map[client.Protocol]*client.Client), attacks: make(map[string]*attack),
	}
	ready := filepath.Join(t.TempDir(), "ready")
	args := []string{"record", "-o", s.path, "--if-capture-fails", "wait", "--format", "json", "--ready-file", ready}
	serve := func(name string, agent http.Handler, protocols *http.Protocols, path string) {
		server := httptest.NewUnstartedServer(agent)
		server.Config.Protocols = protocols
		server.Start()
		t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
		args = append(args, "--agent", name+"="+server.URL+path)
	}
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	s.agent = must.Get(refagent.New("spec", refagent.Options{
		StepTime: 5 * time.Millisecond, Push: true, Bindings: []string{"JSONRPC", "HTTP+JSON", "GRPC"},
	}))(t)
	t.Cleanup(s.agent.Close)
	serve("correct", s.agent, both, s.agent.Path())
	for _, b := range hostile.Behaviors {
		agent := hostile.New(b)
		t.Cleanup(agent.Close)
		serve(b.Name, agent, agent.Protocols(), "")
	}
	cmd := exec.Command("a2atap", args...)
	cmd.Stderr = &s.said
	s.p = startCommand(t, cmd, &s.said)
	eventually(t, "the ready file", func() bool { _, err := os.Stat(ready); return err == nil })
	for line := range strings.Lines(string(must.Get(os.ReadFile(ready))(t))) {
		name, url, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.taps[name] = url
	}
	for _, b := range hostile.Behaviors {
		s.attacks[b.Name] = attackThrough(t, &killed{url: s.taps[b.Name]}, time.Second)
		s.attacks[b.Name].most = 16 << 10
	}
	t.Cleanup(func() {
		for len(s.hooks) > 0 {
			(<-s.hooks).Close()
		}
	})
	for _, p := range soakBindings {
		s.speak[p] = must.Get(client.Connect(t.Context(), s.taps["correct"], client.Options{Prefer: []client.Protocol{p}, Edit: s.numbered}))(t)
		t.Cleanup(s.speak[p].Close)
	}
	return s
}

func (s *soak) numbered(o *client.Outgoing) {
	o.Header.Set(exchangeNumber, strconv.FormatUint(s.number.Add(1), 10))
}

// call makes the nth call.
func (s *soak) call(n int) {
	ctx, cancel := context.WithTimeout(s.t.Context(), must.Patience)
	defer cancel()
	if n%soakHostile == 0 {
		s.attack(n / soakHostile)
		return
	}
	c := s.speak[soakBindings[n%len(soakBindings)]]
	var err error
	switch n / len(soakBindings) % 4 {
	case 0:
		var r *client.Result
		if r, err = c.Send(ctx, client.Text("task-lifecycle please"), client.SendOptions{}); err == nil && r.Task != nil {
			_, err = c.Get(ctx, r.Task.ID, nil)
		}
	case 1:
		for _, e := range c.Stream(ctx, client.Text("streaming please"), client.SendOptions{}) {
			if e != nil {
				err = e
				break
			}
		}
	case 2:
		err = s.push(ctx, c)
	default: // a client that connects for this
		var fresh *client.Client
		fresh, err = client.Connect(ctx, s.taps["correct"], client.Options{Prefer: []client.Protocol{c.Endpoint().Protocol}, Edit: s.numbered})
		if err == nil {
			_, err = fresh.Send(ctx, client.Text("message-only please"), client.SendOptions{})
			fresh.Close()
		}
	}
	if err != nil {
		s.t.Errorf("call %d over %v: %v", n, c.Endpoint().Protocol, err)
	}
}

// push sends a message, and awaits the notification that its task has ended. The receiver stays for a while, in case that
// notification has overtaken another.
func (s *soak) push(ctx context.Context, c *client.Client) error {
	hook, err := webhook.Listen(webhook.Options{Address: "127.0.0.1:0", On: func(webhook.Delivery) { s.notified.Add(1) }})
	if err != nil {
		return err
	}
	select {
	case s.hooks <- hook:
	default:
		(<-s.hooks).Close()
		s.hooks <- hook
	}
	config := hook.Config()
	r, err := c.Send(ctx, client.Text("task-lifecycle please"), client.SendOptions{ReturnImmediately: true, Push: &config})
	if err != nil {
		return err
	}
	_, err = hook.Await(ctx, r.Task.ID, 0)
	return err
}

// attack calls a hostile agent, or calls as a hostile client. Its results do not count as errors.
func (s *soak) attack(n int) {
	clients := []string{
		"", "POST / HTTP/1.1\r\nHost: ", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx",
		http2.ClientPreface, http2.ClientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" + "POST / HTTP/1.1\r\n\r\n",
	}
	if n%4 == 0 {
		url := s.taps["silent"]
		if conn, err := net.Dial("tcp", strings.Split(strings.TrimPrefix(url, "http://"), "/")[0]); err == nil {
			io.WriteString(conn, clients[n/4%len(clients)]) //nolint:errcheck // it is closed next
			conn.Close()
		}
		return
	}
	b := hostile.Behaviors[n%len(hostile.Behaviors)]
	s.attacks[b.Name].ask(b.GRPC, "", nil) //nolint:errcheck // see above
}

// checkCapture compares the capture with what was sent. Traffic waits for the recorder, so nothing is lost, however busy
// the machine is.
func (s *soak) checkCapture() {
	s.t.Helper()
	said := s.said.String()
	recorded, lost := summaryOf(s.t, said)
	stored, exchanges := make(map[string]int), 0
	src := must.Get(bolt.Read(s.path))(s.t)
	defer src.Close()
	for x, err := range src.Exchanges(s.t.Context(), 1) {
		must.Do(s.t, err)
		exchanges++
		if number := numberOf(x); number != "" && x.Response != nil && x.Fault == nil {
			stored[number]++
		}
	}
	missing := 0
	for n := range s.number.Load() {
		if times := stored[strconv.FormatUint(n+1, 10)]; times == 0 {
			missing++
		} else if times > 1 {
			s.t.Errorf("request %d is %d times in the capture", n+1, times)
		}
	}
	if missing > 0 || lost > 0 || recorded != exchanges {
		s.t.Errorf("%d exchanges are in the capture, %d requests are missing\n%s", exchanges, missing, said)
	}
	code, out := s.run("check", s.path, "--agent", "correct")
	if code != cli.ExitOK || strings.Contains(out, "failed") || strings.Contains(out, "at fault") {
		s.t.Errorf("check exits with %d\n%s", code, out)
	}
	_, out = s.run("show", s.path, "--filter", "agent:correct is:push", "--format", "json")
	if notified := strings.Count(out, `"link":"correct->`); int64(notified) < s.notified.Load() {
		s.t.Errorf("%d notifications are in the capture, %d were sent", notified, s.notified.Load())
	}
	if code, out := s.run("doctor", s.path); !strings.Contains(out, "doctor: sound") {
		s.t.Errorf("doctor exits with %d\n%s", code, out)
	}
}

// run runs a command, and returns its exit status and all that it prints.
func (s *soak) run(args ...string) (int, string) {
	var out bytes.Buffer
	e := cli.Env{In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now, Getenv: unset}
	return run(context.Background(), e, args), out.String()
}
