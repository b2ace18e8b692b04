package tui

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/replay/report"
	"a2atap/tui/text"
)

// A fakeSender sends nothing; it remembers what it was asked to send.
type fakeSender struct {
	sent    []string
	block   bool // until the context ends
	file    string
	remote  []string
	answers *capture.Exchange
	target  string // what follows the address
}

func (f *fakeSender) outgoing(what string, s *Sent) *Outgoing {
	o := &Outgoing{What: what, File: f.file, Remote: f.remote, Text: []byte("the request\n")}
	o.Send = func(ctx context.Context) (*Sent, error) {
		f.sent = append(f.sent, what)
		if f.block {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return s, nil
	}
	return o
}

func (f *fakeSender) sender() *Sender {
	return &Sender{
		Request: func(_ context.Context, x *capture.Exchange) (*Outgoing, error) {
			o := f.outgoing("POST "+x.Agent.URL+"/rpc"+f.target, &Sent{Exchange: f.answers, File: f.file})
			o.Edited = func(text []byte) (*Outgoing, error) {
				if strings.Contains(string(text), "wrong") {
					return nil, errors.New("request:2: it is wrong")
				}
				return f.outgoing(strings.TrimSpace(string(text)), &Sent{Exchange: f.answers, File: f.file}), nil
			}
			return o, nil
		},
		Task: func(_ context.Context, _ capture.Source, seqs []uint64) (*Outgoing, error) {
			r := &report.Report{Capture: "c", To: "http://127.0.0.1:9001", Sent: len(seqs), Matched: len(seqs)}
			return f.outgoing(text.Plural(len(seqs), "request"), &Sent{Report: r, File: f.file}), nil
		},
		Editor: func(path string) (*exec.Cmd, error) { return exec.Command("edit", path), nil },
	}
}

// again is an answer that was sent again, as exchange 7 of another capture.
func again() *capture.Exchange {
	x := streamed(strings.NewReplacer("task-1", "task-9"))
	x.Seq = 7
	return x
}

// A request is sent again only after a question. The response is compared and opened.
func TestResend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSender{file: "runs-resent.a2atap", answers: again()}
		u := newUI(t, twoRuns(t, func(*capture.Exchange) {}), 100, 30, Options{Sender: f.sender()})
		u.press("g", "r")
		u.sees("send POST http://127.0.0.1:9001/rpc", "it stays on this machine", "saved in runs-resent.a2atap")
		u.press("enter")
		u.sees("nothing was sent")
		u.press("r", "esc", "r", "q", "r", "n")
		if len(f.sent) > 0 {
			t.Fatalf("sent without a word: %q", f.sent)
		}
		u.press("r", "y")
		if len(f.sent) != 1 {
			t.Fatalf("sent %q", f.sent)
		}
		u.sees("exchange 7 in runs-resent.a2atap")
		u.press("o")
		u.sees("7 in runs-resent.a2atap", "status submitted")
		for _, k := range []string{"x", "#", "D", "r", "E", "l", "n"} { // they are about the capture that is looked at
			body := func() string { return u.screen()[:strings.LastIndex(strings.TrimSpace(u.screen()), "\n")] }
			before := body()
			if u.press(k); body() != before {
				t.Errorf("%s acts on an exchange of another capture:\n%s", k, u.screen())
			}
			u.sees(k + ": not here; in ")
		}
		u.press("tab", "v", "esc", "r", "y", "d")
		u.sees("diff of 1 and exchange 7 in runs-resent.a2atap", "no difference")
	})
}

