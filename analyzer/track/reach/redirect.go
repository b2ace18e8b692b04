package reach

import (
	"net/http"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/proxy/a2a"
)

// RedirectOf returns the subject of a RedirectMissed.
func RedirectOf(p *analysis.Pass) *Redirect { return p.Detail.(*Redirect) }

// redirected records the redirect target of a call or card fetch, if it is the same agent.
func (m *Memory) redirected(o *analysis.Observation) {
	x := o.Exchange
	if !address.IsRedirect(x.Response.Status) || x.Call.Operation == a2a.Webhook {
		return
	}
	location := x.Response.Fields.Get("Location")
	to, back := address.Redirect(x.Origin, x.Request.Target, x.Request.Fields.Get("Host"), location)
	if to == "" || !back && address.Of(address.Origin(to)) != address.Of(x.Origin) {
		return
	}
	key := led{x.Link.Client, to, !back && to == address.Exact(x.Origin, x.Request.Target)}
	if known, ok := m.led.Get(key); ok {
		known.Count++
		return
	}
	if last, ok := m.visits.Get(key); ok && last > x.Opened {
		return // the client followed before the answer was complete
	}
	m.led.Put(key, &Redirect{
		Status: x.Response.Status, Location: address.Shown(location), Count: 1, Past: !back, Declared: len(m.cards.Before(x)) > 0,
		first: x.WithoutBodies(), dialects: o.Dialects,
	})
}

// came records that a client has followed a redirect.
func (m *Memory) came(p *analysis.Pass) {
	x := p.Exchange
	key := led{client: x.Link.Client, url: address.Exact(x.Origin, x.Request.Target)}
	m.visits.Put(key, x.Opened)
	r, ok := m.led.Get(key)
	if !ok || r.first.Seq >= x.Seq {
		return
	}
	if r.Count--; r.Count <= 0 {
		m.led.Delete(key)
	}
	if r.first.Request.Method == http.MethodPost && x.Request.Method == http.MethodGet {
		lost := *r
		lost.Lost, lost.Count = true, 1
		lost.observe(p)
	}
}

// notFollowed observes the redirects that their clients have not followed, at the end of a capture.
func (m *Memory) notFollowed(p *analysis.Pass) {
	for _, r := range m.led.All() {
		r.observe(p)
	}
}

func (r *Redirect) observe(p *analysis.Pass) {
	p.Observe(analysis.Observation{
		Kind: analysis.RedirectMissed, Exchange: r.first, Dialects: orAll(r.dialects), Place: r.first.ResponsePlace().Status(),
		Detail: r,
	})
}
