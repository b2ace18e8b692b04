package scenarios_test

import (
	"slices"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

// S0-I4: each skill of the card gets a task, and each task is followed to its end. A skill whose task never ends
// fails, and the report has the states of each.
func TestTasksOfSkills(t *testing.T) {
	t.Parallel()
	only := slices.DeleteFunc(scenarios.Basics(), func(s *probe.Scenario) bool { return s.ID != "skills-answer" })
	for _, tt := range []struct {
		name   string
		second string // behavior of the second skill
		skills []string
		status probe.Status
		worst  analysis.Severity
	}{
		{name: "ends", second: "task-lifecycle", status: probe.Pass},
		{name: "asks back", second: "multi-turn", status: probe.Pass},
		{name: "never ends", second: "task-cancel", status: probe.Failed, worst: analysis.Error},
		{name: "never ends, not asked", second: "task-cancel", skills: []string{"first"}, status: probe.Pass},
	} {
		for _, agent := range []string{"spec", "spec03", "spec03-rest", "spec02", "spec01", "legacy"} {
			t.Run(tt.name+"/"+agent, func(t *testing.T) {
				t.Parallel()
				twoSkills := agenttest.OnCard(func(card map[string]any) {
					first := card["skills"].([]any)[0].(map[string]any)
					list := []any{}
					for _, skill := range [][2]string{{"first", "task-lifecycle"}, {"second", tt.second}} {
						one := map[string]any{}
						for name, value := range first {
							one[name] = value
						}
						one["id"], one["examples"] = skill[0], []any{skill[1] + " please"}
						list = append(list, one)
					}
					card["skills"] = list
				})
				url := agenttest.Start(t, agent, refagent.Options{StepTime: 5 * time.Millisecond, CancelWait: time.Hour}, twoSkills)
				report := must.Get(probe.Run(t.Context(), url, probe.Options{
					Scenarios: only, Skills: tt.skills, Timeout: 2 * time.Second,
				}))(t)
				for _, r := range report.Results {
					expect.Equal(t, r.Name+": "+r.Message, tt.status, r.Status)
					if r.Bad() {
						expect.Equal(t, "severity", tt.worst, r.Severity())
					}
					if len(r.Skills) == 0 || r.Skills[0].Skill != "first" || r.Skills[0].Status != probe.Pass ||
						!slices.Contains(r.Skills[0].States, "completed") {
						t.Errorf("the first skill: %+v", r.Skills)
					}
					if tt.skills == nil && (len(r.Skills) != 2 || r.Skills[1].Status != tt.status) {
						t.Errorf("the second skill: %+v", r.Skills)
					}
				}
			})
		}
	}
}
