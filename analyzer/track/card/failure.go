package card

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/proxy/a2a"
)

// An origin is a scheme, host and port, with observations of it.
type origin struct {
	served bool         // it returned a card
	last   came         // the last one that did
	spoken a2a.Dialects // in which calls succeeded there
	below  []*Failure   // a few fetches below an endpoint by clients that had read the card elsewhere
}

// came is a successful card fetch.
type came struct {
	address string
	at      analysis.Moment // when the card had been delivered
}

// overlaps reports whether a fetch of the same card may precede the delivery of the card.
func (c came) overlaps(x *analysis.Exchange) bool {
	return c.address == x.Address && !x.BeganAfter(c.at)
}

// origin returns the origin that an exchange went to.
func (m *Memory) origin(x *analysis.Exchange) *origin {
	key := address.Origin(x.Address)
	o, ok := m.origins.Get(key)
	if !ok {
		o = &origin{}
		m.origins.Put(key, o)
	}
	return o
}

// A Failure is a failed fetch of an agent card at a well-known path. It is the detail of a CardMissed.
type Failure struct {
	Exchange  *analysis.Exchange // the last one that failed, without its bodies
	Status    int                // of the response
	Body      string             // the beginning of a response with status 200 that is not JSON, or empty
	Later     bool               // the same URL returned a card later, or in parallel
	Elsewhere bool               // another path of the same host returned a card
	Read      *Card              // the card that the client had read before, below whose endpoint it asked; otherwise nil
	Bare      bool               // the request had no credentials

	found *bool // if Read is set: the client has read a card of the host afterwards

	others []*Failure // the last one of each other client, newest last
}

// Each yields the last failure of each client that asked, including this one.
func (f *Failure) Each() iter.Seq[*Failure] {
	return func(yield func(*Failure) bool) {
		for _, other := range f.others {
			if !yield(other) {
				return
			}
		}
		yield(f)
	}
}

// after returns the failure that follows another one at the same address; old may be nil.
func (f *Failure) after(old *Failure) *Failure {
	if old == nil {
		return f
	}
	f.others, old.others = append(old.others, old), nil
	client := f.Exchange.Link.Client
	f.others = slices.DeleteFunc(f.others, func(o *Failure) bool {
		same := o.Exchange.Link.Client == client
		if same && o.Read != nil {
			f.Read, f.found = o.Read, o.found
		}
		return same
	})
	f.others = f.others[max(0, len(f.others)-maxClients):]
	return f
}

// Missed returns the subject of a CardMissed.
func Missed(p *analysis.Pass) *Failure { return p.Detail.(*Failure) }

// SpokenWithout returns the dialects in which calls have succeeded so far at the host of an exchange; the empty set if
// the host returned a card.
func (m *Memory) SpokenWithout(x *analysis.Exchange) a2a.Dialects {
	if o := m.origin(x); !o.served {
		return o.spoken
	}
	return 0
}

// answered records the protocol in use at an origin, and the result of fetching a public card.
func (m *Memory) answered(o *analysis.Observation) {
	x := o.Exchange
	if spoken, ok := o.Succeeded(); ok && !spoken.Empty() {
		m.origin(x).spoken |= spoken
	}
	if x.Call.Operation != a2a.GetCard || o.Event != nil {
		return
	}
	m.confirmed(o)
	failure, failed := m.failures.Get(x.Address)
	switch status := x.Response.Status; {
	case o.Answer.Payload.Kind == a2a.CardPayload || status == http.StatusNotModified:
		at := m.origin(x)
		at.served, at.last = true, came{x.Address, o.Moment()}
		for _, f := range at.below {
			*f.found = *f.found || f.Exchange.Link.Client == x.Link.Client
		}
		if failed {
			failure.Later = true
		}
	case a2a.IsCardPath(x.Path) && (isMissing(status) || isGuarded(status) || status >= 500 || isPage(o)):
		now := &Failure{Exchange: x.WithoutBodies(), Status: status, Bare: x.Bare(), Later: m.origin(x).last.overlaps(x)}
		m.readElsewhere(now)
		if status == http.StatusOK && o.Doc != nil {
			now.Body = string(o.Body[:min(len(o.Body), maxStart)])
		}
		m.failures.Put(x.Address, now.after(failure))
	}
}

// isMissing reports whether a status means that a path has no resource.
func isMissing(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusGone
}

// isGuarded reports whether a status refuses a request because of its credentials.
func isGuarded(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// readElsewhere records which card the client of a failed fetch had read before, if the fetch asks below an endpoint of
// that card. The first such fetch of each client at an endpoint counts.
func (m *Memory) readElsewhere(f *Failure) {
	x := f.Exchange
	at := m.origin(x)
	base := cardBase(x.Address)
	if isGuarded(f.Status) || f.Status >= 500 || len(at.below) == maxClients ||
		slices.ContainsFunc(at.below, func(g *Failure) bool {
			return g.Exchange.Link.Client == x.Link.Client && cardBase(g.Exchange.Address) == base
		}) {
		return
	}
	near := m.cards.Near(x.Address)
	for i := range near {
		c := near[i].Card
		if own := cardBase(address.Of(c.URL)); near[i].Address == base && strings.HasPrefix(base, own+"/") && m.ReadBefore(x, c) {
			f.Read, f.found = c, new(bool)
			at.below = append(at.below, f)
			return
		}
	}
}

// cardBase returns the part of a card's address before the well-known path.
func cardBase(at string) string {
	base, _, _ := strings.Cut(at, "/.well-known/")
	return base
}

// Below yields the failed fetches at the same address that ask below an endpoint whose card the client had read, if the
// client has read no card since: see Failure.Read.
func (f *Failure) Below() iter.Seq[*Failure] {
	return func(yield func(*Failure) bool) {
		for one := range f.Each() {
			if one.Read != nil && !*one.found && !f.Later && !yield(one) {
				return
			}
		}
	}
}

// maxStart is how many bytes of a response without a card are stored.
const maxStart = 200

// isPage reports whether an answer with status 200 at a card's address is not JSON, and does not declare JSON.
func isPage(o *analysis.Observation) bool {
	label := o.Exchange.Response.Fields.MediaType()
	return o.Exchange.Response.Status == http.StatusOK &&
		(o.Doc == nil || o.Answer.Doc.Err != nil && label != "application/json" && !strings.HasSuffix(label, "+json"))
}

// missed observes the cards whose fetches failed, at the end of a capture.
func (m *Memory) missed(p *analysis.Pass) {
	for _, f := range m.failures.All() {
		f.Elsewhere = !f.Later && m.origin(f.Exchange).served
		p.Observe(analysis.Observation{
			Kind: analysis.CardMissed, Exchange: f.Exchange, Dialects: f.Exchange.Dialects,
			Place: f.Exchange.ResponsePlace().Status(), Detail: f,
		})
	}
}
