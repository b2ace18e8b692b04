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
	"a2atap/tui/internal/menu"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// A Holder stops messages in the taps of this process until the user decides about them. Its functions, except State,
// run outside the event loop.
type Holder struct {
	// Hold selects which messages to hold from now on: requests, responses or both, of exchanges that match a filter so
	// far. It releases messages held before. The error is the filter's.
	Hold func(requests, answers bool, expr string) error
	// Unhold stops holding and releases all held messages.
	Unhold func()

	Changed <-chan struct{}  // yields a value when the state has changed
	State   func() HeldState // returns at once

	LetGo, Drop func(id uint64) error                // releases or discards a message, or fails with the reason
	Text        func(id uint64) ([]byte, error)      // returns a message for an editor
	Edited      func(id uint64, text []byte) error   // releases the edited message; an error names the wrong line
	Editor      func(path string) (*exec.Cmd, error) // opens a file in the user's editor; nil if the user has none
}

// A HeldState is the held messages and the passed ones.
type HeldState struct {
	Held   []HeldMessage // in order of arrival
	Passed []string      // why messages passed that the user may have wanted to hold
}

// A HeldMessage is a message that waits for a decision.
type HeldMessage struct {
	ID    uint64
	What  string // request or answer
	Since time.Time
	Words string   // its sender, receiver and kind
	Lines []string // the beginning of its contents, without secrets
}

// holding shows held messages, and asks what to do with them.
type holding struct {
	*inspector
	wants   string     // description of what to hold; empty for nothing
	state   HeldState  // latest state received
	list    *menu.Menu // list of held messages, while it is open
	rows    []heldRow  // its messages
	keys    int        // keys that rows have had since it was opened
	ticking bool       // a redraw of the ages is scheduled
}

// A heldRow is a row of the list of held messages. Its key stays the same while the list is open, so that no key press is
// for another message when one leaves.
type heldRow struct {
	HeldMessage
	key  string // empty if all keys are used
	gone bool   // the message is no longer held
}

// Messages about held messages.
type (
	// heldChanged brings the current state.
	heldChanged struct{ state HeldState }
	// heldTick triggers a redraw of the ages of held messages.
	heldTick struct{}
	// wanted reports what is held from now on, or an error.
	wanted struct {
		words string
		err   error
	}
	// released reports the outcome for a message.
	released struct {
		words string
		err   error
	}
	// heldEditable reports that a message was written to a file for the user's editor.
	heldEditable struct {
		of   HeldMessage
		file string
		text []byte
		err  error
	}
	// heldEdited brings the editor's result.
	heldEdited struct {
		of   HeldMessage
		text []byte // as edited
		err  error  // why the text is unusable, or the editor failed
	}
)

// watch returns the command that waits for a new state.
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

// take handles a message about held messages, and reports whether it was one.
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

