package tui

import (
	"errors"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/internal/command"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/panel"
	"a2atap/tui/internal/style"
)

// A commandLine is the prompt for verbs, with its completion.
type commandLine struct {
	m      *inspector
	prompt *prompt
	offer  command.Completion
}

// open opens the command line with an initial text.
func (c *commands) open(begin string) tea.Cmd {
	line := &commandLine{m: c.inspector}
	line.prompt = newPrompt(":", begin, line.done)
	line.prompt.changed = func(string) tea.Cmd {
		c.history.Rest()
		line.complete()
		return nil
	}
	line.prompt.other, line.prompt.above = line.key, line.above
	c.history.Rest()
	line.complete()
	c.prompt = line.prompt
	return nil
}

// done performs the typed line.
func (c *commandLine) done(line string) (tea.Cmd, error) {
	c.m.commands.history.Add(line)
	return c.m.commands.execute(line)
}

// key handles the keys that do not edit.
func (c *commandLine) key(name string) (tea.Cmd, bool) {
	switch name {
	case "tab":
		c.turn(1)
	case "shift+tab":
		c.turn(-1)
	case "up", "ctrl+p":
		c.recall(c.m.commands.history.Older(c.prompt.input.Value()))
	case "down", "ctrl+n":
		c.recall(c.m.commands.history.Newer())
	case "backspace":
		if c.prompt.input.Value() != "" {
			return nil, false
		}
		c.m.prompt = nil // as in other programs with a command line
	default:
		return nil, false
	}
	return nil, true
}

// recall shows a line of the history, if ok is true.
func (c *commandLine) recall(line string, ok bool) {
	if ok {
		c.prompt.set(line)
		c.complete()
	}
}

// turn inserts the next completion. If it is the only one, the next completion is for the following word.
func (c *commandLine) turn(step int) {
	if len(c.offer.Words) == 1 && c.offer.Chosen() == 0 {
		c.complete()
	}
	if line, ok := c.offer.Next(step); ok {
		c.prompt.set(line)
	}
}

// complete finds the possible completions at the end of the line.
func (c *commandLine) complete() {
	line := c.prompt.input.Value()
	c.offer = command.Completion{}
	name, argument, behind := strings.Cut(line, " ")
	if !behind {
		c.offer = command.Complete("", name, verbNames())
		return
	}
	v, err := findVerb(name)
	if err != nil || v.offer == nil {
		return
	}
	before := line[:strings.LastIndexAny(line, " (")+1]
	c.offer = command.Complete(before, line[len(before):], v.offer(c.m, argument))
}

// above shows the completions for tab or, without completions, the argument of the verb.
func (c *commandLine) above(columns int) []style.Line {
	name, _ := command.Split(c.prompt.input.Value())
	v, err := findVerb(name)
	switch n := len(c.offer.Words); {
	case n == 0 && (err != nil || v == nil):
		return nil
	case n == 0, n == 1 && err == nil && v != nil && strings.TrimSpace(c.offer.Words[0]) == v.name:
		return style.Text(style.Strong, " "+v.usage()).Add(style.Dim, "  "+v.words).WrapWords(max(columns-1, 8), 3)
	}
	return []style.Line{panel.Choices(c.offer.Words, c.offer.Chosen(), columns)}
}

// execute performs a line of the command line: a verb with its argument, or the number of an exchange.
func (c *commands) execute(line string) (tea.Cmd, error) {
	name, argument := command.Split(line)
	switch {
	case name == "":
		return nil, nil
	case name[0] >= '0' && name[0] <= '9' && argument == "":
		return gotoPlace(c.inspector, name)
	}
	v, err := findVerb(name)
	if err != nil {
		return nil, err
	}
	return c.perform(v, argument)
}

// perform performs a verb with its argument.
func (c *commands) perform(v *verb, argument string) (tea.Cmd, error) {
	switch {
	case argument != "" && v.run == nil:
		return nil, fmt.Errorf("%s accepts no argument, not %q", v.name, argument)
	case argument == "" && v.do == keys.None && v.argument != "":
		return nil, fmt.Errorf("%s needs an argument: %s", v.name, v.usage())
	case argument != "" || v.do == keys.None:
		return v.run(c.inspector, argument)
	case v.ofList && keys.Of(v.do, c.top().Scope()) == nil:
		k := keys.Of(v.do, keys.InList)
		if why := c.why(k); why != "" {
			return nil, errors.New(why)
		}
		return tea.Batch(c.home(), c.inspector.perform(v.do)), nil
	}
	if why := c.unable(v.do); why != "" {
		return nil, errors.New(why)
	}
	return c.inspector.perform(v.do), nil
}

// unable returns why an action has no effect in the top panel, or "".
func (c *commands) unable(a keys.Action) string {
	if k := keys.Of(a, c.top().Scope()); k != nil {
		return c.why(k)
	}
	var in keys.Scope
	for i := range keys.Table {
		if keys.Table[i].Action == a {
			in |= keys.Table[i].In
		}
	}
	return "not here; in " + in.String()
}
