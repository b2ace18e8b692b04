package a2a

import "strings"

// decodeRPCError reads the error member of a JSON-RPC response (JSON-RPC 2.0 §5.1, A2A 1.0 §9.5).
func decodeRPCError(v Value, pointer string, status int, in Dialects) *Error {
	e := &Error{HTTPStatus: status, Value: v, Pointer: pointer, Message: firstText(v.Get("message"), v)}
	e.Code, e.CodeKnown = v.Get("code").Int()
	e.Reason = errorReason(v.Get("data"))
	switch {
	case e.CodeKnown:
		e.Name = ErrorNameOf(e.Code, in)
	case e.Reason != "":
		e.Name = ErrorNameOfReason(e.Reason)
	}
	return e
}

// decodeHTTPError reads the body of a failed HTTP+JSON answer: google.rpc.Status in the member "error" (A2A 1.0 §11.6),
// problem details (RFC 9457; examples of 1.0 and its release candidate), or the forms that 0.x agents use for JSON-RPC
// errors.
func decodeHTTPError(root Value, status int, in Dialects) *Error {
	e := &Error{HTTPStatus: status}
	body := root
	if inner := root.Get("error"); inner.Kind() == Object {
		body, e.Pointer = inner, "/error"
	}
	if body.Kind() != Object {
		return e
	}
	e.Value = body
	if e.Message = body.Get("message").Text(); e.Message == "" {
		e.Message = firstText(body.Get("detail"), body.Get("title"), body.Get("error_description"), root.Get("error"))
	}
	if e.Reason = errorReason(body.Get("details")); e.Reason == "" {
		e.Reason = errorReason(body.Get("data"))
	}
	if e.Reason == "" {
		e.Reason = problemReason(body.Get("type").Text())
	}
	if e.Reason != "" {
		e.Name = ErrorNameOfReason(e.Reason)
		if row, ok := e.Name.Row(); ok {
			e.Code, e.CodeKnown = row.Code, true
		}
		return e
	}
	if code, ok := body.Get("code").Int(); ok && code < 0 { // positive ones repeat the HTTP status
		e.Code, e.CodeKnown, e.Name = code, true, ErrorNameOf(code, in)
	}
	return e
}

// errorReason returns the reason of the ErrorInfo in a list of error details, or "" if it is missing or belongs to
// another domain.
func errorReason(details Value) string {
	for _, d := range details.Elems() {
		if !strings.HasSuffix(d.Get("@type").Text(), "google.rpc.ErrorInfo") {
			continue
		}
		if domain := d.Get("domain"); domain.Exists() && !domain.Is("a2a-protocol.org") {
			continue
		}
		return d.Get("reason").Text()
	}
	return ""
}

// problemReason converts the type of problem details ("https://a2a-protocol.org/errors/task-not-found") to a reason.
func problemReason(uri string) string {
	name, ok := strings.CutPrefix(uri, "https://a2a-protocol.org/errors/")
	if !ok {
		return ""
	}
	return strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
