package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"a2atap/analyzer/analysis"

	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/tui"
)

// A seen is a rule that is broken by every request, and knows how often it judged each.
type seen struct {
	mu    sync.Mutex
	times map[uint64]int // by exchange
}

func (s *seen) rule() *analysis.Rule {
	return &analysis.Rule{
		ID: "request-seen", Title: "a request", Family: "test", Category: analysis.Interop, Level: analysis.Must,
		Side: a2a.Client,
		On:   analysis.RequestSeen, Bindings: analysis.OnJSONRPC, Cites: []a2a.Cite{{In: a2a.V1_0, Section: "1"}},
		Doc: "Nothing.", Fix: "Nothing.", Silent: "Never.",
		Check: func(p *analysis.Pass) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.times[p.Exchange.Seq]++
			p.Report(p.Place, "a request", "expected none")
		},
	}
}

// The inspector shows what the recording's engine finds, so that each request is checked once. If the capture has earlier
// recordings, the inspector checks all of it as well, since the recording's verdict is on its own part alone.
func TestRecordingWithInspectorJudgesOnce(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}`)
	}))
	defer agent.Close()
	address := must.Get(url.Parse(agent.URL))(t)
	client := &http.Client{Timeout: must.Patience}
	defer client.CloseIdleConnections()
	path := filepath.Join(t.TempDir(), "c.a2atap")
	for n, want := range []struct {
		screen string
		judged map[uint64]int
	}{
		{"! 3 errors, live", map[uint64]int{1: 1, 2: 1, 3: 1}},
		{"! 6 errors, live", map[uint64]int{1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2}},
	} {
		t.Run(fmt.Sprintf("recording %d", n+1), func(t *testing.T) {
			var printed atomic.Int64
			rule := &seen{times: make(map[uint64]int)}
			r, err := recorder.Start(recorder.Options{
				Output: path, Proxy: proxy.Options{Taps: []proxy.TapSpec{{Name: "a", Agent: address, Listen: "127.0.0.1:0"}}},
				Rules:     []*analysis.Rule{rule.rule()},
				Inspected: true, Listener: told{finding: func(analysis.Finding) { printed.Add(1) }},
			})
			must.Do(t, err)
			screen, ended := inspectIn(t, r)
			for range 3 {
				must.Do(t, cmdtest.GetTask(client, r.Taps()[0].URL()))
			}
			screen.shows(t, want.screen)
			screen.strike(t, "Q", "Quitting ends the recording")
			screen.strike(t, "Q", "")
			must.Do(t, <-ended)
			result := cmdtest.Stop(t, r)
			if c := result.Counts; c.Exchanges != 3 || c.Judged != 3 || result.Found[analysis.Error] != 3 ||
				printed.Load() != 3 {
				t.Errorf("the verdict is on %+v, with %d errors, %d printed; want 3 of each",
					c, result.Found[analysis.Error], printed.Load())
			}
			rule.mu.Lock()
			defer rule.mu.Unlock()
			if !maps.Equal(rule.times, want.judged) {
				t.Errorf("requests were judged so often: %v, want %v", rule.times, want.judged)
			}
		})
	}
}

// A pseudoTerminal is the screen and the keyboard of a user at a terminal.
type pseudoTerminal struct {
	keys    io.Writer
	changed chan struct{} // holds a value when more was written

	mu   sync.Mutex
	seen []byte
}

// inspectIn runs the inspector of a recording in a pseudo-terminal of 80 columns, until it ends.
func inspectIn(t *testing.T, r *recorder.Recording) (*pseudoTerminal, <-chan error) {
	t.Helper()
	screen := r.Screen()
	screen.View = verdict.View(r.Before().Name, r.Source(), screen.Rules)
	t.Cleanup(func() { must.Do(t, screen.View.Close()) })
	return inspectSource(t, r.Source(), screen, 24, 80)
}

// inspectSource runs the inspector on a capture in a pseudo-terminal, until it ends.
func inspectSource(
	t *testing.T, src capture.Source, o tui.Options, rows, columns uint16,
) (*pseudoTerminal, <-chan error) {
	t.Helper()
	master, terminal := openTerminal(t, rows, columns)
	in, keys := io.Pipe()
	p := &pseudoTerminal{keys: keys, changed: make(chan struct{}, 1)}
	var reading sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	reading.Go(func() { p.read(master) })
	ended := make(chan error, 1)
	o.Theme, o.In, o.Out = tui.Plain, in, terminal
	reading.Go(func() { ended <- tui.Run(ctx, src, o) })
	t.Cleanup(func() {
		cancel()
		keys.Close()
		terminal.Close()
		master.Close()
		reading.Wait()
	})
	return p, ended
}

// read takes what is written to a terminal until that is closed.
func (p *pseudoTerminal) read(master io.Reader) {
	for b := make([]byte, 1<<12); ; {
		n, err := master.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.seen = append(p.seen, b[:n]...)
		p.mu.Unlock()
		select {
		case p.changed <- struct{}{}:
		default:
		}
	}
}

// openTerminal opens both ends of a pseudo-terminal; the caller closes them.
func openTerminal(t testing.TB, rows, columns uint16) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must.Do(t, err)
	var unlocked, number int32
	control(t, master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	control(t, master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	size := [4]uint16{rows, columns} // and two unused values
	control(t, master, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must.Do(t, err)
	return master, terminal
}

// control makes a request of a terminal.
//
// Source: ioctl_tty(2).
func control(t testing.TB, f *os.File, request uintptr, value unsafe.Pointer) {
	t.Helper()
	raw := must.Get(f.SyscallConn())(t)
	var number syscall.Errno
	if err := raw.Control(func(fd uintptr) {
		_, _, number = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(value))
	}); err != nil || number != 0 {
		t.Fatalf("control the terminal: %v, %v", err, number)
	}
}

// shows waits until the words were written to the screen.
func (p *pseudoTerminal) shows(t testing.TB, words string) {
	t.Helper()
	p.matches(t, regexp.QuoteMeta(words))
}

// matches is shows for what a regular expression describes.
func (p *pseudoTerminal) matches(t testing.TB, words string) {
	t.Helper()
	pattern := regexp.MustCompile(words)
	deadline := time.After(must.Patience)
	for text := p.written(); !pattern.MatchString(text); text = p.written() {
		select {
		case <-p.changed:
		case <-deadline:
			t.Fatalf("the screen does not show %q; what was written is %q", words, text)
		}
	}
}

// written returns all that was written to the screen, without how it looks.
func (p *pseudoTerminal) written() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(looks.ReplaceAll(p.seen, nil))
}

// forget lets go what was written to the screen so far.
func (p *pseudoTerminal) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = nil
}

var looks = regexp.MustCompile("\x1b\\[[0-9;]*m")

// strike types keys and waits for what the screen shows then.
func (p *pseudoTerminal) strike(t testing.TB, keys, shows string) {
	t.Helper()
	must.Get(io.WriteString(p.keys, keys))(t)
	if shows != "" {
		p.shows(t, shows)
	}
}

// told is a Listener of findings.
type told struct {
	recorder.Silent
	finding func(analysis.Finding)
}

func (l told) Finding(f analysis.Finding) { l.finding(f) }
