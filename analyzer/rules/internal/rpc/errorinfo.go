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

// ErrorInfo is the family of rules about what 1.0 puts beside an error's code: the reason, and what was wrong.
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

// judgeDetails calls judge with each error object of 1.0 at hand, with where it stands, with its list of details, and
// with where that stands: the member data over JSON-RPC, details over HTTP+JSON.
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

// judgeErrorInfos calls judge with each ErrorInfo of the errors at hand, with where it stands, and with the error.
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
	Title:    "error of A2A without ErrorInfo",
	Level:    analysis.Should,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("9.5", a2a.V1_0),
	Stands:   "1.0.1:2455",
	Doc: `Beside its code an error of A2A carries an ErrorInfo, whose reason is the same in every binding. Clients that
handle errors by reason, whatever they are connected by, do not recognise this one.`,
	Fix: `Add {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain":
"a2a-protocol.org"} to error.data, with the reason of the code.`,
	Silent: `Codes of JSON-RPC itself and of the agent's own. Data that is not an array, or has an element without
@type, is left to the rules about those. A warning, although 1.0.0 demanded it: later patch versions only recommend
it.`,
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
			p.Report(p.Place.At(at+"/data"), fmt.Sprintf("no ErrorInfo beside the code %d", code),
				"expected one with the reason "+row.Reason)
		})
	},
}

var rpcErrorInfoDomain = &analysis.Rule{
	ID:       "rpc-errorinfo-domain",
	Title:    "ErrorInfo of A2A with another domain",
	Level:    analysis.Must,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("11.6", a2a.V1_0),
	Stands:   "1.0.1:2914",
	Doc: `A reason means something within its domain only. Clients compare both, so the reason of A2A's error goes
unnoticed under another domain.`,
	Fix: `Set "domain" to "a2a-protocol.org" wherever the reason is one of A2A's.`,
	Silent: `Reasons that A2A does not define. Over JSON-RPC it is a warning, since later patch versions of 1.0 only
recommend the ErrorInfo there.`,
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
				p.Report(p.Place.At(at+"/domain"), "domain is "+analysis.Quote(domain)+" beside the reason "+reason,
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
its end. Clients compare it as it stands: TASK_NOT_FOUND_ERROR or taskNotFound is not an error that they know.`,
	Fix: `Use the reason that belongs to the error, such as TASK_NOT_FOUND; for errors of your own set a domain of your
own.`,
	Silent: `Other domains. A reason of the agent's own in the right form, such as INTERNAL_ERROR, is a note over HTTP+JSON
and beside codes that are not A2A's. Over JSON-RPC the others are a warning, since later patch versions of 1.0 only
recommend the ErrorInfo there.`,
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

// meansA2A reports whether a reason is one of A2A's with ERROR at its end.
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
	Doc: `Each error of A2A has one code and one reason. Where they disagree, a client that goes by the code and one that
goes by the reason do different things after the same answer.`,
	Fix: `Take code and reason from one table, so that they cannot part.`,
	Silent: `Reasons under another domain, and reasons that A2A does not define. A code that is not an integer is left
to rpc-error-code-int.`,
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
	Title:    "parameters refused without saying which",
	Level:    analysis.Should,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("3.3.2", a2a.V1_0),
	Stands:   "1.0.1:520",
	Doc: `An error about parameters should name the one that is wrong and say why. Without that the client's author has to
compare the whole request with the schema.`,
	Fix: `Name the parameter and its fault in the message, or add a google.rpc.BadRequest with fieldViolations to the
details.`,
	Silent: `It is a note. Any details but an ErrorInfo, and any message that is more than the name of the error, are taken
for an explanation. A missing message has rules of its own.`,
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
				"expected which of them is wrong", analysis.AtMost(analysis.Note))
		})
	},
}

// explains reports whether there is more in an error's details than its name.
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

// generic holds the messages that say no more than that something is wrong with the parameters.
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
