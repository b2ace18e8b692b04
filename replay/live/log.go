package live

import (
	"bytes"
	"sync"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// A Log numbers exchanges and hands out their steps in one order. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	seq     uint64
	arrival uint64
	take    func(capture.Step)
	over    bool // what comes now comes too late
}

// NewLog returns a log whose first exchange is number seq+1. It calls take with each step, one at a time; the step is
// take's to keep.
func NewLog(seq uint64, take func(capture.Step)) *Log { return &Log{seq: seq, take: take} }

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

// End drops all steps that come from now on.
func (l *Log) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}

func (l *Log) append(s capture.Step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	l.arrival++
	s.Arrival = l.arrival
	l.take(s)
}

// An Entry is one live exchange in a log. Its methods are called by one goroutine at a time.
type Entry struct {
	log     *Log
	seq     uint64
	started time.Time
	x       *capture.Exchange
}

// Seq returns the exchange's number in its log.
func (x *Entry) Seq() uint64 { return x.seq }

// Recorded returns the exchange as recorded so far. It must not be changed, and is of no use any more when the next
// method is called.
func (x *Entry) Recorded() *capture.Exchange { return x.x }

func (x *Entry) add(what capture.What) {
	s := capture.Step{Seq: x.seq, Offset: time.Since(x.started), What: what}
	x.x = capture.Assemble(x.x, s.Clone())
	x.log.append(s.Clone())
}

// RequestBody records the whole body of the request, and that it has ended.
func (x *Entry) RequestBody(body []byte) {
	if len(body) > 0 {
		x.add(capture.RequestBody{Data: bytes.Clone(body)})
	}
	x.add(capture.RequestEnd{Size: int64(len(body))})
}

// ResponseHead records the head of the final answer, and whether an event stream follows.
func (x *Entry) ResponseHead(head []byte, stream bool) {
	x.add(capture.ResponseHead{Head: head, Stream: stream})
}

// ResponseEnd records that the answer is complete, with so many bytes.
func (x *Entry) ResponseEnd(size int64, trailer []byte) {
	x.add(capture.ResponseEnd{Size: size, Trailer: trailer})
}

// Close records the end of the exchange; the fault is nil if it went well.
func (x *Entry) Close(fault *capture.TransportFault) { x.add(capture.Closed{Fault: fault}) }

func (x *Entry) informational(head []byte) { x.add(capture.Informational{Head: head}) }

func (x *Entry) responseBody(p []byte, dropped int64) {
	x.add(capture.ResponseBody{Data: bytes.Clone(p), Dropped: dropped})
}

func (x *Entry) event(e capture.Event) { x.add(capture.ResponseEvent{Event: e}) }
