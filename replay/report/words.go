package report

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer"
)

// shown is how many characters of a value are shown whole.
const shown = 400

// headline is the line that says what changed, such as "GetTask of task t-1: state completed → failed".
func headline(g *Group) string {
	d := &g.Differences[0]
	what := brief(d.Summary())
	if g.Operation == "" {
		return what
	}
	line := named(g.Operation, g.Tasks)
	if n := len(g.Differences); n > 1 {
		line += fmt.Sprintf(", the same in %d exchanges", n)
	}
	return line + ": " + what
}

// named names requests by their operation, and by the tasks that they are about.
func named(operation string, tasks []string) string {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(task string) bool { return task == "" })
	switch len(tasks) {
	case 0:
		return operation
	case 1:
		return operation + " of task " + brief(tasks[0])
	}
	return fmt.Sprintf("%s of %d tasks", operation, len(tasks))
}

// brief bounds what goes into a line beside other words. Ids fit.
func brief(s string) string {
	return bounded([]rune(analyzer.Clean(s)), shown/2)
}

// kinds says what the difference is about.
func kinds(g *Group) string { return fmt.Sprintf(" [%s]", g.Differences[0].Kind) }

// where names the exchanges of a group on both sides; it is empty for what concerns no single one.
func (r *Report) where(g *Group) string {
	if d := &g.Differences[0]; len(g.Differences) == 1 {
		return r.exchange(d.Exchange, d.Live)
	}
	var both, was, now []uint64
	for i := range g.Differences {
		switch d := &g.Differences[i]; {
		case d.Exchange > 0 && d.Live > 0:
			both = append(both, d.Exchange, d.Live)
		case d.Exchange > 0:
			was = append(was, d.Exchange)
		case d.Live > 0:
			now = append(now, d.Live)
		}
	}
	var words []string
	if len(both) > 0 {
		words = append(words, "exchanges "+pairs(both)+" ("+r.columns()+")")
	}
	if len(was) > 0 {
		words = append(words, "exchanges "+numbers(was)+" "+r.of(r.sides().Was))
	}
	if len(now) > 0 {
		words = append(words, "exchanges "+numbers(now)+" "+r.of(r.sides().Now))
	}
	return strings.Join(words, "; ")
}

// exchange names one exchange on both sides; it is empty if there is none.
func (r *Report) exchange(was, now uint64) string {
	replayed := r.verb() == "replay"
	switch {
	case was > 0 && now > 0 && replayed:
		return fmt.Sprintf("exchange %d, replayed as %d", was, now)
	case was > 0 && now > 0:
		return fmt.Sprintf("exchange %d of %s, %d of %s", was, r.sides().Was, now, r.sides().Now)
	case was > 0:
		return fmt.Sprintf("exchange %d %s", was, r.of(r.sides().Was))
	case now > 0:
		return fmt.Sprintf("exchange %d %s", now, r.of(r.sides().Now))
	}
	return ""
}

// of says in which traffic an exchange is.
func (r *Report) of(side string) string {
	switch {
	case r.verb() != "replay":
		return "of " + side
	case side == r.sides().Was:
		return "of the recording"
	}
	return "of the replayed traffic"
}

// columns says what the two numbers of a pair are.
func (r *Report) columns() string {
	if r.verb() == "replay" {
		return "recorded → replayed as"
	}
	return r.sides().Was + " → " + r.sides().Now
}

// maxNumbers bounds a list of exchanges.
const maxNumbers = 20

func pairs(numbers []uint64) string {
	var words []string
	for p := range slices.Chunk(numbers, 2) {
		words = append(words, fmt.Sprintf("%d → %d", p[0], p[1]))
	}
	return list(words)
}

func numbers(numbers []uint64) string {
	var words []string
	for _, n := range numbers {
		words = append(words, fmt.Sprint(n))
	}
	return list(words)
}

func list(words []string) string {
	if more := len(words) - maxNumbers; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:maxNumbers], ", "), more)
	}
	return strings.Join(words, ", ")
}

// at names the place of a group with a single exchange.
func at(g *Group) string {
	if d := &g.Differences[0]; d.Place != "" && len(g.Differences) == 1 {
		return ", at " + d.Place
	}
	return ""
}

// following says how much follows from a cause.
func (r *Report) following(c *Cause) string {
	var words []string
	if n := c.Count(); n > 0 {
		words = append(words, analyzer.Plural(n, "consequence"))
	}
	if n := len(c.NotSent); n > 0 {
		words = append(words, fmt.Sprintf("%s not sent", analyzer.Plural(n, "request")))
	}
	return strings.Join(words, ", ")
}

// unsent returns the lines that were left out for a reason of their own, and not for what differs.
func (r *Report) unsent() []Line {
	explained := map[uint64]bool{}
	for _, c := range r.Causes() {
		for i := range c.NotSent {
			explained[c.NotSent[i].Exchange] = true
		}
	}
	var lines []Line
	for i := range r.Lines {
		if l := &r.Lines[i]; l.Status == LeftOut && !explained[l.Exchange] {
			lines = append(lines, *l)
		}
	}
	return lines
}

// rest says what was left out for a reason of its own, and the notes: a sentence each.
func (r *Report) rest() []string {
	var lines []string
	for _, l := range r.unsent() {
		lines = append(lines,
			fmt.Sprintf("left out: exchange %d, %s: %s", l.Exchange, named(l.Operation, []string{l.Task}), l.Why))
	}
	if d := r.Deliveries; d.LeftOut > 0 {
		lines = append(lines, fmt.Sprintf("left out: %s: %s", analyzer.Plural(d.LeftOut, "notification"), d.Why))
	}
	for _, note := range r.Notes {
		lines = append(lines, "note: "+note)
	}
	return lines
}

// pointerOf names the place of a change in its text.
func pointerOf(c Change) string {
	if c.Pointer == "" {
		return "(the whole text)"
	}
	return c.Pointer
}
