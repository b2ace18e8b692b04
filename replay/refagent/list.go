package refagent

import (
	"cmp"
	"slices"
)

func (r *record) position() position { return position{r.task.status.at.UnixMilli(), r.revision} }

// A listed is a task and its place.
type listed struct {
	task     task
	position position
}

// list returns one page of the tasks that match.
func (e *engine) list(l listing) page {
	found := e.matching(l)
	p := page{size: l.pageSize, total: len(found)}
	if l.after != (position{}) {
		i, _ := slices.BinarySearchFunc(found, l.after, func(t listed, p position) int {
			return cmp.Or(t.position.compare(p), -1) // the first task behind the position
		})
		found = found[i:]
	}
	if len(found) > l.pageSize {
		found = found[:l.pageSize]
		p.next = found[l.pageSize-1].position.token()
	}
	for _, f := range found {
		p.tasks = append(p.tasks, l.trim(f.task))
	}
	return p
}

// matching returns all tasks that match, newest status first.
func (e *engine) matching(l listing) []listed {
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []listed
	for _, r := range e.order {
		if l.matches(&r.task) {
			found = append(found, listed{r.task, r.position()})
		}
	}
	slices.SortFunc(found, func(a, b listed) int { return a.position.compare(b.position) })
	return found
}
