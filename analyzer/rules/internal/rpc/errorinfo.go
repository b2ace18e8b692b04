package rpc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// ErrorInfo is the family of rules about the error details of 1.0: the reason, and the invalid fields.
var ErrorInfo = rule.Family{
	Name:     "errorinfo",
	Category: analysis.ErrorHandling,
	Side:     a2a.Agent,
	Once:     analysis.PerExchange,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	If:       analysis.Refused,
}.Of(
	rpca2AErrorInfo,
	rpcErrorInfoDomain,
	rpcErrorInfoReason,
	rpcErrorInfoCodeMatch,
	rpcValidationDetail,
)

const a2aDomain = "a2a-protocol.org"

// judgeDetails calls judge with each current 1.0 error object and its place, and with its list of details and the
// list's place: the member data over JSON-RPC, details over HTTP+JSON.
func judgeDetails(p *analysis.Pass, judge func(at string, failure a2a.Value, in string, details a2a.Value)) {
	if p.Exchange.Call.Binding == a2a.JSONRPC {
		judgeResponses(p, func(at string, response a2a.Value) {
			if failure := response.Get("error"); failure.Kind() == a2a.Object {
				judge(at+"/error", failure, at+"/error/data", failure.Get("data"))
			}
		})
		return
	}
	if failure := p.Answer.Err; failure.Value.Kind() == a2a.Object {
		judge(failure.Pointer, failure.Value, failure.Pointer+"/details", failure.Value.Get("details"))
	}
}

// judgeErrorInfos calls judge with each ErrorInfo of the current errors, with its place, and with the error.
func judgeErrorInfos(p *analysis.Pass, judge func(at string, info a2a.Value, from string, failure a2a.Value)) {
	judgeDetails(p, func(from string, failure a2a.Value, in string, details a2a.Value) {
		for i, detail := range details.Elems() {
			if isErrorInfo(detail) {
				judge(a2a.Ptr(in, i), detail, from, failure)
			}
		}
	})
}

func isErrorInfo(detail a2a.Value) bool {
	return strings.HasSuffix(detail.Get("@type").Text(), "google.rpc.ErrorInfo")
}

// errorInfoSeverity returns how bad a broken rule about ErrorInfo is: over JSON-RPC later patch versions of 1.0 only
// recommend it.
func errorInfoSeverity(p *analysis.Pass) analysis.Severity {
	if p.Exchange.Call.Binding == a2a.JSONRPC {
		return analysis.Warning
	}
	return analysis.Error
}

var rpca2AErrorInfo = &analysis.Rule{
	ID:       "rpc-a2a-errorinfo",
	Title:    "A2A error without ErrorInfo",
	Level:    analysis.Should,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("9.5", a2a.V1_0),
	Stands:   "1.0.1:2455",
	Doc: `In addition to its code, an A2A error carries an ErrorInfo, whose reason is the same in every binding.
Clients that handle errors by reason do not recognize this one.`,
	Fix: `Add {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain":
"a2a-protocol.org"} to error.data, with the reason of the code.`,
	Silent: `Codes of JSON-RPC itself and agent-specific codes. Data that is not an array, or has an element without
@type, is reported by other rules. The finding is a warning, although 1.0.0 required the ErrorInfo: later patch
versions only recommend it.`,
	Check: func(p *analysis.Pass) {
		judgeErrors(p, func(at string, failure a2a.Value) {
			code, _ := failure.Get("code").Int()
			data := failure.Get("data")
			if !ofA2A(code) || data.Exists() && !data.IsNull() && data.Kind() != a2a.Array {
				return
			}
			for _, detail := range data.Elems() {
				if isErrorInfo(detail) || detail.Get("@type").Kind() != a2a.String {
					return
				}
			}
			row, _ := a2a.ErrorNameOf(code, a2a.Of(a2a.V1_0)).Row()
			p.Report(p.Place.At(at+"/data"), fmt.Sprintf("no ErrorInfo with the code %d", code),
				"expected one with the reason "+row.Reason)
		})
	},
}

var rpcErrorInfoDomain = &analysis.Rule{
	ID:       "rpc-errorinfo-domain",
	Title:    "ErrorInfo of an A2A error with another domain",
	Level:    analysis.Must,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("11.6", a2a.V1_0),
	Stands:   "1.0.1:2914",
	Doc: `A reason is defined only within its domain. Clients compare both, so they do not recognize an A2A reason
under another domain.`,
	Fix: `Set "domain" to "a2a-protocol.org" if the reason is one of A2A's.`,
	Silent: `Reasons that A2A does not define. Over JSON-RPC the finding is a warning, since later patch versions of
1.0 only recommend the ErrorInfo there.`,
	Check: func(p *analysis.Pass) {
		if !fails(p) {
			return
		}
		judgeErrorInfos(p, func(at string, info a2a.Value, _ string, _ a2a.Value) {
			reason := info.Get("reason").Text()
			if a2a.ErrorNameOfReason(reason) == a2a.OtherError {
				return
			}
			p.Applied()
			if domain := info.Get("domain"); !domain.Is(a2aDomain) {
				p.Report(p.Place.At(at+"/domain"), "domain is "+analysis.Quote(domain)+" with the reason "+reason,
					`expected "`+a2aDomain+`"`, analysis.AtMost(errorInfoSeverity(p)))
			}
		})
	},
}

