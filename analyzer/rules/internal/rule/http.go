package rule

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// LabelKept reports whether the label of a message, or its absence, was recorded.
func LabelKept(x *analysis.Exchange, fields capture.Fields) bool {
	return x.HeadersKept() && x.AnswerHeadersKept() || fields.Has("Content-Type")
}

// IsJSON reports whether a media type, in lower case and without parameters, is for JSON text.
func IsJSON(label string) bool {
	return label == "application/json" || strings.HasSuffix(label, "+json")
}

// FromInfrastructure reports whether servers, gateways and frameworks send a status before the request reaches the
// agent.
func FromInfrastructure(status int) bool {
	switch status {
	case 401, 403, 404, 405, 406, 407, 408, 411, 413, 414, 415, 417, 421, 426, 429, 431, 501, 502, 503, 504, 505:
		return true
	}
	return false
}

// ContentType returns the media type of a message as a finding shows it.
func ContentType(values []string) string {
	if len(values) == 0 {
		return "no Content-Type"
	}
	return "Content-Type " + analysis.QuoteText(values[0])
}

// Essence returns the media type without parameters, in lower case, or "".
func Essence(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return capture.MediaType(values[0])
}

// Succeeded reports whether an HTTP status is 2xx.
func Succeeded(status int) bool { return status >= 200 && status < 300 }

// DueAsStream reports whether an answer is a result where an event stream is due: no label would make it right.
func DueAsStream(p *analysis.Pass) bool {
	return p.Exchange.Call.Streams && p.Answer.Err == nil && Succeeded(p.Exchange.Response.Status)
}

// IsMediaType reports whether a text is a type and a subtype, perhaps with parameters (RFC 9110 §8.3.1).
func IsMediaType(text string) bool {
	essence, _, _ := strings.Cut(text, ";")
	kind, subtype, ok := strings.Cut(strings.Trim(essence, " \t"), "/")
	return ok && capture.IsToken(kind) && capture.IsToken(subtype)
}
