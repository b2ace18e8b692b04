package probe

import (
	"time"

	"a2atap/replay/client"
)

// newerThan returns an instant before all tasks got their state, by the agent's clock, and whether a task got its own
// after that. Where a task does not say when, it is the zero time, and all tasks are newer.
func newerThan(tasks []*client.Task) (since time.Time, isNew func(*client.Task) bool) {
	for _, t := range tasks {
		at, err := time.Parse(time.RFC3339Nano, t.Status.Timestamp)
		if err != nil {
			return time.Time{}, func(*client.Task) bool { return true }
		}
		if since.IsZero() || at.Before(since) {
			since = at
		}
	}
	since = since.Add(-time.Second)
	return since, func(t *client.Task) bool {
		at, err := time.Parse(time.RFC3339Nano, t.Status.Timestamp)
		return err != nil || !at.Before(since)
	}
}
