package recording

import (
	"bytes"
	"strings"
	"sync/atomic"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/relay"
)

// A Conn is the recorder's view of one client connection: a relay.Observer that copies what it observes into the queue.
// It never blocks, unless the policy is Wait.
type Conn struct {
	// What follows may be set before the first exchange.
	Bodies      Scope  // which exchanges are recorded with their bodies
	Certificate string // the common name in the client's certificate; empty if it has shown none

	r      *Recorder
	caller atomic.Pointer[Caller] // nil if the client's process is not looked for
	client string                 // the client's address
	agent  capture.Peer
	number uint64    // 0 until the first exchange; guarded by the queue's lock, like all below
	stream uint32    // that the next exchange is on, of HTTP/2
	passed time.Time // when the next reported traffic passed; zero for now
	open   map[int]*exchange
	recent [2]endedExchange // the newest ended exchanges; each side of a connection may still report one
	first  []*exchange      // the first that have ended, at most maxFirst, while the client is looked for
}

// maxFirst bounds the exchanges of a connection that get the client's name after their end. A search for a card may take
// as many.
const maxFirst = 2

// endedExchange is an exchange that has ended, and its number on its connection.
type endedExchange struct {
	x int
	e *exchange
}

var (
	_ relay.StreamObserver = (*Conn)(nil)
	_ relay.EndObserver    = (*Conn)(nil)
)

// Conn begins a connection from the client at address to the agent.
func (r *Recorder) Conn(agent capture.Peer, address string) *Conn {
	return &Conn{r: r, client: address, agent: agent, open: make(map[int]*exchange)}
}

// Identify sets the search for the client's process: before the first exchange, or again when its result may differ.
func (c *Conn) Identify(search *Caller) { c.caller.Store(search) }

// Stream implements relay.StreamObserver.
func (c *Conn) Stream(_ int, id uint32) {
	c.lock()
	defer c.unlock()
	c.stream = id
}

// Request implements relay.Observer.
func (c *Conn) Request(x int, head []byte) {
	c.RequestTo(x, head, c.agent, "")
}

// RequestTo is Request for one exchange whose agent is not the connection's, or whose client has given the proxy a
// name; "" means none.
func (c *Conn) RequestTo(x int, head []byte, agent capture.Peer, client string) {
	c.lock()
	defer c.unlock()
	c.begin(x, head, agent, client)
}

// Deliver is RequestTo for a notification that an agent sends to a webhook.
func (c *Conn) Deliver(x int, head []byte, webhook capture.Peer, agent string) {
	c.lock()
	defer c.unlock()
	c.begin(x, head, webhook, agent).delivers = true
}

func (c *Conn) begin(x int, head []byte, agent capture.Peer, client string) *exchange {
	if c.number == 0 {
		c.number = c.r.conns.Add(1)
	}
	e := &exchange{conn: c, on: c.stream, agent: agent, client: client}
	c.open[x], c.stream = e, 0
	if !c.r.q.add(piece{kind: pieceOpened, x: e}, head, false) {
		e.skipped = true
		e.lost = int64(len(head))
		c.r.behind()
	}
	return e
}

// RequestBody implements relay.Observer.
func (c *Conn) RequestBody(x int, p []byte) {
	c.lock()
	defer c.unlock()
	if e := c.open[x]; e != nil {
		e.body(&e.request, pieceRequestBody, p)
	}
}

// AnswerBody implements relay.Observer.
func (c *Conn) AnswerBody(x int, p []byte) {
	c.lock()
	defer c.unlock()
	if e := c.open[x]; e != nil {
		e.body(&e.answer, pieceAnswerBody, p)
	}
}

// RequestEnd implements relay.Observer.
func (c *Conn) RequestEnd(x int, trailer []byte) {
	c.end(x, pieceRequestEnd, trailer)
}

// AnswerEnd implements relay.Observer.
func (c *Conn) AnswerEnd(x int, trailer []byte) {
	c.end(x, pieceAnswerEnd, trailer)
}

