package rpc

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Methods is the family of rules about JSON-RPC methods: their names, which agents support them, and the answers to
// unknown ones.
var Methods = rule.Family{
	Name:     "rpcmethod",
	Category: analysis.ErrorHandling,
	Bindings: rule.OnRPC,
}.Of(
	rpcMethodString,
	rpcMethodReserved,
	rpcMethodPattern,
	rpcMethodPascal,
	rpcMethodKnown,
	rpcMethodDialect,
	rpcUnknownMethodCode,
	rpcCoreMethodMissing,
	rpcCoreMethodMissingV1,
)

var rpcMethodString = &analysis.Rule{
	ID:    "rpc-method-string",
	Title: "JSON-RPC method missing or not a string",
	Level: analysis.Must,
	Side:  a2a.Client,
	On:    analysis.RequestSeen,
	Cites: rule.Cite("JSON-RPC 2.0 §4", rule.Every...),
	Doc: `The member method, a string, names the operation. Without it the agent can only refuse the request, and its
log does not show which of the client's calls was wrong.`,
	Fix: `Send the name of the method as a string, such as "SendMessage" in 1.0 or "message/send" in 0.3.`,
	Silent: `JSON without method, params and jsonrpc, which is meant for something else at the same URL; JSON-RPC
responses that are sent as a request.`,
	Check: func(p *analysis.Pass) {
		judgeRequests(p, func(at string, request a2a.Value, _ *a2a.Call) {
			if request.Has("result") || request.Has("error") {
				return
			}
			p.Applied()
			if method := request.Get("method"); method.Kind() != a2a.String {
				p.Report(p.Place.At(at+"/method"), "method is "+analysis.Quote(method), "expected a string")
			}
		})
	},
}

// judgeMethods calls judge with the method of each current request, and with the place of the request.
func judgeMethods(p *analysis.Pass, judge func(at, method string, call *a2a.Call)) {
	judgeRequests(p, func(at string, request a2a.Value, call *a2a.Call) {
		if request.Get("method").Kind() == a2a.String {
			judge(at, call.Method, call)
		}
	})
}

var rpcMethodReserved = &analysis.Rule{
	ID:    "rpc-method-reserved",
	Title: "method with a name that JSON-RPC reserves",
	Level: analysis.Must,
	Side:  a2a.Client,
	On:    analysis.RequestSeen,
	Cites: rule.Cite("JSON-RPC 2.0 §4", rule.Every...),
	Doc: `Names that begin with "rpc." belong to JSON-RPC itself and its extensions. A library may handle them before
the agent sees them, so a custom method with such a name works only with some servers.`,
	Fix:    `Choose another name for the method.`,
	Silent: `rpc.discover, which a published extension of JSON-RPC defines.`,
	Covers: []string{"rpc-method-known"},
	Check: func(p *analysis.Pass) {
		judgeMethods(p, func(at, method string, _ *a2a.Call) {
			p.Applied()
			if strings.HasPrefix(method, "rpc.") && method != "rpc.discover" {
				p.Report(p.Place.At(at+"/method"), "method is "+analysis.QuoteText(method),
					`expected a name that does not begin with "rpc."`)
			}
		})
	},
}

