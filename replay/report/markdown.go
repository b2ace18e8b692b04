package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report/markup"
	"a2atap/proxy/capture/credential"
	"a2atap/replay/compare"
)

// maxMarkdown is how many bytes of a report in Markdown are causes: a comment of a pull request has at most 65,536
// characters, and nobody reads that many.
const maxMarkdown = 40_000

// Markdown writes the report for a comment: the verdict, a table of the causes, then each cause with its smallest JSON
// difference and what follows from it, folded, and what was not compared.
func Markdown(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# A2A %s: %s\n\n%s.\n\n", r.verb(), markup.Text(r.result()), markup.Text(r.Verdict()))
	fmt.Fprintf(&b, "%s against %s; profile `%s`; %s %s.\n\n", markup.Code(credential.WithoutUserinfo(r.Capture)),
		markup.Code(credential.WithoutUserinfo(r.To)), r.Profile, markup.Text(r.Tool.Name), markup.Text(r.Tool.Version))
	causes := r.Causes()
	r.mdTable(&b, causes)
	for i := range causes {
		if b.Len() > maxMarkdown {
			fmt.Fprintf(&b, "Details of %d more are in the other formats.\n\n", len(causes)-i)
			break
		}
		r.mdCause(&b, i+1, &causes[i])
	}
	r.mdRest(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// maxRows bounds a table: longer ones are not read.
const maxRows = 50

func (r *Report) mdTable(b *strings.Builder, causes []Cause) {
	if len(causes) == 0 {
		return
	}
	rows := [][]string{{"", "What changed", "Kind", "Exchanges", "Also"}}
	for i := range causes {
		c := &causes[i]
		if i == maxRows || b.Len() > maxMarkdown {
			rows = append(rows, []string{"", fmt.Sprintf("and %d more", len(causes)-i), "", "", ""})
			break
		}
		rows = append(rows, []string{
			fmt.Sprint(i + 1), markup.Text(headline(&c.Group)), label(&c.Differences[0]), markup.Text(r.where(&c.Group)),
			r.following(c),
		})
	}
	markup.Table(b, rows)
}

// mdCause writes one cause, folded. In a block of code, nothing but a line of backticks has a meaning, and no line of
// it begins with one.
func (r *Report) mdCause(b *strings.Builder, n int, c *Cause) {
	fmt.Fprintf(b, "<details><summary>%d. %s</summary>\n\n%s", n, markup.Element(headline(&c.Group)),
		markup.Text(r.where(&c.Group)))
	if at := at(&c.Group); at != "" {
		b.WriteString(", at " + markup.Code(at))
	}
	b.WriteString("\n\n")
	if changes := c.Differences[0].Changes; len(changes) > 0 {
		b.WriteString("```diff\n")
		for _, change := range changes {
			was, now := compare.Excerpt(change.Was, change.Now, shown)
			fmt.Fprintf(b, "@@ %s @@\n", analysis.Clean(pointerOf(change)))
			if was != "" {
				fmt.Fprintf(b, "- %s\n", was)
			}
			if now != "" {
				fmt.Fprintf(b, "+ %s\n", now)
			}
		}
		b.WriteString("```\n\n")
	}
	if len(c.Consequences)+len(c.NotSent) > 0 {
		fmt.Fprintf(b, "Also, because of it:\n\n")
		for _, q := range r.consequences(c) {
			b.WriteString("- " + markup.Text(q.headline))
			if q.where != "" {
				b.WriteString("; " + markup.Text(q.where))
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	b.WriteString("</details>\n\n")
}

// mdRest says what was left out, and the notes.
func (r *Report) mdRest(b *strings.Builder) {
	rest := r.rest()
	if len(rest) == 0 {
		return
	}
	b.WriteString("<details><summary>Left out, and notes</summary>\n\n")
	for i, line := range rest {
		if i == maxRows {
			fmt.Fprintf(b, "- and %d more\n", len(rest)-i)
			break
		}
		b.WriteString("- " + markup.Text(brief(line)) + "\n")
	}
	b.WriteString("\n</details>\n")
}
