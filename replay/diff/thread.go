package diff

import (
	"fmt"
	"slices"

	"a2atap/proxy/a2a"
)

// A thread has the exchanges with one agent about one task; without a task, those in one context; without either, those
// of one kind.
type thread struct {
	task      string // empty if it is about none
	exchanges []*exchange
	pair      *thread
}

// threadsOf sorts exchanges into threads, in the order in which these began.
func threadsOf(exchanges []*exchange) []*thread {
	var list []*thread
	byName := map[string]*thread{}
	for _, e := range exchanges {
		name := nameOf(e)
		t := byName[name]
		if t == nil {
			t = &thread{task: e.task}
			byName[name] = t
			list = append(list, t)
		}
		t.exchanges = append(t.exchanges, e)
		e.of = t
	}
	for _, t := range list {
		t.exchanges = withoutPolls(t.exchanges)
		markOverlaps(t.exchanges)
	}
	return list
}

func nameOf(e *exchange) string {
	switch {
	case e.task != "":
		return "task " + e.task
	case e.context != "":
		return "context " + e.context
	case e.op.Sends():
		return fmt.Sprint("exchange ", e.seq) // an error, or a message without a context
	}
	return "operation " + e.asks
}

// withoutPolls leaves out requests for a task that continued, if the same client asked again: the number of polls
// depends on the agent's speed.
func withoutPolls(exchanges []*exchange) []*exchange {
	next := map[string]*exchange{} // by client
	var kept []*exchange
	for _, e := range slices.Backward(exchanges) {
		again := next[e.client]
		next[e.client] = e
		if again != nil && e.op == a2a.GetTask && e.going && again.sent == e.sent {
			again.polls = append(again.polls, e.seq)
			e.polled = true
			next[e.client] = again
			continue
		}
		kept = append(kept, e)
	}
	slices.Reverse(kept)
	for _, e := range kept {
		slices.Sort(e.polls)
	}
	return kept
}

// markOverlaps marks the exchanges that overlapped with another one of the same client: their order varies.
func markOverlaps(exchanges []*exchange) {
	latest := map[string]*exchange{} // the one of each client that ends last
	for _, e := range exchanges {
		before := latest[e.client]
		if before != nil && e.start.Before(before.end) {
			before.overlap, e.overlap = true, true
		}
		if before == nil || before.end.Before(e.end) {
			latest[e.client] = e
		}
	}
}

// A level is a degree of similarity of two exchanges.
type level func(e *exchange) uint64

func byOutcome(e *exchange) uint64 { return digest("outcome", e.asks, num(e.sent), num(e.came)) }
func byText(e *exchange) uint64    { return digest("text", e.asks, num(e.sent)) }
func byShape(e *exchange) uint64   { return digest("shape", e.asks, num(e.shape)) }
func byAsked(e *exchange) uint64   { return digest("asked", e.asks) }

// byKind treats all ways to send a message alike.
func byKind(e *exchange) uint64 {
	if e.op.Sends() {
		return digest("kind", "send")
	}
	return digest("kind", e.asks)
}

func num(n uint64) string { return fmt.Sprint(n) }

// of adds the client to a level.
func (l level) ofClient(e *exchange) uint64 { return digest(e.client, num(l(e))) }

// all digests the exchanges of a thread regardless of their order.
func (l level) all(t *thread) (sum uint64) {
	for _, e := range t.exchanges {
		sum += l(e)
	}
	return max(1, sum)
}

// first digests the exchange with which a thread begins.
func (l level) first(t *thread) uint64 { return l(t.exchanges[0]) }

// pairThreads finds the counterparts of threads.
func pairThreads(a, b []*thread) {
	m := newMatching(len(a), len(b))
	for _, of := range []struct {
		key   func(*thread) uint64
		apart bool // the order may be another
	}{
		{level(level(byOutcome).ofClient).all, true},
		{level(level(byText).ofClient).all, true},
		{level(level(byShape).ofClient).all, true},
		{level(level(byText).ofClient).first, true},
		{level(level(byShape).ofClient).first, false},
		{level(byText).first, true},
		{level(byKind).first, false},
	} {
		x, y := keys(a, of.key), keys(b, of.key)
		m.inOrder(x, y)
		if of.apart {
			m.anywhere(x, y)
		}
	}
	for i, j := range m.a {
		if j >= 0 {
			a[i].pair, b[j].pair = b[j], a[i]
		}
	}
}

// pairExchanges finds the counterparts of the exchanges in two threads: first for each client, regardless of other
// clients' exchanges in between; then for clients that only one of the threads has.
func pairExchanges(a, b []*exchange) {
	for _, client := range clientsOf(a) {
		of := func(e *exchange) bool { return e.client == client }
		pairBy(only(a, of), only(b, of), byOutcome, byText, byShape, byAsked, byKind)
	}
	was, now := clientsOf(a), clientsOf(b)
	alone := func(e *exchange) bool { return e.pair == nil }
	strange := func(e *exchange) bool {
		return e.pair == nil && !(slices.Contains(was, e.client) && slices.Contains(now, e.client))
	}
	pairBy(only(a, strange), only(b, alone), byText, byAsked, byKind)
	pairBy(only(a, alone), only(b, strange), byText, byAsked, byKind)
}

func only(list []*exchange, chosen func(*exchange) bool) []*exchange {
	return slices.DeleteFunc(slices.Clone(list), func(e *exchange) bool { return !chosen(e) })
}

func clientsOf(list []*exchange) []string {
	var names []string
	for _, e := range list {
		if !slices.Contains(names, e.client) {
			names = append(names, e.client)
		}
	}
	return names
}

// pairBy pairs exchanges level by level, in order except for those that overlap with others.
func pairBy(a, b []*exchange, levels ...level) {
	m := newMatching(len(a), len(b))
	for _, l := range levels {
		x, y := keys(a, l), keys(b, l)
		m.inOrder(x, y)
		m.anywhere(keys(a, l.ifOverlapping), y)
		m.anywhere(x, keys(b, l.ifOverlapping))
	}
	for i, j := range m.a {
		if j >= 0 {
			a[i].pair, b[j].pair = b[j], a[i]
		}
	}
}

func (l level) ifOverlapping(e *exchange) uint64 {
	if !e.overlap {
		return 0
	}
	return l(e)
}

func keys[T any](list []T, key func(T) uint64) []uint64 {
	all := make([]uint64, len(list))
	for i, e := range list {
		all[i] = key(e)
	}
	return all
}
