package relay

import "time"

// setReadDeadline sets how long the next read of the client may take, and reports whether there is any time left.
// Deadlines are looked at when they pass, not moved with each exchange: if one is in flight then, nothing happens.
func (r *requests) setReadDeadline() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answersEnd && (!r.inRequest || r.sendBlocked) && r.tunnel == nil {
		return false
	}
	now := time.Now()
	limit, from := r.cfg.IdleTimeout, r.idleSince
	if !r.since.IsZero() {
		limit = r.cfg.HeadTimeout
		if r.since.After(from) {
			from = r.since
		}
	}
	if len(r.unfinished) > 0 {
		from = now
	}
	var until time.Time
	if limit > 0 {
		if until = from.Add(limit); !until.After(now) {
			return false
		}
	}
	r.client.SetReadDeadline(until)
	return true
}

// headBegun starts the time that a head may take.
func (r *requests) headBegun() {
	if r.since.IsZero() {
		r.since = time.Now()
		if r.cfg.HeadTimeout > 0 {
			r.setReadDeadline()
		}
	}
}

// headComplete stops it.
func (r *requests) headComplete() {
	if !r.since.IsZero() {
		r.since = time.Time{}
		if r.cfg.HeadTimeout > 0 {
			r.setReadDeadline()
		}
	}
}
