package acceptance

import (
	"cmp"
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

// A place is where a scenario stands in the suite: which agent it is for, over what, in which group. A scenario with a
// row is a test of the base suite, and makes a cell for each of the protocols.
type place struct {
	id, agent string
	over      []client.Protocol
	group     string
	row       string   // the id in the list of the 31 tests; empty for a test that is not a cell
	more      []string // tags
}

// places are those of all scenarios, in their order.
var places = []place{
	{"agent-card-echo", echoAgent, both10, groupDiscovery, "S3-1", nil},
	{"agent-card-spec", specAgent, both10, groupDiscovery, "S3-2", nil},
	{"echo-send-message", echoAgent, both10, groupEcho, "S3-3", []string{"echo-simple-message"}},
	{"spec-message-only", specAgent, both10, groupSpec, "S3-4", nil},
	{"spec-task-lifecycle", specAgent, both10, groupSpec, "S3-5", nil},
	{"spec-get-task", specAgent, both10, groupSpec, "S3-6", []string{"get-task-history-length"}},
	{"spec-task-failure", specAgent, both10, groupSpec, "S3-7", nil},
	{"spec-data-types", specAgent, both10, groupSpec, "S3-8", nil},
	{"error-task-not-found", specAgent, both10, groupErrors, "S3-15", nil},
	{"error-cancel-not-found", specAgent, both10, groupErrors, "S3-16", nil},
	{"error-cancel-terminal", specAgent, both10, groupErrors, "S3-17", []string{"error-cancel-completed-task"}},
	{"error-send-terminal", specAgent, both10, groupErrors, "S3-18", nil},
	{"error-send-invalid-task", specAgent, both10, groupErrors, "S3-19", nil},
	{"error-push-not-supported", specAgent, both10, groupErrors, "S3-20", nil},
	{"error-subscribe-not-found", specAgent, both10, groupErrors, "S3-21", nil},
	{"spec-streaming", specAgent, both10, groupSpec, "S3-9", nil},
	{"subscribe-to-task", specAgent, both10, groupStreaming, "S3-22", []string{"K7"}},
	{"stream-message-only", specAgent, both10, groupStreaming, "S3-23", nil},
	{"stream-task-lifecycle", specAgent, both10, groupStreaming, "S3-24", nil},
	{"spec-multi-turn", specAgent, both10, groupSpec, "S3-10", []string{groupTurns}},
	{"spec-task-cancel", specAgent, both10, groupSpec, "S3-11", nil},
	{"spec-cancel-with-metadata", specAgent, both10, groupSpec, "S3-12", nil},
	{"spec-list-tasks", specAgent, both10, groupSpec, "S3-13", nil},
	{"spec-return-immediately", specAgent, both10, groupSpec, "S3-14", nil},
	{"multi-turn-context-preserved", specAgent, both10, groupTurns, "S3-25", nil},
	{"get-task-with-history", specAgent, both10, groupGetTask, "S3-26", nil},
	{"get-task-after-failure", specAgent, both10, groupGetTask, "S3-27", nil},
	{"spec03-agent-card", spec03Agent, jsonRPC03, group03, "S3-28", []string{groupDiscovery}},
	{"spec03-send-message", spec03Agent, jsonRPC03, group03, "S3-29", []string{"v03-echo-message"}},
	{"spec03-task-lifecycle", spec03Agent, jsonRPC03, group03, "S3-30", []string{"v03-task-lifecycle"}},
	{"spec03-streaming", spec03Agent, jsonRPC03, group03, "S3-31", []string{groupStreaming}},
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

// tags are those of a place.
func (p *place) tags() []string {
	kind := []string{"acceptance", "cell", p.group, p.row, "S3-0", "S3-G"}
	switch {
	case p.row == "":
		kind = []string{"acceptance", "extra", p.group}
	case len(p.over) == 1:
		kind = []string{"acceptance", "cell", p.group, p.row, "S3-G"}
	}
	return slices.Concat(kind, p.more)
}

// placed gives each scenario its place, and the level Must where it has no other.
func placed(list []*probe.Scenario) []*probe.Scenario {
	for i, s := range list {
		p := &places[i]
		if p.id != s.ID {
			panic(fmt.Sprintf("acceptance: scenario %s stands in the place of %s", s.ID, p.id))
		}
		s.Agent, s.Category, s.Protocols, s.Tags = p.agent, category(p.group), p.over, p.tags()
		s.Level = cmp.Or(s.Level, analysis.Must)
	}
	return list
}
