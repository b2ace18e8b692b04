package tui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/tui/document"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/findings"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/menu"
	"a2atap/tui/internal/page"
	"a2atap/tui/internal/panel"
	"a2atap/tui/load"
	"a2atap/tui/terminal"
	"a2atap/tui/text"
)

// copied is a text to copy.
type copied struct {
	name  string // description of the text
	words string
	err   error
}

// toCopy returns the message with a text to copy, or with an error if pasting the text would be dangerous.
func toCopy(name, words string, err error) copied {
	if err == nil && !utf8.ValidString(words) {
		err = errors.New("it is not text")
	}
	if err == nil && strings.ContainsFunc(words, pasteHazard) {
		err = errors.New("it contains control characters, which a terminal would execute when pasted")
	}
	return copied{name, words, err}
}

// copyText returns the command that reads a text and copies it.
func copyText(l *load.Loader, name string, read func() (string, error)) tea.Cmd {
	return func() tea.Msg {
		words, err := read()
		return toCopy(name, words, err)
	}
}

// copyCurl copies the request of an exchange as a curl command.
func copyCurl(l *load.Loader, seq uint64, write func(*capture.Exchange) (string, error)) tea.Cmd {
	return func() tea.Msg {
		x, err := l.Ends(seq, 1)
		if err != nil {
			return copied{err: err}
		}
		words, err := write(x)
		if err == nil && strings.ContainsFunc(words, pasteHazard) {
			err = fmt.Errorf("exchange %d contains control characters, which a terminal would execute when pasted; use a2atap show %d --format curl",
				seq, seq)
		}
		return copied{"curl", words, err}
	}
}

