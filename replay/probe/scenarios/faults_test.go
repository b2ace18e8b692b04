//go:build peers

package scenarios_test

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

var (
	update    = flag.Bool("update", false, "write the golden files anew, from every fault")
	allFaults = flag.Bool("faults", false, "ask the agents with every fault, and not only with some of them")
)

// A shown is what a run has against an agent.
type shown struct{ scenarios, rules []string }

// line writes it as the golden file has it.
func (s shown) line(agent, fault string) string {
	list := func(words []string) string {
		if len(words) == 0 {
			return "-"
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprintf("%s %s: scenarios %s; rules %s", agent, fault, list(s.scenarios), list(s.rules))
}

// without returns what another run has not shown.
func (s shown) without(t shown) shown {
	in := func(list []string) func(string) bool {
		return func(word string) bool { return slices.Contains(list, word) }
	}
	return shown{slices.DeleteFunc(s.scenarios, in(t.scenarios)), slices.DeleteFunc(s.rules, in(t.rules))}
}

// aboutPush reports whether a fault needs an agent with push notifications.
func aboutPush(fault string) bool {
	return strings.HasPrefix(fault, "hook-") || strings.Contains(fault, "push") ||
		fault == "result-object" || fault == "auth-www-authenticate"
}

// judge asks an agent with a fault all that is asked, and judges what was recorded.
func judge(t *testing.T, name, fault string, push bool) shown {
	t.Helper()
	a, err := refagent.New(name, refagent.Options{Fault: fault, Push: push, StepTime: 2 * time.Millisecond})
	if err != nil {
		t.Error(err)
		return shown{}
	}
	defer a.Close()
	server := httptest.NewServer(a)
	defer server.Close()
	kept := capture.NewMemory(capture.Info{})
	sink := redact.New(kept, redact.Options{Key: []byte("0123456789abcdef0123456789abcdef")})
	scenarios, err := scenarios.Suite(scenarios.ProtocolSuite)
	if err != nil {
		t.Error(err)
		return shown{}
	}
	report, err := probe.Run(t.Context(), server.URL+a.Path(), probe.Options{
		Scenarios: scenarios, Parallel: 1, Timeout: 2 * time.Second, Sink: sink,
		Client: client.Options{Token: "agentbin-test-token"},
	})
	if err != nil {
		t.Errorf("%s %s: %v", name, fault, err)
		return shown{}
	}
	if err := sink.Close(); err != nil {
		t.Error(err)
	}
	result, err := engine.Run(t.Context(), rules.All, kept, nil)
	if err != nil {
		t.Error(err)
		return shown{}
	}
	s := shown{scenarios: failedScenarios(report)}
	for _, f := range result.Findings {
		if f.Side == a2a.Agent {
			s.rules = append(s.rules, append(f.Also, f.Rule.ID)...)
		}
	}
	slices.Sort(s.rules)
	s.rules = slices.Compact(s.rules)
	return s
}

// reason says why nothing shows a fault of an agent; it is empty if something has to.
func reason(fault string) string {
	for why, list := range unshown {
		if slices.Contains(list, fault) {
			return why
		}
	}
	return ""
}

// Each fault of a reference agent is shown, by the rule that bears its name or by a scenario, and by what the golden
// file says: all that a run shows of an agent with the fault, and not of one without. Unless all are wanted, it is every
// fifth that is asked for.
func TestWhatShowsEachFault(t *testing.T) {
	const golden = "testdata/faults.txt"
	type job struct{ agent, fault string }
	var jobs []job
	usual := map[string]shown{}
	for _, name := range refagent.Names() {
		if len(refagent.Faults(name)) == 0 {
			continue
		}
		for n, f := range refagent.Faults(name) {
			if *update || *allFaults || n%5 == 0 {
				jobs = append(jobs, job{name, f.Slug})
			}
		}
		for _, push := range []bool{false, true} {
			faithful := judge(t, name, "", push)
			if usual[fmt.Sprint(name, push)] = faithful; len(faithful.scenarios) > 0 {
				t.Errorf("a faithful agent fails: %s", faithful.line(name, "without a fault"))
			}
		}
	}
	lines := make([]string, len(jobs))
	var group sync.WaitGroup
	free := make(chan struct{}, 6)
	for i, j := range jobs {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			push := aboutPush(j.fault)
			s := judge(t, j.agent, j.fault, push).without(usual[fmt.Sprint(j.agent, push)])
			lines[i] = s.line(j.agent, j.fault)
			why := reason(j.agent + " " + j.fault)
			switch shows := len(s.scenarios) > 0 || slices.Contains(s.rules, j.fault); {
			case !shows && why == "":
				t.Errorf("neither a scenario nor its rule shows it: %s", lines[i])
			case shows && why != "":
				t.Errorf("said to be shown by nothing, since %s: %s", why, lines[i])
			}
		})
	}
	group.Wait()
	text := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(written)) {
		about, _, _ := strings.Cut(line, ":")
		agent, fault, _ := strings.Cut(about, " ")
		if slices.Contains(jobs, job{agent, fault}) {
			want = append(want, strings.TrimSuffix(line, "\n"))
		}
	}
	if diff := gocmp.Diff(want, lines); diff != "" {
		t.Errorf("what shows the faults (-want +got); go test -update writes it anew:\n%s", diff)
	}
}

// unshown are the faults that nothing can show in what is asked, by the reason.
var unshown = map[string][]string{
	"the card is read once": {
		"echo card-not-modified", "echo card-stable", "spec card-not-modified", "spec card-stable", "spec03 card-stable",
	},
	"only what the card offers is spoken":                     {"echo card-capability-vs-traffic"},
	"an agent without skills is not asked for lists of tasks": {"echo ver-supported-refused"},
	"an extension is asked for under another version only, which no agent has to list": {
		"echo ext-response-echo", "spec ext-response-echo", "spec03 ext-response-echo",
		"echo ext-no-fallback", "spec ext-no-fallback", "spec03 ext-no-fallback",
	},
	"the credentials of webhooks are not looked at, and notifications are not recorded": {"spec hook-auth"},
	"tasks that wait for an authorization are not streamed":                             {"spec auth-required-uses-task"},
	"an agent without credentials of its own knows no strangers":                        {"spec list-scope"},
	"before 1.0 no files, data, waits for an authorization or lone messages are asked for": {
		"spec03 part-file-xor", "spec03 part-base64", "spec03 part-url-absolute", "spec03 part-media-type-syntax",
		"spec03 output-mode-accepted", "spec03 part-data-object", "spec03 auth-required-has-message-0x",
		"spec03 stream-method-answered-json", "spec01 part-file-xor-v01",
	},
	"before 1.0 nothing is asked for again in a known context, or with a limit of the history": {
		"spec03 id-context-preserved-0x", "spec03 history-max-0x",
	},
	"before 1.0 nothing is asked for that the card does not offer": {
		"spec03 push-unsupported-error-0x", "spec03 cap-streaming-unsupported-0x", "spec02 cap-streaming-unsupported-0x",
		"spec01 cap-streaming-unsupported-0x",
	},
}
