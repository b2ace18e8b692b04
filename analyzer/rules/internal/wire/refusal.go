package wire

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/answer"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// Refusals is the family of rules about calls that were refused for the wrong reason, or without one.
var Refusals = rule.Family{
	Name: "refusal",
	Side: a2a.Agent,
}.Of(
	errorInternalForNamedCase,
	errorNotFoundCode,
	pushValidConfigRefused,
)

var errorInternalForNamedCase = &analysis.Rule{
	ID:       "error-internal-for-named-case",
	Title:    "internal error where the protocol names the error",
	Category: analysis.ErrorHandling,
	Level:    analysis.Should,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	If:       analysis.Refused,
	Needs:    []*analysis.Tracker{answer.Tracker, card.Tracker, task.Tracker},
	Bindings: rule.OnCall,
	Cites:    rule.Cite("8.2", rule.Before1...).And("3.3.2", a2a.V1_0).And("5.4", a2a.V1_0),
	Stands:   "0.1.0:1022 0.2.6:970 0.3.0:1165 1.0.1:500 1.0.1:1178",
	Doc: `An internal error says that the agent is broken and that the same call may work later. If the client asked
for something that does not exist, or sent no credentials, it needs that answer. With an internal error it tries again
forever, and the agent's operator looks for a bug that does not exist.`,
	Fix: `Check for these cases before the work begins, and answer TaskNotFoundError (-32001),
UnsupportedOperationError (-32004), or HTTP 401; over gRPC use the corresponding status.`,
	Silent: `Internal errors without such a cause in the traffic. The causes are: a task that the agent has just
reported as not found; streaming and extended cards of 0.2 and 0.3 that the card does not offer; and, over HTTP+JSON
and gRPC, a call without any credentials to an agent whose card asks for some, if the error mentions them (over
JSON-RPC any code is right for that). Other causes are covered by other rules.`,
	Check: func(p *analysis.Pass) {
		if p.Answer == nil || p.Exchange.Call.Operation == a2a.NoOperation ||
			p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
			return
		}
		cause, expected := knownCause(p)
		if cause == "" || p.Answer.Err == nil {
			return
		}
		p.Applied()
		if failure := p.Answer.Err; failure.Value.Exists() && isInternalError(p) {
			what := failure.String()
			if failure.Name == a2a.NoErrorName && p.Exchange.Call.Binding == a2a.HTTPJSON {
				what = fmt.Sprintf("status %d", p.Exchange.Response.Status)
			}
			p.Report(p.Place.At(failure.Pointer),
				fmt.Sprintf("%s is refused with %s, and %s", p.Exchange.Call.Operation, what, cause), "expected "+expected)
		}
	},
}

