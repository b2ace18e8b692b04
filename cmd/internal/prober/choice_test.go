package prober

import (
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/must"
	"a2atap/replay/probe/scenarios"
)

// S3-G: the names of groups and agents of the acceptance suite, and the tags of its tests, choose tests.
func TestTagsOfTheAcceptanceSuite(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"Discovery": "agent-card-echo", "Echo Agent": "echo-send-message", "Spec Agent": "spec-data-types",
		"Error Handling": "error-send-terminal", "Streaming": "subscribe-to-task",
		"Multi-Turn": "multi-turn-context-preserved", "GetTask": "get-task-after-failure",
		"v0.3 Backward Compatibility": "spec03-send-message",
		"Echo":                        "echo-send-message", "Spec": "spec-list-tasks", "Spec (v0.3)": "spec03-streaming",
		"discovery": "spec03-agent-card", "agent-card": "agent-card-spec", "v1.0": "spec-task-lifecycle",
		"echo": "agent-card-echo", "message": "echo-send-message", "spec": "spec-streaming",
		"message-only": "stream-message-only", "task-lifecycle": "spec03-task-lifecycle", "get-task": "spec-get-task",
		"history": "get-task-with-history", "task-failure": "spec-task-failure", "error": "error-cancel-not-found",
		"data-types": "spec-data-types", "parts": "spec-data-types", "streaming": "spec-streaming",
		"sse": "stream-task-lifecycle", "multi-turn": "spec-multi-turn", "input-required": "spec-multi-turn",
		"task-cancel": "spec-task-cancel", "cancel": "error-cancel-terminal", "list-tasks": "spec-list-tasks",
		"return-immediately": "spec-return-immediately", "polling": "spec-return-immediately",
		"task-not-found": "error-task-not-found", "not-found": "error-subscribe-not-found",
		"terminal": "error-send-terminal", "send": "error-send-invalid-task", "invalid-task": "error-send-invalid-task",
		"push": "error-push-not-supported", "not-supported": "error-push-not-supported",
		"subscribe": "subscribe-to-task", "context": "multi-turn-context-preserved", "failure": "get-task-after-failure",
		"v0.3": "spec03-agent-card", "backward-compat": "spec03-agent-card", "send-message": "spec03-send-message",
		"fallback": "spec03-streaming",
	} {
		c := choice{suite: scenarios.AcceptanceSuite, only: []string{word}}
		var ids []string
		for _, s := range must.Get(c.scenarios())(t) {
			ids = append(ids, s.ID)
		}
		if !slices.Contains(ids, want) {
			t.Errorf("%q chooses %q, and not %s", word, ids, want)
		}
	}
	c := choice{only: []string{"fallback"}}
	if _, err := c.scenarios(); err == nil || !strings.Contains(err.Error(), "--suite agentbin") {
		t.Errorf("a tag of another suite: %v", err)
	}
}
