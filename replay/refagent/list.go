package refagent

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"time"
)

// A listing is the parameters of ListTasks (A2A 1.0 §3.1.4). Zero values do not filter.
type listing struct {
	contextID string
	state     state
	since     time.Time // keep tasks whose status is not older
	pageSize  int       // 1 to 100
	after     position  // the page begins behind it
	history   *int
	artifacts bool
}

// A page is the result of ListTasks.
type page struct {
	tasks []task
	next  string // empty on the last page
	size  int
	total int // before paging
}

// A position is the place of a task in the list: newest status first. It stays meaningful when tasks come and go.
type position struct {
	at       int64 // status time, milliseconds
	revision uint64
}

func (r *record) position() position { return position{r.task.status.at.UnixMilli(), r.revision} }

// compare orders newest first.
func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(q.at, p.at), cmp.Compare(q.revision, p.revision))
}

// token returns p as an opaque page token.
func (p position) token() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", p.at, p.revision))
}

// parsePosition reads what token wrote.
func parsePosition(token string) (position, error) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return position{}, err
	}
	var p position
	if _, err := fmt.Sscanf(string(b), "%d.%d", &p.at, &p.revision); err != nil {
		return position{}, err
	}
	return p, nil
}

// matches says whether a task passes the filter. Status times are compared in milliseconds, the finest that the
// agent ever writes.
func (l listing) matches(t *task) bool {
	return (l.contextID == "" || l.contextID == t.contextID) &&
		(l.state == "" || l.state == t.status.state) &&
		!t.status.at.Before(l.since.Truncate(time.Millisecond))
}

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

// trim leaves out what was not asked for. Without a wish for history the list shows none: that is the agent's choice.
func (l listing) trim(t task) task {
	if !l.artifacts {
		t.artifacts = nil
	}
	if l.history == nil {
		t.history = nil
	}
	return t.tail(l.history)
}
