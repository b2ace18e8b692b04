package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/grpc"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of gRPC: of statuses, their details, and the encoding of messages.
var grpcFaults = []AgentFault{
	onGRPC(everyTask, "grpc-field", "Tasks that are read over gRPC have an unknown field, number 1007.",
		onAnswer(isGRPCTask, writes(0xfa, 0x3e, 0x03, 'o', 'w', 'n'))),
	onGRPC(everyTask, "grpc-status", "Answers and streams over gRPC end without a trailer.",
		onEachAnswer(func(c *wire.Call, out *wire.Answer) { out.Trailerless = isGRPC(c) && c.Failure == nil })),
	onGRPC(everyTask, "grpc-ended-fails", "Streams that have reported the end of their task fail with INTERNAL.",
		onEachAnswer(func(c *wire.Call, out *wire.Answer) {
			if isGRPC(c) && out.Stream {
				out.Ends = int(grpc.Internal)
			}
		})),
	onGRPC(only10, "grpc-status-map", "An unknown task is refused over gRPC with UNAVAILABLE.",
		onAnswer(func(c *wire.Call) bool { return isGRPCFailure(c) && c.Failure.Code == model.CodeTaskNotFound },
			setStatus(grpc.Unavailable))),
	onGRPC(only10, "grpc-errorinfo", "A2A errors over gRPC do not identify themselves in their details.",
		onAnswer(isGRPCFailure, editError(without("details")))),
}

func isGRPC(c *wire.Call) bool        { return c.Binding == wire.GRPC }
func isGRPCFailure(c *wire.Call) bool { return isGRPC(c) && c.Failure != nil }
func isGRPCTask(c *wire.Call) bool    { return isGRPC(c) && c.Failure == nil && c.Op == model.GetTask }

// onGRPC returns a fault that shows over gRPC alone.
func onGRPC(agents []string, slug, doc string, hooks func() wire.Hooks) AgentFault {
	f := of(agents, slug, doc, hooks)
	f.OnlyGRPC = true
	return f
}

// writes puts bytes behind a message.
func writes(more ...byte) func(*wire.Call, *wire.Answer) {
	return func(_ *wire.Call, out *wire.Answer) { out.More = more }
}

// setStatus replaces the status of an error.
func setStatus(code grpc.Code) func(*wire.Call, *wire.Answer) {
	return editError(func(o jsonvalue.Object) jsonvalue.Object {
		return o.With("code", int(code)).With("status", code.String())
	})
}

// notOverGRPC are the faults that have no form over gRPC: by the beginnings of their slugs, then by their slugs.
var (
	notOverGRPCPrefix = []string{"rpc-", "rest-", "sse-", "json-", "stream-rpc-", "timestamp-", "equiv-"}
	notOverGRPC       = strings.Fields(`
		stream-content-type stream-status-200 stream-rest-bare stream-error-last stream-method-answered-json
		nonstream-method-answered-sse

		msg-kind task-kind event-kind part-discriminator part-kind-content-match legacy-field-emitted unknown-field
		field-type field-null-required enum-name-string metadata-object result-object get-result-task
		msg-role-enum msg-parts-array msg-reference-task-ids artifact-parts-array part-object part-exactly-one part-file-xor
		part-base64 part-data-object event-final-type event-flags-type task-state-enum task-timestamp-format
		send-response-oneof send-result-type stream-response-oneof push-list-shape push-list-shape-v1 push-delete-result

		msg-parts-nonempty artifact-parts-nonempty task-state-unspecified history-zero-omitted list-artifacts-omitted
		list-next-token-present list-page-size-echo list-required-fields list-total-size task-context-id

		card-transport-conflict card-extended-cache
		ver-semantics ver-empty-means-03 ver-unsupported-error`)
)

// OverGRPC reports whether the fault shows over gRPC. Faults in JSON or its transport do not, nor do values that
// protocol buffers cannot represent, or cannot distinguish from a missing value.
func (f *AgentFault) OverGRPC() bool {
	return !slices.Contains(notOverGRPC, f.Slug) &&
		!slices.ContainsFunc(notOverGRPCPrefix, func(p string) bool { return strings.HasPrefix(f.Slug, p) })
}

// over returns the hooks of a fault for an agent that serves these bindings; they have no effect over gRPC if the fault
// has no form there. It fails if no binding shows the fault.
func (f *AgentFault) over(bindings []wire.Binding) (wire.Hooks, error) {
	serves := slices.Contains(bindings, wire.GRPC)
	switch {
	case f.OnlyGRPC && !serves:
		return wire.Hooks{}, fmt.Errorf("the fault %s is visible only over gRPC, which the agent does not serve; use --binding grpc",
			f.Slug)
	case f.OverGRPC():
		return f.hooks(), nil
	case serves && len(bindings) == 1:
		return wire.Hooks{}, errors.New("the fault " + f.Slug + " is not visible over gRPC, and the agent serves nothing else; " +
			"add another --binding")
	}
	return withoutGRPC(f.hooks()), nil
}

// withoutGRPC returns hooks that leave calls over gRPC alone.
func withoutGRPC(h wire.Hooks) wire.Hooks {
	if admit := h.Admit; admit != nil {
		h.Admit = func(c *wire.Call) *model.Failure {
			if isGRPC(c) {
				return nil
			}
			return admit(c)
		}
	}
	if refuse := h.Refuse; refuse != nil {
		h.Refuse = func(c *wire.Call, f *model.Failure) *model.Failure {
			if isGRPC(c) {
				return f
			}
			return refuse(c, f)
		}
	}
	if reply := h.Reply; reply != nil {
		h.Reply = func(c *wire.Call, r *model.Reply) {
			if !isGRPC(c) {
				reply(c, r)
			}
		}
	}
	if answer := h.Answer; answer != nil {
		h.Answer = func(c *wire.Call, out *wire.Answer) {
			if !isGRPC(c) {
				answer(c, out)
			}
		}
	}
	if events := h.Events; events != nil {
		h.Events = func(c *wire.Call) func(*wire.Frame) []*wire.Frame {
			if isGRPC(c) {
				return nil
			}
			return events(c)
		}
	}
	return h
}
