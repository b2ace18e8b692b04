package tui

import (
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/analyzer/report"
	"a2atap/tui/detail"
	"a2atap/tui/document"
	"a2atap/tui/findings"
	"a2atap/tui/keys"
	"a2atap/tui/menu"
	"a2atap/tui/panel"
)

// copyChoices returns what can be copied where the cursor is.
func (m *inspector) copyChoices() []menu.Choice {
	at, load := m.top().Target(), m.shared.Load
	var line document.Line // under the cursor
	mark := uint64(0)      // where to begin to look for the selected event
	if d, is := m.top().(*detail.Panel); is {
		if l := d.LineAt(d.Spot()); l != nil {
			line = *l
		}
		if i := d.EventAtCursor(); i >= 0 {
			mark = d.Excerpt.Events.Page(i).Arrival
		}
	}
	request, answer := analyzer.Place{Exchange: at.Exchange}, analyzer.Place{Exchange: at.Exchange, Response: true}
	within := line.Place
	if within.Exchange == 0 { // a line of our own
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
			Key: "w", Words: "where it is, as findings write it: " + within.String(),
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
			Key: "c", Also: "y", Words: "curl command that sends the request", Off: m.offCurl(),
			Do: func() tea.Cmd { return copyCurl(load, at.Exchange, m.options.Curl) },
		},
		{
			Key: "t", Words: "transcript of the exchange",
			Do: func() tea.Cmd {
				return copyText(load, "transcript", func() (string, error) { return transcriptOf(load, at.Exchange) })
			},
		},
	}
	findings := m.findingsHere(&line)
	words := "finding, with what to do about it"
	if len(findings) > 1 {
		words = "findings of the exchange, with what to do about them"
	}
	return append(choices, menu.Choice{
		Key: "f", Words: words, Off: panel.Unless(len(findings) > 0, "there is no finding here"),
		Do: func() tea.Cmd { return give("finding", findingsText(findings)) },
	})
}

func (m *inspector) offCurl() string {
	return panel.Unless(m.options.Curl != nil, "curl commands are not available here")
}

// copyNames are the names of the choices, in their order. Each begins with the key of its choice.
var copyNames = []string{
	"value", "name", "pointer", "where", "body", "answer", "event", "curl", "transcript", "finding",
}

// copyWhat makes a choice of the menu by its name.
func copyWhat(m *inspector, name string) (tea.Cmd, error) {
	if why := m.unable(keys.CopyMenu); why != "" {
		return nil, errors.New(why)
	}
	i := slices.Index(copyNames, name)
	if i < 0 {
		return nil, unknown("thing to copy", name, copyNames, "; there are "+strings.Join(copyNames, ", "))
	}
	c := m.copyChoices()[i]
	if c.Off != "" {
		return nil, errors.New(c.Off)
	}
	return c.Do(), nil
}

func isEvent(at analyzer.Place) bool { return strings.HasPrefix(at.Part, "event[") }

// hasValue reports whether a place is one of a value: in a head, or in JSON.
func hasValue(at analyzer.Place) bool {
	_, header := document.HeaderOf(at.Part)
	return at.HasPointer || header || at.Part == "line"
}

// nameOf returns the last name of a pointer, or that of a header.
func nameOf(at analyzer.Place) string {
	if name, header := document.HeaderOf(at.Part); header {
		return name
	}
	name := at.Pointer[strings.LastIndexByte(at.Pointer, '/')+1:]
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

// findingsHere returns the findings that are selected: that of a line in the detail or in the list of findings,
// elsewhere all of the exchange.
func (m *inspector) findingsHere(line *document.Line) []analyzer.Finding {
	switch top := m.top().(type) {
	case *findings.Panel:
		if f := top.Selected(); f != nil {
			return []analyzer.Finding{*f}
		}
		return nil
	case *detail.Panel:
		if line.Found != nil {
			return []analyzer.Finding{*line.Found}
		}
	}
	return m.shared.Found.Of(m.top().Target().Exchange)
}

// findingsText writes findings as text.
func findingsText(findings []analyzer.Finding) string {
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
