package acceptance

import (
	"cmp"
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

// A place is the position of a scenario in the suite: its agent, its protocols, its group. A scenario with a row is a
// test of the base suite, and has a cell for each of the protocols.
type place struct {
	id, agent string
	over      []client.Protocol
	group     string
	row       string   // the id in the list of the 31 tests; empty for a test that is not a cell
	more      []string // tags
}

// places are the places of all scenarios, in order.
var places = []place{
	{"agent-card-echo", echoAgent, both10, groupDiscovery, "S3-1", []string{"agent-card", "v1.0"}},
	{"agent-card-spec", specAgent, both10, groupDiscovery, "S3-2", []string{"agent-card", "v1.0"}},
	{"echo-send-message", echoAgent, both10, groupEcho, "S3-3", []string{"echo-simple-message", "echo", "message", "v1.0"}},
	{"spec-message-only", specAgent, both10, groupSpec, "S3-4", []string{"spec", "message-only", "v1.0"}},
	{"spec-task-lifecycle", specAgent, both10, groupSpec, "S3-5", []string{"spec", "task-lifecycle", "v1.0"}},
	{"spec-get-task", specAgent, both10, groupSpec, "S3-6", []string{"get-task-history-length", "get-task", "history", "v1.0"}},
	{"spec-task-failure", specAgent, both10, groupSpec, "S3-7", []string{"spec", "task-failure", "error", "v1.0"}},
	{"spec-data-types", specAgent, both10, groupSpec, "S3-8", []string{"spec", "data-types", "parts", "v1.0"}},
	{"error-task-not-found", specAgent, both10, groupErrors, "S3-15", []string{"error", "task-not-found", "v1.0"}},
	{"error-cancel-not-found", specAgent, both10, groupErrors, "S3-16", []string{"error", "cancel", "not-found"}},
	{"error-cancel-terminal", specAgent, both10, groupErrors, "S3-17", []string{"error-cancel-completed-task", "error", "cancel", "terminal"}},
	{"error-send-terminal", specAgent, both10, groupErrors, "S3-18", []string{"error", "send", "terminal"}},
	{"error-send-invalid-task", specAgent, both10, groupErrors, "S3-19", []string{"error", "send", "invalid-task"}},
	{"error-push-not-supported", specAgent, both10, groupErrors, "S3-20", []string{"error", "push", "not-supported"}},
	{"error-subscribe-not-found", specAgent, both10, groupErrors, "S3-21", []string{"error", "subscribe", "not-found"}},
	{"spec-streaming", specAgent, both10, groupSpec, "S3-9", []string{"spec", "streaming", "sse", "v1.0"}},
	{"subscribe-to-task", specAgent, both10, groupStreaming, "S3-22", []string{"K7", "subscribe", "sse"}},
	{"stream-message-only", specAgent, both10, groupStreaming, "S3-23", []string{"message-only"}},
	{"stream-task-lifecycle", specAgent, both10, groupStreaming, "S3-24", []string{"task-lifecycle", "sse"}},
	{"spec-multi-turn", specAgent, both10, groupSpec, "S3-10", []string{groupTurns, "spec", "input-required", "v1.0"}},
	{"spec-task-cancel", specAgent, both10, groupSpec, "S3-11", []string{"spec", "task-cancel", "cancel", "v1.0"}},
	{"spec-cancel-with-metadata", specAgent, both10, groupSpec, "S3-12", []string{"spec", "task-cancel", "cancel", "v1.0"}},
	{"spec-list-tasks", specAgent, both10, groupSpec, "S3-13", []string{"spec", "list-tasks", "v1.0"}},
	{"spec-return-immediately", specAgent, both10, groupSpec, "S3-14", []string{"spec", "return-immediately", "polling", "v1.0"}},
	{"multi-turn-context-preserved", specAgent, both10, groupTurns, "S3-25", []string{"context"}},
	{"get-task-with-history", specAgent, both10, groupGetTask, "S3-26", []string{"history"}},
	{"get-task-after-failure", specAgent, both10, groupGetTask, "S3-27", []string{"failure"}},
	{"spec03-agent-card", spec03Agent, jsonRPC03, group03, "S3-28", []string{groupDiscovery, "v0.3", "backward-compat"}},
	{"spec03-send-message", spec03Agent, jsonRPC03, group03, "S3-29", []string{"v03-echo-message", "v0.3", "send-message", "fallback"}},
	{"spec03-task-lifecycle", spec03Agent, jsonRPC03, group03, "S3-30", []string{"v03-task-lifecycle", "v0.3", "task-lifecycle", "fallback"}},
	{"spec03-streaming", spec03Agent, jsonRPC03, group03, "S3-31", []string{groupStreaming, "v0.3", "sse", "fallback"}},
	{"spec03-streaming-final", spec03Agent, jsonRPC03, group03, "", []string{groupStreaming}},
	{"v03-task-failure", spec03Agent, jsonRPC03, group03, "", nil},
	{"v03-get-task", spec03Agent, jsonRPC03, group03, "", []string{groupGetTask}},
	{"spec-extended-card", specAgent, both10, groupDiscovery, "", nil},
	{"subscribe-after-stream-disconnect", specAgent, both10, groupStreaming, "", nil},
	{"subscribe-terminal", specAgent, both10, groupStreaming, "", []string{groupErrors, "K7"}},
	{"error-cancel-terminal-code", specAgent, both10, groupErrors, "", nil},
	{"error-send-terminal-code", specAgent, both10, groupErrors, "", nil},
	{"spec-task-lifecycle-return-immediately", specAgent, both10, groupSpec, "", nil},
	{"error-method-not-found", specAgent, jsonRPC10, groupErrors, "", nil},
	{"error-invalid-json", specAgent, jsonRPC10, groupErrors, "", nil},
	{"spec-help", specAgent, jsonRPC10, groupSpec, "", nil},
	{"spec-long-running", specAgent, jsonRPC10, groupSpec, "", nil},
	{"wire-format-camelcase", specAgent, both10, groupWire, "", nil},
	{"wire-format-enum-values", specAgent, both10, groupWire, "", nil},
	{"wire-format-default-values-omitted", echoAgent, both10, groupWire, "", []string{groupEcho}},
}

// labels are the suite's names of the agents.
var labels = map[string]string{echoAgent: "Echo", specAgent: "Spec", spec03Agent: "Spec (v0.3)"}

// groupLabels are the suite's names of groups that differ from their tags.
var groupLabels = map[string]string{groupGetTask: "GetTask", group03: "v0.3 Backward Compatibility"}

// tags returns the tags of a place.
func (p *place) tags() []string {
	kind := []string{"acceptance", "cell", p.group, p.row, "S3-0", "S3-G"}
	switch {
	case p.row == "":
		kind = []string{"acceptance", "extra", p.group}
	case len(p.over) == 1:
		kind = []string{"acceptance", "cell", p.group, p.row, "S3-G"}
	}
	if p.row != "" {
		kind = append(kind, labels[p.agent])
		if label := groupLabels[p.group]; label != "" {
			kind = append(kind, label)
		}
	}
	return slices.Concat(kind, p.more)
}

// placed gives each scenario its place, and the level Must by default.
func placed(list []*probe.Scenario) []*probe.Scenario {
	for i, s := range list {
		p := &places[i]
		if p.id != s.ID {
			panic(fmt.Sprintf("acceptance: scenario %s replaces %s", s.ID, p.id))
		}
		s.Agent, s.Category, s.Protocols, s.Tags = p.agent, category(p.group), p.over, p.tags()
		s.Level = cmp.Or(s.Level, analysis.Must)
	}
	return list
}