// pasteHazard reports whether a character may act as a command when it is pasted into a terminal: an escape sequence
// can end the bracketed paste.
func pasteHazard(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// copied copies a text to the terminal's clipboard, and shows the result.
func (c *clipboard) copied(msg copied) tea.Cmd {
	if msg.err != nil {
		c.shared.Message = "y: " + strings.TrimPrefix(msg.name+": ", ": ") + msg.err.Error()
		return nil
	}
	cmd := c.push(page.NewCopied(msg.name, msg.words))
	out := c.out
	if out == nil {
		return cmd
	}
	return tea.Batch(cmd, func() tea.Msg {
		if err := terminal.Copy(out, msg.words); err != nil {
			return panel.Status("y: " + err.Error() + "; it is shown here")
		}
		return nil
	})
}

// valueAt returns the value at a place in a header or in JSON. It returns strings decoded, and other values as the
// detail formats them. It searches for the event of the place from an arrival number on.
func valueAt(l *load.Loader, at analysis.Place, from uint64) (string, error) {
	if isEvent(at) {
		e, err := eventOf(l, at, from)
		if err != nil {
			return "", err
		}
		return jsonValue(e.Fields().Data, at.Pointer)
	}
	x, err := l.Ends(at.Exchange, 1)
	if err != nil {
		return "", err
	}
	head, body := parseSide(x, at.Response)
	if name, is := document.HeaderOf(at.Part); is {
		return strings.Join(head.Fields.Values(name), ", "), nil
	}
	if at.Part == "line" {
		return firstLine(x, at.Response), nil
	}
	data, err := body.Decode(&head)
	if err != nil {
		return "", err
	}
	return jsonValue(data, at.Pointer)
}

// parseSide returns the head and the body of one side of an exchange.
func parseSide(x *capture.Exchange, response bool) (capture.Head, *capture.Body) {
	switch {
	case !response:
		return capture.ParseRequestHead(x.Request.Head), &x.Request.Body
	case x.Response == nil:
		return capture.Head{}, &capture.Body{}
	}
	return capture.ParseResponseHead(x.Response.Head), &x.Response.Body
}

func firstLine(x *capture.Exchange, response bool) string {
	head := x.Request.Head
	if response {
		head = x.Response.Head
	}
	first, _, _ := strings.Cut(string(head), "\n")
	return strings.TrimRight(first, "\r")
}

// jsonValue returns the value at a pointer of a JSON text.
func jsonValue(data []byte, pointer string) (string, error) {
	v := a2a.Parse(data).Root.At(pointer)
	if !v.Exists() {
		return "", errors.New("it cannot be read, since the surrounding JSON is incomplete")
	}
	if words, isText := v.Str(); isText {
		return words, nil
	}
	var b bytes.Buffer
	err := json.Indent(&b, v.Raw(), "", "  ")
	return b.String(), err
}

// bodyOf returns the decoded body of a request or of a response.
func bodyOf(l *load.Loader, side analysis.Place) (string, error) {
	x, err := l.Ends(side.Exchange, 1)
	if err != nil {
		return "", err
	}
	if side.Response && x.Response != nil && x.Response.Stream {
		return "", errors.New("it is a stream; e in the detail copies an event")
	}
	head, body := parseSide(x, side.Response)
	data, err := body.Decode(&head)
	if err == nil && len(data) == 0 {
		err = errors.New("it does not exist")
	}
	return string(data), err
}

// eventText returns an event as it was sent, without the blank line at its end, or a gRPC message as JSON.
func eventText(l *load.Loader, at analysis.Place, from uint64) (string, error) {
	e, err := eventOf(l, at, from)
	if err != nil {
		return "", err
	}
	if e.IsMessage() {
		x, err := l.Ends(at.Exchange, 1)
		if err != nil {
			return "", err
		}
		x.ReadEvent(e)
		if fields := e.Fields(); fields.HasData {
			return string(fields.Data), nil
		}
	}
	return strings.TrimRight(strings.ReplaceAll(string(e.Raw), "\r\n", "\n"), "\n"), nil
}

// eventOf reads an event. It searches from an arrival number on.
func eventOf(l *load.Loader, at analysis.Place, from uint64) (*capture.Event, error) {
	for step, err := range l.Source.StepsOf(l.Context, at.Exchange, from) {
		if err != nil {
			return nil, err
		}
		if what, is := step.What.(capture.ResponseEvent); is {
			if k, in := load.EventNumber(at); in && k == what.Event.K {
				return &what.Event, nil
			}
		}
	}
	return nil, fmt.Errorf("%s is not in the capture", at)
}

// transcriptOf returns an exchange as a transcript, or an error if that is too long for a clipboard.
func transcriptOf(l *load.Loader, seq uint64) (string, error) {
	var x *capture.Exchange
	length := 0
	for step, err := range l.Source.StepsOf(l.Context, seq, 0) {
		if err != nil {
			return "", err
		}
		if what, is := step.What.(capture.ResponseEvent); is {
			length += len(what.Event.Raw)
		}
		if length > terminal.MaxCopy {
			return "", fmt.Errorf("it is too long for a clipboard (%s); a2atap show prints it", text.Size(terminal.MaxCopy))
		}
		x = capture.Assemble(x, step)
	}
	if x == nil {
		return "", fmt.Errorf("exchange %d: %w", seq, capture.ErrNotFound)
	}
	return string(transcript.Format(&transcript.Transcript{Exchanges: []*capture.Exchange{x}})), nil
}

// choices returns the things to copy at the cursor.
func (c *clipboard) choices() []menu.Choice {
	at, load := c.top().Target(), c.shared.Load
	var line document.Line // under the cursor
	mark := uint64(0)      // where the search for the selected event begins
	if d, is := c.top().(*detail.Panel); is {
		if l := d.CursorLine(); l != nil {
			line = *l
		}
		if i := d.EventAtCursor(); i >= 0 {
			mark = d.Excerpt.Events.Page(i).Arrival
		}
	}
	request, answer := analysis.Place{Exchange: at.Exchange}, analysis.Place{Exchange: at.Exchange, Response: true}
	within := line.Place
	if within.Exchange == 0 { // a line of the inspector, not of the traffic
		within = at
	}
	choices := []menu.Choice{
		{
			Key: "v", Words: "value under the cursor", Off: panel.Unless(hasValue(line.Place), "this line has no value"),
			Do: func() tea.Cmd {
				return copyText(load, "value", func() (string, error) { return valueAt(load, within, mark) })
			},
		},
		{
			Key: "n", Words: "name of that value, or of the header", Off: panel.Unless(nameOf(within) != "", "this line has no name"),
			Do: func() tea.Cmd { return give("name", nameOf(within)) },
		},
		{
			Key: "p", Words: "pointer to that value, in JSON", Off: panel.Unless(within.Pointer != "", "this line is not within JSON"),
			Do: func() tea.Cmd { return give("pointer", within.Pointer) },
		},
		{
			Key: "w", Words: "its place, as in findings: " + within.String(),
			Do: func() tea.Cmd { return give("where", within.String()) },
		},
		{
			Key: "b", Words: "body of the request",
			Do: func() tea.Cmd { return copyText(load, "body", func() (string, error) { return bodyOf(load, request) }) },
		},
		{
			Key: "a", Words: "answer: its body",
			Do: func() tea.Cmd {
				return copyText(load, "answer", func() (string, error) { return bodyOf(load, answer) })
			},
		},
		{
			Key: "e", Words: "event of the stream", Off: panel.Unless(isEvent(at), "no event is selected"),
			Do: func() tea.Cmd {
				return copyText(load, "event", func() (string, error) { return eventText(load, at, mark) })
			},
		},
		{
			Key: "c", Also: "y", Words: "curl command that sends the request", Off: c.whyNoCurl(),
			Do: func() tea.Cmd { return copyCurl(load, at.Exchange, c.options.Curl) },
		},
		{
			Key: "t", Words: "transcript of the exchange",
			Do: func() tea.Cmd {
				return copyText(load, "transcript", func() (string, error) { return transcriptOf(load, at.Exchange) })
			},
		},
	}
	findings := c.findingsHere(&line)
	words := "finding and its fix"
	if len(findings) > 1 {
		words = "findings of the exchange and their fixes"
	}
	return append(choices, menu.Choice{
		Key: "f", Words: words, Off: panel.Unless(len(findings) > 0, "there is no finding here"),
		Do: func() tea.Cmd { return give("finding", findingsText(findings)) },
	})
}

func (c *clipboard) whyNoCurl() string {
	return panel.Unless(c.options.Curl != nil, "curl commands are not available here")
}

// copyNames are the names of the choices, in order. Each begins with the key of its choice.
var copyNames = []string{
	"value", "name", "pointer", "where", "body", "answer", "event", "curl", "transcript", "finding",
}

// copyWhat copies the choice of the menu with this name.
func copyWhat(m *inspector, name string) (tea.Cmd, error) {
	if why := m.commands.unable(keys.CopyMenu); why != "" {
		return nil, errors.New(why)
	}
	i := slices.Index(copyNames, name)
	if i < 0 {
		return nil, unknown("thing to copy", name, copyNames, "; there are "+strings.Join(copyNames, ", "))
	}
	c := m.clipboard.choices()[i]
	if c.Off != "" {
		return nil, errors.New(c.Off)
	}
	return c.Do(), nil
}

func isEvent(at analysis.Place) bool {
	_, is := at.EventNumber()
	return is
}

// hasValue reports whether a place has a value: in a head, or in JSON.
func hasValue(at analysis.Place) bool {
	_, header := document.HeaderOf(at.Part)
	return at.HasPointer || header || at.Part == "line"
}

// nameOf returns the last name of a pointer, or the name of a header.
func nameOf(at analysis.Place) string {
	if name, header := document.HeaderOf(at.Part); header {
		return name
	}
	name := at.Pointer[strings.LastIndexByte(at.Pointer, '/')+1:]
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

// findingsHere returns the selected findings: the one on a line of the detail or of the list of findings, otherwise all
// of the exchange.
func (c *clipboard) findingsHere(line *document.Line) []analysis.Finding {
	switch top := c.top().(type) {
	case *findings.Panel:
		if f := top.Selected(); f != nil {
			return []analysis.Finding{*f}
		}
		return nil
	case *detail.Panel:
		if line.Found != nil {
			return []analysis.Finding{*line.Found}
		}
	}
	return c.shared.Found.Of(c.top().Target().Exchange)
}

// findingsText returns findings as text.
func findingsText(findings []analysis.Finding) string {
	var b strings.Builder
	for i := range findings {
		if i > 0 {
			b.WriteString("\n\n")
		}
		f := &findings[i]
		b.WriteString(report.Line(f))
		if f.Rule.Fix != "" {
			b.WriteString("\nFix: " + f.Rule.Fix)
		}
	}
	return b.String()
}

// give returns the command that copies a text.
func give(name, words string) tea.Cmd {
	return func() tea.Msg { return toCopy(name, words, nil) }
}
