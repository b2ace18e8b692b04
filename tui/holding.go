package tui

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/tui/menu"
	"a2atap/tui/panel"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A Holder holds messages on their way through the taps of this process, until somebody decides what becomes of them. Its
// functions run outside the event loop, but for State.
type Holder struct {
	// Hold says which messages are held from now on: requests, answers or both, of exchanges that match a filter as far as
	// they have come. What was held before goes on. The error is that of the filter.
	Hold func(requests, answers bool, expr string) error
	// Unhold holds nothing any more. What is held goes on.
	Unhold func()

	Changed <-chan struct{}  // yields a value when the state has changed
	State   func() HeldState // at once

	LetGo, Drop func(id uint64) error                // what becomes of a message; an error says why it cannot
	Text        func(id uint64) ([]byte, error)      // a message for an editor
	Edited      func(id uint64, text []byte) error   // lets it go as the text says; an error says in which line that is wrong
	Editor      func(path string) (*exec.Cmd, error) // opens a file in the user's editor; nil if there is none
}

// A HeldState is what is held.
type HeldState struct {
	Held   []HeldMessage // in the order in which they came
	Passed []string      // why messages passed that may have been wanted
}

// A HeldMessage is a message that waits.
type HeldMessage struct {
	ID    uint64
	What  string // request or answer
	Since time.Time
	Words string   // whose it is, and what it is
	Lines []string // the beginning of what it says, without secrets
}

// holding shows what is held, and asks what becomes of it.
type holding struct {
	*inspector
	wants   string     // what is held, in words; empty for nothing
	state   HeldState  // as it was told last
	list    *menu.Menu // of what is held, while it is open
	ticking bool       // its ages will be drawn anew
}

// Messages of what is held.
type (
	// heldChanged brings what is held now.
	heldChanged struct{ state HeldState }
	// heldTick says that the ages of what is held have grown.
	heldTick struct{}
	// wanted says what is held from now on, or why that cannot be.
	wanted struct {
		words string
		err   error
	}
	// released says what became of a message.
	released struct {
		words string
		err   error
	}
	// heldEditable says that a message stands in a file for the user's editor.
	heldEditable struct {
		of   HeldMessage
		file string
		text []byte
		err  error
	}
	// heldEdited brings what came of that.
	heldEdited struct {
		of   HeldMessage
		text []byte // as it is now
		err  error  // why nothing is done with it, or nothing could be
	}
)

// watch returns the command that waits for what is held.
func (h *holding) watch() tea.Cmd {
	o := h.options.Holder
	if o == nil {
		return nil
	}
	done := h.shared.Load.Context.Done()
	return func() tea.Msg {
		select {
		case <-o.Changed:
			return heldChanged{o.State()}
		case <-done:
			return nil
		}
	}
}

// take takes a message about what is held, and reports whether it was one.
func (h *holding) take(msg tea.Msg) (cmd tea.Cmd, mine bool) {
	switch msg := msg.(type) {
	case heldChanged:
		return h.changed(msg), true
	case heldTick:
		return h.ticked(), true
	case wanted:
		h.wanted(msg)
	case released:
		return h.released(msg), true
	case heldEditable:
		return h.openEditor(msg), true
	case heldEdited:
		return h.edited(msg), true
	default:
		return nil, false
	}
	return nil, true
}

// changed shows what is held now.
func (h *holding) changed(msg heldChanged) tea.Cmd {
	before := h.state
	h.state = msg.state
	var said string
	for _, why := range msg.state.Passed {
		if !slices.Contains(before.Passed, why) {
			said = "a message went on: " + why
		}
	}
	for _, x := range msg.state.Held {
		if !slices.ContainsFunc(before.Held, func(y HeldMessage) bool { return x.ID == y.ID }) {
			said = "held: " + x.What + " of " + x.Words + "; H shows it"
		}
	}
	if said != "" && h.list == nil {
		h.shared.Message = said
	}
	h.refresh()
	return tea.Batch(h.watch(), h.tick())
}

// words say how many messages are held, or that some are to be; "" for neither.
func (h *holding) words() string {
	if n := len(h.state.Held); n > 0 {
		return fmt.Sprintf("%d held", n)
	}
	if h.wants != "" {
		return "holding"
	}
	return ""
}

// show opens the list of what is held.
func (h *holding) show() tea.Cmd {
	h.list = menu.New("held", analysis.Place{}, nil)
	h.refresh()
	return tea.Batch(h.push(h.list), h.tick())
}

