//go:build peers

package scenarios_test

import (
	"cmp"
	"crypto/x509"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/ca"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/record"
	"a2atap/replay/client"
	"a2atap/replay/client/auth"
	"a2atap/replay/client/webhook"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios"
	"a2atap/replay/refagent"
)

var (
	update    = flag.Bool("update", false, "write the golden files anew, from every fault")
	allFaults = flag.Bool("faults", false, "ask the agents with every fault, and not only with some of them")
)

// overGRPC is the suffix of the names of agents that serve only gRPC.
const overGRPC = "-grpc"

// A shown is the failed scenarios and broken rules of a run, with their severity, and the scenario in whose traffic
// each rule first found something.
type shown struct {
	scenarios, rules map[string]analysis.Severity
	in               map[string]string
}

// without returns the failures that another run does not have.
func (s shown) without(t shown) shown {
	for id := range t.scenarios {
		delete(s.scenarios, id)
	}
	for id := range t.rules {
		delete(s.rules, id)
	}
	return s
}

// line formats it as the table of package scenarios does: see [scenarios.Finds].
func (s shown) line(agent, fault string) string {
	names := slices.Sorted(maps.Keys(s.scenarios))
	worst, known := s.rules[fault]
	if known {
		if len(names) == 0 {
			names = []string{s.in[fault] + "*"}
		}
	}
	for _, severity := range s.scenarios {
		worst = max(worst, severity)
		known = true
	}
	if !known {
		return fmt.Sprintf("%s %s nothing: ", agent, fault)
	}
	return fmt.Sprintf("%s %s %s: %s", agent, fault, worst, strings.Join(names, " "))
}

// aboutPush reports whether a fault needs an agent with push notifications.
func aboutPush(fault string) bool {
	return strings.HasPrefix(fault, "hook-") || strings.Contains(fault, "push") ||
		fault == "result-object" || fault == "auth-www-authenticate"
}

// aboutCredentials reports whether a fault of the agent legacy requires an agent with credentials.
func aboutCredentials(fault string) bool {
	return slices.Contains([]string{"auth-401", "auth-error-code", "act-auth-challenge"}, fault)
}

// judge runs all scenarios against an agent with a fault, and checks the recorded traffic.
func judge(t *testing.T, name, fault string, push bool) shown {
	t.Helper()
	o := refagent.Options{Fault: fault, Push: push, StepTime: 2 * time.Millisecond}
	var hook webhook.Options
	if name == "legacy" && push { // its webhooks require https
		authority := must.Get(ca.Open(t.TempDir()))(t)
		hook.Certificate = must.Get(authority.Leaf("127.0.0.1"))(t)
		o.WebhookRoots = x509.NewCertPool()
		o.WebhookRoots.AddCert(authority.Certificate())
	}
	if name == "legacy" && aboutCredentials(fault) {
		o.Auth = &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: earlyToken}
	}
	kind, over := strings.CutSuffix(name, overGRPC)
	if over {
		o.Bindings = []string{"grpc"}
	}
	a, err := refagent.New(kind, o)
	if err != nil {
		t.Error(err)
		return shown{}
	}
	defer a.Close()
	server := agenttest.Serve(a)
	defer server.Close()
	kept := capture.NewMemory(capture.Info{})
	sink := record.NewSink(kept, redact.Options{Key: []byte("0123456789abcdef0123456789abcdef")})
	scenarios, err := scenarios.Suite(scenarios.ProtocolSuite)
	if err != nil {
		t.Error(err)
		return shown{}
	}
	options := probe.Options{Scenarios: scenarios, Parallel: 1, Timeout: 2 * time.Second, Sink: sink, Webhook: hook}
	if over { // cards of some faults have other bindings, too
		options.Protocols = []client.Protocol{client.GRPC10, client.GRPC03}
	}
	if o.Auth != nil {
		options.Client.Authorize = auth.Bearer(earlyToken)
	} else if name != "legacy" { // clients with credentials expect that others are refused
		options.Client.Token = "agentbin-test-token"
	}
	report, err := probe.Run(t.Context(), server.URL+a.Path(), options)
	if err != nil {
		t.Errorf("%s %s: %v", name, fault, err)
		return shown{}
	}
	expect.OK(t, sink.Close())
	result, err := engine.Run(t.Context(), rules.All, kept, nil)
	if err != nil {
		t.Error(err)
		return shown{}
	}
	s := shown{map[string]analysis.Severity{}, map[string]analysis.Severity{}, map[string]string{}}
	asked := map[uint64]string{} // scenarios by exchange
	for _, id := range failedScenarios(report) {
		s.scenarios[id] = 0
	}
	for _, r := range report.Results {
		for _, n := range r.Exchanges {
			asked[n] = r.Scenario.ID
		}
		for _, id := range []string{r.Scenario.ID, r.Name} {
			if worst, failed := s.scenarios[id]; failed && r.Bad() {
				s.scenarios[id] = max(worst, r.Severity())
			}
		}
	}
	for _, f := range result.Findings {
		if f.Side != a2a.Agent {
			continue
		}
		for _, id := range append(slices.Clip(f.Also), f.Rule.ID) {
			if _, known := s.in[id]; !known {
				s.in[id] = cmp.Or(asked[f.Place.Exchange], "card") // the card is read first
			}
			s.rules[id] = max(s.rules[id], f.Severity)
		}
	}
	return s
}

