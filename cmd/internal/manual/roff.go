package manual

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// An Edition has the texts in the margins of manual pages.
type Edition struct {
	Program string // with its version
	Date    string // of that version, such as 2026-03-01; may be empty
}

// A Page is a page of the manual, in the language of man(7).
type Page struct {
	Name    string // such as a2atap-record
	Section int    // 1 for commands, 7 for topics
	Text    string
}

// A roff writes a page in the language of man(7).
type roff struct{ strings.Builder }

// begin returns a page with its title and its name.
func begin(p Page, e Edition, short string) *roff {
	r := &roff{}
	program, _, _ := strings.Cut(e.Program, " ")
	r.line(fmt.Sprintf(`.TH "%s" "%d" "%s" "%s" "%s manual"`, escaped(strings.ToUpper(p.Name)), p.Section, escaped(e.Date),
		escaped(e.Program), escaped(program)))
	r.line(".nh\n.ad l") // text copied from a page must be the original
	r.section("NAME")
	r.line(escaped(p.Name) + ` \- ` + escaped(short))
	return r
}

func (r *roff) line(text string) { fmt.Fprintln(r, text) }

func (r *roff) section(title string) { r.line(".SH " + title) }

// paragraphs writes a text: paragraphs with columns unchanged, others rewrapped to the lines of the screen.
func (r *roff) paragraphs(text string) {
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if columns.MatchString(part) {
			r.asIs(part)
			continue
		}
		r.line(".PP")
		for line := range strings.SplitSeq(part, "\n") {
			r.line(prose(line))
		}
	}
}

// columns matches a paragraph with an indented line, or with columns.
var columns = regexp.MustCompile(`(?m)^ |\S   +\S`)

// asIs writes lines unchanged.
func (r *roff) asIs(text string) {
	r.line(".PP\n.nf")
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		r.line(escaped(line))
	}
	r.line(".fi")
}

// option writes a flag and its description.
func (r *roff) option(f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	name := `\fB` + escaped("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		name = `\fB` + escaped("-"+f.Shorthand) + `\fR, ` + name
	}
	if value != "" {
		name += ` \fI` + escaped(value) + `\fR`
	}
	switch f.DefValue {
	case "", "false", "[]", "0", "0s":
	default:
		usage += " (default " + f.DefValue + ")"
	}
	r.line(".TP\n" + name)
	r.line(prose(usage))
}

// pages lists pages with their descriptions; nothing without pages.
func (r *roff) pages(title string, list []*cobra.Command, section int) {
	for i, cmd := range list {
		if i == 0 {
			r.section(title)
		}
		r.line(".TP\n" + reference(pageName(cmd), section))
		r.line(escaped(cmd.Short))
	}
}

// pageName returns the name of a command's page.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// reference names a page.
func reference(name string, section int) string {
	return fmt.Sprintf(`\fB%s\fR(%d)`, escaped(name), section)
}

// prose returns a line of text in which flags are bold.
func prose(line string) string {
	return flagName.ReplaceAllStringFunc(escaped(line), func(name string) string { return `\fB` + name + `\fR` })
}

// flagName matches a flag in the output of escaped.
var flagName = regexp.MustCompile(`(?:\\-){2}[a-z][a-z0-9]*(?:\\-[a-z0-9]+)*`)

// escaped escapes text for roff, so that nothing in it is a request and its characters are printed unchanged instead of
// being typeset.
func escaped(text string) string {
	var b strings.Builder
	for i, c := range text {
		switch {
		case c == '.' && i == 0:
			b.WriteString(`\&.`)
		case signs[c] != "":
			b.WriteString(signs[c])
		case c > '~':
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

var signs = map[rune]string{
	'\\': `\e`, '-': `\-`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`, '"': `\(dq`,
}
