package source

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer/reading"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
)

// An Indexed source is a capture in a2atap's format.
type Indexed interface {
	capture.Source
	capture.Index
}

// LearnCards reads the cards of a capture from an exchange on, and learns the names under which agents receive
// credentials. It returns the exchange after the last card.
func LearnCards(ctx context.Context, src Indexed, names *redact.Names, from uint64) (next uint64, err error) {
	next = from
	known := make(map[knownCard][]byte)
	for _, op := range []a2a.Operation{a2a.GetCard, a2a.GetExtendedCard} {
		for x, err := range exchangesWith(ctx, src, capture.Key{Kind: "operation", Value: op.String()}, from) {
			if err != nil {
				return from, err
			}
			if x.State == capture.StateOpen {
				continue // the next call reads it again
			}
			next = max(next, x.Seq+1)
			if x.Response == nil {
				continue
			}
			head := capture.ParseResponseHead(x.Response.Head)
			card := knownCard{x.Agent, head.Status, head.Fields.Get("Content-Encoding")}
			if body := known[card]; body == nil || !bytes.Equal(body, x.Response.Body.Data) {
				names.Learn(x, reading.NewDescriber().Response(x, nil))
				if len(known) >= mostKnownCards {
					clear(known)
				}
				known[card] = x.Response.Body.Data
			}
		}
	}
	return next, nil
}

// mostKnownCards is the maximum number of card texts in memory while cards are read.
const mostKnownCards = 16

// A knownCard identifies the last card of an agent. Clients fetch it repeatedly, but it is read once.
type knownCard struct {
	agent  capture.Peer
	status int
	coding string
}

// exchangesWith yields the exchanges of a capture that have a key, starting at from.
func exchangesWith(
	ctx context.Context, src Indexed, key capture.Key, from uint64,
) iter.Seq2[*capture.Exchange, error] {
	if reader, ok := src.(interface {
		ExchangesWith(context.Context, capture.Key, uint64) iter.Seq2[*capture.Exchange, error]
	}); ok {
		return reader.ExchangesWith(ctx, key, from)
	}
	return func(yield func(*capture.Exchange, error) bool) {
		for seq, err := range src.Find(ctx, key, from) {
			var x *capture.Exchange
			if err == nil {
				x, err = src.Exchange(ctx, seq)
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// LearnFrom is LearnCards for any capture. It reads the whole capture.
func LearnFrom(ctx context.Context, src capture.Source, names *redact.Names) error {
	if ours, ok := src.(Indexed); ok {
		_, err := LearnCards(ctx, ours, names, 1)
		return err
	}
	var reader reading.Reader
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return err
		}
		switch reader.Read(x).Call.Operation {
		case a2a.GetCard, a2a.GetExtendedCard:
			if x.Response != nil {
				names.Learn(x, reading.NewDescriber().Response(x, nil))
			}
		}
	}
	return nil
}

// A hidden source is a capture that hides credentials in the heads of requests. It hides those that the agent's card
// named only after the requests were recorded.
type hidden struct {
	Indexed
	names *redact.Names
	key   []byte
	grows bool // new cards may arrive

	reader *bolt.Reader

	known   atomic.Bool // the cards that existed when the capture was opened have been read
	mu      sync.Mutex
	next    uint64 // the first exchange that may be an unread card
	learned time.Time
}

// learnedFirst is the maximum number of unchecked exchanges whose cards are read before the capture is opened. If there
// are more, the first read or Learn reads their cards.
const learnedFirst = 3000

// Hide returns the capture with the credentials hidden that its cards name. It returns the capture itself if there are
// none, or if its secrets were kept on purpose. The next read reports damage.
func Hide(ctx context.Context, src *bolt.Reader) capture.Source {
	info, err := src.Info(ctx)
	if err != nil || info.SecretsKept {
		return src
	}
	h := &hidden{Indexed: src, reader: src, names: &redact.Names{}, grows: info.Live}
	if h.next = h.learnKept(ctx); h.next+learnedFirst > info.Exchanges {
		h.Learn(ctx)
	}
	if h.known.Load() && h.names.Empty() && !h.grows {
		return src
	}
	h.key = redacted.KeyForReading()
	return hiddenReader{h}
}

// HideIn is Hide for a capture that is being recorded. The recording adds to names.
func HideIn(src Indexed, names *redact.Names, key []byte) capture.Source {
	h := &hidden{Indexed: src, names: names, key: key}
	h.known.Store(true)
	return h
}

// Learn reads cards that have arrived.
func (h *hidden) Learn(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.learn(ctx)
}

func (h *hidden) learn(ctx context.Context) {
	h.next, _ = LearnCards(ctx, h.Indexed, h.names, h.next) // after an error the next call reads them again
	h.learned = time.Now()
	if ctx.Err() == nil {
		h.known.Store(true)
	}
}

// Known reports whether the cards that existed when the capture was opened have been read.
func (h *hidden) Known() bool { return h.known.Load() }

// Hides reports whether cards name credentials that may be in earlier exchanges.
func (h *hidden) Hides(ctx context.Context) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grows || !h.known.Load() {
		h.learn(ctx)
	}
	return !h.names.Empty()
}

// stillOpen is how many of the newest exchanges are read again, since their cards may have been missing.
const stillOpen = 1000

// learnKept learns from the cards that a stored reading lists, whichever rules made the reading: its list of cards does
// not depend on them. It returns the exchange from which other cards have to be searched, 1 without a reading.
func (h *hidden) learnKept(ctx context.Context) uint64 {
	info, err := h.reader.Info(ctx)
	seal := redacted.Seal(info, nil)
	if err != nil || seal == nil {
		return 1
	}
	head, err := snapshot.HeadOf(ctx, seal.On(h.reader))
	if err != nil || head.MoreCards {
		return 1
	}
	mark, err := h.reader.Mark(ctx)
	whole := err == nil && head.Ended && bytes.Equal(mark, head.Mark)
	for _, seq := range head.Cards {
		x, err := h.Indexed.Exchange(ctx, seq)
		if err != nil {
			return 1
		}
		if x.Response != nil {
			h.names.Learn(x, reading.NewDescriber().Response(x, nil))
		}
	}
	if whole {
		return head.Last + 1
	}
	return max(head.Last, stillOpen+1) - stillOpen
}

// relearn reads unread cards, including new ones in a growing capture, unless it did so a moment ago.
func (h *hidden) relearn(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.known.Load() || h.grows && time.Since(h.learned) > time.Second {
		h.learn(ctx)
	}
}

// hiding yields the values of all, changed by hide, after the cards have been read.
func hiding[T any](ctx context.Context, h *hidden, all iter.Seq2[T, error], hide func(T) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		h.relearn(ctx)
		for v, err := range all {
			if !yield(hide(v), err) {
				return
			}
		}
	}
}

