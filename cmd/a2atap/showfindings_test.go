package main

import (
	"testing"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/tui"
)

func TestLedgerKnowsTheWorst(t *testing.T) {
	rule, revises := &analyzer.Rule{ID: "a"}, &analyzer.Rule{ID: "b", Revises: true}
	finding := func(seq uint64, rule *analyzer.Rule, s analyzer.Severity, again bool) analyzer.Finding {
		return analyzer.Finding{
			Rule: rule, Severity: s, Side: a2a.Agent, Place: analyzer.Place{Exchange: seq}, Revises: again,
			Also: []string{"x"},
		}
	}
	l := newLedger(func(seq uint64) bool { return seq == 2 })
	for _, f := range []analyzer.Finding{
		finding(2, rule, analyzer.Note, false), finding(2, rule, analyzer.Error, false),
		finding(2, rule, analyzer.Warning, false), finding(3, revises, analyzer.Error, false),
		finding(1<<60, rule, analyzer.Note, false),
	} {
		l.take(f)
	}
	l.end(analyzer.Summary{Seq: 2})
	for seq, want := range map[uint64]string{1: "", 2: "!", 3: "!", 1 << 60: "·"} {
		got := ""
		if worst, found := l.worst(seq); found {
			got = tui.Sign(worst)
		}
		if got != want {
			t.Errorf("exchange %d: got %q, want %q", seq, got, want)
		}
	}
	if n := len(l.of(2)); n != 3 || len(l.of(1<<60)) != 0 {
		t.Errorf("of the exchange that is asked for %d findings are kept, of another one %d", n, len(l.of(1<<60)))
	}
	if !l.isOver(2) || l.isOver(3) || l.isOver(4_000) {
		t.Error("it does not know which exchanges are over")
	}
	// At the end the rule takes its finding back, and blames another exchange.
	l.take(finding(5, revises, analyzer.Warning, true))
	if _, found := l.worst(3); found {
		t.Error("what was revised is still there")
	}
	if worst, found := l.worst(5); !found || worst != analyzer.Warning || len(l.of(5)) != 1 {
		t.Errorf("what revises it is not: %v, %v", worst, found)
	}
	if l.forget(2); len(l.of(2)) != 0 {
		t.Error("what was printed is not forgotten")
	}
	l.take(finding(2, rule, analyzer.Error, false)) // of its last step
	l.pass(2)
	l.take(finding(2, rule, analyzer.Error, false))
	if l.late != 1 {
		t.Errorf("%d findings are late, want 1", l.late)
	}
}

func TestParseSpan(t *testing.T) {
	for arg, want := range map[string]span{
		"3":                    {from: 3, to: 3},
		"3..9":                 {from: 3, to: 9},
		"3.request":            {3, 3, tui.Part{Side: tui.RequestSide}},
		"3.response.body":      {3, 3, tui.Part{Side: tui.ResponseSide}},
		"3.response.event[12]": {3, 3, tui.Part{Side: tui.ResponseSide, Event: 12}},

		"3.response.event[12]#/result/status": {3, 3, tui.Part{Side: tui.ResponseSide, Event: 12}},
		"3.response.header[Content-Type]":     {3, 3, tui.Part{Side: tui.ResponseSide}},
		"3.request.body#":                     {3, 3, tui.Part{Side: tui.RequestSide}},
	} {
		if got, ok := parseSpan(arg); !ok || got != want {
			t.Errorf("%s: got %v, %v", arg, got, ok)
		}
	}
	for _, arg := range []string{
		"", "0", "9..3", "3..", "x", "3.line", "3.request.event[1]", "3.response.event[0]", "3..9.request", "-1",
		"99999999999999999999",
	} {
		if got, ok := parseSpan(arg); ok {
			t.Errorf("%q is read as %v", arg, got)
		}
	}
}

// What a terminal would obey is not written to one.
func TestHarmless(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "{\n\t\"a\": \"京都\"\r\n}": true, "\ufffd": true,
		"\x1b[2J": false, "\x00": false, "\x9b": false, "\u009b": false, "\u202e": false, "\x7f": false, "\xff": false,
	} {
		if got := harmless([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
