package model

import "context"

// A Feed is the open end of a task's events: a list that one writer extends and any number of readers follow.
//
// Every reader that starts at the same end sees the same events in the same order (A2A 1.0 §3.5.2), at its own pace. A
// reader that leaves or is slow does not affect others, and events that all have read are garbage-collected.
type Feed struct {
	filled chan struct{} // closed when event and next are set
	event  Event
	next   *Feed
}

// NewFeed returns a feed in which nothing has happened.
func NewFeed() *Feed { return &Feed{filled: make(chan struct{})} }

// Push appends an event and returns the new open end. Only the owner of the open end may call it, once.
func (f *Feed) Push(e Event) *Feed {
	f.event, f.next = e, NewFeed()
	close(f.filled)
	return f.next
}

// Wait returns the event at f and the feed behind it, when there is one.
func (f *Feed) Wait(ctx context.Context) (Event, *Feed, error) {
	select {
	case <-f.filled:
		return f.event, f.next, nil
	default:
	}
	select {
	case <-f.filled:
		return f.event, f.next, nil
	case <-ctx.Done():
		return Event{}, f, context.Cause(ctx)
	}
}