var rpcMethodPattern = &analysis.Rule{
	ID:     "rpc-method-pattern",
	Title:  "method of 0.3 without a category",
	Level:  analysis.Must,
	Side:   a2a.Client,
	On:     analysis.RequestSeen,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("3.5.1", a2a.V0_3),
	Stands: "0.3.0:169",
	Doc: `In 0.3 a method name is a category and an action with a slash between them, such as message/send. Gateways
route and filter by category, and an agent takes any other name for another version or protocol.`,
	Fix: `Use the names of 0.3, such as message/send and tasks/get. PascalCase names such as SendMessage belong to 1.0.`,
	Silent: `Interfaces that no card declares as 0.3, or that are also offered in another version; names of 1.0, which
dialect-mismatch checks; agents that declare extensions, or have another card that was not seen, unless the client
fetched only the public card; reserved names, which rpc-method-reserved checks.`,
	Covers: []string{"rpc-method-known"},
	Check: func(p *analysis.Pass) {
		if !declaredOnly(p, a2a.V0_3) {
			return
		}
		judgeMethods(p, func(at, method string, call *a2a.Call) {
			if call.Operation == a2a.NoOperation && (mayExtend(p) || strings.HasPrefix(method, "rpc.")) {
				return
			}
			p.Applied()
			for segment := range strings.SplitSeq(method, "/") {
				if segment == "" || segment == method {
					p.Report(p.Place.At(at+"/method"), "method is "+analysis.QuoteText(method),
						"expected a category and an action, such as message/send")
					return
				}
			}
		})
	},
}

var rpcMethodPascal = &analysis.Rule{
	ID:     "rpc-method-pascal",
	Title:  "method of 1.0 not in PascalCase",
	Level:  analysis.Must,
	Side:   a2a.Client,
	On:     analysis.RequestSeen,
	If:     analysis.Carded,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("9.1", a2a.V1_0),
	Stands: "1.0.1:2237",
	Doc: `The methods of 1.0 have the PascalCase names of its gRPC service. Names are compared exactly: in another
spelling, a method is unknown.`,
	Fix: `Use the names of 1.0, such as SendMessage and GetTask.`,
	Silent: `Interfaces that no card declares as 1.0, or that are also offered in an earlier version; methods of an
earlier version, which rpc-method-dialect checks; agents that declare extensions, or have another card that was not
seen, unless the client fetched only the public card; reserved names, which rpc-method-reserved checks.`,
	Covers: []string{"rpc-method-known"},
	Check: func(p *analysis.Pass) {
		if !declaredOnly(p, a2a.V1_0) {
			return
		}
		judgeMethods(p, func(at, method string, call *a2a.Call) {
			if call.Operation == a2a.NoOperation && (mayExtend(p) || strings.HasPrefix(method, "rpc.")) {
				return
			}
			p.Applied()
			if call.Operation == a2a.NoOperation && !isPascal(method) {
				p.Report(p.Place.At(at+"/method"), "method is "+analysis.QuoteText(method),
					"expected a name in PascalCase, such as SendMessage")
			}
		})
	},
}

func isPascal(name string) bool {
	for i, c := range name {
		upper, other := 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !upper && (i == 0 || !other) {
			return false
		}
	}
	return name != ""
}

// declaredOnly reports whether cards that were delivered before the exchange began declare its endpoint, in that
// version only. An agent may choose the shape of its card by the version that the fetch names. So at least one card
// must come from a fetch that named the version of the call or no version, which means 0.3.
func declaredOnly(p *analysis.Pass, d a2a.Dialect) bool {
	x := p.Exchange
	if x.Endpoint == nil || x.Endpoint.Declared != a2a.Of(d) {
		return false
	}
	for _, c := range card.Of(p).Before(x) {
		if c.Asked == x.Call.Version || c.Asked == "" && d == a2a.V1_0 {
			return true
		}
	}
	return false
}

// mayExtend reports whether the client may know of methods beyond those of A2A: no card describes the agent, a card
// declares extensions, or an unseen card exists, unless the client was seen to read only the public one.
func mayExtend(p *analysis.Pass) bool {
	return declaresMore(p) || card.Of(p).UnseenBefore(p.Exchange)
}

// declaresMore reports whether, according to the cards seen, there may be methods beyond those of A2A.
func declaresMore(p *analysis.Pass) bool {
	x := p.Exchange
	if len(x.Request.Fields.Values("A2A-Extensions")) > 0 || len(x.Request.Fields.Values("X-A2A-Extensions")) > 0 {
		return true
	}
	cards := card.Of(p).Before(x)
	for _, c := range cards {
		for range c.Extensions() {
			return true
		}
	}
	return len(cards) == 0
}

