package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A pair is one client connection and its connection to the agent.
//
// The goroutine of serve reads the client. A second goroutine, started when the agent has been dialed, reads the agent.
// Each writes to the other's connection, with one exception: if no answer is pending, the first one writes the relay's
// own answers.
type pair struct {
	cfg  Config
	obs  Observed
	edit Edited

	client net.Conn
	reader sync.WaitGroup // the goroutine that reads the agent
	begun  []byte         // the data read so far from an HTTP/2 connection; otherwise nil

	mu         sync.Mutex
	decided    sync.Cond       // an upgrade was decided, an exchange or answers have ended
	agent      net.Conn        // nil until dialled
	unfinished []*exchange     // in order; removed when both directions have ended
	reusable   *exchange       // one to use again
	next       int             // number of the next exchange
	idleSince  time.Time       // when the last exchange ended
	cause      *TransportError // why unfinished exchanges will never be finished; the first one stays
	causeAt    int             // the exchange that it is about, -1 for the whole connection
	firstFault error           // the first one of an exchange

	inRequest        bool      // a request is under way: begun, not complete
	sendBlocked      bool      // the agent accepts no more of what comes from the client
	agentEnds        bool      // the agent has ended its sending, and the client is about to learn of it
	agentReset       bool      // the agent has reset its connection, as a write to it found out
	requestsEnd      bool      // no request will follow
	answersEnd       bool      // nothing more will be written to the client
	agentUnsolicited bool      // the agent sends bytes that answer no request
	tunnel           *exchange // the one whose upgrade the agent took
	answersWritten   bool      // and all is written
	refusing         bool      // the end of a refused request is reported, and its answer is not yet due
	drained          int64     // bytes that came after all was written
	shutDown         bool      // the connections are being closed by shutdown
	over             bool      // both connections are closed

	clientEOF    atomic.Bool // the client has ended its sending
	sentAfterEnd atomic.Bool // and bytes of an answer were written to it afterwards
	halfClosed   atomic.Bool // and the client received them, so it has not left
}

// An exchange is a request that has begun, with its place in the order of answers. Its fields are guarded by pair.mu
// except n and method, which do not change.
type exchange struct {
	n              int
	method         method
	turn           turn      // whose answer the client gets
	doneAt         time.Time // when the request was complete; not set where nothing depends on it
	upgrade        bool      // asked for another protocol
	decided        bool      // the head of the final answer was there
	requestDone    bool      // the request is complete
	answerWhole    bool      // the answer is complete; its last bytes may still have to be written
	answerReported bool      // and its end may be reported as the end of the exchange
	answerDone     bool      // the answer is complete and written
	ended          bool      // Ended was called
	faulted        bool      // its fault was reported
	refused        bool      // the agent has ended the session before it, and the client has the relay's own answer
	ownAnswer      []byte    // the relay's own answer instead of the agent's, due after the answers before it
	clientEnded    bool      // the client had ended its part before the answer was complete
	openEnded      bool      // the answer declares no length
	unproven       bool      // its answer is complete, and whether the client had left is not yet known
}

// A turn is the source of an exchange's answer.
type turn uint8

const (
	turnOpen    turn = iota // undecided
	turnInterim             // the agent, with an interim answer that is being passed on
	turnAgent               // the agent
	turnOurs                // the relay, since the rest of the request cannot be framed
)

func newPair(client net.Conn, cfg Config) *pair {
	if cfg.Observer == nil {
		cfg.Observer = Discard{}
	}
	if cfg.HeadLimit <= 0 {
		cfg.HeadLimit = DefaultHeadLimit
	}
	if cfg.Mark == "" {
		cfg.Mark = "a2atap"
	}
	if cfg.linger <= 0 {
		cfg.linger = LingerTime
	}
	p := &pair{cfg: cfg, client: client, causeAt: -1, idleSince: time.Now()}
	p.obs.To, p.edit.By = cfg.Observer, cfg.Editor
	p.decided.L = &p.mu
	return p
}

