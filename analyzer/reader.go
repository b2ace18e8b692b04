package analyzer

import (
	"sync"

	"a2atap/analyzer/address"
	"a2atap/analyzer/directory"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Reader reads exchanges one by one and remembers the agent cards among them, so that calls over HTTP+JSON whose path
// alone proves nothing are recognised by the interface that a card names. Exchanges may come in any order; what comes
// before its card is read without it. The zero Reader is ready to use, by several goroutines at once.
type Reader struct {
	mu    sync.Mutex
	cards *directory.Directory[struct{}]
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

// ReadRequest reads the request of an exchange alone. What was parsed of it already is not parsed again; nil is
// nothing.
func (r *Reader) ReadRequest(x *capture.Exchange, parsed *capture.Parsed) *Reading {
	p := partsOf(parsed)
	if p.Head == nil {
		head := capture.ParseRequestHead(x.Request.Head)
		p.Head = &head
	}
	if p.Text == nil {
		p.Text, _ = x.Request.Body.Decode(p.Head)
	}
	reading := &Reading{}
	reading.asked(&p, r.knownOf(x, p.Head))
	return reading
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
