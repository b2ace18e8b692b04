package push

import (
	"cmp"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/proxy/a2a"
)

// A Standing is a push notification config that may be there when a capture ends, of a task that was not seen to end,
// and whose notifications come to the recorder.
type Standing struct {
	Link     analysis.Link // who configured it, and which agent has it
	TaskID   string
	ConfigID string // empty if it is not known
	At       string // the recorder's own scheme and authority, to which the notifications come
	Dialects a2a.Dialects

	exchange uint64
}

// AtEnd returns an option that calls f at the end of a capture with the configs that exist then, in the order of their
// requests.
func AtEnd(f func([]Standing)) engine.Option { return engine.Give(Tracker, f) }

// tellStanding reports the remaining configs to the functions of AtEnd.
func (m *Memory) tellStanding() {
	if len(m.atEnd) == 0 {
		return
	}
	var all []Standing
	for key, known := range m.configs.All() {
		if t := m.tasks.At(key); t != nil && t.Terminal != nil {
			continue
		}
		for _, c := range known.List {
			if c.callbackOrigin == "" {
				continue
			}
			all = append(all, Standing{
				Link: c.Exchange.Link, TaskID: c.TaskID, ConfigID: c.ID, At: c.callbackOrigin,
				Dialects: c.Exchange.Dialects, exchange: c.Exchange.Seq,
			})
		}
	}
	slices.SortFunc(all, func(a, b Standing) int { return cmp.Compare(a.exchange, b.exchange) })
	for _, f := range m.atEnd {
		f.(func([]Standing))(all)
	}
}
