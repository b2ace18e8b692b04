package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report/markup"
	"a2atap/proxy/capture/credential"
)

// maxMarkdown bounds the causes in a Markdown report, in bytes: a comment on a pull request has at most 65,536
// characters, and no one reads that many.
const maxMarkdown = 40_000

// Markdown writes the report for a comment: the verdict, a table of the causes, then each cause with its smallest JSON
// difference and its consequences, folded, and what was not compared.
func Markdown(w io.Writer, r *Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# A2A %s: %s\n\n%s.\n\n", r.verb(), markup.Text(r.result()), markup.Text(r.Verdict()))
	fmt.Fprintf(&b, "%s against %s; profile `%s`; %s %s.\n\n", markup.Code(credential.WithoutUserinfo(r.Capture)),
		markup.Code(credential.WithoutUserinfo(r.To)), r.Profile, markup.Text(r.Tool.Name), markup.Text(r.Tool.Version))
	causes := r.causes()
	mdTable(&b, causes)
	for i := range causes {
		if b.Len() > maxMarkdown {
			fmt.Fprintf(&b, "Details of %d more are in the other formats.\n\n", len(causes)-i)
			break
		}
		mdCause(&b, i+1, &causes[i])
	}
	r.mdRest(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// maxRows bounds a table: longer ones are not read.
const maxRows = 50

func mdTable(b *strings.Builder, causes []causeText) {
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
			fmt.Sprint(i + 1), markup.Text(c.Headline), c.Kinds, markup.Text(c.Where), c.Also,
		})
	}
	markup.Table(b, rows)
}

// mdCause writes one cause, folded. In a block of code, nothing but a line of backticks has a meaning, and no line of
// it begins with one.
func mdCause(b *strings.Builder, n int, c *causeText) {
	fmt.Fprintf(b, "<details><summary>%d. %s</summary>\n\n%s", n, markup.Element(c.Headline), markup.Text(c.Where))
	if c.At != "" {
		b.WriteString(", at " + markup.Code(c.At))
	}
	b.WriteString("\n\n")
	if len(c.Changes) > 0 {
		b.WriteString("```diff\n")
		for _, change := range c.Changes {
			fmt.Fprintf(b, "@@ %s @@\n", analysis.Clean(change.Pointer))
			if change.Was != "" {
				fmt.Fprintf(b, "- %s\n", change.Was)
			}
			if change.Now != "" {
				fmt.Fprintf(b, "+ %s\n", change.Now)
			}
		}
		b.WriteString("```\n\n")
	}
	if len(c.Effects) > 0 {
		fmt.Fprintf(b, "Also, because of it:\n\n")
		for _, q := range c.Effects {
			b.WriteString("- " + markup.Text(q.Headline))
			if q.Where != "" {
				b.WriteString("; " + markup.Text(q.Where))
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	b.WriteString("</details>\n\n")
}

// mdRest writes omissions and notes.
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
