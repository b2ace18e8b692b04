package tui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/expect"
)

// A fakeHolder holds nothing; it remembers what it was asked to do.
type fakeHolder struct {
	changed chan struct{}

	mu    sync.Mutex
	state HeldState
	asked []string
}

func newFakeHolder() *fakeHolder { return &fakeHolder{changed: make(chan struct{}, 1)} }

// hold has another message held.
func (f *fakeHolder) hold(u *ui, words string) {
	f.mu.Lock()
	id := uint64(len(f.state.Held) + 1)
	f.state.Held = append(f.state.Held, HeldMessage{
		ID: id, What: "request", Since: time.Now(), Words: words,
		Lines: []string{"POST /rpc HTTP/1.1", "Authorization: Bearer redacted.0123456789abcdef.01234567", "", `{"method": "SendMessage"}`},
	})
	f.mu.Unlock()
	f.changed <- struct{}{}
	u.pass(time.Second)
}

// do remembers a decision; a message that is decided is gone.
func (f *fakeHolder) do(what string) func(uint64) error {
	return func(id uint64) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, fmt.Sprint(what, " ", id))
		n := len(f.state.Held)
		if f.state.Held = slices.DeleteFunc(f.state.Held, func(m HeldMessage) bool { return m.ID == id }); len(f.state.Held) == n {
			return errors.New("the message is no longer held")
		}
		return nil
	}
}

func (f *fakeHolder) holder() *Holder {
	note := func(words string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.asked = append(f.asked, words)
	}
	return &Holder{
		Hold: func(requests, answers bool, expr string) error {
			if strings.HasSuffix(expr, ":") {
				return errors.New("column 4: a value is missing")
			}
			note(fmt.Sprintf("hold %v %v %q", requests, answers, expr))
			return nil
		},
		Unhold: func() { note("unhold") }, Changed: f.changed,
		State: func() HeldState {
			f.mu.Lock()
			defer f.mu.Unlock()
			return HeldState{slices.Clone(f.state.Held), slices.Clone(f.state.Passed)}
		},
		LetGo: f.do("let go"), Drop: f.do("drop"),
		Text: func(uint64) ([]byte, error) { return []byte("the message\n"), nil },
		Edited: func(id uint64, text []byte) error {
			if strings.Contains(string(text), "wrong") {
				return errors.New("request:2: it is wrong")
			}
			return f.do("edit")(id)
		},
		Editor: func(path string) (*exec.Cmd, error) { return exec.Command("edit", path), nil },
	}
}

// What is held is listed with its age, and let go, edited or dropped; the last line says that it waits.
func TestHeldMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeHolder()
		u := newUI(t, journey(t), 80, 24, Options{Holder: f.holder()})
		u.press(":").typed("hold requests op:").press("enter")
		u.sees("no other message is held: column 4: a value is missing")
		u.press(":").typed("hold requests op:SendMessage").press("enter")
		u.sees("now holding: requests that match op:SendMessage; H shows held messages")
		u.press("j")
		u.sees("holding")
		f.hold(u, "traveller → booker: SendMessage")
		u.sees("held: request of traveller → booker: SendMessage; H shows it")
		u.press("j")
		u.sees("1 held")
		u.press("H")
		f.hold(u, "traveller → planner: SendMessage")
		u.sees("hold: requests that match op:SendMessage")
		u.pass(3 * time.Second)
		u.isKept("held")
		u.press("1")
		u.sees(`{"method": "SendMessage"}`)
		u.isKept("held-message")
		u.press("g")
		u.sees("> 1  request")
		u.press("1", "x")
		u.sees("dropped: request of traveller → planner: SendMessage")
		expect.Equal(t, "asked for", `hold true false "op:SendMessage", let go 1, drop 2`, strings.Join(f.asked, ", "))
		u.press("H", "u")
		u.sees("holding is off")
		u.press(":").typed("hold answers").press("enter")
		u.press(":").typed("hold state:failed").press("enter")
		u.press(":").typed("unhold").press("enter")
		if got := strings.Join(f.asked[4:], ", "); got != `hold false true "", hold true true "state:failed", unhold` {
			t.Errorf("asked for %s", got)
		}
	})
}

// A message that leaves while the list is open keeps its row: no key, and no enter, is for another message then.
func TestHeldMessageLeavesTheOpenList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeHolder()
		u := newUI(t, journey(t), 80, 24, Options{Holder: f.holder()})
		for _, words := range []string{"traveller → booker: one", "traveller → booker: two", "traveller → booker: three"} {
			f.hold(u, words)
		}
		leaves := func(id uint64) {
			f.mu.Lock()
			f.state.Held = slices.DeleteFunc(f.state.Held, func(m HeldMessage) bool { return m.ID == id })
			f.mu.Unlock()
			f.changed <- struct{}{}
			u.pass(time.Second)
		}
		u.press("H", "j")
		u.sees("> 2  request")
		leaves(1)
		u.sees("booker: one (no longer held)")
		u.sees("> 2  request")
		u.press("enter")
		u.sees("what should happen to it?")
		u.sees("request of traveller → booker: two")
		u.press("b", "j") // the list opens again, without the row
		u.sees("> 2  request")
		leaves(2)
		u.press("1")
		u.sees("no longer held")
		u.press("2", "x")
		u.sees("dropped: request of traveller → booker: three")
		expect.Equal(t, "asked for", "drop 3", strings.Join(f.asked, ", "))
	})
}

// An edited message is released. A message that was not edited, or is invalid, is still held.
func TestEditHeldMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeHolder()
		u := newUI(t, journey(t), 80, 24, Options{Holder: f.holder()})
		f.hold(u, "traveller → booker: SendMessage")
		var seen []string
		edit := func(words string) {
			u.m.outbox.exec = func(c *exec.Cmd, done tea.ExecCallback) tea.Cmd {
				return func() tea.Msg {
					path := c.Args[len(c.Args)-1]
					text, err := os.ReadFile(path)
					if err == nil && words != "" {
						err = os.WriteFile(path, []byte(words), 0o600)
					}
					seen = append(seen, string(text))
					return done(err)
				}
			}
		}
		edit("")
		u.press("H", "1", "e")
		u.sees("! nothing was changed; the message is still held")
		edit(" ")
		u.press("e")
		u.sees("! the file was empty; the message is still held")
		edit("wrong")
		u.press("e")
		u.sees("! request:2: it is wrong")
		edit("right")
		u.press("e")
		u.sees("released, edited: request of traveller → booker: SendMessage")
		expect.Equal(t, "the editor", "the message\n|the message\n|the message\n|wrong", strings.Join(seen, "|"))
		expect.Equal(t, "asked for", "edit 1", strings.Join(f.asked, ", "))
	})
}

func TestNothingToHoldWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("H")
		u.sees("only messages that this process records can be held: a2atap record --tui")
		u.press(":").typed("hold op:SendMessage").press("enter")
		u.sees("only messages that this process records can be held: a2atap record --tui")
	})
}
