package proxy

// Waiting returns how many bytes wait to be recorded, those included that are being recorded now, and how many may. The
// first is small while recording keeps up with the traffic. It may be called at any time, by several goroutines.
func (r *Recorder) Waiting() (bytes, limit int64) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	return r.q.used, r.q.limit
}
