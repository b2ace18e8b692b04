package rpc

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// judgeRequests calls judge with the current JSON-RPC request object, or with each one of a batch, with its place, and
// with the decoded call. A value without any member of a request is meant for another service at the same URL and is
// skipped. The calls of a batch are checked with the batch, and not again on their own.
func judgeRequests(p *analysis.Pass, judge func(at string, request a2a.Value, call *a2a.Call)) {
	if p.Doc == nil || p.Doc.Err != nil || p.Exchange.InBatch() {
		return
	}
	call := &p.Exchange.Call
	if meantAsRequest(p.Doc.Root) {
		judge("", p.Doc.Root, call)
	}
	for i, v := range p.Doc.Root.Elems() {
		if i == len(call.Batch) {
			break
		}
		if meantAsRequest(v) {
			judge(a2a.Ptr("", i), v, &call.Batch[i])
		}
	}
}

func meantAsRequest(v a2a.Value) bool { return v.Has("method") || v.Has("jsonrpc") || v.Has("params") }

// isRequest reports whether a value is a request object of JSON-RPC 2.0 in all that every agent may rely on. A null in
// place of params is let pass.
func isRequest(v a2a.Value, in a2a.Dialects) bool {
	if v.Kind() != a2a.Object || v.Get("method").Kind() != a2a.String {
		return false
	}
	version := v.Get("jsonrpc")
	if !version.Is("2.0") && (version.Exists() || !in.Has(a2a.V0_1)) {
		return false
	}
	switch v.Get("params").Kind() {
	case a2a.Absent, a2a.Null, a2a.Object, a2a.Array:
	default:
		return false
	}
	switch v.Get("id").Kind() {
	case a2a.Absent, a2a.Null, a2a.String, a2a.Number:
		return true
	}
	return false
}

// isNotification reports whether a value is a request object of JSON-RPC that asks for no answer.
func isNotification(v a2a.Value, in a2a.Dialects) bool { return !v.Has("id") && isRequest(v, in) }

// judgeResponses calls judge with the current value if it must be a JSON-RPC response object, and with its place. If
// the request expects an answer, any JSON under a 2xx status or in an event must be one. Otherwise only an object that
// is recognizably meant as a response must be, since gateways answer with other bodies. In the answer to a batch, all
// elements that are objects must be responses.
func judgeResponses(p *analysis.Pass, judge func(at string, response a2a.Value)) {
	if !p.Exchange.InBatch() {
		eachResponse(p, judge)
	}
}

// eachResponse is judgeResponses for checks that run on each call of a batch separately.
func eachResponse(p *analysis.Pass, judge func(at string, response a2a.Value)) {
	if p.Answer == nil || p.Answer.Doc.Err != nil || p.Answer.Values > 0 { // instead of events
		return
	}
	root, call := p.Answer.Doc.Root, &p.Exchange.Call
	if _, route := a2a.RoutePrefix(p.Exchange.Path); route && strings.Contains(p.Exchange.Path, ":") && !isResponse(root) {
		return // the request went to a route of HTTP+JSON, where agents answer as that does
	}
	asked := call.Method != "" && call.ID.Exists() || call.Batch != nil
	ours := asked && (p.Kind == analysis.EventSeen || rule.Succeeded(p.Exchange.Response.Status))
	switch {
	case call.Batch != nil && root.Kind() == a2a.Array:
		for i, v := range root.Elems() {
			if v.Kind() == a2a.Object && (ours || v.Has("jsonrpc")) {
				judge(a2a.Ptr("", i), v)
			}
		}
	case root.Kind() == a2a.Object && (ours || isResponse(root)), ours && call.Batch == nil && root.Exists():
		judge("", root)
	}
}

// isResponse reports whether an object is recognisably meant as a JSON-RPC response.
func isResponse(v a2a.Value) bool {
	if v.Has("jsonrpc") || v.Has("result") && !v.Has("kind") {
		return true
	}
	code, ok := v.Get("error").Get("code").Int()
	return ok && code <= -32000
}

