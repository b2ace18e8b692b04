package reach

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/card"
)

// LoginOf returns the subject of a LoginMissed.
func LoginOf(p *analysis.Pass) *Login { return p.Detail.(*Login) }

// login records whether a client sends credentials, and that it was refused without them.
func (m *Memory) login(o *analysis.Observation) {
	x, l := o.Exchange, m.link(o.Exchange)
	switch {
	case l.carried:
	case !x.CredentialsKept():
		l.carry()
	case x.Endpoint == nil || !o.RefusesCredentials():
	case l.login == nil:
		l.login = &Login{Count: 1, first: x.WithoutBodies(), at: x.RequestPlace()}
	default:
		l.login.Count++
	}
}

// carried records that a request has credentials, whether or not it is answered.
func (m *Memory) carried(x *analysis.Exchange) {
	if x.Principal() != 0 || carriesKey(x, m.cards.Before(x)) {
		m.link(x).carry()
	}
}

// carry records that a request had credentials, or may have had some.
func (l *link) carry() { l.carried, l.login = true, nil }

// carriesKey reports whether a request has an API key by a scheme of one of the cards.
func carriesKey(x *analysis.Exchange, cards []*card.Card) bool {
	for _, c := range cards {
		if x.CarriesKeyOf(c.Security.Schemes) {
			return true
		}
	}
	return false
}

// noLogin observes, at the end of a capture, the clients that were refused, never had a success, and never sent
// credentials.
func (m *Memory) noLogin(p *analysis.Pass) {
	for _, l := range m.links.All() {
		if l.login == nil || l.succeeded {
			continue
		}
		p.Observe(analysis.Observation{
			Kind: analysis.LoginMissed, Exchange: l.login.first, Dialects: orAll(l.login.first.Dialects), Place: l.login.at,
			Detail: l.login,
		})
	}
}