var rpcMethodKnown = &analysis.Rule{
	ID:     "rpc-method-known",
	Title:  "method that no version of A2A has",
	Level:  analysis.Advice,
	Side:   a2a.Client,
	On:     analysis.RequestSeen | analysis.AnswerSeen,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("7", rule.Before1...).And("9.4", a2a.V1_0),
	Stands: "0.1.0:777 0.2.6:447 0.3.0:656 1.0.1:2281",
	Doc: `No version of A2A has this method. The rule applies if the agent's card declares no extension that could
define it, or if the agent does not know the method and its name is close to an A2A method. Usually the name is
misspelled: names are compared exactly, including capital letters.`,
	Fix: `Compare the name with those of the version that the agent's card declares. A custom method belongs to an
extension that the card names.`,
	Silent: `If the name is not close to an A2A method, or the agent answers otherwise: agents whose card was not seen
before, that declare extensions, or that have another card that was not seen, unless the client fetched only the
public card.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.AnswerSeen {
			checkMisspelt(p)
			return
		}
		judgeMethods(p, func(at, method string, call *a2a.Call) {
			if call.Operation == a2a.NoOperation && mayExtend(p) {
				return
			}
			p.Applied()
			if call.Operation == a2a.NoOperation {
				p.Report(p.Place.At(at+"/method"), "method is "+analysis.QuoteText(method), "expected a method of A2A")
			}
		})
	},
}

var rpcMethodDialect = &analysis.Rule{
	ID:       "rpc-method-dialect",
	Title:    "method of an earlier version at an interface of 1.0",
	Category: analysis.Interop,
	Level:    analysis.Advice,
	Side:     a2a.Client,
	Once:     analysis.PerEndpoint,
	On:       analysis.OutcomeSeen,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("A2A 1.0 §4.4.6", rule.Before1...),
	Stands:   "1.0.1:proto:351",
	Doc: `The card offers this URL in 1.0 only, and the client calls a method of an earlier version there. That is not
forbidden. It works while the agent happens to support both, and stops with the release that drops what the card never
promised.`,
	Fix: `Choose an interface whose protocolVersion the client supports, or use an SDK of 1.0. An agent that serves
both adds an interface entry for each version.`,
	Silent: `URLs that no card names, or that are also offered in an earlier version, for example by the card's
members of 0.x. It is reported once per URL and client. If the agent does not understand the call, dialect-mismatch
reports it.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Batch != nil || call.Operation == a2a.NoOperation || p.Answer == nil {
			return
		}
		if !declaredOnly(p, a2a.V1_0) {
			return
		}
		p.Applied()
		p.Report(p.Exchange.RequestPlace().Body().At("/method"),
			"method is "+analysis.QuoteText(call.Method)+", and "+p.Exchange.Endpoint.URL+" is offered in 1.0 only",
			"expected a method of 1.0")
	},
}

