package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay/compare"
)

// shown is the number of characters up to which a value is shown in full.
const shown = 400

// headline returns the line that describes a change, such as "GetTask of task t-1: state completed → failed".
func headline(g *Group) string {
	d := &g.Differences[0]
	if g.Operation == anyOperation && unanswered(d) {
		return about(g, "an answer → "+brief(d.Got)) // what was answered differs
	}
	return about(g, brief(d.Summary()))
}

func about(g *Group, what string) string {
	if g.Operation == "" {
		return what
	}
	line := named(g.Operation, g.Tasks)
	if g.Agent != "" {
		line = brief(g.Agent) + ": " + line
	}
	if n := len(exchanges(g)); n > 1 && n != len(g.Tasks) {
		line += fmt.Sprintf(", %d times", n)
	}
	return line + ": " + what
}

// exchanges returns the numbers of the exchanges of a group on both sides, each pair once.
func exchanges(g *Group) [][2]uint64 {
	var all [][2]uint64
	seen := map[[2]uint64]bool{}
	for i := range g.Differences {
		if pair := [2]uint64{g.Differences[i].Exchange, g.Differences[i].Live}; !seen[pair] {
			seen[pair] = true
			all = append(all, pair)
		}
	}
	return all
}

// named names requests by their operation, and by their tasks.
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

// brief bounds the length of a text within a line. Ids fit.
func brief(s string) string {
	return compare.Bounded([]rune(analysis.Clean(s)), shown/2)
}

// A causeText is a cause in words. All formats for people paint it.
type causeText struct {
	effect
	Changes []compare.Change // excerpts
	Also    string           // the numbers of its consequences
	Effects []effect         // with a line for each set of exchanges
}

// An effect is a difference, or several in the same exchanges, in words.
type effect struct {
	Headline, Kinds, Where, At string // Where and At may be empty
}

// causes describes the causes.
func (r *Report) causes() []causeText {
	causes := r.Causes()
	list := make([]causeText, len(causes))
	for i := range causes {
		c, d := &causes[i], &list[i]
		d.effect = effect{headline(&c.Group), label(&c.Differences[0]), r.where(&c.Group), at(&c.Group)}
		d.Also, d.Effects = r.following(c), r.effects(c)
		for _, change := range c.Differences[0].Changes {
			d.Changes = append(d.Changes, excerpt(change))
		}
	}
	return list
}

// excerpt shortens the values of a change.
func excerpt(c compare.Change) compare.Change {
	was, now := compare.Excerpt(c.Was, c.Now, shown)
	return compare.Change{Pointer: cmp.Or(c.Pointer, "(the whole text)"), Was: was, Now: now}
}

// effects describes the effects of a cause, with a line for each set of exchanges: if one answer replaced
// another, its missing members do not get a line each.
func (r *Report) effects(c *Cause) []effect {
	var out []effect
	var whats []string
	for i := range c.Consequences {
		g := &c.Consequences[i]
		next := effect{"", string(g.Differences[0].Kind), r.where(g), at(g)}
		what := brief(g.Differences[0].Summary())
		if i > 0 && g.Operation != "" && sameExchanges(g, &c.Consequences[i-1]) {
			last := &out[len(out)-1]
			if whats = append(whats, what); !strings.Contains(last.Kinds, next.Kinds) {
				last.Kinds += ", " + next.Kinds
			}
			last.Headline = about(g, list(whats))
			continue
		}
		whats = []string{what}
		next.Headline = about(g, what)
		out = append(out, next)
	}
	for i := range c.NotSent {
		l := &c.NotSent[i]
		out = append(out, effect{
			"not sent: " + named(l.Operation, []string{l.Task}) + ": " + brief(l.Why), "", r.exchange(l.Exchange, 0), "",
		})
	}
	return out
}

func sameExchanges(a, b *Group) bool {
	return a.Operation == b.Operation && a.Agent == b.Agent && slices.Equal(a.Tasks, b.Tasks) &&
		slices.Equal(exchanges(a), exchanges(b))
}