func (c *Conn) end(x int, kind pieceKind, trailer []byte) {
	c.lock()
	defer c.unlock()
	e := c.open[x]
	if e == nil {
		return
	}
	f := &e.request
	if kind == pieceAnswerEnd {
		f = &e.answer
	}
	if f.headless {
		e.lost += int64(len(trailer))
		return
	}
	p := piece{kind: kind, size: f.size, dropped: f.dropped}
	if len(trailer) == 0 || !e.note(p, trailer, false) {
		e.note(p, nil, true)
	}
	f.dropped = 0 // already reported; an upgrade adds to it
}

// Informational implements relay.Observer.
func (c *Conn) Informational(x int, head []byte) {
	c.lock()
	defer c.unlock()
	if e := c.open[x]; e != nil {
		e.note(piece{kind: pieceInformational}, head, false)
	}
}

// Answer implements relay.Observer.
func (c *Conn) Answer(x int, head []byte) {
	c.lock()
	defer c.unlock()
	e := c.open[x]
	if e == nil {
		return
	}
	e.answer.endless = mayStream(head)
	e.protocol = newProtocol(head)
	if !e.note(piece{kind: pieceAnswer}, head, false) {
		e.answer.cut, e.answer.headless = true, true // a body without its head is useless
	}
}

// Upgraded implements relay.Observer.
func (c *Conn) Upgraded(x int) {
	c.lock()
	defer c.unlock()
	e := c.open[x]
	if e == nil {
		return
	}
	e.upgraded = true
	if e.protocol != "" {
		e.note(piece{kind: pieceFact, note: &capture.Fact{
			Note: "upgraded to " + e.protocol + ": further traffic is forwarded unchanged, and neither recorded nor observed",
		}}, nil, true)
	}
}

// Passed sets when the next reported traffic passed, for reports by another process. Without it, traffic passes when it
// is reported. The recording uses the nearest time that keeps the order of the reports and is not later than the
// report.
func (c *Conn) Passed(at time.Time) {
	c.lock()
	defer c.unlock()
	c.passed = at
}

// Dropped reports bytes of a body that passed and are not to be recorded, of the answer's or of the request's body.
func (c *Conn) Dropped(x int, answer bool, n int64) {
	c.lock()
	defer c.unlock()
	if e := c.open[x]; e != nil {
		f := &e.request
		if answer {
			f = &e.answer
		}
		f.size += n
		f.dropped += n
	}
}

// Lost reports bytes that passed before they could be reported as an exchange.
func (c *Conn) Lost(n int64) {
	c.lock()
	defer c.unlock()
	c.r.q.countLoss(n)
}

// Fact adds something learned outside the traffic: a replacement, a note, the client's name. Like the observer's calls,
// it must not come after Ended.
func (c *Conn) Fact(x int, f capture.Fact) {
	c.lock()
	defer c.unlock()
	if e := c.open[x]; e != nil {
		e.note(piece{kind: pieceFact, note: &f}, nil, true)
	}
}

// Recognized records the result of a finished search for the client. Earlier exchanges get the right name, too,
// including the first ones that have ended.
func (c *Conn) Recognized(found *Caller) {
	peer := &capture.Peer{Name: found.Name, Addr: c.client, URL: found.Home.String(), How: found.How}
	c.lock()
	defer c.unlock()
	for _, e := range c.open {
		e.note(piece{kind: pieceNamed, note: peer}, nil, true)
	}
	if found.Name == "" && found.Process == 0 {
		return
	}
	for _, e := range c.first {
		e.note(piece{kind: pieceNamed, note: peer}, nil, true)
	}
	if found.Name != "" {
		c.first = nil
	}
}

// SideEnded implements relay.EndObserver.
func (c *Conn) SideEnded(x int, side, how string) {
	c.lock()
	defer c.unlock()
	if e := c.open[x]; e != nil {
		e.note(piece{kind: pieceSideEnd, note: &capture.SideEnd{
			Side: side, How: how, Request: e.request.size, Response: e.answer.size,
		}}, nil, true)
	}
}

