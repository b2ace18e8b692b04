package rpc

import (
	"fmt"
	"slices"
	"strconv"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// ErrorCodes is the family of rules about the codes of JSON-RPC errors: which codes exist, and when they are right.
var ErrorCodes = rule.Family{
	Name:     "errorcode",
	Category: analysis.ErrorHandling,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("8.1", rule.Before1...).And("JSON-RPC 2.0 §5.1", a2a.V1_0),
}.Of(
	rpcErrorCodeReserved,
	rpcErrorCodeA2ARange,
	rpcErrorCodeDialect,
	rpcParseErrorUnfounded,
	rpcInvalidJSONWrongCode,
	rpcInvalidRequestWrongCode,
	rpcInvalidRequestUnfounded,
)

var rpcErrorCodeReserved = &analysis.Rule{
	ID:    "rpc-error-code-reserved",
	Title: "error code that JSON-RPC reserves",
	Level: analysis.Must,
	Once:  analysis.PerExchange,
	If:    analysis.Refused,
	Cites: rule.Cite("JSON-RPC 2.0 §5.1", rule.Every...),
	Doc: `Codes from -32768 to -32100 belong to JSON-RPC, which defines five of them and reserves the others. A
library may treat such a code as a transport failure.`,
	Fix: `Use a code of A2A or of JSON-RPC if one fits. Otherwise use a code between -32099 and -32000 that A2A does
not use, or one outside the reserved range.`,
	Silent: `The five codes that JSON-RPC defines: -32700 and -32600 to -32603.`,
	Check: func(p *analysis.Pass) {
		judgeCodes(p, func(at string, code int64) {
			p.Applied()
			if code >= -32768 && code <= -32100 && code != -32700 && (code < -32603 || code > -32600) {
				p.Report(p.Place.At(at), "code is "+strconv.FormatInt(code, 10), "expected a code outside the range that JSON-RPC reserves")
			}
		})
	},
}

// judgeCodes calls judge with the code of each current error that has one, and with its place.
func judgeCodes(p *analysis.Pass, judge func(at string, code int64)) {
	if !fails(p) {
		return
	}
	judgeResponses(p, func(at string, response a2a.Value) {
		if code, ok := response.Get("error").Get("code").Int(); ok {
			judge(at+"/error/code", code)
		}
	})
}

// codeText returns an error code with its name, as a finding shows it.
func codeText(code int64, name a2a.ErrorName) string {
	failure := a2a.Error{Code: code, CodeKnown: true, Name: name}
	return failure.String()
}

var rpcErrorCodeA2ARange = &analysis.Rule{
	ID:     "rpc-error-code-a2a-range",
	Title:  "agent-specific error code in the range of A2A",
	Level:  analysis.Advice,
	Once:   analysis.PerExchange,
	If:     analysis.Refused,
	Cites:  rule.Cite("9.5", a2a.V1_0),
	Stands: "1.0.1:2451",
	Doc: `The code lies between -32099 and -32000, the range of the A2A codes, and 1.0 does not define it. Agents may
define codes there, but a later version of A2A may give the same code another meaning.`,
	Fix:    `Document the code, or choose one outside the range from -32768 to -32000.`,
	Silent: `Codes that 1.0 defines, and codes outside the range.`,
	Check: func(p *analysis.Pass) {
		judgeCodes(p, func(at string, code int64) {
			p.Applied()
			if code >= -32099 && code <= -32000 && !ofA2A(code) {
				p.Report(p.Place.At(at), "code is "+strconv.FormatInt(code, 10)+", which A2A 1.0 does not define",
					"expected a code that it defines, or one outside its range")
			}
		})
	},
}

var rpcErrorCodeDialect = &analysis.Rule{
	ID:     "rpc-error-code-dialect",
	Title:  "error code of another version of A2A",
	Level:  analysis.Advice,
	Once:   analysis.PerExchange,
	Cites:  rule.Cite("8.2", rule.Before1...),
	Stands: "0.1.0:1022 0.2.6:970 0.3.0:1165",
	Doc: `The A2A version used here does not define this code, but another version does. A client of this version does
not know the code or, since some codes have changed their meaning, misreads it.`,
	Fix: `Choose codes by the version of the request: an agent that serves several versions has to map its errors for
each of them.`,
	Silent: `URLs that are also offered in a version that defines the code; if the version is ambiguous, codes that
one of the possible versions defines. A 1.0 agent that rejects a client of an earlier version with the reason
VERSION_NOT_SUPPORTED, since it has no other code for that.`,
	Check: func(p *analysis.Pass) {
		offered := a2a.Dialects(0)
		if end := p.Exchange.Endpoint; end != nil {
			offered = end.Declared | end.Answered
		}
		judgeCodes(p, func(at string, code int64) {
			if code < -32099 || code > -32000 {
				return
			}
			p.Applied()
			known := a2a.ErrorNameOf(code, p.Dialects|offered) != a2a.OtherError
			if known || code == -32009 && p.Answer.Err != nil && p.Answer.Err.Reason == "VERSION_NOT_SUPPORTED" {
				return
			}
			for _, d := range slices.Backward(rule.Every) {
				if name := a2a.ErrorNameOf(code, a2a.Of(d)); name != a2a.OtherError {
					p.Report(p.Place.At(at),
						fmt.Sprintf("code is %d, which %s does not define: in %s it is %s", code, p.Dialects, a2a.Of(d), name),
						"expected a code of this version")
					return
				}
			}
		})
	},
}

var rpcParseErrorUnfounded = &analysis.Rule{
	ID:     "rpc-parse-error-unfounded",
	Title:  "parse error about well-formed JSON",
	Level:  analysis.Must,
	If:     analysis.Refused,
	Stands: "0.1.0:1013 0.2.6:961 0.3.0:1156",
	Doc: `The code -32700 says that the request is not JSON, but it is. The client's author looks for a broken
serializer or a truncated body, while the problem is one of the values.`,
	Fix: `Answer -32700 only if the JSON parser fails. A request that is JSON but does not fit the schema is -32600 or
-32602.`,
	Silent: `Requests with a byte order mark, invalid UTF-8, a repeated member name or a content coding; requests with
another media type than JSON; batches; refusals that may be sent before the body is read.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		doc := &x.Call.Doc
		if doc.Err != nil || !doc.Root.Exists() || doc.BOM || doc.InvalidUTF8 >= 0 || len(doc.Duplicates) > 0 {
			return
		}
		if !labelledJSON(x) || len(x.Request.Fields.Values("Content-Encoding")) > 0 {
			return
		}
		judgeRefusal(p, func(at string, _ int64, name a2a.ErrorName) {
			p.Applied()
			if name == a2a.ParseError {
				p.Report(p.Place.At(at), "code is -32700, and the request is well-formed JSON",
					"expected a code that says what is wrong with the request")
			}
		})
	},
}

var rpcInvalidJSONWrongCode = &analysis.Rule{
	ID:     "rpc-invalid-json-wrong-code",
	Title:  "request that is not JSON refused with the wrong error",
	Level:  analysis.Must,
	If:     analysis.Refused,
	Stands: "0.1.0:1013 0.2.6:961 0.3.0:1156",
	Doc: `A body that is not JSON is refused with -32700. With another code the client's author checks the members of
the request, although the text itself is broken.`,
	Fix: `Map a failure of the JSON parser to -32700 before any other check.`,
	Silent: `Refusals by HTTP status alone, and refusals for another reason (credentials, media type, size, rate,
version, extensions); texts that some parsers read: more text after the value, a byte order mark; answers that show
that the agent could read it.`,
	Check: func(p *analysis.Pass) {
		if !unreadable(p.Exchange) {
			return
		}
		judgeRefusal(p, func(at string, code int64, name a2a.ErrorName) {
			p.Applied()
			switch name {
			case a2a.InvalidRequest, a2a.MethodNotFound, a2a.InvalidParams, a2a.InternalError:
				p.Report(p.Place.At(at), "a request that is not JSON is refused with "+codeText(code, name), "expected -32700")
			}
		})
	},
}

var rpcInvalidRequestWrongCode = &analysis.Rule{
	ID:     "rpc-invalid-request-wrong-code",
	Title:  "JSON that is not a JSON-RPC request not refused as such",
	Level:  analysis.Should,
	Stands: "0.1.0:1014 0.2.6:962 0.3.0:1157",
	Doc: `JSON that is not a request object is refused with -32600. If an agent accepts it, faulty clients go
unnoticed that fail with every other agent; another code hides that the envelope is wrong.`,
	Fix: `Check jsonrpc, method, params and id first, and answer -32600 if one of them violates JSON-RPC 2.0.`,
	Silent: `The code -32700, and -32601 if only the method is wrong; null instead of params; batches; refusals for
another reason (credentials, media type, size, rate, version, extensions); answers that are not JSON-RPC. The code
-32602 is a note if there is no method, and right if there is one.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		root := x.Call.Doc.Root
		if x.Call.Doc.Err != nil || !root.Exists() || x.Call.Batch != nil || isRequest(root, p.Dialects) || !labelledJSON(x) {
			return
		}
		if p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
			return
		}
		judgeResponses(p, func(at string, response a2a.Value) {
			if response.Has("result") && !response.Has("error") {
				p.Report(p.Place.At(at), "JSON that is not a JSON-RPC request is answered with a result", "expected the error -32600")
			}
		})
		judgeRefusal(p, func(at string, code int64, name a2a.ErrorName) {
			p.Applied()
			worst := analysis.Warning
			switch name {
			case a2a.InvalidRequest, a2a.ParseError:
				return
			case a2a.InvalidParams:
				if root.Kind() != a2a.Object || root.Has("method") {
					return
				}
				worst = analysis.Note
			case a2a.MethodNotFound:
				if root.Kind() == a2a.Object && root.Get("method").Kind() != a2a.String {
					return
				}
			}
			p.Report(p.Place.At(at), "JSON that is not a JSON-RPC request is refused with "+codeText(code, name), "expected -32600",
				analysis.AtMost(worst))
		})
	},
}