// reason returns why nothing shows a fault of an agent; empty if the fault must be found.
func reason(fault string) string {
	for why, list := range unshown {
		if slices.Contains(list, fault) {
			return why
		}
	}
	return ""
}

// Each fault of a reference agent is found: by a scenario, or in a scenario's traffic by the rule with the fault's
// name. The severity is error if the specification says MUST. The table of package scenarios lists the finders. By
// default every fifth fault is tested; -run TestWhatShowsEachFault/AGENT tests those of one agent.
func TestWhatShowsEachFault(t *testing.T) {
	const golden = "faults.txt"
	written := must.Get(os.ReadFile(golden))(t)
	found := map[string]string{} // lines of the table, by agent and fault
	for line := range strings.Lines(string(written)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] != "#" {
			found[words[0]+" "+words[1]] = strings.TrimRight(line, "\n")
		}
	}
	var table strings.Builder
	table.WriteString(tableHead)
	for _, name := range append(refagent.Names(), "echo"+overGRPC, "spec"+overGRPC, "spec03"+overGRPC) {
		t.Run(name, func(t *testing.T) { showFaults(t, name, found) })
		for _, f := range refagent.Faults(strings.TrimSuffix(name, overGRPC)) {
			if line := found[name+" "+f.Slug]; line != "" && (f.OverGRPC() || !strings.HasSuffix(name, overGRPC)) {
				table.WriteString(line + "\n")
			}
		}
	}
	if *update {
		must.Do(t, os.WriteFile(golden, []byte(table.String()), 0o644))
	} else if diff := gocmp.Diff(table.String(), string(written)); diff != "" {
		t.Errorf("the table has other faults than the agents (-want +got):\n%s", diff)
	}
}

const tableHead = "# Which scenarios find each fault of a reference agent, and how bad that is: AGENT FAULT SEVERITY: SCENARIOS.\n" +
	"# AGENT" + overGRPC + " is the agent over gRPC alone, where many faults have no form.\n" +
	"# Where a name ends with *, the rule of that name finds it in what the scenario asks.\n" +
	"# Written by go test -tags peers ./replay/probe/scenarios -run TestWhatShowsEachFault -update.\n"

// agree reports whether two lines of the table name the same severity and at least one common scenario. The other
// failing scenarios may depend on the order in which the requests arrive.
func agree(want, got string) bool {
	head, wanted, _ := strings.Cut(want, ": ")
	other, found, _ := strings.Cut(got, ": ")
	names := map[string]bool{}
	for name := range strings.FieldsSeq(wanted) {
		names[path.Base(name)] = true
	}
	common := want == got
	for name := range strings.FieldsSeq(found) {
		common = common || names[path.Base(name)]
	}
	return head == other && common
}

