package proxy

import (
	"bytes"
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/injection"
	"a2atap/proxy/rawhead"
	"a2atap/proxy/relay"
)

// maxCallSize is how many bytes a JSON-RPC request that may ask for a card has: its only parameter is a tenant.
const maxCallSize = 4 << 10

// A link is one client connection through a tap: it records what passes, and knows which exchanges ask for agent cards.
type link struct {
	*Conn
	tap   *Tap
	local net.Addr

	mu           sync.Mutex
	cardRequests map[int]*cardRequest // exchanges that ask for a card, or may

	hooked     map[int]*exchangeHooks // exchanges that are about webhooks, or may be
	deliveries map[int]bool           // exchanges that are notifications on their way to a webhook
	anyHooks   atomic.Bool            // hooked was not always empty

	faults *injection.Injector // that makes faults in its answers; nil for none
}

var _ relay.Observer = (*link)(nil)

// A cardRequest is a request that asks for an agent card, or a call of JSON-RPC that may turn out to.
type cardRequest struct {
	method string
	host   string // that the client used
	marked bool   // it named an entity tag of a rewritten card

	// Of a request whose path does not tell what it asks for. Only the answer's side uses coded.
	doubtful bool
	target   string
	found    bool // the answer was a card before
	coded    bool // the answer has a content coding

	// Of a call: its body so far. The answer's side reads it after bodyKnown is closed.
	body      []byte
	bodyKnown chan struct{} // closed when the body is complete, or too long for such a call; nil if it is no call
	ended     bool          // bodyKnown is closed
}

func newLink(t *Tap, client net.Conn) *link {
	l := &link{
		Conn:         t.proxy.opts.Recorder.Conn(t.peer(), client.RemoteAddr().String()),
		tap:          t,
		local:        client.LocalAddr(),
		cardRequests: make(map[int]*cardRequest),
	}
	if t.faults != nil {
		l.faults = injection.New(t.faults, l.Fact)
	}
	t.proxy.callers.look(client, t.family, l.Conn)
	return l
}

// Request implements relay.Observer.
func (l *link) Request(x int, head []byte) {
	l.tap.proxy.inFlight.add(1)
	if l.deliveryRequest(x, head) {
		return
	}
	l.Conn.Request(x, head)
	if l.faults != nil {
		l.faults.Request(x, head)
	}
	if l.tap.proxy.opts.NoRewrite {
		return
	}
	if q := l.tap.cardRequestOf(head); q != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.cardRequests[x] = q
	}
}

// cardRequestOf returns the card request that a request with this head is, or may be; nil if it is none.
func (t *Tap) cardRequestOf(head []byte) *cardRequest {
	method, _, _ := bytes.Cut(head, []byte(" "))
	q := &cardRequest{}
	switch string(method) {
	case "GET", "HEAD":
		h := capture.ParseRequestHead(head)
		if !asksForCard(&h) {
			if q = t.doubtfulCardRequest(string(method), &h); q == nil {
				return nil
			}
		}
	case "POST":
		length, may := mayCallForCard(head)
		if !may {
			return nil
		}
		q.body, q.bodyKnown = make([]byte, 0, length), make(chan struct{})
	default:
		return nil
	}
	q.method, q.host = string(method), string(rawhead.Value(head, "Host"))
	return q
}

// asksForCard reports whether a GET or HEAD fetches a card: a public one at a well-known path, at the origin's root or
// below any path of it, or an extended one at one of the routes of HTTP+JSON.
func asksForCard(h *capture.Head) bool {
	// HEAD is no call of A2A, but must be answered as GET would be (RFC 9110 section 9.3.2).
	request := a2a.Request{Method: "GET", Target: h.Target, Header: h.Fields.Get}
	call := a2a.DecodeRequest(request, a2a.Known{Bindings: a2a.BindingsOf(a2a.HTTPJSON)})
	return call.Operation == a2a.GetCard || call.Operation == a2a.GetExtendedCard
}

// mayCallForCard reports whether a POST may be a call of JSON-RPC that asks for the extended card, and how long its
// body is as far as that is known. Only a complete body shows it.
func mayCallForCard(head []byte) (length int, may bool) {
	coding := rawhead.Value(head, "Content-Encoding")
	if len(coding) > 0 && !bytes.EqualFold(coding, []byte("identity")) {
		return 0, false
	}
	if !rawhead.IsJSON(capture.MediaType(string(rawhead.Value(head, "Content-Type")))) {
		return 0, false
	}
	if rawhead.Value(head, "Transfer-Encoding") != nil {
		return 0, true
	}
	length, err := strconv.Atoi(string(rawhead.Value(head, "Content-Length")))
	return length, err == nil && 0 <= length && length <= maxCallSize
}

