package rule

import (
	"bytes"
	"strconv"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// Unescape returns JSON with its ASCII letters and slashes unescaped. The result is a copy only if something changed,
// and is then no longer valid JSON. Use it to search for a text.
func Unescape(body []byte) []byte {
	i := bytes.IndexByte(body, '\\')
	if i < 0 {
		return body
	}
	plain := append(make([]byte, 0, len(body)), body[:i]...)
	for ; i < len(body); i++ {
		if body[i] != '\\' || i+1 == len(body) {
			plain = append(plain, body[i])
			continue
		}
		if i+5 < len(body) && body[i+1] == 'u' {
			if c, err := strconv.ParseUint(string(body[i+2:i+6]), 16, 16); err == nil && c < 0x80 && c != '"' {
				plain = append(plain, byte(c))
				i += 5
				continue
			}
		}
		if body[i+1] != '/' {
			plain = append(plain, body[i])
		}
		plain = append(plain, body[i+1])
		i++
	}
	return plain
}

// MethodOrPath returns the part of a request that shows its dialect: the method, or method and path.
func MethodOrPath(x *analysis.Exchange) string {
	if x.Call.Method != "" {
		return analysis.Clip(x.Call.Method)
	}
	return analysis.Clip(x.Request.Method + " " + x.Path)
}

// IsID reports whether a value can be the id of a JSON-RPC call that wants an answer: a string or a number.
func IsID(v a2a.Value) bool { return v.Kind() == a2a.String || v.Kind() == a2a.Number }

// BySender attributes a finding to the side that sent the current message.
func BySender(p *analysis.Pass) analysis.Option {
	if p.Kind == analysis.RequestSeen {
		return analysis.By(a2a.Client)
	}
	return analysis.By(a2a.Agent)
}

// ParamsReadable reports whether a call over JSON-RPC has an object as params, or none; HTTP+JSON has the path and the
// query.
func ParamsReadable(call *a2a.Call) bool {
	if call.Binding == a2a.HTTPJSON {
		return true
	}
	kind := call.Params.Kind()
	return kind == a2a.Object || kind == a2a.Absent
}

// Member returns a member under its name, or under its name in snake case, which another rule reports.
func Member(v a2a.Value, name, snake string) a2a.Value {
	if m := v.Get(name); m.Exists() {
		return m
	}
	return v.Get(snake)
}

// Given reports whether there is a non-null value.
func Given(v a2a.Value) bool { return v.Exists() && !v.IsNull() }

// InParams returns the place of a value of the request's body, or of the parameters where it is missing.
func InParams(p *analysis.Pass, v a2a.Value) analysis.Place {
	call := &p.Exchange.Call
	body := p.Exchange.RequestPlace().Body()
	switch {
	case v.Exists():
		return body.At(v.Pointer())
	case call.Params.Exists():
		return body.At(call.Params.Pointer())
	}
	return body.At("")
}

// QuoteMember describes a member.
func QuoteMember(name string, v a2a.Value) string {
	if !v.Exists() {
		return "no member " + name
	}
	return name + " is " + analysis.Quote(v)
}

// OpensStream reports whether the current event is certainly the first of its stream.
func OpensStream(p *analysis.Pass) bool {
	return p.Exchange.Stream.Events == 0 && !p.Exchange.Stream.Gap
}
