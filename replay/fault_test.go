package replay_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/client/fault"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// spoken are the protocols that each reference agent speaks.
var spoken = map[string][]client.Protocol{
	"echo":         {client.JSONRPC10, client.REST10},
	"spec":         {client.JSONRPC10, client.REST10},
	"spec03":       {client.JSONRPC03},
	"spec03-rest":  {client.REST03},
	"spec03-proto": {client.REST03},
	"spec02":       {client.JSONRPC03},
	"spec01":       {client.JSONRPC01},
	"legacy":       {client.Early},
}

// A faithful client that goes through every operation of a faithful agent breaks no rule, and neither does the agent.
func TestFaithfulPairs(t *testing.T) {
	t.Parallel()
	for _, name := range refagent.Names() {
		for _, p := range spoken[name] {
			t.Run(name+" "+p.String(), func(t *testing.T) {
				t.Parallel()
				for _, f := range judged(t, name, refagent.Options{}, p, client.Options{}, tour, dialog, configure) {
					if f.Severity >= analyzer.Warning {
						t.Errorf("%s", &f)
					}
				}
				for _, f := range judged(t, name, refagent.Options{}, p, client.Options{}, tour, dialog, stray) {
					if f.Severity >= analyzer.Warning && f.Side == a2a.Agent {
						t.Errorf("when the client does not look at the card: %s", &f)
					}
				}
			})
		}
	}
}

// A talk is a part of what a client says to an agent behind a tap.
type talk = func(ctx context.Context, tapURL string, p client.Protocol, o client.Options)

// talks are what faults of agents show themselves in. What is said over every binding, and what is said over none, is
// said over the first one only.
func talks(first bool) []talk {
	own := []talk{tour, dialog, stray, configure, probe, strangers}
	if first {
		own = append(own, cross, revisit)
	}
	return own
}

// Each fault of an agent is found by the rule whose name it bears, and by no other but those that it says it takes
// along. Over which binding an agent is asked first changes from fault to fault; where that shows the fault, the others
// are asked with the tag peers alone, and so is an agent that speaks as another one does; two of three faults are shown
// with that tag alone.
func TestAgentFaults(t *testing.T) {
	t.Parallel()
	for _, name := range refagent.Names() {
		if name == "legacy" {
			continue // its faults have no names of rules: see TestLegacyFaults
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			usual := make(map[client.Protocol]map[breach]bool)
			for _, p := range spoken[name] {
				usual[p] = make(map[breach]bool)
				for _, f := range judged(t, name, refagent.Options{}, p, client.Options{}, talks(true)...) {
					for _, slug := range append(f.Also, f.Rule.ID) {
						usual[p][breach{slug, f.Side}] = true
					}
				}
			}
			for n, f := range refagent.Faults(name) {
				if n%oneIn != 0 {
					continue
				}
				if strings.HasPrefix(f.Slug, "hook-") {
					continue // these talks receive no notifications; see TestFaultsOfNotifications
				}
				if !everyWay && name == "echo" && hasFault("spec", f.Slug) {
					continue // it speaks as spec does
				}
				protocols := slices.Clone(spoken[name])
				if n%2 == 1 {
					slices.Reverse(protocols)
				}
				t.Run(f.Slug, func(t *testing.T) {
					t.Parallel()
					found := make(map[breach]bool)
					for i, p := range protocols {
						if found[breach{f.Slug, a2a.Agent}] && !everyWay {
							break
						}
						now := broken(judged(t, name, refagent.Options{Fault: f.Slug}, p, client.Options{}, talks(i == 0)...))
						for b := range usual[p] {
							delete(now, b)
						}
						maps.Copy(found, now)
					}
					wantRules(t, found, a2a.Agent, f.Slug, f.Also)
				})
			}
		})
	}
}

func hasFault(agent, slug string) bool {
	return slices.ContainsFunc(refagent.Faults(agent), func(f refagent.Fault) bool { return f.Slug == slug })
}

// Each fault of a client is found in the same way.
func TestClientFaults(t *testing.T) {
	t.Parallel()
	for p, name := range map[client.Protocol]string{
		client.JSONRPC10: "spec", client.REST10: "spec", client.JSONRPC03: "spec03", client.REST03: "spec03-rest",
		client.JSONRPC01: "spec01", client.Early: "legacy",
	} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			usual := broken(judged(t, name, refagent.Options{}, p, client.Options{}, tour))
			for n, f := range fault.All(p) {
				if n%oneIn != 0 {
					continue
				}
				t.Run(f.Slug, func(t *testing.T) {
					t.Parallel()
					found := broken(judged(t, name, refagent.Options{}, p, client.Options{Break: fault.Named(f.Slug)}, tour))
					for b := range usual {
						delete(found, b)
					}
					wantRules(t, found, a2a.Client, f.Slug, f.Also)
				})
			}
		})
	}
}

// wantRules fails the test unless the side broke the rule, and nobody broke another one but those that may come along.
func wantRules(t *testing.T, found map[breach]bool, side a2a.Side, slug string, also []string) {
	t.Helper()
	if !found[breach{slug, side}] {
		t.Errorf("the %s is not found to break %s", side, slug)
	}
	for b := range found {
		if b.rule != slug && !slices.Contains(also, b.rule) {
			t.Errorf("the %s is found to break %s too", b.side, b.rule)
		}
	}
}

// broken returns who broke which rules.
func broken(findings []analyzer.Finding) map[breach]bool {
	set := make(map[breach]bool)
	for _, f := range findings {
		set[breach{f.Rule.ID, f.Side}] = true
	}
	return set
}

// A breach is a rule and who broke it.
type breach struct {
	rule string
	side a2a.Side
}

// judged lets a client talk to an agent through a tap, and returns what all rules find.
func judged(
	t *testing.T, name string, a refagent.Options, p client.Protocol, o client.Options, said ...talk,
) []analyzer.Finding {
	t.Helper()
	a.Push = true
	o.ProtoJSON = name == "spec03-proto"
	a.CancelWait = 2 * time.Second
	src := record(t, agenttest.Start(t, name, a), func(tapURL string) {
		o.Timeout, o.Token = 5*time.Second, "agentbin-test-token"
		for _, say := range said {
			say(t.Context(), tapURL, p, o)
		}
	})
	result, err := engine.Run(t.Context(), rules.All, src, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Findings
}
