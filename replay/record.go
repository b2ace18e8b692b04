package replay

import (
	"bytes"
	"sync"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
)

// recorder keeps the live traffic: it hands every step to the rules and to the caller's sink, in one order. It is safe
// for concurrent use.
type recorder struct {
	mu       sync.Mutex
	seq      uint64
	arrival  uint64
	engine   *analyzer.Engine
	sink     capture.Sink // nil if the traffic is not kept
	findings []analyzer.Finding
	err      error // why the traffic could not be kept; the first one
	over     bool  // what comes now comes too late
}

// open begins an exchange.
func (r *recorder) open(client, agent capture.Peer, head []byte) *exchangeLog {
	r.mu.Lock()
	r.seq++
	l := &exchangeLog{recorder: r, seq: r.seq, started: time.Now()}
	r.mu.Unlock()
	l.add(capture.Opened{ID: uuid.New(), Started: l.started.UTC(), Client: client, Agent: agent, Head: head})
	l.add(capture.Fact{Replayed: true})
	return l
}

func (r *recorder) append(s capture.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.arrival++
	s.Arrival = r.arrival
	r.findings = append(r.findings, r.engine.Step(s)...)
	if r.sink != nil && r.err == nil {
		r.err = r.sink.Append(s.Clone())
	}
}

// end judges what can be judged only when all is over, and returns all findings.
func (r *recorder) end() []analyzer.Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.findings = append(r.findings, r.engine.End(false)...)
	return r.findings
}

// An exchangeLog records one live exchange. Its methods are called by one goroutine at a time.
type exchangeLog struct {
	recorder *recorder
	seq      uint64
	started  time.Time
	x        *capture.Exchange // as recorded so far
}

func (l *exchangeLog) add(what capture.What) {
	s := capture.Step{Seq: l.seq, Offset: time.Since(l.started), What: what}
	l.x = capture.Assemble(l.x, s.Clone())
	l.recorder.append(s)
}

func (l *exchangeLog) requestBody(body []byte) {
	if len(body) > 0 {
		l.add(capture.RequestBody{Data: bytes.Clone(body)})
	}
	l.add(capture.RequestEnd{Size: int64(len(body))})
}

func (l *exchangeLog) informational(head []byte) { l.add(capture.Informational{Head: head}) }

func (l *exchangeLog) responseHead(head []byte, stream bool) {
	l.add(capture.ResponseHead{Head: head, Stream: stream})
}

func (l *exchangeLog) responseBody(p []byte, dropped int64) {
	l.add(capture.ResponseBody{Data: bytes.Clone(p), Dropped: dropped})
}

func (l *exchangeLog) responseEnd(size int64, trailer []byte) {
	l.add(capture.ResponseEnd{Size: size, Trailer: trailer})
}

func (l *exchangeLog) event(e capture.Event) { l.add(capture.ResponseEvent{Event: e}) }

func (l *exchangeLog) close(fault *capture.Fault) { l.add(capture.Closed{Fault: fault}) }
