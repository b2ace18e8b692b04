package tui

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
)

var update = flag.Bool("update", false, "write golden files and generated pages")

func TestMain(m *testing.M) {
	flag.Parse()
	warmUp()
	debug.SetGCPercent(400) // what is alive is little: this saves a quarter of the time
	goleak.VerifyTestMain(m)
}

// A ui drives an inspector as the terminal library would: keys and messages go to Update, commands run in parallel.
type ui struct {
	t      *testing.T
	m      *inspector
	msgs   chan tea.Msg
	ctx    context.Context
	cancel context.CancelFunc
	quit   bool
}

// newUI opens an inspector, waits until it is idle, and closes it when the test ends. It requires a bubble of
// testing/synctest, in which idle means that all goroutines wait.
func newUI(t *testing.T, src capture.Source, width, height int, o Options) *ui {
	t.Helper()
	u := startUI(t, src, width, height, o)
	t.Cleanup(u.close)
	u.pass(time.Second)
	return u
}

func startUI(t *testing.T, src capture.Source, width, height int, o Options) *ui {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	if o.Rules == nil {
		o.Rules = rules.All
	}
	if o.Location == nil {
		o.Location = time.UTC
	}
	if o.Theme == "" {
		o.Theme = style.Plain
	}
	if o.View == nil {
		o.View = view.Open(src, view.Options{Rules: o.Rules})
	}
	t.Cleanup(func() { must.Do(t, o.View.Close()) })
	u := &ui{
		t: t, m: newInspector(load.New(ctx, src, o.Rules), o), msgs: make(chan tea.Msg), ctx: ctx,
		cancel: cancel,
	}
	u.run(u.m.Init())
	u.send(tea.WindowSizeMsg{Width: width, Height: height})
	return u
}

// close ends the inspector and waits for what it had under way.
func (u *ui) close() {
	u.cancel()
	u.drain()
}

func (u *ui) run(cmd tea.Cmd) { runInto(u.ctx, u.msgs, cmd) }

// runInto runs a command in parallel with the test, and passes on its messages until the context ends.
func runInto(ctx context.Context, msgs chan<- tea.Msg, cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				runInto(ctx, msgs, c)
			}
		default:
			select {
			case msgs <- msg:
			case <-ctx.Done():
			}
		}
	}()
}

func (u *ui) send(msg tea.Msg) {
	if _, ok := msg.(tea.QuitMsg); ok {
		u.quit = true
		return
	}
	_, cmd := u.m.Update(msg)
	u.run(cmd)
}

// settle handles messages until none comes any more, however long that takes but without letting time pass.
func (u *ui) drain() {
	for {
		synctest.Wait()
		select {
		case msg := <-u.msgs:
			u.send(msg)
		default:
			return
		}
	}
}

// pass handles what comes until so much time of the bubble's clock has passed.
func (u *ui) pass(d time.Duration) {
	over := time.After(d)
	for {
		select {
		case msg := <-u.msgs:
			u.send(msg)
		case <-over:
			u.drain()
			return
		}
	}
}

// until handles messages until a condition holds. It is for tests outside a bubble.
func (u *ui) until(what string, holds func() bool) {
	u.t.Helper()
	deadline := time.After(must.Patience)
	for !holds() {
		select {
		case msg := <-u.msgs:
			u.send(msg)
		case <-deadline:
			u.t.Fatalf("%s does not come; the screen is\n%s", what, u.screen())
		}
	}
}

var named = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "space": tea.KeySpace, "up": tea.KeyUp,
	"down": tea.KeyDown,
	"left": tea.KeyLeft, "ctrl+f": tea.KeyCtrlF, "ctrl+b": tea.KeyCtrlB, "ctrl+c": tea.KeyCtrlC, "ctrl+u": tea.KeyCtrlU,
	"end": tea.KeyEnd, "home": tea.KeyHome, "backspace": tea.KeyBackspace, "ctrl+p": tea.KeyCtrlP,
}

// press strikes keys, one after another, and lets the inspector come to rest after each.
func (u *ui) press(keys ...string) *ui {
	for _, k := range keys {
		u.strike(k)
		u.pass(300 * time.Millisecond)
	}
	return u
}

