package card

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// ExtendedCards is the family of rules about the extended card, and about cards that say less than the agent does.
var ExtendedCards = rule.Family{
	Name:     "extendedcard",
	Category: analysis.AgentCard,
	Side:     a2a.Agent,
	On:       analysis.CardSeen,
	Bindings: rule.OnCall,
}.Of(
	cardExtendedCache,
	cardExtendedIdentity,
	cardCapabilityVsTraffic,
)

var cardExtendedCache = &analysis.Rule{
	ID:       "card-extended-cache",
	Title:    "extended agent card without any caching header",
	Level:    analysis.Should,
	Bindings: rule.OnREST,
	Cites:    rule.Cite("13.3", a2a.V1_0),
	Stands:   "1.0.1:3145",
	Doc: `The extended card is for one client. Without caching headers a shared cache may hand it to another client,
and the client does not know when to ask again.`,
	Fix: `Answer with Cache-Control: private, max-age=300, or no-store.`,
	Silent: `Extended cards over JSON-RPC, where nothing is cached; answers whose headers are not in the capture. Any
of Cache-Control, ETag, Last-Modified, Expires and Pragma is enough.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		fields := x.Response.Fields
		if x.Call.Operation != a2a.GetExtendedCard || !x.AnswerHeadersKept() {
			return
		}
		p.Applied()
		for _, name := range [...]string{"Cache-Control", "ETag", "Last-Modified", "Expires", "Pragma"} {
			if fields.Has(name) {
				return
			}
		}
		p.Report(x.ResponsePlace().Header("Cache-Control"), "no caching header", "expected Cache-Control")
	},
}

var cardExtendedIdentity = &analysis.Rule{
	ID:     "card-extended-identity",
	Title:  "extended agent card lacks skills or interfaces of the public one",
	Level:  analysis.Advice,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("9.1", a2a.V0_3).And("13.3", a2a.V1_0),
	Stands: "0.3.0:1183 1.0.1:3138",
	Doc: `Clients replace the public card by the extended one. A skill or an interface that it leaves out is then
missing for exactly those clients that have logged in.`,
	Fix: `Build the extended card from the public one and add to it.`,
	Silent: `Additions in the extended card, and other members. The comparison uses the last public card that names
the same endpoint. The finding is a note, since an agent may intend it.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		public := card.Of(p).Public(x, p.Card.Shapes)
		if x.Call.Operation != a2a.GetExtendedCard || public == nil {
			return
		}
		p.Applied()
		skills := p.Card.Get("skills")
		for _, skill := range public.Get("skills").Elems() {
			if id := skill.Get("id"); id.Kind() == a2a.String && skills.Kind() == a2a.Array && !hasSkill(skills, id.Text()) {
				p.Report(inCard(p, "/skills"), "the skill "+analysis.Quote(id)+" of "+public.Place.String()+" is missing",
					"expected all skills of the public card")
				break
			}
		}
		for i := range public.Interfaces {
			if old := &public.Interfaces[i]; old.URL != "" && !hasInterface(p.Card, old) {
				p.Report(p.Place, "the interface "+analysis.QuoteText(old.URL)+" of "+public.Place.String()+" is missing",
					"expected the interfaces of the public card")
				break
			}
		}
	},
}

func hasSkill(skills a2a.Value, id string) bool {
	for _, skill := range skills.Elems() {
		if skill.Get("id").Is(id) {
			return true
		}
	}
	return false
}

// hasInterface reports whether a card has an interface of another one; entries of a face that it does not have do not
// count.
func hasInterface(card *a2a.Card, old *a2a.Interface) bool {
	if modern := strings.HasPrefix(old.Pointer, "/supportedInterfaces"); modern && !card.Modern ||
		!modern && card.Legacy.Empty() {
		return true
	}
	for i := range card.Interfaces {
		if its := &card.Interfaces[i]; its.Binding == old.Binding && a2a.SameURL(its.URL, old.URL) {
			return true
		}
	}
	return false
}

var cardCapabilityVsTraffic = &analysis.Rule{
	ID:     "card-capability-vs-traffic",
	Title:  "agent does what its card does not declare",
	Level:  analysis.Must,
	Once:   analysis.PerEndpoint,
	On:     analysis.OutcomeSeen,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("7.10", a2a.V0_2, a2a.V0_3).And("3.4.2", a2a.V0_3).And("5.2", a2a.V1_0),
	Stands: "0.2.6:902 0.3.0:1111 0.3.0:148 1.0.1:1156",
	Doc: `The agent answers over a transport, or returns an extended card, that its card does not mention. Clients
follow the card, so only those with other information use it.`,
	Fix: `Declare every transport with its URL in supportedInterfaces (0.3: additionalInterfaces), and the extended
card with its flag.`,
	Silent: `URLs that no card names, which may be another agent's; bindings that a card names at another URL of the
host; cards of 0.1 and 0.2, which cannot declare transports; cards that promise an extended card that was not seen;
declared transports that fail. An extended card that the card does not mention is a warning. Streaming, push
notifications and the extended card of 1.0 are covered by other rules.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if p.Answer == nil || p.Answer.Err != nil || x.Call.Batch != nil {
			return
		}
		switch p.Answer.Payload.Kind {
		case a2a.NoPayload, a2a.UnknownPayload, a2a.NullPayload, a2a.ErrorPayload:
			return
		}
		if x.Call.Operation == a2a.GetExtendedCard && !p.Dialects.Has(a2a.V1_0) {
			judgeUnannounced(p)
			return
		}
		judgeBinding(p)
	},
}

// judgeUnannounced judges an extended card of 0.2 or 0.3.
func judgeUnannounced(p *analysis.Pass) {
	cards := card.Of(p).Before(p.Exchange)
	if len(cards) == 0 {
		return
	}
	p.Applied()
	if !slices.ContainsFunc(cards, func(c *card.Card) bool { return c.ExtendedCard.True() }) {
		p.Report(p.Place.At(p.Answer.Payload.Pointer),
			"the agent has an extended card, and "+cards[len(cards)-1].Place.String()+" does not mention it",
			"expected supportsAuthenticatedExtendedCard to be true", analysis.AtMost(analysis.Warning))
	}
}

// judgeBinding judges the binding of a call that succeeded.
func judgeBinding(p *analysis.Pass) {
	x := p.Exchange
	if len(card.Of(p).Before(x)) > 0 {
		p.Applied()
		return
	}
	known := card.Of(p)
	card, entry := known.OtherBinding(x)
	if card == nil || !card.Modern && card.Legacy != a2a.Of(a2a.V0_3) || known.MayNameAlso(x) {
		return
	}
	p.Report(p.Place,
		"the agent answers in "+x.Call.Binding.String()+" at "+analysis.QuoteText(entry.URL)+", which "+card.Place.String()+
			" declares for "+analysis.Clip(entry.Transport)+" only",
		"expected every transport in the card")
}