var rpcInvalidRequestUnfounded = &analysis.Rule{
	ID:     "rpc-invalid-request-unfounded",
	Title:  "valid JSON-RPC request refused as invalid",
	Level:  analysis.Should,
	If:     analysis.Refused,
	Stands: "0.1.0:1014 0.2.6:962 0.3.0:1157",
	Doc: `The code -32600 says that the JSON is not a JSON-RPC request object, but it is. The client's author looks
for a problem in the envelope, while it is in the parameters or in the agent.`,
	Fix: `Answer -32602 for wrong parameters, -32601 for an unknown method, and the matching A2A error for the rest.`,
	Silent: `Messages that name a task or a context, and subscriptions before 1.0, since some versions define no code
for their refusal; requests that name another version than they use; batches; requests without id, with another media
type or with a method other than POST; refusals that may be sent before the body is read. If a parameter is missing,
the finding is a note.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		call := &x.Call
		root := call.Doc.Root
		if call.Doc.Err != nil || !isRequest(root, p.Dialects) || !rule.IsID(call.ID) || root.Get("params").IsNull() ||
			rule.Mismatched(p) {
			return
		}
		if !labelledJSON(x) || x.Request.Method != "POST" ||
			call.Operation.Sends() && (call.TaskID != "" || call.ContextID != "") {
			return
		}
		if call.Operation == a2a.SubscribeToTask && !p.Dialects.Has(a2a.V1_0) || asksForAnother(call) {
			return
		}
		judgeRefusal(p, func(at string, _ int64, name a2a.ErrorName) {
			p.Applied()
			if name != a2a.InvalidRequest {
				return
			}
			p.Report(p.Place.At(at), "code is -32600, and the request is valid JSON-RPC 2.0",
				"expected a code that says what is wrong with the request", analysis.AtMostIf(!surelyValid(call), analysis.Note))
		})
	},
}

// asksForAnother reports whether a call names another version than its own, which may be the reason for the refusal.
func asksForAnother(call *a2a.Call) bool {
	if call.Version == "" {
		return false
	}
	if call.Dialects.Has(a2a.V1_0) {
		return !a2a.SameVersion(call.Version, "1.0")
	}
	return a2a.VersionDialects(call.Version).Intersect(call.Dialects).Empty()
}

// surelyValid reports whether the parameters of a call are certainly valid for its operation: only the required ones,
// spelled as in its dialect.
func surelyValid(call *a2a.Call) bool {
	params := call.Params
	switch call.Operation {
	case a2a.SendMessage, a2a.SendStreamingMessage:
		message := a2a.Message{Value: call.Message}
		if params.Len() != 1 || message.ID() == "" || message.Parts().Len() == 0 {
			return false
		}
		role, kind := "user", a2a.String
		if call.Dialects.Has(a2a.V1_0) {
			role, kind = "ROLE_USER", a2a.Absent
		}
		for _, part := range message.Parts().All() {
			if part.PartKind() == a2a.UnknownPart || part.Get("kind").Kind() != kind {
				return false
			}
		}
		return message.RoleText() == role
	case a2a.GetTask, a2a.CancelTask, a2a.SubscribeToTask:
		return params.Len() == 1 && call.TaskID != ""
	case a2a.ListTasks, a2a.GetExtendedCard:
		return params.Len() == 0
	}
	return false
}
