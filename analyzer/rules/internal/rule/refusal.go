package rule

import (
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/card"
	"a2atap/analyzer/track/reach"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// OtherCause reports whether the error of a refused call may have a cause other than the one that a rule is about. If
// several causes apply at once, the specification defines no order of checks.
func OtherCause(p *analysis.Pass) bool {
	x := p.Exchange
	switch x.Response.Status {
	case 401, 403, 407, 408, 413, 415, 429, 502, 503, 504:
		return true
	}
	switch p.Answer.Err.Name {
	case a2a.TaskNotFound:
		return isAboutTask(x)
	case a2a.TaskNotCancelable:
		return x.Call.Operation == a2a.CancelTask
	case a2a.PushNotSupported:
		return x.Call.Operation.Push() || x.Call.PushConfig.Exists()
	case a2a.UnsupportedOperation: // ended tasks, streaming, the extended card
		return isAboutTask(x) || x.Call.Operation.Streams() || x.Call.Operation == a2a.GetExtendedCard
	case a2a.ExtendedCardNotConfigured:
		return x.Call.Operation == a2a.GetExtendedCard
	case a2a.ParseError:
		return x.Call.Doc.Err != nil
	case a2a.InvalidParams, a2a.InvalidRequest:
		return !isPlain(x)
	case a2a.MethodNotFound, a2a.InternalError:
		return false
	}
	return true
}

// isAboutTask reports whether a call is about a task that the agent may lack, or that may have ended.
func isAboutTask(x *analysis.Exchange) bool {
	return x.Call.TaskID != "" || x.Call.Message.Get("referenceTaskIds").Len() > 0
}

// isPlain reports whether a request has nothing that an agent could object to: a complete message without conditions,
// or no parameters at all.
func isPlain(x *analysis.Exchange) bool {
	if x.Call.Operation == a2a.GetExtendedCard {
		return x.Call.Params.Len() == 0
	}
	message := a2a.Message{Value: x.Call.Message}
	if !x.Call.Operation.Sends() || x.Call.Params.Len() != 1 || isAboutTask(x) || x.Call.ContextID != "" ||
		x.Call.Doc.Err != nil {
		return false
	}
	if message.ID() == "" || message.Role() != a2a.UserRole || message.Parts().Len() == 0 {
		return false
	}
	for _, part := range message.Parts().All() {
		if part.PartKind() == a2a.UnknownPart {
			return false
		}
	}
	return true
}

// CallSucceeded reports whether the call succeeded, as far as the first part of its answer shows.
func CallSucceeded(p *analysis.Pass) bool {
	if p.Answer == nil || p.Answer.Err != nil || !Succeeded(p.Exchange.Response.Status) {
		return false
	}
	switch p.Answer.Payload.Kind {
	case a2a.NoPayload, a2a.NullPayload, a2a.UnknownPayload, a2a.ErrorPayload:
		return false
	}
	return true
}

// RefusedBy reports whether an answer refuses a call by an HTTP status, or over gRPC by the equivalent code. It returns
// the place of the status, and its text.
func RefusedBy(x *analysis.Exchange, status int, code grpc.Code) (at analysis.Place, text string, ok bool) {
	if x.Call.Binding != a2a.GRPC {
		return x.ResponsePlace().Status(), "status " + strconv.Itoa(status), x.Response.Status == status
	}
	came, _ := x.GRPCStatus()
	return x.GRPCPlace(grpc.StatusField), "status " + code.String(), came.Code == code
}

// AuthStatus returns the status that refuses a request without credentials, of HTTP or of gRPC.
func AuthStatus(x *analysis.Exchange) string {
	if x.Call.Binding == a2a.GRPC {
		return grpc.Unauthenticated.String()
	}
	return "401"
}

// NoRoute reports whether an agent denies having a path, as opposed to the resource that the path names.
func NoRoute(p *analysis.Pass) bool { return reach.NoRoute(p.Observation) }

// LacksOperation reports whether an agent denies having a call's operation: by the code for an unknown method; without
// such a code, by UNIMPLEMENTED over gRPC, and over HTTP+JSON by a status for the path of an interface at which other
// calls succeed. Since the resource in the path may also be missing, a 404 counts only if the operation creates, lists
// or sends, and if its text is not about a task or a config. If the card does not tell 0.1 from later versions, the
// code counts only in a version in which calls succeeded.
func LacksOperation(p *analysis.Pass) bool {
	x, failure := p.Exchange, p.Answer.Err
	switch {
	case failure == nil, x.Response.Status == 401, x.Response.Status == 403:
		return false
	case failure.Name == a2a.MethodNotFound:
		return !mayHaveOtherVersion(x)
	case x.Call.Binding == a2a.GRPC:
		return failure.GRPCStatus == grpc.Unimplemented.String() && !failure.Name.A2A()
	}
	return failure.Name == a2a.NoErrorName && lacksRoute(p)
}

// mayHaveOtherVersion reports whether the agent may not know the version of a call: cards do not distinguish 0.1 from
// later versions, and neither do the successful calls. The caller checks for the form from before 0.1.
func mayHaveOtherVersion(x *analysis.Exchange) bool {
	declared, answered := x.Endpoint.Declared&^a2a.Of(a2a.V1_0), x.Endpoint.Answered&^a2a.Of(a2a.V1_0)
	return !x.Call.Early && !x.Call.Dialects.Has(a2a.V1_0) && declared.Has(a2a.V0_1) && declared != a2a.Of(a2a.V0_1) &&
		(answered.Empty() || answered.Intersect(x.Call.Dialects) != answered)
}

func lacksRoute(p *analysis.Pass) bool {
	x := p.Exchange
	route, ok := strings.CutPrefix(x.Path, x.Call.Prefix+routes(x))
	if x.Call.Binding != a2a.HTTPJSON || x.Call.Tenant != "" || !ok || x.Endpoint.Answered.Empty() {
		return false
	}
	named := false // something that may be missing
	switch x.Call.Operation {
	case a2a.SendStreamingMessage:
		ok = route == "message:stream"
	case a2a.GetExtendedCard:
		ok = route == "extendedAgentCard" || route == "card" && !x.Dialects.Has(a2a.V1_0)
	case a2a.CreatePushConfig, a2a.ListPushConfigs:
		ok = strings.HasPrefix(route, "tasks/") && strings.HasSuffix(route, "/pushNotificationConfigs")
	case a2a.GetPushConfig, a2a.DeletePushConfig:
		ok, named = strings.HasPrefix(route, "tasks/"), true
	default:
		return false
	}
	switch x.Response.Status {
	case 404:
		return ok && !named && (x.Call.Operation.Streams() || NoRoute(p))
	case 405, 501:
		return ok
	}
	return false
}

// routes returns the common prefix of all routes' paths in the version of a call over HTTP+JSON.
func routes(x *analysis.Exchange) string {
	if x.Dialects == a2a.Of(a2a.V1_0) {
		return "/"
	}
	return "/v1/"
}

// CodeRules are less specific about a wrong code than the rules that know the right one.
var CodeRules = []string{
	"rpc-error-code-reserved", "rpc-error-code-a2a-range", "rpc-error-code-dialect", "rpc-parse-error-unfounded",
	"rpc-invalid-request-unfounded",
	"rpc-errorinfo-reason", "error-internal-for-named-case",
}

// SpeaksOfState reports whether an error's text gives the state of the task as its reason.
func SpeaksOfState(message string) bool {
	message = strings.ToLower(message)
	for _, word := range [...]string{
		"terminal", "state", "complete", "finished", "ended", "closed", "done", "cancel",
		"failed", "rejected",
	} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// SpeaksOfTask reports whether an error's text is about a task or a config, and does not just repeat the requested
// path, as frameworks do for a missing route.
func SpeaksOfTask(v a2a.Value, path string) bool { return reach.SpeaksOfTask(v, path) }

// SaysUnsupported reports whether an error means that the agent does not support the request: by its code, or by its
// message.
func SaysUnsupported(failure *a2a.Error) bool {
	if failure == nil {
		return false
	}
	switch failure.Name {
	case a2a.UnsupportedOperation, a2a.PushNotSupported, a2a.StreamingNotSupported, a2a.ExtendedCardNotConfigured,
		a2a.MethodNotFound:
		return true
	}
	text := strings.ToLower(failure.Message)
	for _, words := range [...]string{
		"not support", "unsupported", "n't support", "no support", "not implement",
		"unimplemented",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// Undeclared returns the capability that the current call needs and that no card of the agent declares, or "" if it
// needs none, if a card declares it, or if no card was seen before the call began. If an unseen extended card may
// declare the capability, the answer must also deny it.
func Undeclared(p *analysis.Pass) string {
	var name string
	var ability card.Abilities
	switch op := p.Exchange.Call.Operation; {
	case op.Streams():
		name, ability = "streaming", card.CanStream
	case op.Push():
		name, ability = "pushNotifications", card.CanPush
	case op == a2a.GetExtendedCard:
		name, ability = "extendedAgentCard", card.HasExtendedCard
	default:
		return ""
	}
	quiet, more := card.Of(p).Denying(p.Exchange, ability)
	if quiet == nil || more && (p.Answer == nil || !SaysUnsupported(p.Answer.Err)) {
		return ""
	}
	return name
}
