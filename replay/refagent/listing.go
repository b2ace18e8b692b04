package refagent

import (
	"cmp"
	"encoding/base64"
	"fmt"
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