func (u *ui) strike(k string) {
	msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
	if t, ok := named[k]; ok {
		msg = tea.KeyMsg{Type: t}
		if t == tea.KeySpace {
			msg.Runes = []rune{' '}
		}
	}
	u.send(msg)
}

// typed strikes the characters of a text.
func (u *ui) typed(words string) *ui {
	for _, r := range words {
		if r == ' ' {
			u.strike("space")
		} else {
			u.strike(string(r))
		}
	}
	u.pass(time.Second)
	return u
}

// screen returns what is seen, as text without trailing blanks.
func (u *ui) screen() string {
	var b strings.Builder
	for _, l := range u.m.screen.frame() {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

// sees fails unless the screen has all of some texts.
func (u *ui) sees(texts ...string) {
	u.t.Helper()
	for _, words := range texts {
		if !strings.Contains(u.screen(), words) {
			u.t.Errorf("the screen does not say %q:\n%s", words, u.screen())
		}
	}
}

// hides fails if the screen has one of some texts.
func (u *ui) hides(texts ...string) {
	u.t.Helper()
	for _, words := range texts {
		if strings.Contains(u.screen(), words) {
			u.t.Errorf("the screen says %q:\n%s", words, u.screen())
		}
	}
}

// selects fails unless an exchange is selected in the list.
func (u *ui) selects(want uint64) {
	u.t.Helper()
	if got := u.m.list.Selected(); got != want {
		u.t.Errorf("exchange %d is selected, want %d:\n%s", got, want, u.screen())
	}
}

// lists fails unless the filter lets these exchanges through.
func (u *ui) lists(want ...uint64) {
	u.t.Helper()
	if diff := cmp.Diff(want, u.matches()); diff != "" {
		u.t.Errorf("the filter lets through, -want +got:\n%s\n%s", diff, u.screen())
	}
}

// isOn fails unless the line where the cursor is has a text.
func (u *ui) isOn(words string) {
	u.t.Helper()
	if got := u.cursorLine(); !strings.Contains(got, words) {
		u.t.Errorf("the cursor is on %q, want %q:\n%s", got, words, u.screen())
	}
}

// isAt fails unless what is selected in the top panel belongs to an exchange.
func (u *ui) isAt(want uint64) {
	u.t.Helper()
	if got := u.m.top().Target().Exchange; got != want {
		u.t.Errorf("the cursor is at exchange %d, want %d:\n%s", got, want, u.screen())
	}
}

// titled fails unless the top panel has a title.
func (u *ui) titled(want string) {
	u.t.Helper()
	if got := u.m.top().Title(); got != want {
		u.t.Errorf("the panel is %q, want %q:\n%s", got, want, u.screen())
	}
}

// matches returns the exchanges that the filter lets through.
func (u *ui) matches() []uint64 {
	seqs, _ := u.m.list.Matches()
	return seqs
}

// cursorRow returns which line of the screen the cursor is in.
func (u *ui) cursorRow() int {
	return slices.IndexFunc(u.m.screen.frame(), func(l style.Line) bool { return strings.HasPrefix(l.String(), ">") })
}

// cursorLine returns the line of the screen where the cursor is.
func (u *ui) cursorLine() string {
	for _, l := range u.m.screen.frame() {
		if words := l.String(); strings.HasPrefix(words, ">") {
			return strings.TrimRight(words, " ")
		}
	}
	return ""
}

// journey returns the capture that most tests look at.
func journey(t *testing.T) capture.Source {
	t.Helper()
	script := must.Get(transcript.ReadFile(filepath.Join("testdata", "journey.txtar")))(t)
	return recorded(t, "journey.txtar", script.Exchanges)
}

// recorded returns a finished capture of some exchanges.
func recorded(t *testing.T, name string, exchanges []*capture.Exchange) *capture.Memory {
	t.Helper()
	return must.Get(capture.ReadMemory(capture.Info{Name: name}, capture.Each(exchanges...)))(t)
}

func sizeOf(width, height int) tea.Msg { return tea.WindowSizeMsg{Width: width, Height: height} }

func gzipped(t *testing.T, words string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(w.Write([]byte(words)))(t)
	end(t, w)
	return b.String()
}
