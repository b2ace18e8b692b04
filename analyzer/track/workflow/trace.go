package workflow

import (
	"encoding/hex"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// traceOf reads the traceparent of a request. It returns false if it is missing, repeated, or malformed, which means to
// ignore it.
//
// Source: W3C Trace Context, section 3.2.
func traceOf(h capture.Fields) (trace traceID, span spanID, ok bool) {
	values := h.Values("traceparent")
	if len(values) != 1 {
		return trace, span, false
	}
	v := values[0]
	const length = 55 // of version 00; later versions may append fields
	if len(v) < length || v[2] != '-' || v[35] != '-' || v[52] != '-' {
		return trace, span, false
	}
	var version, flags [1]byte
	if !readHex(version[:], v[:2]) || !readHex(trace[:], v[3:35]) || !readHex(span[:], v[36:52]) ||
		!readHex(flags[:], v[53:55]) {
		return trace, span, false
	}
	switch {
	case version[0] == 0xff, version[0] == 0 && len(v) != length, len(v) > length && v[length] != '-':
		return trace, span, false
	}
	return trace, span, trace != traceID{} && span != spanID{}
}

// traceFields are fields with trace context of other systems than W3C's.
var traceFields = [...]string{
	"b3", "X-B3-TraceId", "Uber-Trace-Id", "X-Amzn-Trace-Id", "X-Cloud-Trace-Context", "Grpc-Trace-Bin",
}

// CarriesTrace reports whether a request carries trace context of any kind, even malformed, in its head or in its
// metadata.
func CarriesTrace(x *analysis.Exchange) bool {
	if x.Request.Fields.Has("traceparent") {
		return true
	}
	for _, name := range traceFields {
		if x.Request.Fields.Has(name) {
			return true
		}
	}
	return x.Call.Params.Get("metadata").Has("traceparent") || x.Call.Message.Get("metadata").Has("traceparent")
}

// TracedFor returns the number of the first call that the client of an exchange was answering when it began the
// exchange, if all calls that it was answering or working on carry a traceparent. ok is false if it was answering none,
// or if that is unknown.
func (m *Memory) TracedFor(x *analysis.Exchange) (number uint64, ok bool) {
	c := m.call.Of(x)
	if c == nil || c.anonymous {
		return 0, false
	}
	f, _ := m.agents.Get(c.client)
	own, known := f.during(x, func(o *call) bool { return true })
	if !known || own.working || len(own.calls) == 0 {
		return 0, false
	}
	for _, o := range own.calls {
		if o.trace == (traceID{}) {
			return 0, false
		}
	}
	return own.calls[0].n, true
}

// readHex reads hexadecimal digits in lower case.
func readHex(to []byte, text string) bool {
	for i := range len(text) {
		if 'A' <= text[i] && text[i] <= 'F' {
			return false
		}
	}
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}
