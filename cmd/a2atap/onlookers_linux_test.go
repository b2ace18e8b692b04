package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/demo"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy"
	"a2atap/proxy/must"
	loader "a2atap/tui/load"
)

// A tour is two agents, one of which calls the other through taps. The other agent answers with an id that no request
// had, or fails with a different message each time; these are errors. It sends its streams on command.
type tour struct {
	planner, booker *httptest.Server
	tap             atomic.Value // of the booker: a string
	calls           atomic.Int64
	stream          chan struct{} // closed when streams are to end
	endStreams      func()
}

func newTour(t *testing.T) *tour {
	w := &tour{stream: make(chan struct{})}
	w.endStreams = sync.OnceFunc(func() { close(w.stream) })
	w.planner, w.booker = httptest.NewServer(http.HandlerFunc(w.plan)), httptest.NewServer(http.HandlerFunc(w.book))
	t.Cleanup(func() {
		w.endStreams()
		w.planner.Close()
		w.booker.Close()
	})
	return w
}

func (w *tour) plan(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if _, err := askTour(w.tap.Load().(string), demo.ChildOf(r.Header.Get("Traceparent")), string(body)); err != nil {
		http.Error(out, err.Error(), http.StatusBadGateway)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	fmt.Fprint(out, `{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m-2","role":"ROLE_AGENT","parts":[{"text":"planned"}]}}}`)
}

func (w *tour) book(out http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	const result = `{"jsonrpc":"2.0","id":%d,"result":{"message":{"messageId":"m-3","role":"ROLE_AGENT","parts":[{"text":"booked"}]}}}`
	if strings.Contains(string(body), "SendStreamingMessage") {
		out.Header().Set("Content-Type", "text/event-stream")
		out.(http.Flusher).Flush()
		<-w.stream
		fmt.Fprintf(out, "data: "+result+"\n\n", 1)
		return
	}
	if n := w.calls.Add(1); n%3 == 0 {
		http.Error(out, "no seats in row "+string(rune('A'+n)), http.StatusInternalServerError)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(out, result, 2)
}

// askTour asks an agent, and returns its answer.
func askTour(to, traceparent, body string) (string, error) {
	r, err := http.NewRequest(http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "A2a-Version": {"1.0"}, "Traceparent": {traceparent}, "Accept": {"application/json, text/event-stream"},
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func tourCall(method string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"two seats"}]}}}`
}

// travel has n users ask the planner, one after another.
func (w *tour) travel(t *testing.T, planner string, n int) {
	t.Helper()
	for range n {
		must.Get(askTour(planner, demo.ChildOf(""), tourCall("SendMessage")))(t)
	}
}

// An onlooker is what the inspector reads of a capture, without its screen.
type onlooker struct {
	*loader.Loader
	mu      sync.Mutex
	found   loader.Findings
	said    []string // why the capture is checked here
	last    loader.Judged
	changed chan struct{} // holds a value when there was a message
}

// look opens a capture that is being recorded, as tui does.
func look(t *testing.T, name string) *onlooker {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	src := must.Get(source.OpenFile(name))(t)
	o := &onlooker{changed: make(chan struct{}, 1)}
	o.Loader = loader.New(ctx, src, rules.All)
	o.View = verdict.View(name, src, rules.All)
	o.Reading = loader.NewReading(o.View)
	var working sync.WaitGroup
	working.Go(func() { o.Judge()() })
	working.Go(func() {
		for msg := o.AwaitJudged()(); msg != nil; msg = o.AwaitJudged()() {
			o.take(msg.(loader.Judged))
		}
	})
	working.Go(func() {
		grown, _ := o.Open()().(loader.Grown)
		for ctx.Err() == nil {
			next, is := o.Watch(grown.Next, grown.Ended)().(loader.Grown)
			if !is {
				return
			}
			grown = next
		}
	})
	t.Cleanup(func() {
		cancel()
		working.Wait()
		o.View.Close()
		src.Close()
	})
	return o
}

// counts returns those of the result so far.
func counts(o *onlooker) judgment.Counts {
	result, _ := o.Observed()
	return result.Counts
}

func (o *onlooker) take(news loader.Judged) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if news.Restarted {
		o.found = loader.Findings{}
	}
	o.found.Add(news.Findings)
	if o.last = news; news.Notice != "" {
		o.said = append(o.said, news.Notice)
	}
	select {
	case o.changed <- struct{}{}:
	default:
	}
}

// until waits until something holds of what was told.
func (o *onlooker) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(must.Patience)
	for {
		o.mu.Lock()
		done := holds()
		o.mu.Unlock()
		if done {
			return
		}
		select {
		case <-o.changed:
		case <-deadline:
			t.Fatalf("%s is not told; there are %d findings, %q, and last came %+v", what, o.found.Total(), o.said, o.last.Counts)
		}
	}
}

// A truth is the result of checking a finished capture.
type truth struct {
	result *judgment.Result
	links  *workflow.Index
}

func truthOf(t *testing.T, name string) truth {
	t.Helper()
	src, err := source.OpenFile(name)
	must.Do(t, err)
	defer src.Close()
	is := truth{links: &workflow.Index{}}
	if is.result, err = engine.Run(t.Context(), rules.All, src, nil, workflow.Into(is.links.Put)...); err != nil {
		t.Fatal(err)
	}
	return is
}

// placed returns the rules and places of findings.
func placed(findings []analysis.Finding) []string {
	var list []string
	for i := range findings {
		list = append(list, findings[i].Rule.ID+" "+findings[i].Place.String())
	}
	slices.Sort(list)
	return list
}

// same waits until what an onlooker was told is the truth.
func (o *onlooker) same(t *testing.T, is truth) {
	t.Helper()
	want := placed(is.result.Findings)
	o.until(t, "the end", func() bool { return o.last.Ended && !o.last.Behind && o.last.Counts == is.result.Counts })
	o.mu.Lock()
	defer o.mu.Unlock()
	if diff := cmp.Diff(want, placed(o.found.List)); diff != "" {
		t.Errorf("findings: -check +inspector:\n%s", diff)
	}
	o.NeedLinks()
	callers := 0
	for seq := uint64(1); seq <= uint64(is.result.Counts.Exchanges); seq++ {
		if want, got := is.links.Of(seq), o.Links.Index.Of(seq); want != got {
			t.Errorf("exchange %d: -check +inspector: %+v %+v", seq, want, got)
		} else if got.Parent != 0 {
			callers++
		}
	}
	if callers == 0 {
		t.Error("nobody has called anybody")
	}
}

// startTour starts a recorder of both agents, and returns it with the URL at which the planner is asked.
func startTour(t *testing.T, w *tour, name string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command("a2atap", "record", "--agent", "planner="+w.planner.URL, "--agent", "booker="+w.booker.URL,
		"-o", name, "--format", "json", "--fail-on", "never")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.Do(t, err)
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	taps, lines := make(map[string]string), json.NewDecoder(out)
	for range 2 {
		var tap struct{ Name, URL string }
		if err := lines.Decode(&tap); err != nil {
			t.Fatal("the recorder does not begin:", err)
		}
		taps[tap.Name] = tap.URL
	}
	go io.Copy(io.Discard, out) //nolint:errcheck // it ends with the recorder
	w.tap.Store(taps["booker"])
	return cmd, taps["planner"]
}

// A follower is an a2atap process that reads a capture while it is recorded.
type follower struct {
	cmd       *exec.Cmd
	out, said bytes.Buffer
}

func startBeside(t *testing.T, args ...string) *follower {
	t.Helper()
	b := &follower{cmd: exec.Command("a2atap", args...)}
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.said
	must.Do(t, b.cmd.Start())
	t.Cleanup(func() {
		if b.cmd.ProcessState == nil {
			b.cmd.Process.Kill()
			b.cmd.Wait()
		}
	})
	return b
}

// wait waits until the program ends.
func (b *follower) wait(t *testing.T) *follower {
	t.Helper()
	if err := b.cmd.Wait(); err != nil && b.cmd.ProcessState.ExitCode() != cli.ExitFindings {
		t.Fatalf("%v: %v\n%s", b.cmd.Args, err, b.said.String())
	}
	return b
}

// lines waits until the program ends, and returns what it printed, in an order that does not depend on when.
func (b *follower) lines(t *testing.T) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(b.wait(t).out.String()), "\n")
	slices.Sort(lines)
	return lines
}

// startScreen runs the inspector on a capture, a process of its own, in a terminal.
func startScreen(t *testing.T, name string) *pseudoTerminal {
	t.Helper()
	cmd := exec.Command("a2atap", "tui", name)
	cmd.Env = os.Environ()
	p, end := inTerminal(t, cmd, 24, 120)
	t.Cleanup(end)
	return p
}

// While one program records a capture, an inspector, another one on a screen and both that follow it look at it. All come
// to what check finds in the finished file, and the inspectors judge nothing.
func TestOnlookersAgree(t *testing.T) {
	t.Parallel()
	w, name := newTour(t), filepath.Join(t.TempDir(), "c.a2atap")
	recording, planner := startTour(t, w, name)
	w.travel(t, planner, 5)
	o := look(t, name)
	screen := startScreen(t, name)
	checks, shows := startBeside(t, "check", "--follow", name, "--format", "json"), startBeside(t, "show", "--follow", name, "--format", "json")
	var streams sync.WaitGroup
	streams.Go(func() { askTour(planner, demo.ChildOf(""), tourCall("SendStreamingMessage")) }) //nolint:errcheck // it is in the capture
	o.NeedLinks()
	w.travel(t, planner, 5)
	o.until(t, "what was found so far", func() bool { return o.found.Counts[analysis.Error] == 10 && o.last.Counts.Failed > 0 })
	screen.shows(t, "! 10 errors, live")
	o.until(t, "the coverage of a recording in which nothing passes", func() bool { return counts(o) == o.last.Counts })
	w.endStreams()
	streams.Wait()
	w.travel(t, planner, 2)
	must.Do(t, recording.Process.Signal(os.Interrupt))
	must.Do(t, recording.Wait())
	is := truthOf(t, name)
	o.same(t, is)
	if o.said != nil {
		t.Errorf("the inspector judges what the recorder judges: %q", o.said)
	}
	screen.shows(t, fmt.Sprintf("! %d errors, ended", is.result.Found[analysis.Error]))

	var whole struct{ Findings []report.Finding }
	checked := startBeside(t, "check", name, "--format", "json").wait(t)
	must.Do(t, json.Unmarshal(checked.out.Bytes(), &whole))
	var followed []report.Finding
	for d := json.NewDecoder(&checks.wait(t).out); d.More(); {
		var f report.Finding
		must.Do(t, d.Decode(&f))
		followed = append(followed, f)
	}
	for i := range whole.Findings {
		whole.Findings[i].Failure, whole.Findings[i].Times = "", 0 // check --follow tells a finding before its call is over, and before others of its cause
	}
	if diff := cmp.Diff(whole.Findings, followed); diff != "" {
		t.Errorf("findings: -check +check --follow:\n%s", diff)
	}
	if checks.said.String() != checked.said.String() {
		t.Errorf("check --follow says %q, check %q", checks.said.String(), checked.said.String())
	}
	if diff := cmp.Diff(startBeside(t, "show", name, "--format", "json").lines(t), shows.lines(t)); diff != "" {
		t.Errorf("exchanges: -show +show --follow:\n%s", diff)
	}
}

// If the recorder is killed, the inspector reports that, and checks what was recorded.
func TestOnlookerOfAKilledRecorder(t *testing.T) {
	t.Parallel()
	w, name := newTour(t), filepath.Join(t.TempDir(), "c.a2atap")
	recording, planner := startTour(t, w, name)
	w.travel(t, planner, 3)
	o := look(t, name)
	screen := startScreen(t, name)
	o.until(t, "what was found so far", func() bool { return o.found.Counts[analysis.Error] == 3 })
	screen.shows(t, "! 3 errors, live")
	done := make(chan struct{})
	go func() { // it is open when the recorder is killed
		defer close(done)
		askTour(planner, demo.ChildOf(""), tourCall("SendStreamingMessage")) //nolint:errcheck // it fails
	}()
	w.travel(t, planner, 2)
	o.until(t, "more", func() bool { return o.found.Counts[analysis.Error] == 5 && o.said == nil })
	must.Do(t, recording.Process.Kill())
	recording.Wait() //nolint:errcheck // it was killed
	w.endStreams()
	<-done
	o.same(t, truthOf(t, name))
	const want = "the check result was not saved completely; the capture is checked again"
	if o.said != nil && !slices.Equal(o.said, []string{want}) { // nothing if the other inspector has stored its result
		t.Errorf("said is %q", o.said)
	}
	screen.shows(t, "recorder killed, ended")
}

// What a recorder with other rules writes down is not read: the inspector judges along.
func TestOnlookerOfOtherRules(t *testing.T) {
	t.Parallel()
	w, name := newTour(t), filepath.Join(t.TempDir(), "c.a2atap")
	tap := func(name string, of *httptest.Server) proxy.TapSpec {
		address := must.Get(url.Parse(of.URL))(t)
		return proxy.TapSpec{Name: name, Agent: address, Listen: "127.0.0.1:0"}
	}
	r, err := recorder.Start(recorder.Options{
		Output: name, Rules: rules.All[:1], Proxy: proxy.Options{Taps: []proxy.TapSpec{tap("planner", w.planner), tap("booker", w.booker)}},
	})
	must.Do(t, err)
	w.tap.Store(r.Taps()[1].URL())
	w.travel(t, r.Taps()[0].URL(), 3)
	screen, o := startScreen(t, name), look(t, name)
	screen.shows(t, "! 3 errors, live")
	o.until(t, "what was found so far", func() bool { return o.found.Counts[analysis.Error] == 3 })
	w.travel(t, r.Taps()[0].URL(), 3)
	cmdtest.Stop(t, r)
	screen.shows(t, "! 6 errors, ended")
	o.same(t, truthOf(t, name))
}
