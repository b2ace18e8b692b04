package workflow

// Tell lets another tracker hear of links, as whoever takes them with Into does: each when its request was read, and
// again when more is known of it. Trackers call it when their state is made.
func (m *Memory) Tell(hear func(Link)) { m.tell = append(m.tell, hear) }
