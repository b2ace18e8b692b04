package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture/filter"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/page"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// newHelp returns the help of a panel: its keys and those that work everywhere, the signs, and the keys of the filter.
func newHelp(in keys.Scope) *page.Page {
	return &page.Page{Name: "help", Write: func(columns int) []style.Line {
		lines := []style.Line{style.Text(style.Dim, " ctrl-p finds an action by a word; : accepts commands, tab completes them"), {}}
		lines = append(lines, keyLines(in, columns)...)
		lines = append(lines, signLines()...)
		return append(lines, filterKeyLines(columns)...)
	}}
}

// topics are the pages of the help, without the pages about verbs.
var topics = []string{"keys", "commands", "filter", "signs"}

// topicLines returns the lines of a topic.
func topicLines(topic string, columns int) []style.Line {
	switch topic {
	case "keys":
		return allKeyLines(columns)
	case "commands":
		return verbLines(columns)
	case "filter":
		return filterKeyLines(columns)
	}
	return signLines()
}

// topicNames returns the names of all help pages: the topics, and then the verbs.
func topicNames() []string {
	names := slices.Clone(topics)
	for _, v := range verbs() {
		if !slices.Contains(names, v.name) {
			names = append(names, v.name)
		}
	}
	return names
}

// openTopic opens the help on a topic or on a verb.
func openTopic(m *inspector, name string) (tea.Cmd, error) {
	name = strings.TrimPrefix(name, ":")
	if slices.Contains(topics, name) {
		return m.push(&page.Page{Name: "help on " + name, Write: func(columns int) []style.Line {
			return topicLines(name, columns)
		}}), nil
	}
	v, err := findVerb(name)
	if err != nil {
		return nil, unknown("topic", name, topicNames(), "; tab shows them all")
	}
	return m.push(&page.Page{Name: "help on " + v.name, Write: func(columns int) []style.Line { return v.lines(m, columns) }}), nil
}

// lines describes a verb: its argument, the equivalent keys, and the possible words after it.
func (v *verb) lines(m *inspector, columns int) []style.Line {
	lines := []style.Line{style.Text(style.Title, " "+v.usage()), {}}
	for _, piece := range text.Prose(v.words, max(columns-2, 8)) {
		lines = append(lines, style.Text(style.Normal, " "+piece))
	}
	lines = append(lines, style.Line{})
	if len(v.also) > 0 {
		lines = append(lines, page.Definition("also", 14, strings.Join(v.also, ", "), columns)...)
	}
	for i := range keys.Table {
		if k := &keys.Table[i]; v.do != keys.None && k.Action == v.do {
			where := "everywhere"
			if k.In != keys.Anywhere {
				where = k.In.String()
			}
			lines = append(lines, page.Definition(k.Label, 14, where+": "+k.Words, columns)...)
		}
	}
	if v.offer != nil {
		if offered := v.offer(m, ""); len(offered) > 0 {
			lines = append(lines, style.Line{}, style.Text(style.Title, " Arguments"))
			for _, piece := range text.Prose(strings.Join(offered, "  "), max(columns-3, 8)) {
				lines = append(lines, style.Text(style.Normal, "  "+piece))
			}
		}
	}
	return lines
}

// keyLines lists the keys that work in a panel, by purpose, with the equivalent verbs.
func keyLines(in keys.Scope, columns int) []style.Line {
	var lines []style.Line
	for g := range groupCount {
		head := style.Line{}.Add(style.Title, " "+g.String())
		for _, k := range append(keys.Listed(in), keys.Listed(keys.Anywhere)...) {
			v, err := verbOf(k.Action)
			if err != nil || v.group != g {
				continue
			}
			if head.Spans != nil {
				lines = append(lines, head)
				head = style.Line{}
			}
			lines = append(lines, keyDescription(k, v.name, columns)...)
		}
		if head.Spans == nil {
			lines = append(lines, style.Line{})
		}
	}
	return lines
}

// keyDescription describes a key and its verb, in as many lines as needed.
func keyDescription(k *keys.Key, verb string, columns int) []style.Line {
	if columns < 60 {
		return page.Definition(k.Label, 10, k.Words+" (:"+verb+")", columns)
	}
	const room = 33 // for key and verb
	var lines []style.Line
	label, name := k.Label, ":"+verb
	for _, piece := range text.Prose(k.Words, columns-room-4) {
		lines = append(lines, style.Text(style.Strong, "  "+text.Pad(label, 14)).Add(style.Name, text.Pad(name, room-14)).Add(style.Normal, piece))
		label, name = "", ""
	}
	return lines
}

// allKeyLines lists the keys of all panels.
func allKeyLines(columns int) []style.Line {
	var lines []style.Line
	for _, p := range keys.Panels {
		lines = append(lines, style.Text(style.Title, " "+p.Title))
		for _, k := range keys.Listed(p.In) {
			v, _ := verbOf(k.Action) //nolint:errcheck // every key has a verb: there is a test
			lines = append(lines, keyDescription(k, v.name, columns)...)
		}
		lines = append(lines, style.Line{})
	}
	return lines
}

// verbLines lists all verbs, by purpose.
func verbLines(columns int) []style.Line {
	lines := []style.Line{
		style.Text(style.Dim, " The beginning of a name is enough if it is unique; a number goes to the exchange."), {},
	}
	for g := range groupCount {
		lines = append(lines, style.Text(style.Title, " "+g.String()))
		for _, v := range verbs() {
			if v.group == g {
				lines = append(lines, page.Definition(v.usage(), 26, v.words, columns)...)
			}
		}
		lines = append(lines, style.Line{})
	}
	return lines
}

func signLines() []style.Line {
	lines := []style.Line{style.Text(style.Title, " Signs")}
	for _, s := range analysis.WorstFirst {
		mark, look := style.OfSeverity(s)
		lines = append(lines, style.Text(look, "  "+text.Pad(mark, 14)).Add(style.Normal, s.String()))
	}
	return append(lines, style.Line{})
}

func filterKeyLines(columns int) []style.Line {
	lines := []style.Line{style.Text(style.Title, " Filter")}
	lines = append(lines, page.Definition("words", 14, "several words: all must match; or, not, -word, parentheses; "+
		"a word without a key searches URLs and bodies", columns)...)
	for _, k := range filter.Keys() {
		lines = append(lines, page.Definition(k.Name+":", 14, k.Help+": "+k.Example, columns)...)
	}
	return lines
}