// showFaults probes an agent with each of its faults, and compares with the table; with -update it updates the table.
func showFaults(t *testing.T, name string, found map[string]string) {
	usual := map[bool]shown{}
	for _, push := range []bool{false, true} {
		faithful := judge(t, name, "", push)
		if usual[push] = faithful; len(faithful.scenarios) > 0 {
			t.Errorf("a faithful agent fails: %s", faithful.line(name, "without a fault"))
		}
	}
	var mu sync.Mutex // guards found
	var group sync.WaitGroup
	free := make(chan struct{}, 6)
	kind, over := strings.CutSuffix(name, overGRPC)
	for n, f := range refagent.Faults(kind) {
		if !*update && !*allFaults && n%5 != 0 || over && !f.OverGRPC() || !over && f.OnlyGRPC {
			continue
		}
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			push := aboutPush(f.Slug)
			s := judge(t, name, f.Slug, push).without(usual[push])
			line, key := s.line(name, f.Slug), name+" "+f.Slug
			mu.Lock()
			want := found[key]
			mu.Unlock()
			if !agree(want, line) && !*update { // on a busy machine, a task may end before its client has left
				s = judge(t, name, f.Slug, push).without(usual[push])
				line = s.line(name, f.Slug)
			}
			mu.Lock()
			defer mu.Unlock()
			if !agree(want, line) && !*update {
				t.Errorf("the table has %q, and the run found %q; go test -update rewrites the table", want, line)
			}
			if !agree(found[key], line) || *update {
				found[key] = line
			}
			must, why := isMust(kind, f.Slug), reason(key)
			if over && why == "" {
				why = reason(kind + " " + f.Slug)
			}
			switch bad := strings.Contains(line, " nothing:") || must && !strings.Contains(line, " error:"); {
			case bad && why == "":
				t.Errorf("it is not found as it should be (MUST: %v): %s; rules %v", must, line, s.rules)
			case !bad && why != "" && !over:
				t.Errorf("said not to be found, since %s: %s", why, line)
			}
		})
	}
	group.Wait()
}

// isMust reports whether the specification says MUST about the requirement that a fault breaks: a rule, or a
// scenario.
func isMust(agent, fault string) bool {
	for _, r := range rules.All {
		if r.ID == fault {
			return r.Level == analysis.Must
		}
	}
	named, level := "", analysis.Advice // by the scenario with the longest name that fits
	for _, s := range scenarios.All() {
		if s.ID == fault || agent == "legacy" && strings.HasPrefix(fault, s.ID+"-") && len(s.ID) > len(named) {
			named, level = s.ID, s.LevelIn(client.Early)
		}
	}
	return level == analysis.Must
}

// unshown are the faults that no scenario or rule finds, or finds below an error although the specification says
// MUST, by the reason.
var unshown = map[string][]string{
	"whether this is production nobody can see":            {"echo card-url-https", "spec card-url-https", "spec03-grpc card-url-https"},
	"1.0 does not mark the member as required":             {"echo card-extension-uri", "spec card-extension-uri"},
	"over JSON-RPC later patch versions only recommend it": {"echo rpc-errorinfo-domain", "spec rpc-errorinfo-domain"},
	"an example of the specification leaves it out":        {"spec event-ids"},
	"the types of 0.3 make the member optional":            {"spec03 card-preferred-transport"},
	"what is optional may be null, nearly":                 {"spec03 field-null-required"},
	"proto leaves out the state that is unknown":           {"spec03-grpc event-status"},
	"another code may be the agent's own before 0.1":       {"legacy state-cancel-terminal-code"},
	"gRPC has no challenges":                               {"spec03-grpc auth-www-authenticate"},
	"0.3 lays down no statuses for gRPC": {
		"spec03-grpc state-cancel-terminal-code", "spec03-grpc push-valid-config-refused",
	},
}
