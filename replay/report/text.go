package report

import (
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer"
)

// Text writes the report for people: what differs, with the numbers of both exchanges and the smallest JSON diff;
// then what was left out and why; then notes. The verdict is not in it. What came from the wire is made safe for a
// terminal.
func Text(w io.Writer, r *Report) error {
	var b strings.Builder
	for i := range r.Lines {
		if l := &r.Lines[i]; len(l.Differences) > 0 {
			fmt.Fprintf(&b, "exchange %d, replayed as %d: %s%s\n", l.Exchange, l.Live, l.Operation, ofTask(l.Task))
			writeDifferences(&b, l.Differences)
		}
	}
	if others := r.others(); len(others) > 0 {
		b.WriteString("not about a single answer:\n")
		writeDifferences(&b, others)
	}
	for i := range r.Lines {
		if l := &r.Lines[i]; l.Status == LeftOut {
			fmt.Fprintf(&b, "left out: exchange %d %s%s: %s\n", l.Exchange, l.Operation, ofTask(l.Task), analyzer.Clean(l.Why))
		}
	}
	if d := r.Deliveries; d.LeftOut > 0 {
		fmt.Fprintf(&b, "left out: %d notifications: %s\n", d.LeftOut, d.Why)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", analyzer.Clean(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func ofTask(task string) string {
	if task == "" {
		return ""
	}
	return " of task " + analyzer.Clip(task)
}

// others returns the differences that belong to no recorded exchange: of notifications, and new findings.
func (r *Report) others() []Difference {
	var others []Difference
	for _, d := range r.Differences {
		if d.Exchange == 0 {
			others = append(others, d)
		}
	}
	return others
}

func writeDifferences(b *strings.Builder, differences []Difference) {
	for i := range differences {
		d := &differences[i]
		fmt.Fprintf(b, "  %s\n", analyzer.Clean(d.String()))
		for _, c := range d.Changes {
			at := c.Pointer
			if at == "" {
				at = "(the whole text)"
			}
			fmt.Fprintf(b, "    %s\n", analyzer.Clean(at))
			if c.Was != "" {
				fmt.Fprintf(b, "    - %s\n", analyzer.Clean(c.Was))
			}
			if c.Now != "" {
				fmt.Fprintf(b, "    + %s\n", analyzer.Clean(c.Now))
			}
		}
	}
}
