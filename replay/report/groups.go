package report

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/compare"
)

// sort groups the causes and the consequences of each.
func (t *tracer) sort() []Cause {
	var causes []Cause
	at := map[string]int{} // by the key that equal differences share
	of := make([]int, len(t.Differences))
	for _, i := range t.order() {
		if t.root[i] != i {
			continue
		}
		key := t.key(i)
		n, known := at[key]
		if !known {
			n = len(causes)
			at[key] = n
			causes = append(causes, Cause{})
		}
		of[i] = n
		t.add(&causes[n].Group, i)
		causes[n].NotSent = append(causes[n].NotSent, t.notSent[i]...)
	}
	type one struct {
		cause int
		key   string
	}
	following, groups := map[one]*Group{}, make([][]*Group, len(causes))
	for i := range t.Differences {
		if t.root[i] == i {
			continue
		}
		n := of[t.root[i]]
		key := one{n, t.key(i)}
		g := following[key]
		if g == nil {
			g = &Group{}
			following[key] = g
			groups[n] = append(groups[n], g)
		}
		t.add(g, i)
	}
	for n := range causes {
		for _, g := range groups[n] {
			causes[n].Consequences = append(causes[n].Consequences, *g)
		}
	}
	return causes
}

// order returns the indices of the differences in the order of their exchanges; those without an exchange come last.
func (t *tracer) order() []int {
	place := func(i int) uint64 {
		if l := t.lines[i]; l != nil {
			return cmp.Or(l.Exchange, l.Live)
		}
		return ^uint64(0)
	}
	order := make([]int, len(t.Differences))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
	return order
}

func (t *tracer) operation(i int) string {
	if l := t.lines[i]; l != nil {
		return l.Operation
	}
	if d := &t.Differences[i]; d.Exchange > 0 {
		return "notification" // the client sent no request for it, so it has no line
	}
	return ""
}

func (t *tracer) add(g *Group, i int) {
	d := t.Differences[i]
	about := t.subject(&d, t.lines[i])
	if len(g.Differences) == 0 {
		g.Operation, g.tasks = t.operation(i), map[string]bool{"": true}
		if t.several {
			g.Agent = about.agent
		}
	} else if g.Operation != t.operation(i) {
		g.Operation = anyOperation
	}
	g.Differences = append(g.Differences, d)
	g.indices = append(g.indices, i)
	if !g.tasks[about.task] {
		g.tasks[about.task] = true
		g.Tasks = append(g.Tasks, about.task)
	}
}

// key returns a key that is equal for differences that only differ in ids and times.
func (t *tracer) key(i int) string {
	d := &t.Differences[i]
	_, pointer, _ := strings.Cut(d.Place, "#")
	about := t.subject(d, t.lines[i])
	task := about.task
	if unanswered(d) {
		return strings.Join([]string{string(d.Kind), about.agent, unnamed(d.Got, task)}, "\x00")
	}
	operation, at := t.operation(i), unnumbered
	if inObject(d) && slices.Contains(aboutTasks, operation) {
		operation, at = "", inItsObject
	}
	switch d.Kind {
	case compare.DifferentPart, compare.DifferentType, compare.DifferentMember, compare.DifferentMediaType:
		// The surrounding values differ in each answer; the message has the difference.
		return strings.Join([]string{
			string(d.Kind), d.Side, about.agent, operation, at(pointer), unnamed(d.Message, task),
		}, "\x00")
	}
	parts := []string{
		string(d.Kind), d.Side, d.Rule, about.agent, operation, at(pointer), unnamed(d.Want, task), unnamed(d.Got, task),
		unnamed(d.Message, task),
	}
	if !follows(d) { // it is about the values themselves
		for _, c := range d.Changes {
			parts = append(parts, at(c.Pointer), unnamed(c.Was, task), unnamed(c.Now, task))
		}
	}
	return strings.Join(parts, "\x00")
}

// aboutTasks are the operations whose answers show a task, or updates of one.
var aboutTasks = []string{
	a2a.SendMessage.String(), a2a.SendStreamingMessage.String(), a2a.GetTask.String(), a2a.ListTasks.String(),
	a2a.CancelTask.String(), a2a.SubscribeToTask.String(), a2a.Webhook.String(),
}

// inObject reports whether a difference is in an object that several answers may show: if a task lacks a member, each
// answer with the task lacks it.
func inObject(d *compare.Difference) bool {
	switch d.Kind {
	case compare.DifferentPart, compare.DifferentType, compare.DifferentMember, compare.DifferentMediaType,
		compare.DifferentStructure, compare.DifferentValue, compare.DifferentFinding:
		return true
	case compare.DifferentContent:
		return d.Effect.Task != ""
	}
	return false
}

// wrapping is the envelope that bindings and answers add to an object of the protocol.
var wrapping = regexp.MustCompile(`^(/result)?(/(tasks/\*|(task|statusUpdate|artifactUpdate)\b))?(/artifact(/|$))?`)

// inItsObject returns a JSON Pointer of an answer relative to the object in it, so that a task and its updates have
// the same places.
func inItsObject(pointer string) string {
	pointer = unnumbered(pointer)
	around := wrapping.FindString(pointer)
	rest := strings.TrimPrefix(pointer[len(around):], "/")
	if strings.HasSuffix(strings.TrimSuffix(around, "/"), "/artifact") {
		return "/artifacts/*/" + rest
	}
	return "/" + rest
}

// unanswered reports whether an answer was replaced by something outside the protocol: no end, an HTTP error, or an
// error with a code of the agent's own.
func unanswered(d *compare.Difference) bool {
	return d.Effect.NoAnswer && (d.Kind == compare.DifferentEnd || foreignError.MatchString(d.Got))
}

var foreignError = regexp.MustCompile(`^error (HTTP |-?\d)`)

var (
	index = regexp.MustCompile(`/\d+(/|$)`)
	word  = regexp.MustCompile(`[^\s",;()\[\]{}']+`)
	mixed = regexp.MustCompile(`^[\w.:+/=~-]*\d[\w.:+/=~-]*$`)
)

func unnumbered(pointer string) string {
	for index.MatchString(pointer) {
		pointer = index.ReplaceAllString(pointer, "/*$1")
	}
	return pointer
}

// unnamed replaces the task's id, and long words with digits, by a star: ids and times have that form.
func unnamed(text, task string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if bare := strings.TrimRight(w, ".:!?"); bare == task || len(bare) >= 12 && mixed.MatchString(bare) {
			return "*"
		}
		return w
	})
}
