package engine

import (
	"cmp"
	"slices"

	"a2atap/replay/refagent/internal/model"
)

func (r *record) position() model.Position {
	return model.Position{At: r.Task.Status.At.UnixMilli(), Revision: r.revision}
}

// A listed is a task and its place.
type listed struct {
	task     model.Task
	position model.Position
}

// List returns one page of the tasks that match.
func (e *Engine) List(l model.Listing) model.Page {
	found := e.matching(l)
	p := model.Page{Size: l.PageSize, Total: len(found)}
	if l.After != (model.Position{}) {
		i, _ := slices.BinarySearchFunc(found, l.After, func(t listed, p model.Position) int {
			return cmp.Or(t.position.Compare(p), -1) // the first task behind the position
		})
		found = found[i:]
	}
	if len(found) > l.PageSize {
		found = found[:l.PageSize]
		p.Next = found[l.PageSize-1].position.Token()
	}
	for _, f := range found {
		p.Tasks = append(p.Tasks, l.Trim(f.task))
	}
	return p
}

// matching returns all tasks that match, newest status first.
func (e *Engine) matching(l model.Listing) []listed {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	var found []listed
	for _, r := range e.Order {
		if l.Matches(&r.Task) {
			found = append(found, listed{r.Task, r.position()})
		}
	}
	slices.SortFunc(found, func(a, b listed) int { return a.position.Compare(b.position) })
	return found
}
