package replay

import (
	"sync"

	"a2atap/analyzer"
	"a2atap/analyzer/engine"
	"a2atap/proxy/capture"
	"a2atap/replay/live"
)

// recorder keeps the live traffic: every step goes to the rules and to the caller's sink, in one order. It is safe for
// concurrent use.
type recorder struct {
	*live.Log

	mu       sync.Mutex
	engine   *engine.Engine
	sink     capture.Sink // nil if the traffic is not kept
	findings []analyzer.Finding
	err      error // why the traffic could not be kept; the first one
}

func newRecorder(rules []*analyzer.Rule, sink capture.Sink, seq uint64) *recorder {
	r := &recorder{engine: engine.New(rules), sink: sink}
	r.Log = live.NewLog(seq, r.take)
	return r
}

func (r *recorder) take(s capture.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings = append(r.findings, r.engine.Step(s)...)
	if r.sink != nil && r.err == nil {
		r.err = r.sink.Append(s.Clone())
	}
}

// end judges what can be judged only when all is over, and returns all findings.
func (r *recorder) end() []analyzer.Finding {
	r.Log.End()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings = append(r.findings, r.engine.End(false)...)
	return r.findings
}