// changed shows the new state.
func (h *holding) changed(msg heldChanged) tea.Cmd {
	before := h.state
	h.state = msg.state
	var said string
	for _, why := range msg.state.Passed {
		if !slices.Contains(before.Passed, why) {
			said = "a message was released: " + why
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

// words returns the number of held messages as text, or that holding is on, or "".
func (h *holding) words() string {
	if n := len(h.state.Held); n > 0 {
		return fmt.Sprintf("%d held", n)
	}
	if h.wants != "" {
		return "holding"
	}
	return ""
}

// show opens the list of held messages.
func (h *holding) show() tea.Cmd {
	h.list, h.rows = menu.New("held", analysis.Place{}, nil), nil
	h.keys = 0
	h.refresh()
	return tea.Batch(h.push(h.list), h.tick())
}

// tick returns a command that redraws the ages after a second while they are visible.
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

// shown reports whether the list is visible.
func (h *holding) shown() bool { return h.list != nil && h.top() == panel.Panel(h.list) }

// refresh updates the list of held messages, if it is visible.
func (h *holding) refresh() {
	if h.list == nil {
		return
	}
	if !slices.Contains(h.stack, panel.Panel(h.list)) && h.list.Choices != nil {
		h.list = nil
		return
	}
	words := "no hold is set: press f to set one, or type :hold FILTER"
	if h.wants != "" {
		words = "hold: " + h.wants
	}
	h.list.Above = []style.Line{style.Text(style.Strong, words)}
	for _, why := range h.state.Passed {
		h.list.Above = append(h.list.Above, style.Text(style.Warning, "? "+why))
	}
	selected := h.selected()
	h.updateRows(selected.id)
	var choices []menu.Choice
	for _, r := range h.rows {
		c := menu.Choice{
			Key: r.key, Words: text.Pad(r.What, 7) + " " + text.PadLeft(age(r.Since), 6) + "  " + r.Words,
			Do: func() tea.Cmd { return h.ask(r.HeldMessage, nil, "") },
		}
		if r.gone {
			c.Words, c.Off = text.Pad(r.What, 7)+" "+r.Words, "no longer held"
		}
		choices = append(choices, c)
	}
	if len(h.state.Held) > 1 {
		choices = append(choices, menu.Choice{Key: "a", Words: "release all of them", Do: h.letAllGo})
	}
	choices = append(choices, menu.Choice{Key: "f", Words: "choose what to hold", Do: h.askWhat})
	if h.wants != "" {
		choices = append(choices, menu.Choice{Key: "u", Words: "stop holding", Do: func() tea.Cmd { return h.set(false, false, "") }})
	}
	choices = append(choices, menu.Choice{Key: "b", Words: "back", Do: func() tea.Cmd { return nil }})
	h.list.Choices, h.list.Window.Length = choices, len(choices)
	for i := range choices { // the selection stays on its choice
		if h.choice(i) == selected {
			h.list.Window.Cursor = i
		}
	}
	h.list.Window.Move(h.list.Window.Cursor)
	h.panes.fit(h.list)
}

// A heldChoice identifies a choice of the list: a message, or else a key.
type heldChoice struct {
	id  uint64
	key string
}

// choice returns the identity of the choice at a position of the list.
func (h *holding) choice(at int) heldChoice {
	if at < len(h.rows) {
		return heldChoice{id: h.rows[at].ID}
	}
	return heldChoice{key: h.list.Choices[at].Key}
}

// selected returns the identity of the selected choice; the zero value if the list is empty.
func (h *holding) selected() heldChoice {
	if at := h.list.Window.Cursor; at < len(h.list.Choices) {
		return h.choice(at)
	}
	return heldChoice{}
}

// maxHeldRows is the number of rows from which on messages that are no longer held leave the list.
const maxHeldRows = 100

// updateRows marks the messages that have left, and adds those that have come. A row stays while the list is open: a key,
// the selection and a click mean the message that the user sees there.
func (h *holding) updateRows(selected uint64) {
	held := h.state.Held
	for i := range h.rows {
		r := &h.rows[i]
		r.gone = !slices.ContainsFunc(held, func(x HeldMessage) bool { return x.ID == r.ID })
	}
	for _, x := range held {
		if slices.ContainsFunc(h.rows, func(r heldRow) bool { return r.ID == x.ID }) {
			continue
		}
		r := heldRow{HeldMessage: x}
		if h.keys < 9 {
			h.keys++
			r.key = fmt.Sprint(h.keys)
		}
		h.rows = append(h.rows, r)
	}
	if len(h.rows) > maxHeldRows {
		h.rows = slices.DeleteFunc(h.rows, func(r heldRow) bool { return r.gone && r.ID != selected })
	}
}

// age returns the time since an event, in whole seconds.
func age(since time.Time) string { return time.Since(since).Truncate(time.Second).String() }

// askWhat asks which messages to hold.
func (h *holding) askWhat() tea.Cmd {
	h.prompt = newPrompt("hold", "", func(value string) (tea.Cmd, error) { return holdWhat(h.inspector, value) })
	return nil
}

// holdWhat holds the messages that argument selects: requests, responses or both, and a filter.
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

// holdWords returns completions for the argument of holdWhat.
func holdWords(m *inspector, argument string) []string {
	words := m.list.Filter.Words(argument)
	if !strings.Contains(argument, " ") {
		words = append([]string{"requests ", "answers "}, words...)
	}
	return words
}

// noHolder explains why no messages can be held.
const noHolder = "only messages that this process records can be held: a2atap record --tui"

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

// wanted reports what is held from now on.
func (h *holding) wanted(msg wanted) {
	switch {
	case msg.err != nil:
		h.shared.Message = "no other message is held: " + msg.err.Error()
		return
	case msg.words == "":
		h.shared.Message = "holding is off"
	default:
		h.shared.Message = "now holding: " + msg.words + "; H shows held messages"
	}
	h.wants = msg.words
	h.refresh()
}

// ask asks what to do with a message. edited is an edited text of it that could not be parsed, or nil.
func (h *holding) ask(x HeldMessage, edited []byte, remark string) tea.Cmd {
	o := h.options.Holder
	edit := menu.Choice{Key: "e", Words: "edit it, then release it", Do: func() tea.Cmd { return h.edit(x, edited) }}
	if o.Editor == nil {
		edit.Off = "no editor: set VISUAL or EDITOR"
	}
	ask := menu.New("what should happen to it?", analysis.Place{}, []menu.Choice{
		{Key: "g", Words: "release it unchanged", Do: func() tea.Cmd { return h.release("let go", o.LetGo, x) }},
		edit,
		{Key: "x", Words: "drop it, and close the client's connection", Do: func() tea.Cmd { return h.release("dropped", o.Drop, x) }},
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

// release executes the user's decision about a message.
func (h *holding) release(words string, do func(uint64) error, x HeldMessage) tea.Cmd {
	return func() tea.Msg { return released{words + ": " + x.What + " of " + x.Words, do(x.ID)} }
}

// letAllGo releases all held messages.
func (h *holding) letAllGo() tea.Cmd {
	letGo, held := h.options.Holder.LetGo, h.state.Held
	return func() tea.Msg {
		var failed error
		for _, x := range held {
			failed = errors.Join(failed, letGo(x.ID))
		}
		return released{"released: " + text.Plural(len(held), "message"), failed}
	}
}

// released reports the outcome for a message, and returns to the messages that are still held.
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

// edit writes a message into a file for the user's editor: the previously edited text, if any, or the message.
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

// openEditor opens the editor, which uses the screen until it exits.
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
			now, err = nil, errors.New("the file was empty; the message is still held")
		case err == nil && bytes.Equal(now, msg.text):
			now, err = nil, errors.New("nothing was changed; the message is still held")
		}
		return heldEdited{msg.of, now, err}
	})
}

// edited releases a message as edited, or asks again.
func (h *holding) edited(msg heldEdited) tea.Cmd {
	if msg.err != nil {
		return h.ask(msg.of, msg.text, msg.err.Error())
	}
	apply := h.options.Holder.Edited
	return func() tea.Msg {
		if err := apply(msg.of.ID, msg.text); err != nil {
			return heldEdited{msg.of, msg.text, err}
		}
		return released{"released, edited: " + msg.of.What + " of " + msg.of.Words, nil}
	}
}