var rpcUnknownMethodCode = &analysis.Rule{
	ID:     "rpc-unknown-method-code",
	Title:  "unknown method refused with the wrong error",
	Level:  analysis.Should,
	Side:   a2a.Agent,
	On:     analysis.AnswerSeen | analysis.EventSeen,
	If:     analysis.Refused,
	Needs:  []*analysis.Tracker{card.Tracker},
	Cites:  rule.Cite("8.1", rule.Before1...).And("9.5", a2a.V1_0),
	Stands: "0.1.0:1015 0.2.6:963 0.3.0:1158 1.0.1:2445",
	Doc: `A method that the agent does not have is refused with -32601. The code tells a client that the agent is
older or has fewer features. With any other code the client changes its parameters or tries again.`,
	Fix: `Answer -32601 for every unknown method name, before you check its parameters.`,
	Silent: `The codes -32600, -32004 and -32009, which have the same meaning; refusals for another reason
(credentials, rate, size, extensions) and agent-specific codes; agents whose card was not seen, that declare
extensions, or that have another card that was not seen, unless the error says that the method is not supported.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Operation != a2a.NoOperation || !isRequest(call.Doc.Root, p.Dialects) || declaresMore(p) {
			return
		}
		// A card that was not seen may declare the method, unless the answer denies it.
		_, unseen := card.Of(p).Denying(p.Exchange, 0)
		if unseen && !(p.Answer != nil && rule.SaysUnsupported(p.Answer.Err)) {
			return
		}
		judgeRefusal(p, func(at string, code int64, name a2a.ErrorName) {
			p.Applied()
			switch name {
			case a2a.MethodNotFound, a2a.InvalidRequest, a2a.UnsupportedOperation, a2a.ParseError:
				return
			}
			p.Report(p.Place.At(at), "unknown method "+analysis.QuoteText(call.Method)+" is refused with "+codeText(code, name),
				"expected -32601")
		})
	},
}

var rpcCoreMethodMissing = &analysis.Rule{
	ID:       "rpc-core-method-missing",
	Title:    "core method of 0.3 not found",
	Category: analysis.Lifecycle,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("11.1.2", a2a.V0_3),
	Stands:   "0.3.0:1929",
	Doc: `Every 0.3 agent serves message/send, tasks/get and tasks/cancel. This one offers only JSON-RPC and answers
that it does not have the method, so clients cannot use a function that they all rely on.`,
	Fix: `Serve the method. An agent without lasting tasks still answers tasks/get and tasks/cancel, with -32001 for
tasks that it does not know.`,
	Silent: `Agents that offer another transport, which may have the method; agents whose card was not seen; requests
that name another version.`,
	Check: func(p *analysis.Pass) {
		switch p.Exchange.Call.Operation {
		case a2a.SendMessage, a2a.GetTask, a2a.CancelTask:
		default:
			return
		}
		if v := p.Exchange.Call.Version; v != "" && a2a.VersionDialects(v) != a2a.Of(a2a.V0_3) {
			return
		}
		cards := card.Of(p).Before(p.Exchange)
		for _, c := range cards {
			for _, i := range c.Interfaces {
				if i.Binding != a2a.JSONRPC {
					return
				}
			}
		}
		if len(cards) > 0 {
			reportCoreMethod(p)
		}
	},
}

var rpcCoreMethodMissingV1 = &analysis.Rule{
	ID:       "rpc-core-method-missing-v1",
	Title:    "core method of 1.0 not found",
	Category: analysis.Lifecycle,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	If:       analysis.Carded,
	Needs:    []*analysis.Tracker{card.Tracker},
	Cites:    rule.Cite("3.1", a2a.V1_0),
	Stands:   "1.0.1:153",
	Doc: `Every interface in a 1.0 card serves sending, getting, listing and canceling. A client that chose this
interface from the card discovers that a method is missing only when it needs it.`,
	Fix: `Serve the method at every interface in the card, or remove the interface from the card.`,
	Silent: `Streaming, push and extended-card methods, which are optional; interfaces that no card declares as 1.0;
requests that do not name version 1.0, for which an agent may look the method up in 0.3.`,
	Check: func(p *analysis.Pass) {
		switch p.Exchange.Call.Operation {
		case a2a.SendMessage, a2a.GetTask, a2a.ListTasks, a2a.CancelTask:
		default:
			return
		}
		x := p.Exchange
		if !a2a.VersionDialects(x.Call.Version).Has(a2a.V1_0) {
			return
		}
		if x.Endpoint != nil && x.Endpoint.Declared.Has(a2a.V1_0) && len(card.Of(p).Before(x)) > 0 {
			reportCoreMethod(p)
		}
	},
}

func reportCoreMethod(p *analysis.Pass) {
	p.Applied()
	if failure := p.Answer.Err; failure != nil && failure.Name == a2a.MethodNotFound {
		p.Report(p.Place.At(failure.Pointer).In("code"), "method "+analysis.QuoteText(p.Exchange.Call.Method)+" is not found",
			"expected a method that every agent serves")
	}
}
