package rpc

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Batch is the family of rules about several JSON-RPC calls in one request, which A2A does not cover.
var Batch = rule.Family{
	Name:     "batch",
	Category: analysis.ErrorHandling,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("JSON-RPC 2.0 §6", rule.Every...),
	If:       analysis.Batched,
}.Of(
	rpcBatchEmpty,
	rpcidReuseInflight,
	rpcBatchStream,
	rpcBatchResponseArray,
	rpcBatchResponseComplete,
	rpcBatchResponseEmptyArray,
)

var rpcBatchEmpty = &analysis.Rule{
	ID:    "rpc-batch-empty",
	Title: "JSON-RPC batch without a call",
	Level: analysis.Must,
	Side:  a2a.Client,
	On:    analysis.RequestSeen,
	Doc: `A batch holds at least one request. An empty array asks for nothing, and the agent has to answer it with an
error that belongs to no call.`,
	Fix:    `Send nothing if there is nothing to ask.`,
	Silent: `Empty bodies.`,
	Check: func(p *analysis.Pass) {
		if p.Exchange.Call.Batch == nil || p.Doc == nil {
			return
		}
		p.Applied()
		if p.Doc.Root.Len() == 0 {
			p.Report(p.Place.At(""), "the batch is empty", "expected at least one request")
		}
	},
}

var rpcidReuseInflight = &analysis.Rule{
	ID:    "rpc-id-reuse-inflight",
	Title: "two calls of a batch with the same id",
	Level: analysis.Should,
	Side:  a2a.Client,
	Once:  analysis.PerExchange,
	On:    analysis.RequestSeen,
	Cites: rule.Cite("JSON-RPC 2.0 §6", rule.Every...),
	Doc: `The answers to a batch come in any order and are matched by id alone. If two calls have the same id, the
client cannot tell which answer belongs to which call.`,
	Fix: `Give each call of a batch a unique id.`,
	Silent: `The same id in separate requests, even on one connection: clients behind a proxy each count from 1. Only
the first in a batch is reported, and only the first hundred calls are checked.`,
	Check: func(p *analysis.Pass) {
		calls := p.Exchange.Call.Batch
		if len(calls) < 2 {
			return
		}
		p.Applied()
		for i := range calls {
			for j := range calls[:i] {
				if id := calls[i].ID; rule.IsID(id) && a2a.SameID(calls[j].ID, id) {
					p.Report(p.Place.At(a2a.Ptr("", i, "id")), "id is "+analysis.Quote(id)+", as at "+a2a.Ptr("", j, "id"),
						"expected another id for each call")
					return
				}
			}
		}
	},
}

var rpcBatchStream = &analysis.Rule{
	ID:       "rpc-batch-stream",
	Title:    "streaming method in a batch",
	Category: analysis.Streaming,
	Level:    analysis.Advice,
	Side:     a2a.Client,
	Once:     analysis.PerExchange,
	On:       analysis.RequestSeen,
	Doc: `A batch is answered with one array, a streaming method with an event stream. No version of A2A defines how
to combine the two. Most agents refuse the call or never answer it.`,
	Fix:    `Send streaming calls in separate requests.`,
	Silent: `Only the first in a batch is reported, and only the first hundred calls are checked.`,
	Check: func(p *analysis.Pass) {
		for i := range p.Exchange.Call.Batch {
			p.Applied()
			if one := &p.Exchange.Call.Batch[i]; one.Streams {
				p.Report(p.Place.At(a2a.Ptr("", i, "method")), "method is "+analysis.QuoteText(one.Method),
					"expected no streaming method in a batch")
			}
		}
	},
}

