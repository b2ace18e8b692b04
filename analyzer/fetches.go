package analyzer

import (
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A CardFetch is one fetch of a public card, and what came of it.
type CardFetch struct {
	Exchange *Exchange // without its bodies
	Card     *a2a.Card
	Place    Place // of the card

	seen     Sighting      // when it was delivered, or confirmed by an answer that it has not changed
	lifetime time.Duration // how long it was fresh from then on
	known    bool          // the answer said so
}

// before returns the fetch if it was over before an exchange began, else nil.
func (f *CardFetch) before(x *Exchange) *CardFetch {
	if f == nil || !x.beganAfter(&f.seen) {
		return nil
	}
	return f
}

// Age returns how long after its lifetime an exchange began; it is negative while the card was fresh. It is not known if
// the answer did not say how long it may be kept, or the times were not recorded.
func (f *CardFetch) Age(x *Exchange) (overdue time.Duration, known bool) {
	if !f.known || f.seen.At.IsZero() || x.Started.IsZero() {
		return 0, false
	}
	return x.Started.Sub(f.seen.At) - f.lifetime, true
}

// fetches keeps the last fetch of each card.
type fetches struct {
	recent *recent[fetchKey, *CardFetch]
	here   *recent[connFetchKey, *CardFetch] // those that are forgotten do not count: most of the connections are closed
}

func newFetches(limit int) *fetches {
	return &fetches{newRecent[fetchKey, *CardFetch](limit), newRecent[connFetchKey, *CardFetch](limit)}
}

// A fetchKey identifies what was asked for: fetches with equal keys have to get the same card.
type fetchKey struct {
	url string
	as  string // what the answer may depend on: the host, the version, what is accepted, credentials
}

// A connFetchKey is a fetchKey on one connection.
type connFetchKey struct {
	fetchKey
	conn uint64
}

func (x *Exchange) fetchKey() fetchKey {
	parts := []string{
		x.Request.Fields.Get("Host"), x.Call.Version, x.Request.Fields.Get("Accept"), x.Request.Fields.Get("Accept-Language"),
		strconv.FormatUint(uint64(x.Principal()), 36),
	}
	return fetchKey{x.address + "?" + x.Call.Query, strings.Join(parts, "\n")}
}

// LastFetch returns the last fetch of the card that the exchange asks for, made with the same headers and delivered before
// it began; nil if there was none.
func (s *Session) LastFetch(x *Exchange) *CardFetch {
	f, _ := s.fetches.recent.get(x.fetchKey())
	return f.before(x)
}

// LastFetchHere returns the same for the client's connection, which no other program can have used.
func (s *Session) LastFetchHere(x *Exchange) *CardFetch {
	f, _ := s.fetches.here.get(connFetchKey{x.fetchKey(), x.Conn})
	return f.before(x)
}

// fetched remembers a card that was fetched.
func (s *Session) fetched(x *Exchange, card *Card) {
	if x.Call.Operation != a2a.GetCard {
		return
	}
	f := &CardFetch{Exchange: x.bare(), Card: &card.Card, Place: card.Place, seen: Sighting{Arrival: card.Arrival, At: card.At}}
	f.lifetime, f.known = lifetime(&x.Response)
	s.keepFetch(x, f)
}

func (s *Session) keepFetch(x *Exchange, f *CardFetch) {
	key := x.fetchKey()
	s.fetches.recent.put(key, f)
	if x.Conn != 0 {
		s.fetches.here.put(connFetchKey{key, x.Conn}, f)
	}
}

// confirmed remembers that an agent said that a card has not changed.
func (s *Session) confirmed(o *Observation) {
	x := o.Exchange
	old := s.LastFetch(x)
	if x.Call.Operation != a2a.GetCard || x.Response.Status != 304 || old == nil {
		return
	}
	f := *old
	f.seen = Sighting{Arrival: o.Arrival, At: o.At}
	if x.Response.Fields.Has("Cache-Control") {
		f.lifetime, f.known = lifetime(&x.Response)
	}
	s.keepFetch(x, &f)
}

// lifetime returns for how long an answer is fresh, and whether it says so (RFC 9111 §4.2.1, §5.2.2). What must not be
// stored, or fits no second request, has no lifetime.
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
