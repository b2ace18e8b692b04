package workflow

import (
	"encoding/hex"

	"a2atap/proxy/capture"
)

// A traceID identifies a trace, a spanID what made a request in it.
type (
	traceID [16]byte
	spanID  [8]byte
)

// traceOf reads the traceparent of a request. It returns false if there is none, more than one, or a malformed one:
// that is to be ignored.
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
