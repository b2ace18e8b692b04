package workflow

// Tell registers another tracker for links, which it receives like the callback of Into: each when its request was
// read, and again after updates. Trackers call it when their state is created.
func (m *Memory) Tell(hear func(Link)) { m.tell = append(m.tell, hear) }
