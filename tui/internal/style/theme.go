package style

import (
	"fmt"
	"slices"
	"strings"
)

// A Theme is the palette that the inspector draws with. Color is never the only carrier of a meaning: everything
// colored also has a sign or a word.
type Theme string

// These themes use the terminal's sixteen colors, which its user has chosen.
const (
	Dark  Theme = "dark"  // for a dark background
	Light Theme = "light" // for a light one
	Plain Theme = "plain" // no color: bold, dim, underlined and reverse only

	// Contrast uses no dim text and does not depend on the background: every colored text also has a background color.
	Contrast Theme = "contrast"
)

// Themes are all themes, in the order in which the key t cycles through them.
var Themes = []Theme{Dark, Light, Contrast, Plain}

// ThemeNames returns the names of the themes as a list for people.
func ThemeNames() string {
	names := make([]string, len(Themes))
	for i, t := range Themes {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// ChooseTheme returns the theme with that name. For "auto" and "", it reads the environment: a non-empty NO_COLOR
// disables color (https://no-color.org). COLORFGBG, which some terminals set, ends with the number of the background
// color. ChooseTheme never queries the terminal: some never answer.
func ChooseTheme(name string, getenv func(string) string) (Theme, error) {
	switch t := Theme(name); {
	case slices.Contains(Themes, t):
		return t, nil
	case name != "" && name != "auto":
		return "", fmt.Errorf("unknown theme %q; use one of auto, %s", name, ThemeNames())
	}
	if getenv("NO_COLOR") != "" {
		return Plain, nil
	}
	setting := getenv("COLORFGBG")
	switch setting[strings.LastIndexByte(setting, ';')+1:] {
	case "7", "15":
		return Light, nil
	}
	return Dark, nil
}

// Next returns the theme to which the key t changes.
func (t Theme) Next() Theme { return Themes[(slices.Index(Themes, t)+1)%len(Themes)] }

// A Style is the meaning of a piece of text; the theme chooses its color.
type Style uint8

const (
	Normal Style = iota
	Dim
	Strong
	Title
	Error
	Warning
	Note
	Good   // success
	Name   // of a header or a JSON member
	String // in JSON
	Number // in JSON, and true, false and null
	Request
	Answer
	Cursor // of an input line
	Match  // of a search
	Here   // the current match
	styles // not a style: the number of styles
)

// Looks are the parameters of SGR (ECMA-48 section 8.3.117) for each style.
var Looks = map[Theme][styles]string{
	Dark: {
		Dim: "90", Strong: "1", Title: "1;36", Error: "1;91", Warning: "93", Note: "96",
		Good: "92", Name: "36", String: "32", Number: "33",
		Request: "1;94", Answer: "1;35", Cursor: "7", Match: "30;43", Here: "1;30;103",
	},
	Light: {
		Dim: "2", Strong: "1", Title: "1;34", Error: "1;31", Warning: "35", Note: "34",
		Good: "32", Name: "34", String: "32", Number: "35",
		Request: "1;34", Answer: "1;35", Cursor: "7", Match: "30;103", Here: "1;30;43",
	},
	Contrast: {
		Strong: "1", Title: "1;7", Error: "1;97;41", Warning: "30;103", Note: "30;106",
		Name: "1", Number: "1", Request: "1;97;44", Answer: "1;97;45", Cursor: "7",
		Match: "4;30;103", Here: "1;4;30;102",
	},
	Plain: {
		Dim: "2", Strong: "1", Title: "1", Error: "1",
		Request: "1", Answer: "1", Cursor: "7", Match: "4", Here: "1;4",
	},
}