// tick returns the command that draws ages anew after a second, while they are on the screen.
func (h *holding) tick() tea.Cmd {
	if h.ticking || !h.shown() || len(h.state.Held) == 0 {
		return nil
	}
	h.ticking = true
	load := h.shared.Load
	return func() tea.Msg {
		load.Pause(time.Second)
		return heldTick{}
	}
}

func (h *holding) ticked() tea.Cmd {
	h.ticking = false
	h.refresh()
	return h.tick()
}

// shown reports whether the list is on the screen.
func (h *holding) shown() bool { return h.list != nil && h.top() == panel.Panel(h.list) }

// refresh lists what is held now, if the list is on the screen.
func (h *holding) refresh() {
	if h.list == nil {
		return
	}
	if !slices.Contains(h.stack, panel.Panel(h.list)) && h.list.Choices != nil {
		h.list = nil
		return
	}
	words := "nothing is to be held: f says what, or :hold FILTER"
	if h.wants != "" {
		words = "to be held: " + h.wants
	}
	h.list.Above = []style.Line{style.Text(style.Strong, words)}
	for _, why := range h.state.Passed {
		h.list.Above = append(h.list.Above, style.Text(style.Warning, "? "+why))
	}
	var choices []menu.Choice
	for i, x := range h.state.Held {
		key := ""
		if i < 9 {
			key = fmt.Sprint(i + 1)
		}
		choices = append(choices, menu.Choice{
			Key:   key,
			Words: text.Pad(x.What, 7) + " " + text.PadLeft(age(x.Since), 6) + "  " + x.Words,
			Do:    func() tea.Cmd { return h.ask(x, nil, "") },
		})
	}
	if len(h.state.Held) > 1 {
		choices = append(choices, menu.Choice{Key: "a", Words: "let all of them go", Do: h.letAllGo})
	}
	choices = append(choices, menu.Choice{Key: "f", Words: "say what is to be held", Do: h.askWhat})
	if h.wants != "" {
		choices = append(choices, menu.Choice{Key: "u", Words: "hold nothing any more", Do: func() tea.Cmd { return h.set(false, false, "") }})
	}
	choices = append(choices, menu.Choice{Key: "b", Words: "back", Do: func() tea.Cmd { return nil }})
	h.list.Choices, h.list.Window.Length = choices, len(choices)
	h.list.Window.Move(min(h.list.Window.Cursor, len(choices)-1))
	h.panes.fit(h.list)
}

// age says how long ago something was, in whole seconds.
func age(since time.Time) string { return time.Since(since).Truncate(time.Second).String() }

// askWhat asks what is to be held.
func (h *holding) askWhat() tea.Cmd {
	h.prompt = newPrompt("hold", "", func(value string) (tea.Cmd, error) { return holdWhat(h.inspector, value) })
	return nil
}

// holdWhat holds what words say: requests, answers or both, and a filter.
func holdWhat(m *inspector, argument string) (tea.Cmd, error) {
	if m.options.Holder == nil {
		return nil, errors.New(noHolder)
	}
	side, expr, _ := strings.Cut(argument, " ")
	requests, answers := side != "answers", side != "requests"
	if requests && answers {
		expr = argument
	}
	return m.holding.set(requests, answers, strings.TrimSpace(expr)), nil
}

// holdWords offers words for what is to be held.
func holdWords(m *inspector, argument string) []string {
	words := m.list.Filter.Words(argument)
	if !strings.Contains(argument, " ") {
		words = append([]string{"requests ", "answers "}, words...)
	}
	return words
}

// noHolder says why nothing can be held.
const noHolder = "only what this process records can be held: a2atap record --tui"

// set holds other messages, or none.
func (h *holding) set(requests, answers bool, expr string) tea.Cmd {
	o := h.options.Holder
	return func() tea.Msg {
		if !requests && !answers {
			o.Unhold()
			return wanted{}
		}
		words := map[bool]string{true: "requests and answers", false: "requests"}[answers]
		if !requests {
			words = "answers"
		}
		if expr != "" {
			words += " that match " + expr
		}
		return wanted{words, o.Hold(requests, answers, expr)}
	}
}

// wanted says what is held from now on.
func (h *holding) wanted(msg wanted) {
	switch {
	case msg.err != nil:
		h.shared.Message = "nothing else is held: " + msg.err.Error()
		return
	case msg.words == "":
		h.shared.Message = "nothing is held any more"
	default:
		h.shared.Message = "from now on held: " + msg.words + "; H shows what is"
	}
	h.wants = msg.words
	h.refresh()
}

