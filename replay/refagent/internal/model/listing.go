package model

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"time"
)

// A Listing is the parameters of ListTasks (A2A 1.0 §3.1.4). Zero values do not filter.
type Listing struct {
	ContextID string
	State     State
	Since     time.Time // keep tasks whose status is not older
	PageSize  int       // 1 to 100
	After     Position  // the page begins behind it
	History   *int
	Artifacts bool
}

// A Page is the result of ListTasks.
type Page struct {
	Tasks []Task
	Next  string // empty on the last page
	Size  int
	Total int // before paging
}

// A Position is the place of a task in the list: newest status first. It stays meaningful when tasks come and go.
type Position struct {
	At       int64 // status time, milliseconds
	Revision uint64
}

// Compare orders newest first.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(q.At, p.At), cmp.Compare(q.Revision, p.Revision))
}

// Token returns p as an opaque page token.
func (p Position) Token() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", p.At, p.Revision))
}

// ParsePosition reads what token wrote.
func ParsePosition(token string) (Position, error) {
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return Position{}, err
	}
	var p Position
	if _, err := fmt.Sscanf(string(b), "%d.%d", &p.At, &p.Revision); err != nil {
		return Position{}, err
	}
	return p, nil
}

// Matches reports whether a task passes the filter. Status times are compared in milliseconds, the finest that the
// agent ever writes.
func (l Listing) Matches(t *Task) bool {
	return (l.ContextID == "" || l.ContextID == t.ContextID) &&
		(l.State == "" || l.State == t.Status.State) &&
		!t.Status.At.Before(l.Since.Truncate(time.Millisecond))
}

// Trim removes the parts that were not requested. Without a requested history length, it removes the history: that is
// the agent's choice.
func (l Listing) Trim(t Task) Task {
	if !l.Artifacts {
		t.Artifacts = nil
	}
	if l.History == nil {
		t.History = nil
	}
	return t.Tail(l.History)
}
