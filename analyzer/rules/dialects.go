package rules

import (
	"fmt"
	"slices"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// Dialects is the family of rules about versions: who speaks which, and who understands it.
var Dialects = []*analyzer.Rule{
	DialectMismatch,
}

// DialectMismatch reports, once for an endpoint, that client and agent speak different dialects.
var DialectMismatch = &analyzer.Rule{
	ID:       "dialect-mismatch",
	Title:    "client and agent speak different versions of A2A",
	Family:   "dialects",
	Category: analyzer.Interop,
	Level:    analyzer.Should,
	Side:     a2a.Client,
	Once:     analyzer.PerEndpoint,
	On:       analyzer.AnswerSeen | analyzer.EventSeen,
	Bindings: onCall,
	Cites: slices.Concat(
		cite("5.5", before1...),
		cite("3.6.2", a2a.V1_0),
	),
	Covers: []string{"rpc-method-dialect"},
	Doc: `The client asks in one version of the protocol at a URL where the agent speaks another. Method names, states and shapes
differ between them, so nothing works, and each side's log blames the other.`,
	Fix: `Let the client choose the interface whose protocolVersion it speaks, or use an SDK that speaks the agent's version. An agent can offer
both: one interface entry for each version.`,
	Silent: `Calls that the agent answers with success in the client's version, whatever its card says; URLs that no card names and where nothing else
succeeded; dialects that cannot be told apart. It is said once for each URL and version, and only as a note where
the agent answers VersionNotSupportedError, since clients may try versions in turn.`,
	Check: func(p *analyzer.Pass) {
		x := p.Exchange
		understood := understood(x)
		if understood.Empty() || p.Answer == nil || p.Kind == analyzer.EventSeen && !opensStream(p) {
			return
		}
		p.Applied()
		if !mismatched(p) {
			return
		}
		worst := analyzer.Warning
		if failure := p.Answer.Err; failure != nil && failure.Name == a2a.VersionNotSupported {
			worst = analyzer.Note // the client is told in so many words, and can go on in another version
		}
		p.Report(x.RequestPlace().Body(),
			fmt.Sprintf("the client speaks A2A %s (%s), and %s is offered in %s", spoken(x), asked(x), x.Endpoint.URL, understood),
			fmt.Sprintf("expected a request in %s", understood), analyzer.AtMost(worst))
	},
}

// understood returns the dialects that are spoken where a call goes, by cards or else by earlier traffic; none if that or
// the dialect of the call is not known.
func understood(x *analyzer.Exchange) a2a.Dialects {
	switch {
	case x.Endpoint == nil || x.Call.Dialects.Empty() || x.Call.Batch != nil:
		return 0
	case x.Endpoint.Declared.Empty():
		return x.Endpoint.Answered
	}
	return x.Endpoint.Declared
}

// mismatched reports whether a call in one dialect was turned away where others are spoken.
func mismatched(p *analyzer.Pass) bool {
	x := p.Exchange
	known := understood(x)
	return !known.Empty() && spoken(x).Intersect(known|x.Endpoint.Answered).Empty() && turnedAway(p, spoken(x))
}

// spoken returns the dialects that a call may be in by itself.
func spoken(x *analyzer.Exchange) a2a.Dialects {
	if m := x.Call.Method; m != "" && m == x.Call.Operation.MethodName(a2a.V0_1) { // tasks/get is the same in 0.1
		return x.Call.Dialects.Union(a2a.Of(a2a.V0_1))
	}
	return x.Call.Dialects
}

// asked says what of a request shows its dialect: the method, or method and path.
func asked(x *analyzer.Exchange) string {
	if x.Call.Method != "" {
		return analyzer.Clip(x.Call.Method)
	}
	return analyzer.Clip(x.Request.Method + " " + x.Path)
}

// turnedAway reports whether the answer shows that the agent did not understand: it failed for that reason, or came in
// another dialect.
func turnedAway(p *analyzer.Pass, spoken a2a.Dialects) bool {
	if p.Answer.Err == nil {
		got := p.Answer.Payload.Dialects
		return !got.Empty() && got.Intersect(spoken).Empty()
	}
	switch p.Answer.Err.Name {
	case a2a.MethodNotFound, a2a.VersionNotSupported, a2a.InvalidRequest, a2a.InvalidParams, a2a.UnsupportedOperation:
		return true
	}
	status := p.Exchange.Response.Status
	return p.Exchange.Call.Binding == a2a.HTTPJSON && (status == 404 || status == 405)
}