var rpcErrorInfoReason = &analysis.Rule{
	ID:       "rpc-errorinfo-reason",
	Title:    "ErrorInfo with a reason that A2A does not have",
	Level:    analysis.Must,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("11.6", a2a.V1_0),
	Stands:   "1.0.1:2913",
	Doc: `Under the domain of A2A the reason is the name of the error in capitals with underscores, without ERROR at
its end. Clients compare it exactly: they do not know TASK_NOT_FOUND_ERROR or taskNotFound.`,
	Fix: `Use the reason that belongs to the error, such as TASK_NOT_FOUND. For custom errors set your own domain.`,
	Silent: `Other domains. An agent-specific reason in the right form, such as INTERNAL_ERROR, is a note over
HTTP+JSON and with codes that are not A2A's. Over JSON-RPC the other reasons are a warning, since later patch versions
of 1.0 only recommend the ErrorInfo there.`,
	Check: func(p *analysis.Pass) {
		if !fails(p) {
			return
		}
		judgeErrorInfos(p, func(at string, info a2a.Value, _ string, failure a2a.Value) {
			if !info.Get("domain").Is(a2aDomain) {
				return
			}
			p.Applied()
			reason := info.Get("reason")
			if a2a.ErrorNameOfReason(reason.Text()) != a2a.OtherError {
				return
			}
			worst := errorInfoSeverity(p)
			expected := "expected the name of an error in UPPER_SNAKE_CASE, without ERROR at its end"
			if isReason(reason.Text()) && !meansA2A(reason.Text()) {
				if code, _ := failure.Get("code").Int(); !ofA2A(code) {
					worst = analysis.Note
				}
				expected = "expected one of A2A's reasons under its domain"
			}
			p.Report(p.Place.At(at+"/reason"), "reason is "+analysis.Quote(reason), expected, analysis.AtMost(worst))
		})
	},
}

// isReason reports whether a text has the form of a reason: UPPER_SNAKE_CASE.
func isReason(s string) bool {
	for i, c := range s {
		if (c < 'A' || c > 'Z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// meansA2A reports whether a reason is an A2A reason with ERROR at its end.
func meansA2A(reason string) bool {
	stem, named := strings.CutSuffix(reason, "_ERROR")
	return named && a2a.ErrorNameOfReason(stem) != a2a.OtherError
}

var rpcErrorInfoCodeMatch = &analysis.Rule{
	ID:       "rpc-errorinfo-code-match",
	Title:    "reason and code name different errors",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("5.4", a2a.V1_0),
	Stands:   "1.0.1:1178",
	Doc: `Each A2A error has one code and one reason. If they disagree, clients that use the code and clients that use
the reason react differently to the same answer.`,
	Fix: `Take code and reason from the same table, so that they always match.`,
	Silent: `Reasons under another domain, and reasons that A2A does not define. A code that is not an integer is
reported by rpc-error-code-int.`,
	Check: func(p *analysis.Pass) {
		if !fails(p) {
			return
		}
		judgeErrorInfos(p, func(at string, info a2a.Value, from string, failure a2a.Value) {
			row, known := a2a.ErrorNameOfReason(info.Get("reason").Text()).Row()
			code, ok := failure.Get("code").Int()
			if !known || !ok || !info.Get("domain").Is(a2aDomain) {
				return
			}
			p.Applied()
			if code != row.Code {
				p.Report(p.Place.At(from+"/code"), fmt.Sprintf("code is %d, and the reason at %s is %s", code, at, row.Reason),
					"expected "+strconv.FormatInt(row.Code, 10))
			}
		})
	},
}

var rpcValidationDetail = &analysis.Rule{
	ID:       "rpc-validation-detail",
	Title:    "parameters refused without saying which one is wrong",
	Level:    analysis.Should,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("3.3.2", a2a.V1_0),
	Stands:   "1.0.1:520",
	Doc: `An error about parameters should name the wrong one and say why. Otherwise the client's author has to
compare the whole request with the schema.`,
	Fix: `Name the parameter and the problem in the message, or add a google.rpc.BadRequest with fieldViolations to
the details.`,
	Silent: `Errors with any details other than an ErrorInfo, or with a message that is more than the name of the
error, which count as an explanation. A missing message is covered by other rules. The finding is a note.`,
	Check: func(p *analysis.Pass) {
		if !fails(p) {
			return
		}
		judgeDetails(p, func(at string, failure a2a.Value, _ string, details a2a.Value) {
			code, _ := failure.Get("code").Int()
			if p.Exchange.Call.Binding == a2a.JSONRPC && code != -32602 ||
				p.Exchange.Call.Binding == a2a.HTTPJSON && (p.Exchange.Response.Status != 400 || p.Answer.Err.Name.A2A()) {
				return
			}
			p.Applied()
			message := failure.Get("message")
			if !isGeneric(message.Text()) || explains(details) {
				return
			}
			p.Report(p.Place.At(at), "the parameters are refused with no more than "+analysis.QuoteText(message.Text()),
				"expected the name of the wrong parameter", analysis.AtMost(analysis.Note))
		})
	},
}

// explains reports whether an error's details have more than its name.
func explains(details a2a.Value) bool {
	switch details.Kind() {
	case a2a.Absent, a2a.Null:
		return false
	case a2a.Array:
	default:
		return true
	}
	for _, detail := range details.Elems() {
		if !isErrorInfo(detail) || detail.Get("metadata").Len() > 0 {
			return true
		}
	}
	return false
}

// generic has the messages that say only that something is wrong with the parameters.
var generic = []string{
	"invalid params", "invalid parameters", "invalid parameter", "invalid method parameters",
	"invalid method parameter(s)", "invalid argument",
	"invalid arguments", "invalid_argument", "invalid request", "invalid request parameters", "invalid input",
	"bad request", "badrequest", "validation error",
	"validation failed", "request validation failed", "request payload validation error", "error", "invalid",
}

func isGeneric(message string) bool {
	return slices.Contains(generic, strings.ToLower(strings.Trim(message, " .!")))
}