// ask asks what is to become of a message, of which a text was edited that could not be read, or none.
func (h *holding) ask(x HeldMessage, edited []byte, remark string) tea.Cmd {
	o := h.options.Holder
	edit := menu.Choice{Key: "e", Words: "edit it, and let it go then", Do: func() tea.Cmd { return h.edit(x, edited) }}
	if o.Editor == nil {
		edit.Off = "there is no editor: set VISUAL or EDITOR"
	}
	ask := menu.New("what becomes of it?", analysis.Place{}, []menu.Choice{
		{Key: "g", Words: "let it go as it is", Do: func() tea.Cmd { return h.release("let go", o.LetGo, x) }},
		edit,
		{Key: "x", Words: "drop it, and break the connection of the client off", Do: func() tea.Cmd { return h.release("dropped", o.Drop, x) }},
		{Key: "b", Words: "back; it is still held", Do: h.show},
	})
	ask.Above = []style.Line{
		style.Text(style.Strong, x.What+" of "+x.Words).Add(style.Dim, "  held for "+age(x.Since)),
	}
	if remark != "" {
		ask.Above = append(ask.Above, style.Text(style.Error, "! "+remark))
	}
	for _, l := range x.Lines {
		ask.Above = append(ask.Above, style.Text(style.Normal, "  "+l))
	}
	return h.push(ask)
}

// release decides what becomes of a message.
func (h *holding) release(words string, do func(uint64) error, x HeldMessage) tea.Cmd {
	return func() tea.Msg { return released{words + ": " + x.What + " of " + x.Words, do(x.ID)} }
}

// letAllGo lets go what is held.
func (h *holding) letAllGo() tea.Cmd {
	letGo, held := h.options.Holder.LetGo, h.state.Held
	return func() tea.Msg {
		var failed error
		for _, x := range held {
			failed = errors.Join(failed, letGo(x.ID))
		}
		return released{"let go: " + text.Plural(len(held), "message"), failed}
	}
}

// released says what became of a message, and goes on to those that are held still.
func (h *holding) released(msg released) tea.Cmd {
	h.shared.Message = msg.words
	if msg.err != nil {
		h.shared.Message = msg.err.Error()
	}
	h.state = h.options.Holder.State()
	h.list = nil
	if len(h.state.Held) > 0 {
		return h.show()
	}
	return nil
}

// edit writes a message into a file for the user's editor: the text that was edited before, or the message.
func (h *holding) edit(x HeldMessage, edited []byte) tea.Cmd {
	read := h.options.Holder.Text
	return func() tea.Msg {
		msg := heldEditable{of: x, text: edited}
		if edited == nil {
			if msg.text, msg.err = read(x.ID); msg.err != nil {
				return msg
			}
		}
		msg.file, msg.err = writeTemporary(msg.text)
		return msg
	}
}

// openEditor opens the editor, which has the screen until it ends.
func (h *holding) openEditor(msg heldEditable) tea.Cmd {
	if msg.err != nil {
		h.shared.Message = msg.err.Error()
		return nil
	}
	cmd, err := h.options.Holder.Editor(msg.file)
	if err != nil {
		os.Remove(msg.file) //nolint:errcheck // it is a temporary file
		return h.ask(msg.of, nil, err.Error())
	}
	return h.outbox.exec(cmd, func(err error) tea.Msg {
		defer os.Remove(msg.file) //nolint:errcheck // it is a temporary file
		if err != nil {
			return heldEdited{msg.of, nil, fmt.Errorf("the editor %s failed: %w; it is still held", cmd.Path, err)}
		}
		now, err := os.ReadFile(msg.file)
		switch {
		case err == nil && len(bytes.TrimSpace(now)) == 0:
			now, err = nil, errors.New("nothing was left of it; it is still held")
		case err == nil && bytes.Equal(now, msg.text):
			now, err = nil, errors.New("nothing was changed; it is still held")
		}
		return heldEdited{msg.of, now, err}
	})
}

// edited lets a message go as it was edited, or asks again.
func (h *holding) edited(msg heldEdited) tea.Cmd {
	if msg.err != nil {
		return h.ask(msg.of, msg.text, msg.err.Error())
	}
	apply := h.options.Holder.Edited
	return func() tea.Msg {
		if err := apply(msg.of.ID, msg.text); err != nil {
			return heldEdited{msg.of, msg.text, err}
		}
		return released{"let go, edited: " + msg.of.What + " of " + msg.of.Words, nil}
	}
}
