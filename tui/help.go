package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/capture/filter"
)

// newHelp returns the help of a panel: its keys and those that work everywhere, the signs, and the keys of the filter.
func newHelp(in place) *page {
	return &page{name: "help", write: func(columns int) []line {
		lines := []line{text(styleDim, " ctrl-p finds an action by a word; : takes commands, tab completes them"), {}}
		lines = append(lines, keyLines(in, columns)...)
		lines = append(lines, signLines()...)
		return append(lines, filterKeyLines(columns)...)
	}}
}

// topics are the pages of the help, besides one for each verb.
var topics = []string{"keys", "commands", "filter", "signs"}

// topicLines writes one of them.
func topicLines(topic string, columns int) []line {
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

// topicNames returns what help can be asked about: the topics, and then the verbs.
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
func (m *inspector) openTopic(name string) (tea.Cmd, error) {
	name = strings.TrimPrefix(name, ":")
	if slices.Contains(topics, name) {
		return m.push(&page{name: "help on " + name, write: func(columns int) []line {
			return topicLines(name, columns)
		}}), nil
	}
	v, err := findVerb(name)
	if err != nil {
		return nil, unknown("topic", name, topicNames(), "; tab shows them all")
	}
	return m.push(&page{name: "help on " + v.name, write: func(columns int) []line { return v.lines(m, columns) }}), nil
}

// lines describe a verb: what it takes, the keys that do the same, and what may stand behind it.
func (v *verb) lines(m *inspector, columns int) []line {
	lines := []line{text(styleTitle, " "+v.usage()), {}}
	for _, piece := range prose(v.words, max(columns-2, 8)) {
		lines = append(lines, text(styleText, " "+piece))
	}
	lines = append(lines, line{})
	if len(v.also) > 0 {
		lines = append(lines, definition("also", 14, strings.Join(v.also, ", "), columns)...)
	}
	for i := range keys {
		if k := &keys[i]; v.do != noAction && k.do == v.do {
			where := "everywhere"
			if k.in != anywhere {
				where = k.in.String()
			}
			lines = append(lines, definition(k.label, 14, where+": "+k.words, columns)...)
		}
	}
	if v.offer != nil {
		if offered := v.offer(m, ""); len(offered) > 0 {
			lines = append(lines, line{}, text(styleTitle, " What may stand behind it"))
			for _, piece := range prose(strings.Join(offered, "  "), max(columns-3, 8)) {
				lines = append(lines, text(styleText, "  "+piece))
			}
		}
	}
	return lines
}

// keyLines lists the keys that work in a panel, by what they are for, with the verbs that do the same.
func keyLines(in place, columns int) []line {
	var lines []line
	for g := range groupCount {
		head := line{}.add(styleTitle, " "+g.String())
		for _, k := range append(listed(in), listed(anywhere)...) {
			v, err := verbOf(k.do)
			if err != nil || v.group != g {
				continue
			}
			if head.spans != nil {
				lines = append(lines, head)
				head = line{}
			}
			lines = append(lines, k.lines(v.name, columns)...)
		}
		if head.spans == nil {
			lines = append(lines, line{})
		}
	}
	return lines
}

// lines describe a key and its verb, in as many lines as that takes.
func (k *key) lines(verb string, columns int) []line {
	if columns < 60 {
		return definition(k.label, 10, k.words+" (:"+verb+")", columns)
	}
	const room = 33 // for key and verb
	var lines []line
	label, name := k.label, ":"+verb
	for _, piece := range prose(k.words, columns-room-4) {
		lines = append(lines, text(styleStrong, "  "+pad(label, 14)).add(styleName, pad(name, room-14)).add(styleText, piece))
		label, name = "", ""
	}
	return lines
}

// allKeyLines lists the keys of all panels.
func allKeyLines(columns int) []line {
	var lines []line
	for _, p := range panels {
		lines = append(lines, text(styleTitle, " "+p.title))
		for _, k := range listed(p.in) {
			v, _ := verbOf(k.do) //nolint:errcheck // every key has a verb: there is a test
			lines = append(lines, k.lines(v.name, columns)...)
		}
		lines = append(lines, line{})
	}
	return lines
}

// verbLines lists all verbs, by what they are for.
func verbLines(columns int) []line {
	lines := []line{
		text(styleDim, " The beginning of a name is enough where it is the only one; a number goes to the exchange."), {},
	}
	for g := range groupCount {
		lines = append(lines, text(styleTitle, " "+g.String()))
		for _, v := range verbs() {
			if v.group == g {
				lines = append(lines, definition(v.usage(), 26, v.words, columns)...)
			}
		}
		lines = append(lines, line{})
	}
	return lines
}

func signLines() []line {
	lines := []line{text(styleTitle, " Signs")}
	for s := analyzer.Error; ; s-- {
		mark, look := sign(s)
		lines = append(lines, text(look, "  "+pad(mark, 14)).add(styleText, s.String()))
		if s == analyzer.Note {
			break
		}
	}
	return append(lines, line{})
}

func filterKeyLines(columns int) []line {
	lines := []line{text(styleTitle, " Filter")}
	lines = append(lines, definition("words", 14, "several words: all must match; or, not, -word, parentheses; "+
		"a word without a key searches URLs and bodies", columns)...)
	for _, k := range filter.Keys() {
		lines = append(lines, definition(k.Name+":", 14, k.Help+": "+k.Example, columns)...)
	}
	return lines
}

// A chapter is a part of the text on a rule.
type chapter struct{ name, words string }

// ruleChapters returns what a rule is about, apart from its title.
func ruleChapters(r *analyzer.Rule) []chapter {
	return []chapter{{"Why", r.Doc}, {"Fix", r.Fix}, {"Not reported", r.Silent}}
}

// newRulePage returns a page about a rule.
func newRulePage(r *analyzer.Rule) *page {
	return &page{name: "rule " + r.ID, write: func(columns int) []line {
		var lines []line
		paragraph := func(look style, words string) {
			for _, piece := range prose(words, max(columns-2, 8)) {
				lines = append(lines, text(look, " "+piece))
			}
		}
		mark, look := sign(r.Severity())
		paragraph(look, mark+" "+r.ID+": "+r.Title)
		paragraph(styleText, r.Level.String()+", "+r.Severity().String()+"; "+strings.Join(r.Sections(r.Dialects()), ", "))
		for _, c := range ruleChapters(r) {
			if c.words != "" {
				lines = append(lines, line{}, text(styleName, " "+c.name))
				paragraph(styleText, c.words)
			}
		}
		return lines
	}}
}
