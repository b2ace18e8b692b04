package card

import (
	"bytes"
	"strconv"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/internal/rawhead"
)

// maxCallSize is the maximum size of a JSON-RPC request that may ask for a card: its only parameter is a tenant.
const maxCallSize = 4 << 10

// A request is a request that asks for an agent card, or a call of JSON-RPC that may turn out to.
type request struct {
	method string
	host   string // that the client used
	marked bool   // it named an entity tag of a rewritten card

	rpc *grpc.Type // of the answer, if the request is a call of gRPC

	// For a request whose path does not identify a card. Only the answer's side uses coded.
	doubtful bool
	target   string
	found    bool // the answer was a card before
	coded    bool // the answer has a content coding

	// Of a call: its body so far, under the Editor's lock.
	call   bool
	length int // of the body, from the head; -1 if missing
	body   []byte
	ended  bool // the body is complete, or it cannot be such a call's, and is nil

	// For the answer's side, where cards pass unchanged: the received part of the answer, if it is a card.
	answer capture.Head
	card   []byte
	limit  int // bytes of it that are kept; 0 if it is not a card
}

// requestOf returns the possible card request in a request with this head, or nil.
func (s *Site) requestOf(head []byte) *request {
	method, _, _ := bytes.Cut(head, []byte(" "))
	q := &request{}
	switch string(method) {
	case "GET", "HEAD":
		h := capture.ParseRequestHead(head)
		if !asksForCard(&h) {
			if q = s.doubtfulRequest(string(method), &h); q == nil {
				return nil
			}
		}
	case "POST":
		switch media := capture.MediaType(string(rawhead.Value(head, "Content-Type"))); {
		case capture.IsGRPC(media):
			q.rpc = messageOf(head)
		case rawhead.IsJSON(media):
			q.length, q.call = mayCallForCard(head)
		}
		if q.rpc == nil && !q.call {
			return nil
		}
	default:
		return nil
	}
	q.method, q.host = string(method), string(rawhead.Value(head, "Host"))
	return q
}

// asksForCard reports whether a GET or HEAD fetches a card: a public one at a well-known path, at the origin's root or
// below any path of it, or an extended one at one of the routes of HTTP+JSON.
func asksForCard(h *capture.Head) bool {
	// HEAD is not a call of A2A, but must be answered as GET would be (RFC 9110 section 9.3.2).
	request := a2a.Request{Method: "GET", Target: h.Target, Header: h.Fields.Get}
	call := a2a.DecodeRequest(request, a2a.Known{Bindings: a2a.BindingsOf(a2a.HTTPJSON)})
	return call.Operation == a2a.GetCard || call.Operation == a2a.GetExtendedCard
}

// mayCallForCard reports whether a POST of JSON may be a JSON-RPC call for the extended card, and the length of its
// body, or -1 if unknown. Only a complete body is certain.
func mayCallForCard(head []byte) (length int, may bool) {
	if rawhead.IsCoded(head) {
		return 0, false
	}
	if rawhead.Value(head, "Transfer-Encoding") != nil {
		return -1, true
	}
	length, err := strconv.Atoi(string(rawhead.Value(head, "Content-Length")))
	return length, err == nil && 0 <= length && length <= maxCallSize
}

func (q *request) end() {
	if q.call && !q.ended {
		q.ended = true
		if !mayName(q.body) {
			q.body = nil // a stream would keep it while it is open
		}
	}
}

// mayName reports whether a body may name the call for the extended card: all names of that call contain this text, and
// few other calls do.
func mayName(body []byte) bool { return bytes.Contains(body, []byte("xtended")) }

// request returns known facts about an exchange that requests a card, nil for any other.
func (l *Editor) request(x int) *request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requests[x]
}

// callOf returns the body of a possible call for the extended card when its answer arrives, otherwise nil. If the
// answer arrives before the call is complete, this is unknown: the answer passes unmodified.
func (l *Editor) callOf(q *request) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !q.ended {
		return nil
	}
	return q.body
}

// callsForCard reports whether a call with that body asks for the extended card.
func callsForCard(body []byte) bool {
	call := a2a.DecodeRequest(a2a.Request{
		Method: "POST", Target: "/", Body: body, HasBody: true, BodyKept: true,
	}, a2a.Known{Bindings: a2a.BindingsOf(a2a.JSONRPC)})
	return call.Operation == a2a.GetExtendedCard && call.Batch == nil
}

// ObserveRequest receives a request's head before the Editor may edit it, like a relay.Observer.
func (l *Editor) ObserveRequest(x int, head []byte) {
	if q := l.site.requestOf(head); q != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.requests[x] = q
	}
}

// ObserveRequestBody receives a piece of a request's body.
func (l *Editor) ObserveRequestBody(x int, p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.requests[x]
	switch {
	case q == nil || !q.call || q.ended:
	case len(q.body)+len(p) > maxCallSize, len(p) == q.length && !mayName(p):
		q.body = nil
		q.end()
	default:
		q.body = append(q.body, p...)
	}
}

// ObserveRequestEnd is called at the end of a request.
func (l *Editor) ObserveRequestEnd(x int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.requests[x]; q != nil {
		q.end()
	}
}

// ObserveEnded is called at the end of an exchange.
func (l *Editor) ObserveEnded(x int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.requests, x)
}

// doubtfulRequest returns the card request that a GET or HEAD may turn out to be although its path does not show it,
// otherwise nil. A path with an HTTP+JSON operation is never a card, and neither is a request that does not accept
// JSON.
func (s *Site) doubtfulRequest(method string, h *capture.Head) *request {
	path, _, _ := strings.Cut(h.Target, "?")
	if _, operation := a2a.RoutePrefix(path); operation || !acceptsJSON(h) {
		return nil
	}
	q := &request{doubtful: true, target: h.Target}
	// A client that has an edited card sends its tag.
	q.found = s.found.has(h.Target) || strings.Contains(h.Fields.Get("If-None-Match"), tagMark)
	if method == "HEAD" && !q.found {
		return nil
	}
	return q
}
