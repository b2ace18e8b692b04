package tui

import "a2atap/tui/style"

// A Theme is the palette that the inspector draws with.
type Theme = style.Theme

// Plain is the theme without colour.
const Plain = style.Plain

// ChooseTheme returns the theme of a name; see style.ChooseTheme.
func ChooseTheme(name string, getenv func(string) string) (Theme, error) {
	return style.ChooseTheme(name, getenv)
}