var errorNotFoundCode = &analysis.Rule{
	ID:       "error-not-found-code",
	Title:    "missing task refused with another error",
	Category: analysis.ErrorHandling,
	Level:    analysis.Must,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	If:       analysis.Refused,
	Needs:    []*analysis.Tracker{answer.Tracker},
	Bindings: rule.OnCall,
	Cites:    rule.Cite("8.2", rule.Before1...).And("5.4", a2a.V1_0),
	Covers:   append(slices.Clone(rule.CodeRules), "rpc-errorinfo-code-match"),
	Stands:   "0.1.0:1026 0.2.6:974 0.3.0:1169 1.0.1:1178",
	Doc: `A task that the agent does not have is TaskNotFoundError (-32001, HTTP+JSON: 404). Programs read the code
and not the message: with another code a client changes parameters that are right, retries in vain, or reports that
the agent is broken.`,
	Fix: `Look the task up before you do anything else with it, and answer -32001 (HTTP+JSON: status 404, gRPC:
NOT_FOUND) with the reason TASK_NOT_FOUND.`,
	Silent: `Errors whose text does not say that a task is not found, unless the agent has just reported this task as
not found and now blames the parameters; errors about something else that is not found: a method, a config, a context,
an agent, a task that the message refers to; sends of 0.1, which create the task; refusals because of credentials, rate
or size; gRPC statuses that mean something other than a wrong request or a broken agent. Before 1.0, whose codes are
only recommended, the finding is a warning; over gRPC before 1.0, nothing is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if p.Answer == nil || p.Answer.Err == nil || !p.Answer.Err.Value.Exists() || !namesTask(p) ||
			p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
			return
		}
		failure := p.Answer.Err
		if x.Call.Binding == a2a.JSONRPC && !failure.CodeKnown {
			return
		}
		expected := "expected TaskNotFoundError (-32001)"
		switch x.Call.Binding {
		case a2a.HTTPJSON:
			expected = "expected status 404, as for TaskNotFoundError"
		case a2a.GRPC:
			expected = "expected status NOT_FOUND, as for TaskNotFoundError"
		}
		switch status := x.Response.Status; {
		case status != 404 && rule.FromInfrastructure(status), x.Call.Binding == a2a.HTTPJSON && status == 404,
			x.Call.Binding == a2a.GRPC && !mayHideNotFound(p):
			return
		}
		cause := ""
		if saysTaskNotFound(failure.Message, x.Call.TaskID) {
			cause = "says " + analysis.QuoteText(failure.Message)
		} else if gone := answer.Of(p).NotFoundBefore(x); gone != nil && failure.Name == a2a.InvalidParams &&
			x.Call.Operation == a2a.GetTask && !x.Call.HasHistoryLength && !p.RequestMissed() {
			cause = "task " + analysis.QuoteText(x.Call.TaskID) + " was not found before, at " + gone.Place.String()
		}
		switch {
		case failure.Name == a2a.TaskNotFound:
			p.Applied()
			return
		case failure.Name == a2a.MethodNotFound, cause == "":
			return
		}
		worst := analysis.Warning
		if p.Dialects == a2a.Of(a2a.V1_0) {
			worst = analysis.Error
		}
		p.Report(p.Place.At(failure.Pointer),
			fmt.Sprintf("%s is refused with %s, and %s", x.Call.Operation, failure, cause),
			expected, analysis.AtMost(worst))
	},
}

// mayHideNotFound reports whether a gRPC status may hide that a task is not found. It is neither the status for that,
// nor one that an agent or its gateway uses for another cause. Before 1.0 no text defines the status of an error.
func mayHideNotFound(p *analysis.Pass) bool {
	status, _ := p.Exchange.GRPCStatus()
	switch status.Code {
	case grpc.UnknownError, grpc.InvalidArgument, grpc.FailedPrecondition, grpc.Internal:
		return p.Dialects == a2a.Of(a2a.V1_0)
	}
	return false
}

// namesTask reports whether a call requires an existing task.
func namesTask(p *analysis.Pass) bool {
	x := p.Exchange
	switch op := x.Call.Operation; {
	case x.Call.TaskID == "":
		return false
	case op.Sends():
		return !p.Dialects.Has(a2a.V0_1)
	default:
		return op == a2a.GetTask || op == a2a.CancelTask || op == a2a.SubscribeToTask || op == a2a.CreatePushConfig ||
			op == a2a.ListPushConfigs
	}
}

// saysTaskNotFound reports whether an error's text says that the task does not exist, and nothing else.
func saysTaskNotFound(message, id string) bool {
	text := strings.ToLower(message)
	if id != "" {
		text = strings.ReplaceAll(text, strings.ToLower(id), "task")
	}
	for _, other := range [...]string{
		"method", "config", "context", "session", "agent", "skill", "user", "tenant", "route", "path", "url", "file",
		"referenc", "parent", "artifact", "message", "webhook", "extension", "handler", "tool", "model", "queue",
	} {
		if strings.Contains(text, other) {
			return false
		}
	}
	for _, words := range [...]string{
		"not found", "does not exist", "doesn't exist", "no such task", "unknown task", "no task", "not exist", "notfound",
	} {
		if strings.Contains(text, words) {
			rest := strings.Trim(strings.Replace(text, words, "", 1), " .:!'\"")
			return strings.Contains(text, "task") || rest == "" || rest == "error"
		}
	}
	return false
}

// isInternalError reports whether an error means that the agent itself failed.
func isInternalError(p *analysis.Pass) bool {
	switch p.Exchange.Response.Status {
	case 401, 403, 407, 408, 413, 429, 502, 503, 504: // the answer has a cause of its own
		return false
	}
	switch name := p.Answer.Err.Name; {
	case name == a2a.InternalError:
		return true
	case p.Exchange.Call.Binding == a2a.HTTPJSON:
		return name == a2a.NoErrorName && p.Exchange.Response.Status == 500
	case p.Exchange.Call.Binding == a2a.GRPC:
		status, _ := p.Exchange.GRPCStatus()
		return name == a2a.NoErrorName && status.Code == grpc.Internal
	}
	return false
}

// knownCause returns why a call has to fail, and the error that the protocol has for it; "" if nothing is known.
func knownCause(p *analysis.Pass) (cause, expected string) {
	x := p.Exchange
	starts := x.Call.Operation.Sends() && p.Dialects.Has(a2a.V0_1) // a task whose id the client made
	if gone := answer.Of(p).NotFoundBefore(x); gone != nil && !starts && !task.Of(p).Retry(x) && !p.RequestMissed() {
		return fmt.Sprintf("task %s was not found before, at %s", analysis.QuoteText(x.Call.TaskID),
			gone.Place), "TaskNotFoundError (-32001)"
	}
	if kinds := a2a.Of(a2a.V0_2, a2a.V0_3); p.Dialects.Intersect(kinds) == p.Dialects {
		switch lacking := rule.Undeclared(p); {
		case lacking == "streaming":
			return "no card offers streaming", "UnsupportedOperationError (-32004)"
		case lacking == "extendedAgentCard" && p.Dialects == a2a.Of(a2a.V0_3):
			return "no card offers an extended one", "AuthenticatedExtendedCardNotConfiguredError (-32007)"
		}
	}
	if x.Call.Binding == a2a.JSONRPC || p.Answer.Err == nil || !speaksOfCredentials(p.Answer.Err.Message) {
		return "", ""
	}
	if card := rule.AskingCard(p); card != nil && rule.NoCredentials(x, card) {
		return "the request has none of the credentials that the card at " + card.Place.String() + " asks for",
			"status " + rule.AuthStatus(x)
	}
	return "", ""
}

// speaksOfCredentials reports whether an error's text asks the client to identify itself.
func speaksOfCredentials(message string) bool {
	message = strings.ToLower(message)
	for _, words := range [...]string{
		"unauthenticated", "not authenticated", "unauthorized", "authentication required",
		"missing credentials", "no credentials", "missing authorization", "missing bearer",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

var pushValidConfigRefused = &analysis.Rule{
	ID:       "push-valid-config-refused",
	Title:    "valid push config refused as invalid",
	Category: analysis.Interop,
	Level:    analysis.Should,
	On:       analysis.AnswerSeen,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.8", a2a.V0_2, a2a.V0_3).And("8.1", a2a.V0_2, a2a.V0_3),
	Stands:   "0.2.6:types:467 0.3.0:types:836 0.2.6:964 0.3.0:1159",
	Doc: `The card offers push notifications, and the agent refuses a config that has everything its version requires.
No client can satisfy it: what this agent wants differs from the protocol.`,
	Fix: `Accept configs as the version of the card defines them: in 0.2 and 0.3 the task's id, and a config with a
url; everything else is optional.`,
	Silent: `Refusals that blame the URL, its host or its scheme, its reachability, the authentication, or an unknown
task; refusals without a reason if the URL is private or not https; configs that lack something, have a member of
another type, or an id if the agent may be one of 0.2, which chose it itself; agents whose card was not seen, or does
not offer push; HTTP+JSON, where the text wraps the config in a member and the proto definition does not.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation != a2a.CreatePushConfig || p.Answer == nil || !offersPush(p) || !validPushConfig(&x.Call) ||
			p.Dialects.Has(a2a.V0_2) && x.Call.PushConfig.Config().Has("id") {
			return
		}
		p.Applied()
		failure := p.Answer.Err
		if failure == nil || failure.Name != a2a.InvalidParams {
			return
		}
		switch blame := blamedOn(failure); {
		case blame == onPolicy, blame == onNothing &&
			(rule.ReachOf(x.Call.PushConfig.URL()) != rule.FromAnywhere || rule.SchemeOf(x.Call.PushConfig.URL()) != "https"):
			return
		}
		p.Report(p.Place.At(failure.Pointer),
			fmt.Sprintf("the config has a task id and a URL, and is refused with %s: %s", failure,
				analysis.QuoteText(failure.Message)),
			"expected the agent to accept it")
	},
}

