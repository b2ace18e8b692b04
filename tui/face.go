package tui

import (
	"a2atap/tui/load"
	"a2atap/tui/style"
)

// A Theme is the palette that the inspector draws with.
type Theme = style.Theme

// Plain is the theme without colour.
const Plain = style.Plain

// ChooseTheme returns the theme of a name; see style.ChooseTheme.
func ChooseTheme(name string, getenv func(string) string) (Theme, error) {
	return style.ChooseTheme(name, getenv)
}

// Verdicts brings what the rules find in a recording to the inspector that shows it; see load.Verdicts.
type Verdicts = load.Verdicts

// NewVerdicts returns the verdicts on the steps that come after an arrival number; see load.NewVerdicts.
func NewVerdicts(after uint64) *Verdicts { return load.NewVerdicts(after) }
