package rules

import (
	"slices"

	"a2atap/analyzer"
	"a2atap/analyzer/a2a"
)

// HTTP is the family of rules about media types and status codes.
var HTTP = []*analyzer.Rule{
	RPCResponseContentType,
	RPCResponseContentTypeV1,
}

// RPCResponseContentType reports a JSON-RPC answer of an early dialect that is not labelled as JSON.
var RPCResponseContentType = &analyzer.Rule{
	ID:       "rpc-response-content-type",
	Title:    "JSON-RPC answer not labelled application/json",
	Family:   "http",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Must,
	Side:     a2a.Agent,
	On:       analyzer.AnswerSeen,
	Bindings: onRPC,
	Cites: slices.Concat(
		cite("3.2", a2a.V0_1, a2a.V0_2),
		cite("3.2.1", a2a.V0_3),
	),
	Doc: `An agent that answers over JSON-RPC has to say application/json. Clients choose their parser by this label: a
JSON-RPC object labelled as text is shown to a user, or refused, although its content is right.`,
	Fix:    `Send "Content-Type: application/json" with every JSON-RPC answer that is not an event stream.`,
	Silent: `Parameters such as charset are ignored. Answers without a body and error pages that are no JSON-RPC are not judged.`,
	Check: func(p *analyzer.Pass) {
		if !p.Answer.IsEnvelope {
			return
		}
		p.Applied()
		types := p.Exchange.Response.Fields.Values("Content-Type")
		if essence(types) != "application/json" {
			p.Report(p.Exchange.ResponsePlace().Header("Content-Type"), contentType(types), "expected application/json")
		}
	},
}

// RPCResponseContentTypeV1 is the same for 1.0, whose text shows the label without demanding it.
var RPCResponseContentTypeV1 = &analyzer.Rule{
	ID:       "rpc-response-content-type-v1",
	Title:    "JSON-RPC answer not labelled application/json",
	Family:   "http",
	Category: analyzer.ErrorHandling,
	Level:    analyzer.Should,
	Side:     a2a.Agent,
	On:       analyzer.AnswerSeen,
	Bindings: onRPC,
	Cites:    cite("9.1", a2a.V1_0),
	Doc: `The JSON-RPC binding of 1.0 carries application/json. Clients choose their parser by this label: a JSON-RPC
object labelled as text is shown to a user, or refused, although its content is right.`,
	Fix:    `Send "Content-Type: application/json" with every JSON-RPC answer that is not an event stream.`,
	Silent: `Parameters are ignored. The label of the other binding, application/a2a+json, is a note. Answers without a body and error pages that are no JSON-RPC are not judged.`,
	Check: func(p *analyzer.Pass) {
		if !p.Answer.IsEnvelope {
			return
		}
		p.Applied()
		types := p.Exchange.Response.Fields.Values("Content-Type")
		at := p.Exchange.ResponsePlace().Header("Content-Type")
		switch essence(types) {
		case "application/json":
		case "application/a2a+json":
			p.Report(at, contentType(types), "expected application/json: that one is for HTTP+JSON", analyzer.AtMost(analyzer.Note))
		default:
			p.Report(at, contentType(types), "expected application/json")
		}
	},
}