var rpcBatchResponseArray = &analysis.Rule{
	ID:    "rpc-batch-response-array",
	Title: "batch answered with a single result",
	Level: analysis.Should,
	Side:  a2a.Agent,
	On:    analysis.AnswerSeen,
	Doc: `The answer to a batch is an array with a response for each call, even if there is only one. A client that
sent several calls and gets one object does not know how the others ended.`,
	Fix:    `Put the responses into an array, or refuse batches with one error.`,
	Silent: `A single error with any code, since an agent may refuse batches.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Batch == nil || p.Answer.Doc.Err != nil || !p.Answer.Doc.Root.Exists() || !asksAnswer(call.Batch) {
			return
		}
		p.Applied()
		if root := p.Answer.Doc.Root; root.Kind() == a2a.Object && root.Has("result") && !root.Has("error") {
			p.Report(p.Place.At(""), "a batch is answered with a single result", "expected an array of responses")
		}
	},
}

// asksAnswer reports whether any call has an id.
func asksAnswer(calls []a2a.Call) bool {
	return slices.ContainsFunc(calls, func(c a2a.Call) bool { return c.ID.Exists() })
}

var rpcBatchResponseComplete = &analysis.Rule{
	ID:    "rpc-batch-response-complete",
	Title: "call of a batch not answered, or answered twice",
	Level: analysis.Should,
	Side:  a2a.Agent,
	Once:  analysis.PerExchange,
	On:    analysis.AnswerSeen,
	Doc: `The answer to a batch has one response for each call with an id. A client waits forever for a missing
response, and takes a duplicate for the answer to something else.`,
	Fix: `Collect one response for each call with an id, including failed ones, before you send the array.`,
	Silent: `The order of the responses. Ids that no call has are reported by rpc-id-echo; if there is one, or a
response without id, no call is reported as unanswered. Batches that repeat an id, streaming calls in them, and
batches of more than a hundred calls are not checked.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		root := p.Answer.Doc.Root
		if call.Batch == nil || !wholeBatch(call) || p.Answer.Doc.Err != nil || root.Kind() != a2a.Array ||
			root.Elem(0).Kind() == a2a.Absent {
			return
		}
		seen, ok := answeredCalls(p, call, root)
		if !ok {
			return
		}
		p.Applied()
		for i := range call.Batch {
			if one := &call.Batch[i]; rule.IsID(one.ID) && !seen[i] && !one.Streams {
				p.Report(p.Place.At(""), "no response to the call with id "+analysis.Quote(one.ID),
					"expected one for each call that has an id")
			}
		}
	},
}

// answeredCalls returns which calls of a batch were answered, and reports those that were answered twice. ok is false
// if a response cannot be matched to a call.
func answeredCalls(p *analysis.Pass, call *a2a.Call, responses a2a.Value) (seen [maxBatch]bool, ok bool) {
	if len(call.Batch) > len(seen) {
		return seen, false
	}
	for i := range call.Batch {
		for j := range call.Batch[:i] {
			if a2a.SameID(call.Batch[i].ID, call.Batch[j].ID) {
				return seen, false
			}
		}
	}
	ok = true
	for k, response := range responses.Elems() {
		id := response.Get("id")
		i := slices.IndexFunc(call.Batch, func(c a2a.Call) bool { return rule.IsID(id) && a2a.SameID(c.ID, id) })
		switch {
		case i < 0:
			ok = false
		case seen[i]:
			p.Report(p.Place.At(a2a.Ptr("", k)), "a second response to the call with id "+analysis.Quote(id),
				"expected one for each call that has an id")
		default:
			seen[i] = true
		}
	}
	return seen, ok
}

const maxBatch = 100 // calls of a batch that are read

var rpcBatchResponseEmptyArray = &analysis.Rule{
	ID:    "rpc-batch-response-empty-array",
	Title: "batch answered with an empty array",
	Level: analysis.Must,
	Side:  a2a.Agent,
	On:    analysis.AnswerSeen,
	Doc: `If all calls of a batch are notifications, there is nothing to answer, and nothing is sent. An empty array
is not an answer, and clients that read its first element fail.`,
	Fix: `Answer a batch of notifications with no body, and any other batch with a response for each call that has
an id.`,
	Silent: `Answers to single calls.`,
	Check: func(p *analysis.Pass) {
		if p.Exchange.Call.Batch == nil || p.Answer.Doc.Err != nil || !p.Answer.Doc.Root.Exists() {
			return
		}
		p.Applied()
		if root := p.Answer.Doc.Root; root.Kind() == a2a.Array && root.Len() == 0 {
			p.Report(p.Place.At(""), "the answer is an empty array", "expected responses, or no body")
		}
	},
}
