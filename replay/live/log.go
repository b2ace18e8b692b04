package live

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// A Log numbers exchanges and assigns their steps one order. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	seq     uint64
	arrival uint64
	sink    capture.Sink
	seen    func(capture.Step)
	err     error // the sink's first
	over    bool  // End was called: further steps are dropped
}

// NewLog returns a log whose first exchange is number seq+1. It passes each step to seen, and to the sink until the
// sink fails, one at a time. Both own the steps they receive, and may be nil. NewLog does not close the sink.
func NewLog(seq uint64, sink capture.Sink, seen func(capture.Step)) *Log {
	return &Log{seq: seq, sink: sink, seen: seen}
}

// Open begins an exchange: a request with that head is about to be sent, or has been received.
func (l *Log) Open(client, agent capture.Peer, head []byte) *Entry {
	l.mu.Lock()
	l.seq++
	x := &Entry{log: l, seq: l.seq, started: time.Now()}
	l.mu.Unlock()
	x.add(capture.Opened{ID: uuid.New(), Started: x.started.UTC(), Client: client, Agent: agent, Head: head})
	x.add(capture.Fact{Replayed: true})
	return x
}

// Received records a request that one of a2atap's servers received, with its body, and the empty answer to it. Call
// it before sending that answer, so that the log shows the request before its effects. It returns the recorded
// exchange.
func (l *Log) Received(from, to capture.Peer, r *http.Request, body []byte, status int) *capture.Exchange {
	x := l.Open(from, to, requestHead(r))
	x.requestBody(body)
	x.add(capture.ResponseHead{Head: fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n\r\n", status, http.StatusText(status))})
	x.add(capture.ResponseEnd{})
	x.close(nil)
	return x.Recorded()
}

// requestHead writes the head of a request as net/http has read it: the order and case of its fields are lost.
func requestHead(r *http.Request) []byte {
	head := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.RequestURI, r.Host)
	head = appendFields(head, r.Header, asIs)
	if r.ContentLength >= 0 && r.Header.Get("Content-Length") == "" {
		head = fmt.Appendf(head, "Content-Length: %d\r\n", r.ContentLength)
	}
	return append(head, "\r\n"...)
}

// End drops all later steps, and returns the sink's first error.
func (l *Log) End() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	return l.err
}

// add adds a step to an exchange.
func (l *Log) add(x *Entry, what capture.What) {
	s := capture.Step{Seq: x.seq, Offset: time.Since(x.started), What: what}
	l.mu.Lock()
	defer l.mu.Unlock()
	x.x = capture.Assemble(x.x, s.Clone())
	if l.over {
		return
	}
	l.arrival++
	s.Arrival = l.arrival
	if l.seen != nil {
		l.seen(s.Clone())
	}
	if l.sink != nil && l.err == nil {
		l.err = l.sink.Append(s.Clone())
	}
}

// An Entry is one live exchange in a log. It is safe for concurrent use.
type Entry struct {
	log     *Log
	seq     uint64
	started time.Time
	x       *capture.Exchange // guarded by the log's lock
}

// Seq returns the exchange's number in its log.
func (x *Entry) Seq() uint64 { return x.seq }

// Recorded returns a copy of the exchange as recorded so far.
func (x *Entry) Recorded() *capture.Exchange {
	x.log.mu.Lock()
	defer x.log.mu.Unlock()
	return x.x.Copy()
}

func (x *Entry) add(what capture.What) { x.log.add(x, what) }

// requestBody records the whole body of the request, and that it has ended.
func (x *Entry) requestBody(body []byte) {
	if len(body) > 0 {
		x.add(capture.RequestBody{Data: bytes.Clone(body)})
	}
	x.add(capture.RequestEnd{Size: int64(len(body))})
}

// close records the end of the exchange; the fault is nil if it went well.
func (x *Entry) close(fault *capture.TransportFault) { x.add(capture.Closed{Fault: fault}) }

// appendFields writes fields sorted by name, since their original order is unknown, in the given spelling.
func appendFields(head []byte, fields http.Header, spell func(string) string) []byte {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[name] {
			head = fmt.Appendf(head, "%s: %s\r\n", spell(http.CanonicalHeaderKey(name)), value)
		}
	}
	return head
}

// asIs is the spelling of HTTP/1.1 fields.
func asIs(name string) string { return name }
