package fault

import (
	"net/http"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of answers over HTTP+JSON.
var restFaults = []AgentFault{
	of(rest03, "rest-response-content-type", "HTTP+JSON answers are sent as text/plain.",
		onAnswer(isREST, asPlainText)),
	of(with10, "rest-content-type-v1", "HTTP+JSON answers are sent as text/plain.", onAnswer(isREST, asPlainText)),
	of(only10, "rest-success-status", "A task that is requested over HTTP+JSON is returned with status 202.",
		onAnswer(both(isRESTResult, calls(model.GetTask)),
			func(_ *wire.Call, out *wire.Answer) { out.Status = http.StatusAccepted })),
	of([]string{"spec", "spec03-rest", "spec03-proto"}, "rest-answer-missing",
		"The answer to a request for a task over HTTP+JSON has no body, with status 200.",
		onAnswer(both(isRESTResult, calls(model.GetTask)),
			func(_ *wire.Call, out *wire.Answer) { out.Text = []byte{} })),
	of(with10, "rest-error-body", "HTTP+JSON errors of status 400 have no body.",
		onAnswer(isRESTFailure, func(_ *wire.Call, out *wire.Answer) {
			if out.Status == http.StatusBadRequest {
				out.Text = []byte{}
			}
		})),
	of(with10, "rest-error-code-equals-status", "The code of HTTP+JSON errors is the JSON-RPC code.",
		onAnswer(isRESTFailure,
			editFailure(func(c *wire.Call, e jsonvalue.Object) jsonvalue.Object { return e.With("code", c.Failure.Code) }))),
	of(with10, "rest-error-message", "HTTP+JSON errors have no message.",
		onAnswer(isRESTFailure, editError(without("message")))),
	of(with10, "rest-error-status-name", "The status of HTTP+JSON errors is the reason phrase of HTTP.",
		onAnswer(isRESTFailure, editFailure(func(c *wire.Call, e jsonvalue.Object) jsonvalue.Object {
			return e.With("status", http.StatusText(c.Failure.HttpStatus()))
		}))),
	of(with10, "rest-error-details-array", "The details of HTTP+JSON errors are a single object.",
		onAnswer(isRESTFailure, editDetails("details", func(details []any) any { return details[0] }))),
	of(with10, "rest-error-details-type", "The details of HTTP+JSON errors have no @type.",
		onAnswer(isRESTFailure, editDetails("details", untyped))),
	of(with10, "rest-errorinfo-present", "HTTP+JSON errors have no details.",
		onAnswer(isRESTFailure, editError(without("details")))),
	of(with10, "rest-error-status-map", "An unknown task is refused over HTTP+JSON with the status of an internal error.",
		onAnswer(isRESTFailure, func(c *wire.Call, out *wire.Answer) {
			if c.Failure.Code == model.CodeTaskNotFound {
				out.Status = http.StatusInternalServerError
				editError(func(e jsonvalue.Object) jsonvalue.Object {
					return e.With("code", out.Status).With("status", "INTERNAL")
				})(c, out)
			}
		})),
	of(only10, "equiv-error-same", "Over JSON-RPC, the cancellation of an unknown task is refused as not cancelable.",
		refuseAs(both(isRPC, calls(model.CancelTask)), model.CodeTaskNotFound, model.CodeTaskNotCancelable),
		"error-not-found-code"),
	of(only10, "equiv-result-same", "Over HTTP+JSON, the artifacts of a task have other names.",
		onReply(func(c *wire.Call, r *model.Reply) {
			if c.Op != model.GetTask || c.Binding != wire.HTTPJSON {
				return
			}
			renamed := append([]model.Artifact(nil), r.Task.Artifacts...)
			for i := range renamed {
				renamed[i].Name = "artifact"
			}
			r.Task.Artifacts = renamed
		})),
}

func isREST(c *wire.Call) bool       { return c.Binding == wire.HTTPJSON }
func isRESTResult(c *wire.Call) bool { return isREST(c) && c.Failure == nil }

// editFailure replaces the error object of an answer.
func editFailure(edit func(c *wire.Call, e jsonvalue.Object) jsonvalue.Object) func(*wire.Call, *wire.Answer) {
	return func(c *wire.Call, out *wire.Answer) {
		editError(func(e jsonvalue.Object) jsonvalue.Object { return edit(c, e) })(c, out)
	}
}
