package refagent

import "context"

// A feed is the open end of a task's events: a list that one writer extends and any number of readers follow.
//
// Every reader that starts at the same end sees the same events in the same order (A2A 1.0 §3.5.2), at its own pace.
// A reader that leaves disturbs nobody, a slow one holds nobody up, and what all have read is garbage.
type feed struct {
	filled chan struct{} // closed when event and next are set
	event  event
	next   *feed
}

func newFeed() *feed { return &feed{filled: make(chan struct{})} }

// push appends an event and returns the new open end. Only the owner of the open end may call it, once.
func (f *feed) push(e event) *feed {
	f.event, f.next = e, newFeed()
	close(f.filled)
	return f.next
}

// wait returns the event at f and the feed behind it, when there is one.
func (f *feed) wait(ctx context.Context) (event, *feed, error) {
	select {
	case <-f.filled:
		return f.event, f.next, nil
	default:
	}
	select {
	case <-f.filled:
		return f.event, f.next, nil
	case <-ctx.Done():
		return event{}, f, context.Cause(ctx)
	}
}
