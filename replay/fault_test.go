package replay_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/client/fault"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// spoken are the protocols of each reference agent.
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
					if f.Severity >= analysis.Warning {
						t.Errorf("%s", &f)
					}
				}
			})
			t.Run(name+" "+p.String()+", stray", func(t *testing.T) {
				t.Parallel()
				for _, f := range judged(t, name, refagent.Options{}, p, client.Options{}, tour, dialog, stray) {
					if f.Severity >= analysis.Warning && f.Side == a2a.Agent {
						t.Errorf("when the client does not look at the card: %s", &f)
					}
				}
			})
		}
	}
}

// A talk is a part of a client's session with an agent behind a tap.
type talk = func(ctx context.Context, tapURL string, p client.Protocol, o client.Options)

// talks are the sessions in which agents show their faults. Parts for every binding, and parts for none, run over the
// first one only.
func talks(first bool) []talk {
	own := []talk{tour, dialog, stray, configure, probe, strangers}
	if first {
		own = append(own, cross, revisit)
	}
	return own
}

// The rule with a fault's name finds the fault of an agent, and no other rule does except those that the fault lists.
// The first binding varies from fault to fault. If it shows the fault, the other bindings run only with the tag
// peers. The same applies to an agent that behaves like another one. Two of three faults run only with that tag.
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
				if f.OnlyGRPC {
					continue // see TestAgentFaultsOverGRPC
				}
				if !everyWay && name == "echo" && hasFault("spec", f.Slug) {
					continue // it behaves as spec does
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

// notShown are the faults of agents that have a gRPC form but that these talks do not show over gRPC: no request
// triggers them, or no rule can be certain.
var notShown = []string{
	"spec auth-www-authenticate", "spec push-delete-idempotent", "spec push-list-complete",
	"spec state-cancel-terminal-code", "spec ver-supported-refused", "spec03 auth-www-authenticate",
	"spec03 cap-streaming-unsupported-0x", "spec03 output-in-message", "spec03 push-valid-config-refused",
	"spec03 state-cancel-terminal-code",
}

// Each fault of an agent that has a gRPC form is found over gRPC in the same way.
func TestAgentFaultsOverGRPC(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]client.Protocol{"spec": client.GRPC10, "spec03": client.GRPC03} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := []talk{tour, dialog, stray, configure, probe, strangers, revisit}
			o := refagent.Options{Bindings: []string{"grpc"}}
			usual := broken(judged(t, name, o, p, client.Options{}, said...))
			for n, f := range refagent.Faults(name) {
				if !f.OverGRPC() || !f.OnlyGRPC && n%oneIn != 0 || strings.HasPrefix(f.Slug, "hook-") {
					continue
				}
				t.Run(f.Slug, func(t *testing.T) {
					t.Parallel()
					o := o
					o.Fault = f.Slug
					found := broken(judged(t, name, o, p, client.Options{}, said...))
					for b := range usual {
						delete(found, b)
					}
					if !slices.Contains(notShown, name+" "+f.Slug) {
						wantRules(t, found, a2a.Agent, f.Slug, f.Also)
					} else if found[breach{f.Slug, a2a.Agent}] {
						t.Error("it is found; it is not to be among those that are not")
					}
				})
			}
		})
	}
}

// An agent rejects a fault that none of its bindings shows. Over gRPC it ignores one that only others show.
func TestFaultsWithoutForm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault, want string
		bindings    []string
	}{
		{"grpc-status", "is visible only over gRPC, which the agent does not serve; use --binding grpc", nil},
		{"rpc-id-echo", "is not visible over gRPC, and the agent serves nothing else", []string{"grpc"}},
		{"unknown-field", "is not visible over gRPC", []string{"grpc"}},
		{"grpc-status", "", []string{"jsonrpc", "grpc"}},
		{"rpc-id-echo", "", []string{"jsonrpc", "grpc"}},
	} {
		a, err := refagent.New("spec", refagent.Options{Fault: tt.fault, Bindings: tt.bindings})
		if err == nil {
			a.Close()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s over %v: got %v", tt.fault, tt.bindings, err)
		}
	}
	o := refagent.Options{Bindings: []string{"grpc", "jsonrpc"}}
	usual := broken(judged(t, "spec", o, client.GRPC10, client.Options{}, tour, dialog))
	for n, f := range refagent.Faults("spec") {
		if f.OverGRPC() || n%oneIn != 0 {
			continue
		}
		o.Fault = f.Slug
		found := broken(judged(t, "spec", o, client.GRPC10, client.Options{}, tour, dialog))
		for b := range found {
			if !usual[b] {
				t.Errorf("%s shows over gRPC: %v", f.Slug, b)
			}
		}
	}
}

func hasFault(agent, slug string) bool {
	return slices.ContainsFunc(refagent.Faults(agent), func(f refagent.AgentFault) bool { return f.Slug == slug })
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

// wantRules fails the test unless the side broke the rule, and no other rule was broken except the allowed ones.
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

// broken returns which side broke which rules.
func broken(findings []analysis.Finding) map[breach]bool {
	set := make(map[breach]bool)
	for _, f := range findings {
		set[breach{f.Rule.ID, f.Side}] = true
	}
	return set
}

// A breach is a rule and the side that broke it.
type breach struct {
	rule string
	side a2a.Side
}

// judged runs a client's session with an agent through a tap, and returns the findings of all rules.
func judged(
	t *testing.T, name string, a refagent.Options, p client.Protocol, o client.Options, said ...talk,
) []analysis.Finding {
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
	return must.Get(engine.Run(t.Context(), rules.All, src, nil))(t).Findings
}
