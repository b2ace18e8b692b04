package report_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestJSON(t *testing.T) {
	result := small(t)
	text := golden(t, "calls.json", func(w io.Writer) error {
		return report.JSON(w, whole(result))
	})
	var doc map[string]any
	must.Do(t, json.Unmarshal([]byte(text), &doc))
	members(t, "document", doc, "tool", "captures", "exchanges", "findings", "coverage", "calls", "verdict", "reports")
	members(t, "tool", doc["tool"], "name", "version")
	members(t, "verdict", doc["verdict"], "status", "error", "warning", "note", "baselined", "exchanges", "judged", "lost",
		"calls", "callsFailed", "failures", "failedCalls", "notSeen", "tasks", "tasksFailed", "failedTasks", "statements", "exit")
	for _, f := range doc["findings"].([]any) {
		members(t, "finding", f, "rule", "level", "severity", "side", "dialect", "binding", "link", "capture", "exchange",
			"exchangeId",
			"place", "program", "seen", "expected", "message", "sections", "also", "fingerprint")
		finding := f.(map[string]any)
		oneOf(t, finding, "level", "MUST", "SHOULD", "MAY", "ADVICE")
		oneOf(t, finding, "severity", "error", "warning", "note")
		oneOf(t, finding, "side", "client", "agent", "receiver")
		oneOf(t, finding, "dialect", "0.1", "0.2", "0.3", "0.2/0.3", "1.0")
		oneOf(t, finding, "binding", "jsonrpc", "http+json", "http")
		if link := finding["link"].(string); !strings.Contains(link, "->") {
			t.Errorf("link is %q, want client->agent", link)
		}
	}
	for _, c := range doc["coverage"].([]any) {
		members(t, "coverage", c, "rule", "link", "applied", "broken")
	}
	for _, r := range doc["reports"].([]any) {
		members(t, "report", r, "agentUrl", "agentName", "agentVersion", "testDate", "summary", "categories",
			"conformanceLevel", "levelReason")
		one := r.(map[string]any)
		members(t, "summary", one["summary"], "total", "passed", "failed", "skipped", "rules")
		members(t, "categories", one["categories"], "agentCard", "lifecycle", "streaming", "errorHandling", "interop")
		for _, list := range one["categories"].(map[string]any) {
			for _, result := range list.([]any) {
				oneOf(t, result.(map[string]any), "status", "pass", "fail", "skip")
			}
		}
	}
}

// Nothing found is empty lists, not null.
func TestJSONOfNothing(t *testing.T) {
	b := written(t, report.JSON, whole(&judgment.Result{}, rules.All...))
	if strings.Contains(b, "null") {
		t.Errorf("null where a list belongs:\n%s", b)
	}
}

// A finding that record prints is one line, the same as in check.
func TestFindingLine(t *testing.T) {
	result := judged(t)
	b := written(t, report.FindingLine, &result.Findings[0])
	if strings.Count(b, "\n") != 1 || !strings.HasSuffix(b, "\n") {
		t.Errorf("not one line: %q", b)
	}
	var got report.Finding
	must.Do(t, json.Unmarshal([]byte(b), &got))
	expect.Same(t, "finding", report.JSONFinding(&result.Findings[0]), got)
}

func TestRulesJSONMembers(t *testing.T) {
	b := written(t, report.RulesJSON, rules.All)
	var list []map[string]any
	must.Do(t, json.Unmarshal([]byte(b), &list))
	expect.Equal(t, "rules are written", len(rules.All), len(list))
	for _, r := range list {
		members(t, "rule", r, "id", "title", "level", "severity", "dialects", "bindings", "side", "sections", "family",
			"covers", "fix", "doc", "silent")
		for _, name := range []string{"dialects", "bindings", "sections"} {
			if values, _ := r[name].([]any); len(values) == 0 {
				t.Errorf("rule %s: %s is %v, want a list that is not empty", r["id"], name, r[name])
			}
		}
		for _, s := range r["sections"].([]any) {
			if text := s.(string); strings.Count(text, "§") != 1 || strings.Contains(text, "§RFC") ||
				strings.Contains(text, "(") {
				t.Errorf("rule %s: section %q does not read as one", r["id"], text)
			}
		}
	}
}

// members checks that a JSON object has exactly these members.
func members(t *testing.T, what string, value any, want ...string) {
	t.Helper()
	object, ok := value.(map[string]any)
	if !ok {
		t.Fatalf("%s is %T, want an object", what, value)
	}
	slices.Sort(want)
	expect.Same(t, fmt.Sprintf("members of %s", what), want, slices.Sorted(maps.Keys(object)))
}

func oneOf(t *testing.T, object map[string]any, name string, known ...string) {
	t.Helper()
	if text, _ := object[name].(string); !slices.Contains(known, text) {
		t.Errorf("%s is %v, want one of %q", name, object[name], known)
	}
}