// serve relays until both directions have ended, and reports how the unfinished exchanges broke.
func (p *pair) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, p.shutdown)
	defer stop()
	newRequests(p).run(ctx)
	if p.begun != nil && stop() {
		p.client.SetReadDeadline(time.Time{})
		return p.cfg.HTTP2(ctx, p.client, p.begun)
	}
	return p.end()
}

// end waits for the answers, closes both connections and returns the first error.
func (p *pair) end() error {
	p.reader.Wait()
	p.client.Close()
	if p.agent != nil {
		p.agent.Close()
	}
	p.mu.Lock()
	p.over = true
	p.decided.Broadcast()
	p.mu.Unlock()
	p.endUnfinished(true)
	return errors.Join(p.firstFault, p.obs.Failure(), p.edit.Failure())
}

// endUnfinished reports the fault and the end of exchanges that will remain unfinished because no answers follow: those
// whose request is complete, or with all, every exchange, because no request data follows either.
func (p *pair) endUnfinished(all bool) {
	p.mu.Lock()
	var broken []*exchange
	var over []bool // of these, whether Ended was called
	p.unfinished = slices.DeleteFunc(p.unfinished, func(x *exchange) bool {
		if x.unproven {
			return false // the side that finds out ends it
		}
		if all || x.requestDone {
			broken, over = append(broken, x), append(over, x.ended)
			x.ended = true
		}
		return all || x.requestDone
	})
	at := p.causeAt
	f := TransportError{Kind: KindTruncated, Side: SideAgent, Detail: "connection closed before the answer was complete"}
	switch {
	case p.cause != nil:
		f = *p.cause
	case p.clientGone():
		f = TransportError{Kind: KindClientLeft, Side: SideClient, Detail: leftEarly}
	}
	p.mu.Unlock()
	for i, x := range broken {
		if x.ownAnswer != nil {
			continue
		}
		g := f
		if at >= 0 && at != x.n {
			g.Detail = fmt.Sprintf("the connection broke at another of its exchanges: %s", f.Detail)
			g.Status = 0
		}
		p.fault(x, g)
		if !over[i] {
			p.obs.Ended(x.n)
		}
	}
}

// shutdown breaks off exchanges in flight, so that no client takes them for complete, and closes idle connections. If
// the end of an exchange was already reported to the Observer, the client still gets its last bytes.
func (p *pair) shutdown() {
	p.mu.Lock()
	p.shutDown = true // no request is accepted any more
	p.waitWhile(p.owesBytes, p.cfg.linger)
	for range 10 { // while the client keeps sending: closing now could cost it the relay's answer
		taken := p.drained
		if p.waitWhile(p.lingers, p.cfg.linger/10); p.drained == taken {
			break
		}
	}
	p.setCause(-1, p.stopCause())
	broken, agent := slices.ContainsFunc(p.unfinished, (*exchange).inAnswer), p.agent
	p.mu.Unlock()
	if agent != nil {
		Reset(agent)
	}
	if broken {
		Reset(p.client)
	} else {
		p.client.Close()
	}
}

// inAnswer reports whether an answer has begun that will not be finished.
func (x *exchange) inAnswer() bool { return !x.ended && !x.unproven && x.turn != turnOpen }

// owesBytes reports whether the client has yet to receive a part of an exchange whose end was reported. The lock is
// held.
func (p *pair) owesBytes() bool {
	if p.answersWritten || p.over {
		return false
	}
	return p.refusing || slices.ContainsFunc(p.unfinished, func(x *exchange) bool {
		return !x.answerDone && (x.ended || x.unproven || x.ownAnswer != nil)
	})
}

// lingers reports whether the client was sent everything, but may not have read it yet. The lock is held.
func (p *pair) lingers() bool { return p.answersWritten && !p.over }

// waitWhile returns when a condition is over, or after a time. The lock is held, except while it waits.
func (p *pair) waitWhile(condition func() bool, most time.Duration) {
	late := false
	timer := time.AfterFunc(most, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.decided.Broadcast()
	})
	defer timer.Stop()
	for condition() && !late {
		p.decided.Wait()
	}
}