// RequestBody implements relay.Observer.
func (l *link) RequestBody(x int, p []byte) {
	if l.faults != nil {
		l.faults.RequestBody(x, p)
	}
	l.Conn.RequestBody(x, l.hookRequestBody(x, p))
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.cardRequests[x]
	if q == nil || q.bodyKnown == nil || q.ended {
		return
	}
	if len(q.body)+len(p) > maxCallSize {
		q.body = nil
		q.end()
		return
	}
	q.body = append(q.body, p...)
}

// RequestEnd implements relay.Observer.
func (l *link) RequestEnd(x int, trailer []byte) {
	if rest := l.hookRequestEnd(x); len(rest) > 0 {
		l.Conn.RequestBody(x, rest)
	}
	l.Conn.RequestEnd(x, trailer)
	if l.faults != nil {
		l.faults.RequestEnd(x)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.cardRequests[x]; q != nil {
		q.end()
	}
}

func (q *cardRequest) end() {
	if q.bodyKnown != nil && !q.ended {
		q.ended = true
		if !bytes.Contains(q.body, []byte("xtended")) { // as all names of the call have, and few other calls
			q.body = nil // which a stream would keep for as long as it is open
		}
		close(q.bodyKnown)
	}
}

// Answer implements relay.Observer.
func (l *link) Answer(x int, head []byte) {
	l.Conn.Answer(x, head)
	l.hookAnswer(x, head)
}

// AnswerBody implements relay.Observer.
func (l *link) AnswerBody(x int, p []byte) {
	l.Conn.AnswerBody(x, l.hookAnswerBody(x, p, false))
}

// AnswerEnd implements relay.Observer.
func (l *link) AnswerEnd(x int, trailer []byte) {
	if rest := l.hookAnswerBody(x, nil, true); len(rest) > 0 {
		l.Conn.AnswerBody(x, rest)
	}
	l.Conn.AnswerEnd(x, trailer)
}

// Fault implements relay.Observer.
func (l *link) Fault(x int, f relay.Fault) {
	if l.faults != nil {
		f = l.faults.Fault(x, f)
	}
	l.Conn.Fault(x, f)
}

// dial connects to the agent, with the faults that are to be made in what it answers.
func (l *link) dial(ctx context.Context, client net.Conn) (net.Conn, error) {
	conn, err := l.tap.dialFor(ctx, client)
	if l.faults != nil && err == nil {
		conn = l.faults.Wrap(conn)
	}
	return conn, err
}

// Ended implements relay.Observer.
func (l *link) Ended(x int) {
	l.Conn.Ended(x)
	if l.faults != nil {
		l.faults.Ended(x)
	}
	l.tap.proxy.inFlight.add(-1)
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.cardRequests, x)
	delete(l.hooked, x)
	delete(l.deliveries, x)
}

// abandon ends what the relay has left open, which it does only after a panic of ours: it reports nothing more then. It
// returns how many exchanges there were.
func (l *link) abandon() int {
	n := l.Conn.Abandon()
	l.tap.proxy.inFlight.add(-n)
	return n
}

// cardRequest returns what is known of an exchange that asks for a card, nil of any other.
func (l *link) cardRequest(x int) *cardRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cardRequests[x]
}

// callsForCard reports whether the call is one for the extended card, given that its answer is here. Of an answer that
// came before the call was complete it is not known: it passes as it came.
func (q *cardRequest) callsForCard() bool {
	select {
	case <-q.bodyKnown:
	default:
		return false
	}
	if q.body == nil {
		return false
	}
	call := a2a.DecodeRequest(a2a.Request{
		Method: "POST", Target: "/", Body: q.body, HasBody: true, BodyKept: true,
	}, a2a.Known{Bindings: a2a.BindingsOf(a2a.JSONRPC)})
	return call.Operation == a2a.GetExtendedCard && call.Batch == nil
}

// Upgraded implements relay.Observer.
func (l *link) Upgraded(x int) {
	l.Conn.Upgraded(x)
	protocol, agent := l.Protocol(x)
	l.tap.proxy.upgraded(agent, protocol)
}
