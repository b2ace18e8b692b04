// Package rules is the catalogue: what a2atap checks, one rule a value, one family a file, in packages by what they are
// about. Package rule is what these share; none of them knows another.
//
// All lists the rules in reading order. Every rule is proved by annotated transcripts under testdata: one that provokes
// it and a near miss that stays silent; each lists all findings of all rules, so silence is asserted too.
package rules

//go:generate go run ./internal/gendocs

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/auth"
	"a2atap/analyzer/rules/internal/card"
	"a2atap/analyzer/rules/internal/grpc"
	"a2atap/analyzer/rules/internal/object"
	"a2atap/analyzer/rules/internal/push"
	"a2atap/analyzer/rules/internal/rest"
	"a2atap/analyzer/rules/internal/rpc"
	"a2atap/analyzer/rules/internal/stream"
	"a2atap/analyzer/rules/internal/task"
	"a2atap/analyzer/rules/internal/version"
	"a2atap/analyzer/rules/internal/wire"
	"a2atap/analyzer/rules/internal/workflow"
)

// All is the catalogue, in reading order.
var All = slices.Concat(
	wire.Transport,
	wire.HTTP,
	wire.JSON,
	rpc.Requests,
	rpc.Methods,
	rpc.Responses,
	rpc.Errors,
	rpc.ErrorCodes,
	rpc.ErrorInfo,
	rpc.Batch,
	rest.Calls,
	grpc.Calls,
	object.Messages,
	object.Mentions,
	object.Parts,
	object.Files,
	object.Artifacts,
	object.Tasks,
	object.Timestamps,
	object.Updates,
	object.Results,
	object.Fields,
	rest.Query,
	rest.Errors,
	rest.ErrorObjects,
	grpc.Statuses,
	wire.Equivalence,
	wire.Refusals,
	task.Requests,
	push.Registration,
	card.Interfaces,
	task.References,
	task.Identity,
	task.Contexts,
	task.Lifecycle,
	task.Finished,
	task.Cancel,
	task.Outcomes,
	wire.Unanswered,
	stream.Streams,
	stream.Endings,
	stream.Chunks,
	stream.Parallel,
	stream.Events,
	task.History,
	task.List,
	task.Filter,
	push.Push,
	push.Configs,
	push.Webhooks,
	push.Deliveries,
	workflow.Workflows,
	version.Dialects,
	version.Legacy,
	auth.Credentials,
	auth.Tasks,
	card.Capabilities,
	version.Extensions,
	version.Versions,
	card.Cards,
	card.CardURLs,
	card.Rewriting,
	card.Skills,
	card.Schemes,
	card.OAuth,
	card.Caches,
	card.Signatures,
	card.ExtendedCards,
)

// ByID returns the rule of that id, or nil.
func ByID(id string) *analysis.Rule {
	for _, r := range All {
		if r.ID == id {
			return r
		}
	}
	return nil
}