// Fault implements relay.Observer. Bytes that belong to no exchange are recorded as one: users look for them when
// nothing else arrives.
func (c *Conn) Fault(x int, f relay.TransportError) {
	c.lock()
	defer c.unlock()
	fault := &capture.TransportFault{Kind: f.Kind, Side: f.Side, Detail: f.Detail}
	if x >= 0 {
		if e := c.open[x]; e != nil {
			e.note(piece{kind: pieceFault, note: fault}, nil, true)
		} else {
			c.faultAfterEnd(x, fault)
		}
		return
	}
	var e *exchange
	if f.Side == relay.SideAgent {
		e = c.begin(x, nil, c.agent, "")
		e.body(&e.answer, pieceAnswerBody, f.Bytes)
	} else {
		e = c.begin(x, f.Bytes, c.agent, "")
	}
	e.note(piece{kind: pieceFault, note: fault}, nil, true)
	c.ended(x, e)
}

// faultAfterEnd notes that the last bytes of a message could not be written. Usually, the end is still in the queue
// then, and gets the fault.
func (c *Conn) faultAfterEnd(x int, f *capture.TransportFault) {
	for _, l := range c.recent {
		if l.e != nil && l.x == x && !l.e.skipped {
			l.e.late.Store(f)
			l.e.note(piece{kind: pieceLateFault, note: f}, nil, true)
			return
		}
	}
}

// Ended implements relay.Observer.
func (c *Conn) Ended(x int) {
	c.lock()
	defer c.unlock()
	if e := c.open[x]; e != nil {
		c.ended(x, e)
	}
}

// Abandon ends the exchanges that are still open, and returns their number.
func (c *Conn) Abandon() int {
	c.lock()
	defer c.unlock()
	n := len(c.open)
	for x, e := range c.open {
		fault := &capture.TransportFault{
			Kind: "abandoned", Side: relay.SideProxy,
			Detail: "a2atap could not continue to observe the connection",
		}
		e.note(piece{kind: pieceFault, note: fault}, nil, true)
		c.ended(x, e)
	}
	return n
}

func (c *Conn) ended(x int, e *exchange) {
	delete(c.open, x)
	c.recent[1], c.recent[0] = c.recent[0], endedExchange{x, e}
	if e.skipped {
		c.r.q.countLoss(e.lost)
		return
	}
	if len(c.first) < maxFirst && c.caller.Load().unnamed() {
		c.first = append(c.first, e)
	}
	c.r.q.add(piece{kind: pieceEnded, x: e, lost: e.lost, size: e.request.dropped, dropped: e.answer.dropped}, nil,
		true)
}

func (c *Conn) lock()   { c.r.q.mu.Lock() }
func (c *Conn) unlock() { c.r.q.mu.Unlock() }

// newProtocol returns the protocol to which an answer with status 101 switches the connection, such as "websocket": RFC
// 9110 section 7.8. It is "" for any other answer, and "another protocol" if the answer does not name it.
func newProtocol(answer []byte) string {
	if _, status, _ := bytes.Cut(rawhead.StartLine(answer), []byte(" ")); !bytes.HasPrefix(status, []byte("101")) {
		return ""
	}
	name := strings.ToLower(string(rawhead.Value(answer, "Upgrade")))
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(c rune) bool {
		return c != '/' && c != ',' && c != ' ' && !capture.IsToken(string(c))
	}) {
		return "another protocol"
	}
	return name
}

// Protocol returns the protocol to which an exchange was upgraded, or "", and the agent's name.
func (c *Conn) Protocol(x int) (protocol, agent string) {
	c.lock()
	defer c.unlock()
	if e := c.open[x]; e != nil {
		return e.protocol, e.agent.Name
	}
	return "", ""
}

// home returns where the client lives, as far as it is known now.
func (c *Conn) home() string {
	caller := c.caller.Load()
	if caller == nil {
		return ""
	}
	select {
	case <-caller.Done:
		return caller.Home.String()
	default:
		return capture.Home{Machine: caller.Home.Machine}.String()
	}
}

// NameNow returns the currently known name of a request's client, or "".
func (c *Conn) NameNow(head []byte) string {
	for i := range c.r.opts.Clients {
		if p := &c.r.opts.Clients[i]; p.fits(head, c.client, c.Certificate) {
			return p.Name
		}
	}
	name, _, _ := c.caller.Load().name(c.agent.Name)
	if product, how := ClientName(head); name == "" && how != byDefault {
		return product
	}
	return name
}
