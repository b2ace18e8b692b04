package analyzer

// A naming is which task and context the events of a stream have named first.
type naming struct{ task, context *Sighting }

// note remembers what an event names, unless an earlier one did.
func (n *naming) note(seen *Sighting) {
	if n.task == nil {
		n.task = seen
	}
	if n.context == nil && seen.ContextID != "" {
		n.context = seen
	}
}

// NamedTask returns the first event that named a task, or nil.
func (s *Stream) NamedTask() *Sighting { return s.named.task }

// NamedContext returns the first event that named a context, or nil.
func (s *Stream) NamedContext() *Sighting { return s.named.context }

// TaskIDPlace returns the place of the task's id in the object.
func (s *Sighting) TaskIDPlace() Place {
	if s.Snapshot || s.idNamed {
		return s.IDPlace()
	}
	return s.Object.In("taskId")
}

// ActiveBefore returns the newest sighting of the task that the exchange names, if it had been delivered before the
// exchange began and nothing has shown the end of the task; else nil.
func (x *Exchange) ActiveBefore() *Sighting {
	if x.Known == nil || x.Known.Terminal != nil || x.Known.Last == nil || !x.beganAfter(x.Known.Last) {
		return nil
	}
	return x.Known.Last
}
