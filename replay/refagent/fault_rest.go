package refagent

import "net/http"

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
		Doc:   "A task that is asked for over HTTP+JSON comes with status 202.",
		hooks: onAnswer(both(isRESTResult, isOp(getTask)), func(_ *call, out *answer) { out.status = http.StatusAccepted }),
	},
	{
		Slug: "rest-answer-missing", agents: []string{"spec", "spec03-rest"},
		Doc:   "A task that is asked for over HTTP+JSON does not come, under status 200.",
		hooks: onAnswer(both(isRESTResult, isOp(getTask)), func(_ *call, out *answer) { out.text = []byte{} }),
	},
	{
		Slug: "rest-error-body", agents: with10,
		Doc: "HTTP+JSON errors of status 400 have no body.",
		hooks: onAnswer(isRESTFailure, func(_ *call, out *answer) {
			if out.status == http.StatusBadRequest {
				out.text = []byte{}
			}
		}),
	},
	{
		Slug: "rest-error-code-equals-status", agents: with10,
		Doc:   "The code of HTTP+JSON errors is that of JSON-RPC.",
		hooks: onAnswer(isRESTFailure, editFailure(func(c *call, e object) object { return e.with("code", c.failure.code) })),
	},
	{
		Slug: "rest-error-message", agents: with10,
		Doc:   "HTTP+JSON errors have no message.",
		hooks: onAnswer(isRESTFailure, editFailure(func(_ *call, e object) object { return e.without("message") })),
	},
	{
		Slug: "rest-error-status-name", agents: with10,
		Doc: "The status of HTTP+JSON errors is the reason phrase of HTTP.",
		hooks: onAnswer(isRESTFailure, editFailure(func(c *call, e object) object {
			return e.with("status", http.StatusText(c.failure.httpStatus()))
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
				bare = append(bare, d.(object).without("@type"))
			}
			return bare
		})),
	},
	{
		Slug: "rest-errorinfo-present", agents: with10,
		Doc:   "HTTP+JSON errors have no details.",
		hooks: onAnswer(isRESTFailure, editFailure(func(_ *call, e object) object { return e.without("details") })),
	},
	{
		Slug: "rest-error-status-map", agents: with10,
		Doc: "A task that is not found is an internal error over HTTP+JSON, by its status.",
		hooks: onAnswer(isRESTFailure, func(c *call, out *answer) {
			if c.failure.code == codeTaskNotFound {
				out.status = http.StatusInternalServerError
				editFailure(func(_ *call, e object) object { return e.with("code", out.status).with("status", "INTERNAL") })(c, out)
			}
		}),
	},
	{
		Slug: "equiv-error-same", agents: only10,
		Doc: "A task that is not found cannot be canceled, as JSON-RPC has it.",
		hooks: func() hooks {
			return hooks{refuse: func(c *call, f *failure) *failure {
				if c.op == cancelTask && c.binding == jsonRPC && f.code == codeTaskNotFound {
					return fail(codeTaskNotCancelable, f.message)
				}
				return f
			}}
		},
	},
	{
		Slug: "equiv-result-same", agents: only10,
		Doc: "HTTP+JSON tells the artifacts of a task under names that nobody gave them.",
		hooks: func() hooks {
			return hooks{reply: func(c *call, r *reply) {
				if c.op != getTask || c.binding != httpJSON {
					return
				}
				renamed := append([]artifact(nil), r.task.artifacts...)
				for i := range renamed {
					renamed[i].name = "artifact"
				}
				r.task.artifacts = renamed
			}}
		},
	},
}

func isREST(c *call) bool       { return c.binding == httpJSON }
func isRESTResult(c *call) bool { return isREST(c) && c.failure == nil }

// editFailure replaces the error object of an answer.
func editFailure(edit func(c *call, e object) object) func(*call, *answer) {
	return func(c *call, out *answer) {
		editError(func(e object) object { return edit(c, e) })(c, out)
	}
}

// editRESTDetails replaces the details of an error, if it has some.
func editRESTDetails(edit func(details []any) any) func(*call, *answer) {
	return editFailure(func(_ *call, e object) object {
		details, ok := e.get("details")
		if !ok {
			return e
		}
		return e.with("details", edit(details.([]any)))
	})
}
