package markup

import (
	"html"

	"a2atap/proxy/safetext"
)

// Visible returns a text as one line in which everything is seen and nothing is obeyed: see safetext.Visible.
func Visible(s string) string { return safetext.Visible(s) }

// HTML returns a text, made visible, for HTML: as the content of an element, or in the quotes of an attribute that
// holds no address and no code.
func HTML(s string) string { return html.EscapeString(Visible(s)) }