// where names the exchanges of a group on both sides, or "" for differences of no single exchange.
func (r *Report) where(g *Group) string {
	all := exchanges(g)
	if len(all) == 1 {
		return r.exchange(all[0][0], all[0][1])
	}
	var both, was, now []string
	legend := " on both sides"
	for _, pair := range all {
		switch {
		case pair[0] == pair[1]:
			both = append(both, fmt.Sprint(pair[0]))
		case pair[0] > 0 && pair[1] > 0:
			legend = ", " + r.columns() + " where they differ"
			both = append(both, fmt.Sprintf("%d → %d", pair[0], pair[1]))
		case pair[0] > 0:
			was = append(was, fmt.Sprint(pair[0]))
		case pair[1] > 0:
			now = append(now, fmt.Sprint(pair[1]))
		}
	}
	var words []string
	for _, group := range []struct {
		numbers []string
		suffix  string
	}{{both, legend}, {was, " " + r.of(r.sides().Was)}, {now, " " + r.of(r.sides().Now)}} {
		if len(group.numbers) > 0 {
			words = append(words, "exchanges "+list(group.numbers)+group.suffix)
		}
	}
	return strings.Join(words, "; ")
}

// exchange names one exchange on both sides; it may be empty.
func (r *Report) exchange(was, now uint64) string {
	replayed := r.verb() == "replay"
	if sides := r.sides(); sides.Each == OneExchange {
		switch {
		case was > 0 && now > 0:
			return sides.Was + " and " + sides.Now
		case was > 0:
			return sides.Was
		case now > 0:
			return sides.Now
		}
		return ""
	}
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

// of names the traffic that has an exchange.
func (r *Report) of(side string) string {
	switch {
	case r.verb() != "replay":
		return "of " + side
	case side == r.sides().Was:
		return "of the recording"
	}
	return "of the replayed traffic"
}

// columns describes the two numbers of a pair.
func (r *Report) columns() string {
	if r.verb() == "replay" {
		return "recorded → replayed as"
	}
	return r.sides().Was + " → " + r.sides().Now
}

// maxNumbers bounds a list of exchanges.
const maxNumbers = 20

func list(words []string) string {
	if more := len(words) - maxNumbers; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:maxNumbers], ", "), more)
	}
	return strings.Join(words, ", ")
}

// at returns the place of a group with a single difference; it is empty for others.
func at(g *Group) string {
	if len(g.Differences) > 1 {
		return ""
	}
	return brief(g.Differences[0].Place)
}

// atPlace is a place after a comma, for text formats.
func atPlace(at string) string {
	if at == "" {
		return ""
	}
	return ", at " + at
}

// following returns the number of differences that follow from a cause.
func (r *Report) following(c *Cause) string {
	var words []string
	if n := c.Count(); n > 0 {
		words = append(words, analysis.Plural(n, "consequence"))
	}
	if n := len(c.NotSent); n > 0 {
		words = append(words, fmt.Sprintf("%s not sent", analysis.Plural(n, "request")))
	}
	return strings.Join(words, ", ")
}

// unsent returns the lines that were left out for a separate reason, not because of a difference.
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

// rest returns a sentence for each omission with a separate reason, and for each note.
func (r *Report) rest() []string {
	var lines []string
	for _, l := range r.unsent() {
		lines = append(lines,
			fmt.Sprintf("left out: exchange %d, %s: %s", l.Exchange, named(l.Operation, []string{l.Task}), l.Why))
	}
	if d := r.Deliveries; d.LeftOut > 0 {
		lines = append(lines, fmt.Sprintf("left out: %s: %s", analysis.Plural(d.LeftOut, "notification"), d.Why))
	}
	for _, note := range r.Notes {
		lines = append(lines, "note: "+note)
	}
	return lines
}

// label names the subject of the difference, and its origin unless that is the agent.
func label(d *compare.Difference) string {
	if d.Side != "" {
		return string(d.Kind) + ", " + d.Side
	}
	return string(d.Kind)
}