// offersPush reports whether all cards that were seen before the call say that the agent pushes notifications.
func offersPush(p *analysis.Pass) bool {
	cards := card.Of(p).Before(p.Exchange)
	for _, c := range cards {
		if !c.Push.True() {
			return false
		}
	}
	return len(cards) > 0
}

// validPushConfig reports whether a call has all that a push config needs, and nothing of another type.
func validPushConfig(call *a2a.Call) bool {
	config := call.PushConfig.Config()
	if call.TaskID == "" ||
		call.Binding == a2a.JSONRPC &&
			(call.Params.Get("taskId").Kind() != a2a.String || call.Params.Get("pushNotificationConfig").Kind() != a2a.Object) {
		return false
	}
	if u, err := url.Parse(config.Get("url").Text()); err != nil || u.Host == "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	for _, name := range [...]string{"id", "token"} {
		if v := config.Get(name); v.Exists() && v.Kind() != a2a.String {
			return false
		}
	}
	auth := config.Get("authentication")
	if !auth.Exists() {
		return true
	}
	schemes := auth.Get("schemes")
	if v := auth.Get("credentials"); schemes.Kind() != a2a.Array || v.Exists() && v.Kind() != a2a.String {
		return false
	}
	for _, s := range schemes.Elems() {
		if s.Kind() != a2a.String {
			return false
		}
	}
	return true
}

// The possible subjects of an error's text.
type blamed uint8

const (
	onNothing blamed = iota // it gives no reason
	onPolicy                // what an agent may refuse although its form is valid
	onShape
)

// blamedOn returns the reason that an error gives.
func blamedOn(failure *a2a.Error) blamed {
	text := strings.ToLower(failure.Message)
	generic := strings.NewReplacer("invalid", "", "method", "", "parameters", "", "params", "", "request", "", "payload",
		"", "validation", "", "error", "", "bad", "", "failed", "", "json-rpc", "").Replace(text)
	if detail := failure.Value.Get("data"); detail.Exists() && !detail.IsNull() {
		text += strings.ToLower(string(detail.Raw()))
		generic += "."
	}
	for _, word := range [...]string{
		"url", "uri", "host", "scheme", "http", "reach", "connect", "private", "local", "loopback", "address", "domain",
		"resolve", "auth",
		"credential", "allow", "permit", "polic", "forbid", "not found", "unknown task", "no such task", "exist", "terminal",
		"complete",
	} {
		if strings.Contains(text, word) {
			return onPolicy
		}
	}
	if strings.Trim(generic, " .,:;!-") == "" && !failure.Value.Get("data").Exists() {
		return onNothing
	}
	return onShape
}