// noteCause records why the connection will break, unless a cause is already known. Call it before the close that makes
// the other goroutine fail. x is -1 if the cause concerns all exchanges.
func (p *pair) noteCause(x int, f TransportError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setCause(x, f)
}

func (p *pair) setCause(x int, f TransportError) {
	if p.cause == nil {
		p.cause, p.causeAt = &f, x
	}
}

// fault reports the fault of an exchange, once.
func (p *pair) fault(x *exchange, f TransportError) {
	p.mu.Lock()
	reported := x.faulted
	x.faulted = true
	if p.firstFault == nil {
		p.firstFault = f
	}
	p.mu.Unlock()
	if !reported {
		p.obs.Fault(x.n, f)
	}
}

// begin puts a new exchange in the order of answers.
func (p *pair) begin(n int, h requestHead) *exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.reusable
	if p.reusable = nil; x == nil {
		x = new(exchange)
	}
	*x = exchange{n: n, method: h.method, upgrade: h.upgrade}
	p.unfinished = append(p.unfinished, x)
	p.inRequest = true
	return x
}

// front returns the exchange whose answer is due, or nil.
func (p *pair) front() *exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.due()
}

func (p *pair) due() *exchange {
	for _, x := range p.unfinished {
		if !x.answerDone {
			return x
		}
	}
	return nil
}

// requestComplete records that a request is complete. It is called before the last bytes of the request are written.
func (p *pair) requestComplete(x *exchange) {
	p.mu.Lock()
	p.inRequest = false
	x.requestDone = x != p.tunnel
	if p.cfg.AnswerTimeout > 0 {
		x.doneAt = time.Now()
	}
	p.limitLinger()
	over := p.answersEnd
	p.finish(x)
	if over {
		p.endUnfinished(false)
	}
}

// tunnelled notes that the client has ended its side of an upgraded connection.
func (p *pair) tunnelled(x *exchange) {
	p.mu.Lock()
	x.requestDone = true
	p.finish(x)
}

// answerReported records that the whole answer was reported to the Observer. It is called before the last bytes of the
// answer are written, so that a client that has read them finds the exchange ended.
func (p *pair) answerReported(x *exchange) {
	p.mu.Lock()
	x.answerReported = true
	n, over := x.n, x.endOnce()
	p.mu.Unlock()
	if over {
		p.obs.Ended(n)
	}
}

// endOnce reports, once, that both directions of an exchange have ended.
func (x *exchange) endOnce() bool {
	if !x.requestDone || !x.answerReported || x.ended {
		return false
	}
	x.ended = true
	return true
}

// answerWritten notes that an answer is complete and written.
func (p *pair) answerWritten(x *exchange) {
	p.mu.Lock()
	x.answerReported, x.answerDone = true, true
	p.finish(x)
}

// finish ends an exchange whose two directions have both ended. It releases the lock.
func (p *pair) finish(x *exchange) {
	n, over := x.n, x.endOnce()
	if x.requestDone && x.answerDone {
		if i := slices.Index(p.unfinished, x); i >= 0 {
			p.unfinished = slices.Delete(p.unfinished, i, i+1)
		}
		if p.cfg.IdleTimeout > 0 || p.cfg.HeadTimeout > 0 || p.cfg.AnswerTimeout > 0 {
			p.idleSince = time.Now()
		}
		if !x.upgrade { // otherwise the client's reader may still use it
			p.reusable = x
		}
	}
	p.decided.Broadcast()
	p.mu.Unlock()
	if over {
		p.obs.Ended(n)
	}
}

// endAnswers notes that nothing more will be written to the client, and limits how long the client may still send.
func (p *pair) endAnswers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answersEnd, p.answersWritten = true, true
	p.decided.Broadcast()
	p.limitLinger()
}

// limitLinger limits how long the client may keep sending once no answer and no request is in progress. The lock is
// held.
func (p *pair) limitLinger() bool {
	if !p.answersEnd || p.inRequest && !p.sendBlocked || p.tunnel != nil {
		return false
	}
	p.client.SetReadDeadline(time.Now().Add(p.cfg.linger))
	return true
}

// isTimeout reports whether an error comes from a deadline of the relay.
func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
