package card

import (
	"bytes"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/jws"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Caches is the family of rules about caching cards: the headers that agents send, and how clients use them.
var Caches = rule.Family{
	Name:     "cache",
	Category: analysis.AgentCard,
	On:       analysis.CardSeen,
	Bindings: analysis.OnHTTP,
}.Of(
	cardCacheControl,
	cardETag,
	cardNotModified,
	cardConditionalGet,
	cardCacheHonoured,
	cardStable,
)

var cardCacheControl = &analysis.Rule{
	ID:     "card-cache-control",
	Title:  "agent card without Cache-Control: max-age",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	Cites:  rule.Cite("8.6.1", a2a.V1_0),
	Stands: "1.0.1:2219",
	Doc: `A card changes rarely and is fetched often. Without max-age clients guess how long they may keep it: some
fetch it before every call, some never again.`,
	Fix: `Send Cache-Control: max-age with the number of seconds for which an old card does no harm, such as 3600.`,
	Silent: `Answers whose headers are not in the capture. The finding is a note if Cache-Control says something else,
such as no-store, or if there is an Expires header.`,
	Check: func(p *analysis.Pass) {
		fields := p.Exchange.Response.Fields
		if !freshCard(p) {
			return
		}
		p.Applied()
		values := fields.Values("Cache-Control")
		for _, v := range values {
			if v = strings.ToLower(v); strings.Contains(v, "max-age=") || strings.Contains(v, "s-maxage=") {
				return
			}
		}
		at := p.Exchange.ResponsePlace().Header("Cache-Control")
		switch {
		case len(values) > 0:
			p.Report(at, "Cache-Control is "+analysis.QuoteText(values[0]), "expected Cache-Control with max-age",
				analysis.AtMost(analysis.Note))
		case fields.Has("Expires"):
			p.Report(at, "no Cache-Control, only Expires", "expected Cache-Control with max-age", analysis.AtMost(analysis.Note))
		default:
			p.Report(at, "no Cache-Control", "expected Cache-Control with max-age")
		}
	},
}

// freshCard reports whether the current card came in the answer to a fetch of the public card with known headers.
func freshCard(p *analysis.Pass) bool {
	x := p.Exchange
	return x.Call.Operation == a2a.GetCard && x.Response.Status == 200 && x.AnswerHeadersKept()
}

var cardETag = &analysis.Rule{
	ID:     "card-etag",
	Title:  "agent card without an ETag",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	Cites:  rule.Cite("8.6.1", a2a.V1_0),
	Stands: "1.0.1:2220",
	Doc: `With an ETag a client can ask whether its copy is still current, and gets a 304 without a body. Without an
ETag it has to fetch the whole card again.`,
	Fix:    `Send an ETag made from the card's version or from a digest of its bytes.`,
	Silent: `Answers whose headers are not in the capture. Last-Modified alone does not replace an ETag.`,
	Check: func(p *analysis.Pass) {
		if !freshCard(p) {
			return
		}
		p.Applied()
		if !p.Exchange.Response.Fields.Has("ETag") {
			p.Report(p.Exchange.ResponsePlace().Header("ETag"), "no ETag", "expected an ETag")
		}
	},
}

var cardNotModified = &analysis.Rule{
	ID:     "card-not-modified",
	Title:  "unchanged agent card sent again to a client that has it",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	Cites:  rule.Cite("8.6", a2a.V1_0),
	Stands: "1.0.1:2215",
	Doc: `The client asked for the card only if its ETag had changed, and got the whole card with the same ETag. This
defeats the client's cache.`,
	Fix: `Compare If-None-Match with the card's ETag, using the weak comparison, and answer 304 without a body if one
of its values matches.`,
	Silent: `If-None-Match: *, and cards whose ETag is not in the request.`,
	Check: func(p *analysis.Pass) {
		tag := p.Exchange.Response.Fields.Get("ETag")
		if !freshCard(p) || tag == "" || p.Exchange.NoneMatch == "" {
			return
		}
		p.Applied()
		if listsETag(p.Exchange.NoneMatch, tag) {
			p.Report(p.Exchange.ResponsePlace().Status(),
				"status 200 with ETag "+analysis.Clip(tag)+", which If-None-Match named", "expected 304")
		}
	},
}

// listsETag reports whether an If-None-Match contains an entity tag, by weak comparison (RFC 9110 §8.8.3.2).
func listsETag(list, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for list != "" {
		list = strings.TrimPrefix(strings.TrimLeft(list, " \t,"), "W/")
		if list == "" || list[0] != '"' {
			return false // "*", or no valid form
		}
		end := strings.IndexByte(list[1:], '"')
		if end < 0 {
			return false
		}
		if list[:end+2] == tag {
			return true
		}
		list = list[end+2:]
	}
	return false
}

const clockMargin = time.Second // within which a card is neither certainly fresh nor certainly expired

var cardConditionalGet = &analysis.Rule{
	ID:     "card-conditional-get",
	Title:  "expired agent card fetched again without asking whether it changed",
	Level:  analysis.Should,
	Side:   a2a.Client,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("8.6.2", a2a.V1_0),
	Stands: "1.0.1:2226",
	Doc: `The client has the card and its ETag or Last-Modified. If it sends them, the agent can answer 304 without a
body.`,
	Fix: `Keep the ETag with the card, and send it as If-None-Match when the card has expired. Most HTTP caches do so
automatically.`,
	Silent: `Fetches over another connection, which may come from another program without a copy; cards that do not
say how long they may be kept; captures without times; requests with Cache-Control or Pragma, which ask for a new
copy.`,
	Check: func(p *analysis.Pass) {
		overdue, known := copyOverdue(p)
		if !known || overdue < clockMargin {
			return
		}
		if !card.Of(p).LastFetchHere(p.Exchange).Marked {
			return
		}
		p.Applied()
		if !isConditional(p.Exchange) {
			p.Report(p.Exchange.RequestPlace().Header("If-None-Match"),
				"no If-None-Match and no If-Modified-Since for a card that the client has", "expected one of them")
		}
	},
}

// copyOverdue returns how long the copy of a card that the client has from the same connection is overdue.
func copyOverdue(p *analysis.Pass) (overdue time.Duration, known bool) {
	fields := p.Exchange.Request.Fields
	last := card.Of(p).LastFetchHere(p.Exchange)
	if last == nil || p.AnswerMissed() {
		return 0, false
	}
	if p.Exchange.Call.Operation != a2a.GetCard || fields.Has("Cache-Control") || fields.Has("Pragma") {
		return 0, false
	}
	return last.Age(p.Exchange)
}

func isConditional(x *analysis.Exchange) bool {
	return x.Request.Fields.Has("If-None-Match") || x.Request.Fields.Has("If-Modified-Since")
}

var cardCacheHonoured = &analysis.Rule{
	ID:     "card-cache-honoured",
	Title:  "fresh agent card fetched again",
	Level:  analysis.Advice,
	Side:   a2a.Client,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("8.6.2", a2a.V1_0),
	Stands: "1.0.1:2225",
	Doc: `The agent said how long the card may be kept, and the client fetched it again before that time was over.
Each fetch costs a round trip before the actual call.`,
	Fix: `Keep the card for as long as max-age allows.`,
	Silent: `Fetches over another connection, which may come from another program without a copy; requests with
Cache-Control, Pragma or a condition; captures without times. The finding is a note, since people reload on purpose.`,
	Check: func(p *analysis.Pass) {
		overdue, known := copyOverdue(p)
		if !known {
			return
		}
		p.Applied()
		if overdue < -clockMargin && !isConditional(p.Exchange) {
			p.Report(p.Exchange.RequestPlace().Line(),
				"the card is fetched again while the copy from the same connection is fresh",
				"expected the copy to be used until max-age is over")
		}
	},
}

var cardStable = &analysis.Rule{
	ID:     "card-stable",
	Title:  "agent card changes under the same ETag or version",
	Level:  analysis.Advice,
	Side:   a2a.Agent,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("5.5", rule.Before1...).And("8.6", a2a.V1_0),
	Stands: "0.1.0:176 0.2.6:types:147 0.3.0:types:426 1.0.1:2220",
	Doc: `Clients use the ETag, and people the version, to see whether a card has changed. If the content changes and
both stay, caches keep serving the old card.`,
	Fix: `Make the ETag from the content, and change the agent's version when its card changes.`,
	Silent: `Fetches that differ in the host, the A2A-Version, Accept or the credentials, since one URL may have
several cards; differences in white space and the order of members; and signatures, which differ each time. The
version counts only if neither answer has an ETag.`,
	Check: func(p *analysis.Pass) {
		if !freshCard(p) {
			return
		}
		last := card.Of(p).LastFetch(p.Exchange)
		if last == nil {
			return
		}
		before, now := last.ETag, p.Exchange.Response.Fields.Get("ETag")
		same, at := "ETag "+analysis.Clip(now), p.Exchange.ResponsePlace().Header("ETag")
		if before == "" && now == "" {
			before, now = last.Card.Version(), p.Card.Version()
			same, at = "version "+analysis.QuoteText(now), p.Place.In("version")
		}
		if now == "" || before != now {
			return
		}
		p.Applied()
		if !sameCard(last.Card, p.Card) {
			p.Report(at, "another card than at "+last.Place.String()+", with the same "+same,
				"expected a new one for a new card")
		}
	},
}

// sameCard reports whether two cards are equal except for their signatures. Parts that cannot be compared count as
// equal.
func sameCard(a, b *a2a.Card) bool {
	if bytes.Equal(a.Raw(), b.Raw()) {
		return true
	}
	c, errC := jws.Canonical(a.Unsigned())
	d, errD := jws.Canonical(b.Unsigned())
	return errC != nil || errD != nil || bytes.Equal(c, d)
}
