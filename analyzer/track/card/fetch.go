package card

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Fetch is one fetch of a public card, and its result.
type Fetch struct {
	Card   *a2a.Card
	Place  analysis.Place // of the card
	ETag   string         // of its response; empty without one
	Marked bool           // that answer had an ETag or a Last-Modified

	seen     analysis.Moment // when it was delivered, or confirmed as unchanged
	lifetime time.Duration   // how long it was fresh after that
	known    bool            // the answer declared it
}

// before returns the fetch if it had ended before an exchange began, otherwise nil.
func (f *Fetch) before(x *analysis.Exchange) *Fetch {
	if f == nil || !x.BeganAfter(f.seen) {
		return nil
	}
	return f
}

// Age returns how long after its lifetime an exchange began; it is negative while the card was fresh. It is not known
// if the answer did not declare its lifetime, or the times were not recorded.
func (f *Fetch) Age(x *analysis.Exchange) (overdue time.Duration, known bool) {
	if !f.known || f.seen.At.IsZero() || x.Started.IsZero() {
		return 0, false
	}
	return x.Started.Sub(f.seen.At) - f.lifetime, true
}

// A fetchKey identifies a requested card: fetches with equal keys must get the same card.
type fetchKey struct {
	url string
	as  string // everything that the answer may depend on: the host, the version, accepted types, credentials
}

// A connKey is a fetchKey on one connection.
type connKey struct {
	fetchKey
	conn uint64
}

func fetchKeyOf(x *analysis.Exchange) fetchKey {
	parts := []string{
		x.Request.Fields.Get("Host"), x.Call.Version,
		x.Request.Fields.Get("Accept"), x.Request.Fields.Get("Accept-Language"),
		strconv.FormatUint(uint64(x.Principal()), 36),
	}
	return fetchKey{x.Address + "?" + x.Call.Query, strings.Join(parts, "\n")}
}

// LastFetch returns the last fetch of the card that the exchange asks for, made with the same headers and delivered
// before it began; nil if there was none.
func (m *Memory) LastFetch(x *analysis.Exchange) *Fetch {
	f, _ := m.fetches.Get(fetchKeyOf(x))
	return f.before(x)
}

// LastFetchHere returns the same for the client's connection, which no other program can have used.
func (m *Memory) LastFetchHere(x *analysis.Exchange) *Fetch {
	f, _ := m.fetchesHere.Get(connKey{fetchKeyOf(x), x.Conn})
	return f.before(x)
}

// A reader is a client, and a card that it has read.
type reader struct {
	client, url string
	extended    bool
}

// read remembers that the client of an exchange has read a card, or learned that it has not changed.
func (m *Memory) read(x *analysis.Exchange, url string, extended bool, at analysis.Moment) {
	key := reader{x.Link.Client, url, extended}
	if _, known := m.readers.Get(key); !known {
		m.readers.Put(key, at)
	}
}

// ReadBefore reports whether the client of an exchange was seen to read a card, in any version, before the exchange
// began.
func (m *Memory) ReadBefore(x *analysis.Exchange, c *Card) bool {
	at, known := m.readers.Get(reader{x.Link.Client, c.URL, c.Extended})
	return known && x.BeganAfter(at)
}

// fetched remembers a card that was fetched.
func (m *Memory) fetched(x *analysis.Exchange, card *Card) {
	if x.Call.Operation != a2a.GetCard {
		return
	}
	fields := x.Response.Fields
	f := &Fetch{
		Card: &card.Card, Place: card.Place, seen: card.Seen,
		ETag: strings.Clone(fields.Get("ETag")), Marked: fields.Has("ETag") || fields.Has("Last-Modified"),
	}
	f.lifetime, f.known = lifetime(&x.Response)
	m.keepFetch(x, f)
}

func (m *Memory) keepFetch(x *analysis.Exchange, f *Fetch) {
	key := fetchKeyOf(x)
	m.fetches.Put(key, f)
	if x.Conn != 0 {
		m.fetchesHere.Put(connKey{key, x.Conn}, f)
	}
}

// confirmed remembers that an agent confirmed that a card has not changed (RFC 9110 §15.4.5).
func (m *Memory) confirmed(o *analysis.Observation) {
	x := o.Exchange
	if x.Response.Status != http.StatusNotModified {
		return
	}
	old := m.LastFetch(x)
	if old == nil {
		return
	}
	f := *old
	f.seen = o.Moment()
	m.read(x, x.URL(), false, f.seen)
	if x.Response.Fields.Has("Cache-Control") {
		f.lifetime, f.known = lifetime(&x.Response)
	}
	m.keepFetch(x, &f)
}

// lifetime returns how long an answer is fresh, and whether it declares that (RFC 9111 §4.2.1, §5.2.2). An answer that
// must not be stored, or cannot match a second request, has no lifetime.
func lifetime(h *capture.Head) (time.Duration, bool) {
	var age time.Duration
	known := false
	for _, field := range h.Fields.Values("Cache-Control") {
		for directive := range strings.SplitSeq(field, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
			switch strings.ToLower(name) {
			case "no-store":
				return 0, false
			case "no-cache":
				return 0, true
			case "max-age":
				seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
				if err != nil {
					return 0, false
				}
				age, known = time.Duration(seconds)*time.Second, true
			}
		}
	}
	if strings.TrimSpace(h.Fields.Get("Vary")) == "*" {
		return 0, false
	}
	if spent, err := strconv.ParseUint(h.Fields.Get("Age"), 10, 31); err == nil {
		age -= time.Duration(spent) * time.Second
	}
	return max(age, 0), known
}
