package peers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/must"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
)

// TestProbedOverGRPC probes agents of the Go SDKs, only over gRPC.
func TestProbedOverGRPC(t *testing.T) {
	t.Parallel()
	probeOverGRPC(t, Go03GRPCAgent, Go2GRPCAgent)
}

// probeOverGRPC is probeAgents with files of their own for agents that speak gRPC alone.
func probeOverGRPC(t *testing.T, agents ...Agent) {
	for i := range agents {
		agents[i].Name += "grpc"
	}
	probeAgents(t, agents...)
}

// probeAgents runs the active suite against agents of SDKs, and compares with testdata/probed: the number of cases by
// outcome, and each failure.
func probeAgents(t *testing.T, agents ...Agent) {
	for _, agent := range agents {
		t.Run(agent.Name, func(t *testing.T) {
			t.Parallel()
			suite := must.Get(scenarios.Suite(scenarios.ProtocolSuite))(t)
			running := agent.Start(t)
			report, err := probe.Run(t.Context(), running.URL, probe.Options{
				Scenarios: suite, Parallel: 2, Timeout: 5 * time.Second, Wait: playTimeout, Prompts: prompts,
			})
			must.Do(t, err)
			report.Results = slices.DeleteFunc(report.Results, func(r probe.Result) bool { return wavering[agent.Name+" "+r.Name] })
			got := probed(report, running.URL)
			file := filepath.Join("testdata", "probed", agent.Name+".txt")
			if *update {
				must.Do(t, os.WriteFile(file, []byte(got), 0o600))
				return
			}
			want, err := os.ReadFile(file)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-confirmed +got):\n%s", file, diff)
				for _, r := range report.Results {
					if r.Bad() {
						t.Logf("%s: %s\n%s\n%s", r.Name, r.Message, r.Request, r.Answer)
					}
				}
			}
		})
	}
}

// wavering are cases with varying outcomes, by agent. One agent forgets a moment after a task has ended that its stream
// can be subscribed to; the other cuts a stream that is subscribed to while its task ends.
var wavering = map[string]bool{"go2grpc grpc/act-subscribe-terminal": true, "py03 v03-rest/stream-resubscribe": true}

// prompts are what the agents do the moves for that scenarios need.
var prompts = map[probe.Behavior]string{
	probe.MessageOnly: "hello", probe.CompletesTask: "work", probe.FailsTask: "fail", probe.AsksBack: "ask",
	probe.WaitsForCancel: "wait", probe.StreamsChunks: "work", probe.TakesLong: "wait", probe.ManyParts: "work",
}

// made matches what differs from run to run: ids and durations.
var made = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d+(\.\d+)? ?(ms|s)\b`)

// probed writes how cases came out: a line of counts, then each failure with its section.
func probed(r *probe.Report, url string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d passed, %d failed, %d skipped, %d inconclusive\n",
		r.Count(probe.Pass), r.Count(probe.Failed)+r.Count(probe.Critical), r.Count(probe.Skipped), r.Count(probe.Unproved))
	var lines []string
	for _, x := range r.Results {
		if !x.Bad() {
			continue
		}
		severity := x.Severity()
		if x.Status == probe.Critical {
			severity = analysis.Error
		}
		message := timestamp.ReplaceAllString(strings.Join(strings.Fields(x.Message), " "), "{time}")
		if runes := []rune(message); len(runes) > 300 {
			message = string(runes[:300]) + "…"
		}
		message = made.ReplaceAllString(strings.ReplaceAll(message, url, "{agent}"), "…")
		lines = append(lines, fmt.Sprintf("%s: `%s` (%s): %s\n", severity, x.Name,
			strings.Join(x.Scenario.Sections, ", "), message))
	}
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
	return b.String()
}
