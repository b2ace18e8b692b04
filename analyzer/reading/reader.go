package reading

import (
	"strings"
	"sync"

	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/internal/directory"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Bounds on what a Reader remembers; the engine has the same.
const (
	maxEndpoints = 10_000
	maxCards     = 1_000
)

// An endpoint is where calls of one binding go.
type endpoint struct {
	address string
	binding a2a.Binding
}

// A Reader reads exchanges one by one and remembers their agent cards, so that it recognizes ambiguous HTTP+JSON paths
// by a card's interface. Exchanges may come in any order; those before their card are read without it. The zero Reader
// is ready to use and safe for concurrent use.
type Reader struct {
	mu     sync.Mutex
	cards  *directory.Directory[struct{}]
	spoken *recent.Map[endpoint, a2a.Dialects] // in which calls were answered: see Answered
}

// Read reads one exchange, as far as it has come and was kept, and learns the card that it holds, if it holds one.
func (r *Reader) Read(x *capture.Exchange) *Reading {
	head := capture.ParseRequestHead(x.Request.Head)
	reading := read(x, &head, r.knownOf(x, &head))
	if reading.Card != nil {
		r.Learn(x, reading)
	}
	return reading
}

// ReadRequest decodes the request of an exchange alone. It reuses parsed data; nil means that nothing was parsed.
func (r *Reader) ReadRequest(x *capture.Exchange, parsed *capture.Parsed) *Reading {
	reading := &Reading{}
	r.readRequest(reading, x, parsed)
	return reading
}

// readRequest is ReadRequest into an empty reading.
func (r *Reader) readRequest(reading *Reading, x *capture.Exchange, parsed *capture.Parsed) {
	p := partsOf(parsed)
	if p.Head == nil {
		head := capture.ParseRequestHead(x.Request.Head)
		p.Head = &head
	}
	if p.Text == nil {
		p.Text, _ = x.Request.Body.Decode(p.Head)
	}
	reading.delivered = x.Client.ByWebhook()
	reading.asked(&p, r.knownOf(x, p.Head))
}

// Known returns the facts from learned cards and calls about the target of a request, in any form, to the agent at
// agentURL, which may be empty.
func (r *Reader) Known(agentURL, target string) a2a.Known {
	origin, path := address.Target(agentURL, target)
	at := address.Of(origin + path)
	k := r.known(at)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spoken == nil {
		return k
	}
	if in, ok := r.spoken.Get(endpoint{at, a2a.JSONRPC}); ok {
		k.Spoken(a2a.JSONRPC, in)
	}
	if prefix, ok := a2a.RoutePrefix(path); ok {
		if in, ok := r.spoken.Get(endpoint{address.Of(origin + prefix), a2a.HTTPJSON}); ok {
			k.Spoken(a2a.HTTPJSON, in)
		}
	}
	return k
}

// Answered learns from the answer to an exchange, as the engine does: its card, and that the call's protocol is in use
// at its URL. It affects only Known.
func (r *Reader) Answered(x *capture.Exchange, reading *Reading) {
	if reading.Card != nil {
		r.Learn(x, reading)
	}
	call := &reading.Call
	if len(reading.Errors) > 0 || !reading.shows() || call.Binding != a2a.JSONRPC && call.Binding != a2a.HTTPJSON {
		return
	}
	head := capture.ParseRequestHead(x.Request.Head)
	origin, path := address.Target(x.Agent.URL, head.Target)
	if call.Binding == a2a.HTTPJSON {
		path = strings.TrimSuffix(call.Prefix, "/")
	}
	key := endpoint{address.Of(origin + path), call.Binding}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spoken == nil {
		r.spoken = recent.New[endpoint, a2a.Dialects](maxEndpoints)
	}
	in, _ := r.spoken.Get(key)
	r.spoken.Put(key, in|reading.Dialects)
}

// shows reports whether the answer holds something that the protocol knows.
func (r *Reading) shows() bool {
	return len(r.States)+len(r.Tasks)+len(r.Messages) > 0 || r.Card != nil
}

func (r *Reader) knownOf(x *capture.Exchange, head *capture.Head) a2a.Known {
	origin, path := address.Target(x.Agent.URL, head.Target)
	return r.known(address.Of(origin + path))
}

// Learn remembers the card that an exchange was found to hold.
func (r *Reader) Learn(x *capture.Exchange, reading *Reading) {
	head := capture.ParseRequestHead(x.Request.Head)
	origin, path := address.Target(x.Agent.URL, head.Target)
	call := &reading.Call
	key := directory.Key{URL: origin + path, Extended: call.Operation == a2a.GetExtendedCard, Version: call.Version}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cards == nil {
		r.cards = directory.New[struct{}](maxCards)
	}
	r.cards.Put(key, struct{}{}, reading.Card.Interfaces)
}

func (r *Reader) known(at string) a2a.Known {
	var k a2a.Known
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cards != nil {
		near := r.cards.Near(at)
		for i := range near {
			k.Add(near[i].Interface, at)
		}
	}
	return k
}