// judgeReplies calls judge with each current JSON-RPC response object, with its place, and with the request object that
// it answers, or Absent if the request is unknown.
func judgeReplies(p *analysis.Pass, judge func(at string, response, request a2a.Value)) {
	call := &p.Exchange.Call
	judgeResponses(p, func(at string, response a2a.Value) {
		switch {
		case call.Batch == nil:
			judge(at, response, call.Doc.Root)
		case at != "" && wholeBatch(call):
			var request a2a.Value
			for i, v := range call.Doc.Root.Elems() {
				if a2a.SameID(call.Batch[i].ID, response.Get("id")) {
					request = v
					break
				}
			}
			judge(at, response, request)
		default:
			judge(at, response, a2a.Value{})
		}
	})
}

// wholeBatch reports whether all calls of a batch were read.
func wholeBatch(call *a2a.Call) bool { return call.Doc.Root.Len() == len(call.Batch) }

// judgeErrors calls judge with the error object of each current response, and with its place.
func judgeErrors(p *analysis.Pass, judge func(at string, failure a2a.Value)) {
	if !fails(p) {
		return
	}
	judgeResponses(p, func(at string, response a2a.Value) {
		if failure := response.Get("error"); failure.Kind() == a2a.Object {
			p.Applied()
			judge(at+"/error", failure)
		}
	})
}

// fails reports whether the current observation has an error, or may have one. It is a cheap test: most answers have
// none.
func fails(p *analysis.Pass) bool {
	return p.Answer != nil && (p.Answer.Err != nil || p.Exchange.Call.Batch != nil)
}

// judgeRefusal calls judge with the code of the error that answers a single call, and with its place. It skips errors
// that may be sent before the request is read: about credentials, media type, version, rate or size.
func judgeRefusal(p *analysis.Pass, judge func(at string, code int64, name a2a.ErrorName)) {
	if !fails(p) || p.Exchange.Call.Batch != nil || p.Kind == analysis.EventSeen && !rule.OpensStream(p) ||
		rule.FromInfrastructure(p.Exchange.Response.Status) {
		return
	}
	eachResponse(p, func(at string, response a2a.Value) {
		code, ok := response.Get("error").Get("code").Int()
		if !ok {
			return
		}
		switch name := a2a.ErrorNameOf(code, p.Dialects); name {
		case a2a.NoErrorName, a2a.OtherError, a2a.VersionNotSupported, a2a.ExtensionSupportRequired,
			a2a.AuthenticationRequired, a2a.AuthorizationFailed, a2a.RateLimitExceeded, a2a.ResourceUnavailable:
		default:
			judge(at+"/error/code", code, name)
		}
	})
}

// mayBeOf0_1 reports whether a call may be a 0.1 call although its method shows only that it is older than 1.0. It may
// if nothing is known about its URL, or the URL speaks 0.1. 0.1 has null instead of absent members.
func mayBeOf0_1(x *analysis.Exchange) bool {
	switch x.Call.Method {
	case "tasks/get", "tasks/cancel", "tasks/resubscribe":
	default:
		return false
	}
	var spoken a2a.Dialects
	if x.Endpoint != nil {
		spoken = x.Endpoint.Declared | x.Endpoint.Answered
	}
	return spoken.Empty() || spoken.Has(a2a.V0_1)
}

// labelledJSON reports whether the request's content type is JSON or absent.
func labelledJSON(x *analysis.Exchange) bool {
	label := x.Request.Fields.MediaType()
	return label == "" || rule.IsJSON(label)
}

// unreadable reports whether no parser accepts the body of the request as JSON. Some parsers skip text after a complete
// value, and a byte order mark before it.
func unreadable(x *analysis.Exchange) bool {
	doc := &x.Call.Doc
	return doc.Err != nil && !doc.Err.Limit && !doc.Trailing && !doc.BOM && labelledJSON(x)
}
