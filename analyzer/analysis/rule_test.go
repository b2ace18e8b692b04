package analysis_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
)

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(a, b, c *analysis.Rule)
		want   string // part of the error; empty for none
	}{
		{"as it should be", func(a, b, _ *analysis.Rule) { a.Covers = []string{b.ID} }, ""},
		{"no slug", func(a, _, _ *analysis.Rule) { a.ID = "Not_a_slug" }, "rule Not_a_slug: the id is not a slug"},
		{"no letter first", func(a, _, _ *analysis.Rule) { a.ID = "1st" }, "rule 1st: the id is not a slug"},
		{"hyphen last", func(a, _, _ *analysis.Rule) { a.ID = "a-" }, "rule a-: the id is not a slug"},
		{"empty word", func(a, _, _ *analysis.Rule) { a.ID = "a--b" }, "rule a--b: the id is not a slug"},
		{"digits", func(a, _, _ *analysis.Rule) { a.ID = "a2-1b" }, ""},
		{"twice", func(a, b, _ *analysis.Rule) { a.ID = b.ID }, "rule b: duplicate id"},
		{"no title", func(a, _, _ *analysis.Rule) { a.Title = "" }, "rule a: no title"},
		{"no doc", func(a, _, _ *analysis.Rule) { a.Doc = "" }, "rule a: no doc"},
		{"no fix", func(a, _, _ *analysis.Rule) { a.Fix = "" }, "rule a: no fix"},
		{"no silent", func(a, _, _ *analysis.Rule) { a.Silent = "" }, "rule a: no silent"},
		{"no family", func(a, _, _ *analysis.Rule) { a.Family = "" }, "rule a: no family"},
		{"no category", func(a, _, _ *analysis.Rule) { a.Category = "other" }, "rule a: no category"},
		{"no citation", func(a, _, _ *analysis.Rule) { a.Cites = nil }, "rule a: no citation"},
		{"no section", func(a, _, _ *analysis.Rule) { a.Cites[0].Section = "" }, "rule a: a citation without section"},
		{"no check", func(a, _, _ *analysis.Rule) { a.Check = nil }, "rule a: no check"},
		{"no observation", func(a, _, _ *analysis.Rule) { a.On = 0 }, "rule a: no check, or no observation"},
		{"no binding", func(a, _, _ *analysis.Rule) { a.Bindings = 0 }, "rule a: no binding"},
		{
			"covers what is not there", func(a, _, _ *analysis.Rule) { a.Covers = []string{"d"} },
			`rule a: covers "d", which does not exist`,
		},
		{"covers itself", func(a, _, _ *analysis.Rule) { a.Covers = []string{"a"} }, "rule a: covers itself"},
		{"covers in a circle", func(a, b, c *analysis.Rule) {
			a.Covers, b.Covers, c.Covers = []string{"b"}, []string{"c"}, []string{"a"}
		}, "rule c: covers itself"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var rules []*analysis.Rule
			for _, id := range []string{"a", "b", "c"} {
				rules = append(rules, enginetest.Rule(id, analysis.AnswerSeen, enginetest.At(enginetest.Here)))
			}
			test.change(rules[0], rules[1], rules[2])
			err := analysis.Validate(rules)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// A check may lower a finding's severity, and never raise it.
func TestAtMost(t *testing.T) {
	tests := []struct {
		level  analysis.Level
		atMost analysis.Severity
		want   analysis.Severity
	}{
		{analysis.Must, analysis.Error, analysis.Error},
		{analysis.Must, analysis.Note, analysis.Note},
		{analysis.Should, analysis.Error, analysis.Warning},
		{analysis.May, analysis.Warning, analysis.Note},
		{analysis.Advice, analysis.Error, analysis.Note},
	}
	for _, test := range tests {
		r := enginetest.Rule("r", analysis.AnswerSeen,
			func(p *analysis.Pass) { p.Report(p.Place, "seen", "expected", analysis.AtMost(test.atMost)) })
		r.Level = test.level
		c := &enginetest.Conversation{T: t}
		c.Exchange("planner", enginetest.Send, enginetest.Working)
		if _, found := c.Judge(r); found[0].Severity != test.want {
			t.Errorf("%s at most %s is %s, want %s", test.level, test.atMost, found[0].Severity, test.want)
		}
	}
}

// tracker returns one that remembers nothing.
func tracker(name string, needs ...*analysis.Tracker) *analysis.Tracker {
	return &analysis.Tracker{
		Name: name, Doc: "d", Needs: needs, On: analysis.AnswerSeen,
		New: func(*analysis.Setup) analysis.State { return nil },
	}
}

func TestValidateTrackers(t *testing.T) {
	tests := []struct {
		name   string
		change func(r *analysis.Rule, a, b *analysis.Tracker)
		want   string
	}{
		{"right", func(*analysis.Rule, *analysis.Tracker, *analysis.Tracker) {}, ""},
		{"no name", func(_ *analysis.Rule, a, _ *analysis.Tracker) { a.Name = "" }, "the name is not a slug"},
		{"no doc", func(_ *analysis.Rule, _, b *analysis.Tracker) { b.Doc = "" }, "tracker b: no doc"},
		{"no state", func(_ *analysis.Rule, a, _ *analysis.Tracker) { a.New = nil }, "tracker a: no state"},
		{
			"no observation", func(_ *analysis.Rule, a, _ *analysis.Tracker) { a.On = 0 },
			"tracker a: no state, or no observation",
		},
		{
			"one name twice", func(_ *analysis.Rule, _, b *analysis.Tracker) { b.Name = "a" },
			"tracker a: duplicate name",
		},
		{
			"a need that is missing", func(_ *analysis.Rule, a, _ *analysis.Tracker) { a.Needs = append(a.Needs, nil) },
			"tracker a: a need without a tracker",
		},
		{
			"needs itself", func(_ *analysis.Rule, a, _ *analysis.Tracker) { a.Needs = append(a.Needs, a) },
			"tracker a: needs itself",
		},
		{
			"needs in a circle", func(_ *analysis.Rule, a, b *analysis.Tracker) { b.Needs = []*analysis.Tracker{a} },
			"tracker b: needs itself",
		},
		{
			"makes what the engine does", func(_ *analysis.Rule, a, _ *analysis.Tracker) { a.Makes = analysis.TaskSeen },
			"tracker a: it makes observations",
		},
		{"two make the same", func(_ *analysis.Rule, a, b *analysis.Tracker) {
			a.Makes, b.Makes = analysis.CardMissed, analysis.CardMissed
		}, "tracker b makes the same observations"},
		{
			"a rule's need is missing", func(r *analysis.Rule, _, _ *analysis.Tracker) { r.Needs = append(r.Needs, nil) },
			"rule r: a need without a tracker",
		},
		{
			"a rule wants what is for trackers", func(r *analysis.Rule, _, _ *analysis.Tracker) { r.On |= analysis.RequestDone },
			"rule r: wants an observation that is only for trackers",
		},
		{
			"a rule wants what no tracker makes", func(r *analysis.Rule, _, _ *analysis.Tracker) { r.On |= analysis.CardMissed },
			"rule r: wants an observation from a tracker",
		},
		{"a rule wants what its tracker makes", func(r *analysis.Rule, a, _ *analysis.Tracker) {
			r.On, a.Makes = analysis.CardMissed, analysis.CardMissed
		}, ""},
		{"a rule wants what only a tracker of its tracker makes", func(r *analysis.Rule, _, b *analysis.Tracker) {
			r.On, b.Makes = analysis.CardMissed, analysis.CardMissed
		}, "rule r: wants an observation from a tracker"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := tracker("b")
			a := tracker("a", b)
			r := enginetest.Rule("r", analysis.AnswerSeen, enginetest.At(enginetest.Here))
			r.Needs = []*analysis.Tracker{a}
			test.change(r, a, b)
			err := analysis.Validate([]*analysis.Rule{r})
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
