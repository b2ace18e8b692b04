package version

import (
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

var verSemantics = &analysis.Rule{
	ID:     "ver-semantics",
	Title:  "answer in another version than the request asks for",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Once:   analysis.PerEndpoint,
	On:     analysis.OutcomeSeen | analysis.ForeignSeen | analysis.AnswerSeen | analysis.EventSeen,
	Cites:  rule.Cite("3.6.2", a2a.V1_0),
	Covers: []string{"ver-unsupported-error", "event-kind", "stream-response-oneof"},
	Stands: "1.0.1:737",
	Doc: `The request names a version and is written in it, and the answer has the form of another version. The client
gets no error, but cannot read the result.`,
	Fix: `Use A2A-Version to decide how to read a request and how to answer it. If you cannot answer in that version,
refuse with VersionNotSupportedError (-32009).`,
	Silent: `Requests without a version, or that contradict their version; answers of unknown version; errors and
cards; lower-case states in an answer of 1.0, which other rules check; HTTP+JSON requests that could be of 0.3, unless
a card offers only 1.0 there, or no card names the URL and the path is as in 1.0. Only the first answer or event at an
endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		version, _, given := givenVersion(p)
		want := sameFormat(a2a.VersionDialects(version))
		if !given || want.Empty() || x.Call.Dialects.Empty() || x.Call.Dialects.Intersect(want) != x.Call.Dialects ||
			!rule.CallSucceeded(p) {
			return
		}
		if asked := p.Kind == analysis.OutcomeSeen || p.Kind == analysis.ForeignSeen; want.Has(a2a.V1_0) != asked {
			return
		}
		got := p.Answer.Payload.Dialects
		if got.Empty() || p.Answer.Payload.Kind == a2a.CardPayload || !surelySpoken(x) && !asksAsIn1_0(x) {
			return
		}
		p.Applied()
		if got.Intersect(want).Empty() {
			p.Report(p.Place.At(p.Answer.Payload.Pointer),
				fmt.Sprintf("the request asks for version %s, and the answer is in %s", analysis.QuoteText(version), got),
				"expected an answer in the version of the request",
				analysis.ForIf(want.Has(a2a.V1_0) && p.Answer.Payload.Value.Get("kind").Kind() == a2a.String, analysis.OlderObjects))
		}
	},
}

// surelySpoken reports whether the dialect of a request is certain.
func surelySpoken(x *analysis.Exchange) bool {
	return x.Call.Evidence == a2a.Decisive || x.Endpoint != nil && x.Endpoint.Declared == a2a.Of(a2a.V1_0)
}

// asksAsIn1_0 reports whether a request over HTTP+JSON names version 1.0 and has a 1.0 path, while no card declares the
// version of the endpoint. An agent of 0.3 does not have such paths.
func asksAsIn1_0(x *analysis.Exchange) bool {
	return x.Call.Binding == a2a.HTTPJSON && x.Call.Version != "" && x.Call.Dialects == a2a.Of(a2a.V1_0) &&
		x.Endpoint != nil && x.Endpoint.Declared.Empty() && !strings.Contains(x.Path, "/v1/")
}

// sameFormat returns the dialects with the same format as a version: 0.2 and 0.3 share theirs.
func sameFormat(in a2a.Dialects) a2a.Dialects {
	if kinds := a2a.Of(a2a.V0_2, a2a.V0_3); !in.Intersect(kinds).Empty() {
		return in | kinds
	}
	return in
}

var verEmptyMeans03 = &analysis.Rule{
	ID:     "ver-empty-means-03",
	Title:  "request without a version answered in 1.0",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Once:   analysis.PerEndpoint,
	On:     analysis.AnswerSeen | analysis.EventSeen,
	Cites:  rule.Cite("3.6.2", a2a.V1_0),
	Covers: []string{"dialect-mismatch"},
	Stands: "1.0.1:739",
	Doc: `A client of 0.3 sends no version, which means 0.3. This agent offers 0.3 at the URL but answers in 1.0,
which such a client cannot read.`,
	Fix: `Treat a missing or empty A2A-Version as 0.3, and answer in 0.3.`,
	Silent: `URLs for which no card declares 0.3; answers of unknown version; errors and cards; HARs of other
programs, which may omit headers. Only the first call at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		version, _, _ := givenVersion(p)
		if version != "" || !x.HeadersKept() || x.Call.Dialects.Empty() || x.Call.Dialects.Has(a2a.V1_0) ||
			x.Endpoint == nil || !x.Endpoint.Declared.Has(a2a.V0_3) {
			return
		}
		if !rule.CallSucceeded(p) || p.Answer.Payload.Kind == a2a.CardPayload ||
			p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
			return
		}
		p.Report(p.Place.At(p.Answer.Payload.Pointer),
			fmt.Sprintf("a request of %s without a version is answered in %s", x.Call.Dialects, p.Answer.Payload.Dialects),
			"expected an answer in 0.3")
	},
}

var versionSemanticsMixed = &analysis.Rule{
	ID:     "version-semantics-mixed",
	Title:  "message mixes two versions of the protocol",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	Either: true,
	Once:   analysis.PerExchange,
	On:     analysis.RequestSeen | analysis.AnswerSeen | analysis.EventSeen,
	Cites: append(
		rule.Cite("6", rule.Before1...),
		rule.Cite("3.6.2", a2a.V1_0)...,
	),
	Stands: "0.1.0:387 0.2.6:286 0.3.0:495 1.0.1:737",
	Doc: `Part of the message is written in one version of the protocol, and part in another. No client or agent of
either version can read all of it. Usually only half of a program was updated.`,
	Fix: `Build the message with the types of one version only.`,
	Silent: `Cards, which may serve two versions on purpose; the contents of metadata, data and headers; HTTP+JSON
before 1.0, which has two flavors; members that another rule reports. Only the first such message in an exchange is
reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Binding == a2a.HTTPJSON && p.Dialects != a2a.Of(a2a.V1_0) || x.Call.Operation == a2a.NoOperation {
			return
		}
		if p.Kind == analysis.RequestSeen {
			if in, mark := x.Call.Mixed(); !in.Empty() {
				p.Applied()
				if rule.OtherSpelling(p, x.Call.Message) {
					return
				}
				reportMixed(p, in, mark, a2a.Client)
			}
			return
		}
		if p.Answer != nil && !p.Answer.Payload.Dialects.Empty() && p.Answer.Payload.Kind != a2a.CardPayload {
			p.Applied()
			if v := p.Answer.Payload.Value; rule.OtherSpelling(p, v) || v.Has("kind") && p.Dialects == a2a.Of(a2a.V1_0) {
				return // legacy-field-emitted reports the kind, which covers the contents
			}
			reportMixed(p, p.Answer.Payload.Dialects, p.Answer.Payload.Contrary, a2a.Agent)
		}
	},
}

func reportMixed(p *analysis.Pass, in a2a.Dialects, mark a2a.Mark, side a2a.Side) {
	if mark.At.Kind() == a2a.String { // not where a discriminator is missing
		p.Report(p.Place.At(mark.At.Pointer()),
			fmt.Sprintf("%s is of %s, and the rest of the message of %s", analysis.Quote(mark.At), mark.Dialects, in),
			"expected one version", analysis.By(side))
	}
}