// One key never sends, however fast keys come: those before the question take it back.
func TestNothingIsSentBySlips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSender{file: "x.a2atap", answers: again(), remote: []string{"booker.example:9001"}}
		u := newUI(t, twoRuns(t, func(*capture.Exchange) {}), 100, 30, Options{Sender: f.sender()})
		u.press("g")
		for _, k := range []string{"r", "j", "y", "enter", "esc", "k", "R", "y", "y"} {
			u.strike(k) // faster than anything is read
		}
		u.drain()
		if len(f.sent) > 0 {
			t.Errorf("sent %q", f.sent)
		}
		u.press("esc", "esc", "g", "r")
		u.sees("? booker.example:9001 is not this machine")
		u.press("n")
		f.target = strings.Repeat("/very-long", 500)
		for _, size := range []tea.Msg{sizeOf(80, 24), sizeOf(80, 12)} { // no warning goes off the screen
			u.send(size)
			u.press("r")
			u.sees("? booker.example:9001 is not this machine", "saved in x.a2atap", "> n ")
			u.press("n")
		}
		u.send(sizeOf(80, 6)) // where there is no room for the question, it cannot be answered
		u.press("r", "y")
		u.sees("the window is too small")
		if len(f.sent) > 0 {
			t.Errorf("sent %q", f.sent)
		}
	})
}

// What is under way ends with esc.
func TestSendingIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSender{file: "x.a2atap", block: true}
		u := newUI(t, twoRuns(t, func(*capture.Exchange) {}), 100, 30, Options{Sender: f.sender()})
		u.press("g", "r", "y")
		u.sees("sending, esc cancels")
		u.press("j", "r")
		u.sees("a request is being sent")
		u.press("esc")
		u.sees("canceled; there was no answer")
		u.press("R", "y", "q", "q")
	})
}

// After an edit, the inspector asks again. Without changes, it sends nothing. Errors name the line.
func TestEditBeforeSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSender{file: "x.a2atap", answers: again()}
		u := newUI(t, twoRuns(t, func(*capture.Exchange) {}), 100, 30, Options{Sender: f.sender()})
		var seen []string
		edit := func(words string) {
			u.m.outbox.exec = func(c *exec.Cmd, done tea.ExecCallback) tea.Cmd {
				return func() tea.Msg {
					path := c.Args[len(c.Args)-1]
					text, err := os.ReadFile(path)
					if err != nil {
						t.Error(err)
					}
					seen = append(seen, string(text))
					if words != "" {
						err = os.WriteFile(path, []byte(words), 0o600)
					}
					msg := done(err)
					if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s is left behind: %v", path, err)
					}
					return msg
				}
			}
		}
		edit("")
		u.press("g", "r", "e")
		u.sees("nothing was changed, so nothing was sent")
		edit(" \n")
		u.press("r", "e")
		u.sees("the request was empty, so nothing was sent")
		edit("wrong\n")
		u.press("r", "e")
		u.sees("! request:2: it is wrong")
		u.press("y")
		u.sees("request:2: it is wrong")
		edit("PUT /other")
		u.press("e")
		u.sees("send PUT /other")
		if len(f.sent) > 0 {
			t.Errorf("sent before the second question: %q", f.sent)
		}
		u.press("y")
		u.sees("exchange 7")
		expect.Equal(t, "sent", "PUT /other", strings.Join(f.sent, ","))
		expect.Equal(t, "the editor", "the request\n|the request\n|the request\n|wrong\n", strings.Join(seen, "|"))
		u.press("b")
		u.m.outbox.exec = func(_ *exec.Cmd, done tea.ExecCallback) tea.Cmd {
			return func() tea.Msg { return done(errors.New("exit status 1")) }
		}
		u.press("r", "e")
		u.sees("failed: exit status 1; nothing was sent")
	})
}

// A task is replayed after the same question, and its report is shown.
func TestReplayTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeSender{file: "x.a2atap"}
		u := newUI(t, twoRuns(t, func(*capture.Exchange) {}), 100, 30, Options{Sender: f.sender()})
		u.press("g", "R")
		u.sees("send 1 request")
		u.press("y")
		u.sees("no difference; 1 sent, 1 matched", "saved in x.a2atap")
	})
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 30, Options{})
		u.press("r")
		u.sees("nothing can be sent from here")
	})
}
