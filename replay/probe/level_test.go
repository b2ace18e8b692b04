package probe_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/report"
	"a2atap/replay/client"
	"a2atap/replay/probe"
)

// outcomes makes a report of results: each word is the id of a scenario that passed or, after a minus, failed with an
// error, after a tilde with a warning, after a dot with a note, and after a question mark was inconclusive.
func outcomes(t *testing.T, card *client.Card, words ...string) *probe.Report {
	t.Helper()
	r := &probe.Report{Card: card}
	for _, word := range words {
		id := strings.TrimLeft(word, "-~.?")
		var scenario *probe.Scenario
		for _, s := range suite(t) {
			if s.ID == id {
				scenario = s
			}
		}
		if scenario == nil {
			t.Fatalf("no scenario %q", id)
		}
		status := probe.Pass
		if id != word {
			status = probe.Failed
			scenario = new(*scenario)
			scenario.Levels, scenario.Level = nil, analysis.Must
			switch word[0] {
			case '~':
				scenario.Level = analysis.Should
			case '.':
				scenario.Level = analysis.May
			case '?':
				status = probe.Unproved
			}
		}
		r.Results = append(r.Results, probe.Result{Test: report.Test{Name: "jsonrpc/" + id, Status: status}, Scenario: scenario})
	}
	return r
}

func TestLevel(t *testing.T) {
	const basic = "card send task-completes"
	const core = basic + " task-cancel error-task-not-found"
	for _, tt := range []struct {
		card   client.Card
		gone   bool
		words  string
		level  string
		reason string
	}{
		{words: core, level: probe.Full, reason: "streaming not advertised, push not advertised"},
		{
			card: client.Card{Streaming: true, Push: true}, words: core + " stream-last-event push-delivery",
			level: probe.Full, reason: "streaming tested, push tested",
		},
		{words: core + " ~stream-closes", level: probe.Partial, reason: "recommendations or options are not: jsonrpc/stream-closes"},
		{words: core + " .stream-closes", level: probe.Partial, reason: "recommendations or options are not: jsonrpc/stream-closes"},
		{words: core + " ?stream-closes", level: probe.Partial, reason: "inconclusive: jsonrpc/stream-closes"},
		{words: basic + " ?task-cancel", level: probe.Minimal, reason: "not observed: a cancellation, a refusal"},
		{words: core, gone: true, level: probe.NonConformant, reason: "stopped answering"},
		{
			words: core + " -card-name", level: probe.NonConformant,
			reason: "the card breaks the protocol: jsonrpc/card-name",
		},
		{words: core + " -send", level: probe.NonConformant, reason: "a send or a get breaks the protocol: jsonrpc/send"},
		{words: "card send", level: probe.NotDetermined, reason: "card yes, send yes, get no"},
		{words: "", level: probe.NotDetermined, reason: "card no, send no, get no"},
		{
			words: core + " -task-cancel -multi-turn", level: probe.Minimal,
			reason: "jsonrpc/task-cancel, jsonrpc/multi-turn",
		},
		{
			words: core + " -stream-closes -stream-dropped -not-json-rpc -error-unknown-method", level: probe.Partial,
			reason: "jsonrpc/stream-closes, jsonrpc/stream-dropped, jsonrpc/not-json-rpc and 1 more",
		},
		{
			card: client.Card{Streaming: true, Push: true}, words: core, level: probe.Minimal,
			reason: "an advertised feature was not exercised: streaming, push",
		},
		{words: basic, level: probe.Minimal, reason: "not observed: a cancellation, a refusal"},
	} {
		report := outcomes(t, &tt.card, strings.Fields(tt.words)...)
		report.Gone = tt.gone
		level, reason := report.Level()
		if level != tt.level || !strings.Contains(reason, tt.reason) {
			t.Errorf("%q: level %s, %q; want %s, %q", tt.words, level, reason, tt.level, tt.reason)
		}
	}
}
