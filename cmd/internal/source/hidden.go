package source

import (
	"bytes"
	"context"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
)

// An Indexed source is a capture of ours.
type Indexed interface {
	capture.Source
	capture.Index
}

// LearnCards learns from the cards of a capture, from an exchange on, under which names agents are sent credentials. It
// returns the exchange after the last card.
func LearnCards(ctx context.Context, src Indexed, names *redact.Names, from uint64) (next uint64, err error) {
	next = from
	known := make(map[knownCard][]byte)
	for _, op := range []a2a.Operation{a2a.GetCard, a2a.GetExtendedCard} {
		for x, err := range exchangesWith(ctx, src, capture.Key{Kind: "operation", Value: op.String()}, from) {
			if err != nil {
				return from, err
			}
			if x.State == capture.StateOpen {
				continue // it is looked at again
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

// mostKnownCards bounds how many texts of cards are held while cards are read.
const mostKnownCards = 16

// A knownCard stands for the last card of an agent. Its text, which clients fetch again and again, is read once.
type knownCard struct {
	agent  capture.Peer
	status int
	coding string
}

// exchangesWith yields the exchanges of a capture that have a key, from one on.
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

// LearnFrom learns the same from any capture, by reading it.
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

// A hidden source is a capture that hides in the heads of requests what the agent's card has named as credentials only
// after they were recorded.
type hidden struct {
	Indexed
	names *redact.Names
	key   []byte
	grows bool // cards may come

	reader *bolt.Reader

	known   atomic.Bool // the cards that were there when the capture was opened were looked at
	mu      sync.Mutex
	next    uint64 // the first exchange that may be a card which nobody has looked at
	learned time.Time
}

// learnedFirst is how many exchanges may have come since the capture was judged for their cards to be looked for before
// it is opened. Among more, that is done when something is read, or asked of Learn.
const learnedFirst = 3000

// Hide returns the capture with what its cards have named hidden; the capture itself if there is nothing of it, or
// if its secrets were kept on purpose. Where it is damaged, whoever reads it next gets the error.
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

// HideIn returns a capture that is being recorded with what its cards have named hidden, by names that grow with it.
func HideIn(src Indexed, names *redact.Names, key []byte) capture.Source {
	h := &hidden{Indexed: src, names: names, key: key}
	h.known.Store(true)
	return h
}

// Learn looks at the cards that have come.
func (h *hidden) Learn(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.learn(ctx)
}

func (h *hidden) learn(ctx context.Context) {
	h.next, _ = LearnCards(ctx, h.Indexed, h.names, h.next) // after an error they are looked at again
	h.learned = time.Now()
	if ctx.Err() == nil {
		h.known.Store(true)
	}
}

// Known reports whether the cards that were there when the capture was opened were looked at.
func (h *hidden) Known() bool { return h.known.Load() }

// Hides reports whether cards have named something to hide that may stand in what was recorded before them.
func (h *hidden) Hides(ctx context.Context) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grows || !h.known.Load() {
		h.learn(ctx)
	}
	return !h.names.Empty()
}

// stillOpen is how many of the newest exchanges are looked at again, since cards among them may not have come yet.
const stillOpen = 1000

// learnKept learns from the cards that are known to be there since the capture was judged, as far as it was and whichever
// rules did: which exchanges brought a card does not depend on them. It returns the exchange from which on others have to
// be looked for, 1 if nothing is known.
func (h *hidden) learnKept(ctx context.Context) uint64 {
	info, err := h.reader.Info(ctx)
	seal := redacted.Seal(info, nil)
	if err != nil || seal == nil {
		return 1
	}
	head, err := kept.HeadOf(ctx, seal.On(h.reader))
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

// relearn looks at the cards that nobody has looked at, and at those that have come to a capture that grows, unless that
// was done a moment ago.
func (h *hidden) relearn(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.known.Load() || h.grows && time.Since(h.learned) > time.Second {
		h.learn(ctx)
	}
}

// hiding yields what hide makes of all that there is, when the cards were looked at.
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

// Glance is Ends for who does not wait until the cards were looked at: as long as they were not, requests come without
// what a card may name.
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

// bare returns the head of a request without what a card may name as a credential: the query, and all fields but those
// without which it is not known what the request is.
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

// same reports whether a head is another one, and no copy of it.
func same(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// A hiddenReader is a hidden source that another recorder may append to.
type hiddenReader struct{ *hidden }

// Resumed is that of the capture.
func (r hiddenReader) Resumed(ctx context.Context, from uint64) error {
	return r.reader.Resumed(ctx, from)
}

// isOurs reports whether a source is a capture in our format.
func isOurs(src capture.Source) bool {
	switch src.(type) {
	case *bolt.Reader, hiddenReader, *stream:
		return true
	}
	return false
}
