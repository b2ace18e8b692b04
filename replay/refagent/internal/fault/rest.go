package fault

import (
	"net/http"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of answers over HTTP+JSON.
var restFaults = []Fault{
	{
		Slug: "rest-response-content-type", agents: []string{"spec03-rest"},
		Doc:   "HTTP+JSON answers are sent as text/plain.",
		hooks: onAnswer(isREST, asPlainText),
	},
	{
		Slug: "rest-content-type-v1", agents: with10,
		Doc:   "HTTP+JSON answers are sent as text/plain.",
		hooks: onAnswer(isREST, asPlainText),
	},
	{
		Slug: "rest-success-status", agents: only10,
		Doc: "A task that is asked for over HTTP+JSON comes with status 202.",
		hooks: onAnswer(both(isRESTResult, isOp(model.GetTask)),
			func(_ *wire.Call, out *wire.Answer) { out.Status = http.StatusAccepted }),
	},
	{
		Slug: "rest-answer-missing", agents: []string{"spec", "spec03-rest"},
		Doc: "A task that is asked for over HTTP+JSON does not come, under status 200.",
		hooks: onAnswer(both(isRESTResult, isOp(model.GetTask)),
			func(_ *wire.Call, out *wire.Answer) { out.Text = []byte{} }),
	},
	{
		Slug: "rest-error-body", agents: with10,
		Doc: "HTTP+JSON errors of status 400 have no body.",
		hooks: onAnswer(isRESTFailure, func(_ *wire.Call, out *wire.Answer) {
			if out.Status == http.StatusBadRequest {
				out.Text = []byte{}
			}
		}),
	},
	{
		Slug: "rest-error-code-equals-status", agents: with10,
		Doc: "The code of HTTP+JSON errors is that of JSON-RPC.",
		hooks: onAnswer(isRESTFailure,
			editFailure(func(c *wire.Call, e jsonvalue.Object) jsonvalue.Object { return e.With("code", c.Failure.Code) })),
	},
	{
		Slug: "rest-error-message", agents: with10,
		Doc: "HTTP+JSON errors have no message.",
		hooks: onAnswer(isRESTFailure,
			editFailure(func(_ *wire.Call, e jsonvalue.Object) jsonvalue.Object { return e.Without("message") })),
	},
	{
		Slug: "rest-error-status-name", agents: with10,
		Doc: "The status of HTTP+JSON errors is the reason phrase of HTTP.",
		hooks: onAnswer(isRESTFailure, editFailure(func(c *wire.Call, e jsonvalue.Object) jsonvalue.Object {
			return e.With("status", http.StatusText(c.Failure.HttpStatus()))
		})),
	},
	{
		Slug: "rest-error-details-array", agents: with10,
		Doc: "The details of HTTP+JSON errors are the first of them alone.",
		hooks: onAnswer(isRESTFailure, editRESTDetails(func(details []any) any {
			return details[0]
		})),
	},
	{
		Slug: "rest-error-details-type", agents: with10,
		Doc: "The details of HTTP+JSON errors do not say of which type they are.",
		hooks: onAnswer(isRESTFailure, editRESTDetails(func(details []any) any {
			var bare []any
			for _, d := range details {
				bare = append(bare, d.(jsonvalue.Object).Without("@type"))
			}
			return bare
		})),
	},
	{
		Slug: "rest-errorinfo-present", agents: with10,
		Doc: "HTTP+JSON errors have no details.",
		hooks: onAnswer(isRESTFailure,
			editFailure(func(_ *wire.Call, e jsonvalue.Object) jsonvalue.Object { return e.Without("details") })),
	},
	{
		Slug: "rest-error-status-map", agents: with10,
		Doc: "A task that is not found is an internal error over HTTP+JSON, by its status.",
		hooks: onAnswer(isRESTFailure, func(c *wire.Call, out *wire.Answer) {
			if c.Failure.Code == model.CodeTaskNotFound {
				out.Status = http.StatusInternalServerError
				editFailure(func(_ *wire.Call, e jsonvalue.Object) jsonvalue.Object {
					return e.With("code", out.Status).With("status", "INTERNAL")
				})(c, out)
			}
		}),
	},
	{
		Slug: "equiv-error-same", agents: only10,
		Doc: "A task that is not found cannot be canceled, as JSON-RPC has it.",
		hooks: func() wire.Hooks {
			return wire.Hooks{Refuse: func(c *wire.Call, f *model.Failure) *model.Failure {
				if c.Op == model.CancelTask && c.Binding == wire.JSONRPC && f.Code == model.CodeTaskNotFound {
					return model.Fail(model.CodeTaskNotCancelable, f.Message)
				}
				return f
			}}
		},
	},
	{
		Slug: "equiv-result-same", agents: only10,
		Doc: "HTTP+JSON tells the artifacts of a task under names that nobody gave them.",
		hooks: func() wire.Hooks {
			return wire.Hooks{Reply: func(c *wire.Call, r *model.Reply) {
				if c.Op != model.GetTask || c.Binding != wire.HTTPJSON {
					return
				}
				renamed := append([]model.Artifact(nil), r.Task.Artifacts...)
				for i := range renamed {
					renamed[i].Name = "artifact"
				}
				r.Task.Artifacts = renamed
			}}
		},
	},
}

func isREST(c *wire.Call) bool       { return c.Binding == wire.HTTPJSON }
func isRESTResult(c *wire.Call) bool { return isREST(c) && c.Failure == nil }

// editFailure replaces the error object of an answer.
func editFailure(edit func(c *wire.Call, e jsonvalue.Object) jsonvalue.Object) func(*wire.Call, *wire.Answer) {
	return func(c *wire.Call, out *wire.Answer) {
		editError(func(e jsonvalue.Object) jsonvalue.Object { return edit(c, e) })(c, out)
	}
}

// editRESTDetails replaces the details of an error, if it has some.
func editRESTDetails(edit func(details []any) any) func(*wire.Call, *wire.Answer) {
	return editFailure(func(_ *wire.Call, e jsonvalue.Object) jsonvalue.Object {
		details, ok := e.Get("details")
		if !ok {
			return e
		}
		return e.With("details", edit(details.([]any)))
	})
}