// Steps implements capture.Source.
func (h *hidden) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return hiding(ctx, h, h.Indexed.Steps(ctx, from), h.hideStep)
}

// StepsOf implements capture.Source.
func (h *hidden) StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	return hiding(ctx, h, h.Indexed.StepsOf(ctx, seq, from), h.hideStep)
}

func (h *hidden) hideStep(s capture.Step) capture.Step {
	if opened, ok := s.What.(capture.Opened); ok {
		if head := h.names.RequestHead(h.key, opened.Agent, opened.Head); !same(head, opened.Head) {
			opened.Head = head
			s.What, s.Parsed = opened, nil
		}
	}
	return s
}

// Exchanges implements capture.Source.
func (h *hidden) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return hiding(ctx, h, h.Indexed.Exchanges(ctx, from), h.hide)
}

// Ends implements capture.Source.
func (h *hidden) Ends(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	return hiding(ctx, h, h.Indexed.Ends(ctx, from, n), h.hide)
}

// Glance is Ends for callers that cannot wait until the cards have been read. Before that, it yields requests without
// anything that a card may name.
func (h *hidden) Glance(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	if h.known.Load() {
		return h.Ends(ctx, from, n)
	}
	return func(yield func(*capture.Exchange, error) bool) {
		for x, err := range h.Indexed.Ends(ctx, from, n) {
			if x != nil {
				x.Request.Head = bare(x.Request.Head)
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

// bare returns the head of a request without anything that a card may name as a credential. It drops the query, and all
// fields but those that identify the kind of request.
func bare(head []byte) []byte {
	h := capture.ParseRequestHead(head)
	path, _, _ := strings.Cut(h.Target, "?")
	short := []byte(h.Method + " " + path + " " + h.Version + "\r\n")
	for _, name := range []string{"Host", "Content-Type", "Content-Encoding"} {
		if value := h.Fields.Get(name); value != "" {
			short = append(short, name+": "+value+"\r\n"...)
		}
	}
	return append(short, "\r\n"...)
}

// Exchange implements capture.Source.
func (h *hidden) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	h.relearn(ctx)
	x, err := h.Indexed.Exchange(ctx, seq)
	return h.hide(x), err
}

func (h *hidden) hide(x *capture.Exchange) *capture.Exchange {
	if x != nil {
		x.Request.Head = h.names.RequestHead(h.key, x.Agent, x.Request.Head)
	}
	return x
}

// same reports whether two heads share their memory.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// A hiddenReader is a hidden source that another recorder may append to.
type hiddenReader struct{ *hidden }

// Resumed calls the capture's method.
func (r hiddenReader) Resumed(ctx context.Context, from uint64) error {
	return r.reader.Resumed(ctx, from)
}

// isOurs reports whether a source is a capture in a2atap's format.
func isOurs(src capture.Source) bool {
	switch src.(type) {
	case *bolt.Reader, hiddenReader, *stream:
		return true
	}
	return false
}
