//go:build unix && peers

package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/track/workflow"
	"a2atap/replay/peers"
)

// recordedBy is a way to record an orchestra without being told who calls.
type recordedBy struct {
	name      string
	recorders [][]string
	ship      bool // they ship to a server instead of being merged
	strangers bool // no agent with a tap calls one that has a tap
}

var apart = []recordedBy{
	{name: "one recorder", recorders: [][]string{{leaderName, streamName, pushName, failName}}},
	{name: "one each", recorders: [][]string{{leaderName}, {streamName}, {pushName}, {failName}}},
	{name: "fleet", recorders: [][]string{{leaderName}, {streamName}, {pushName}, {failName}}, ship: true},
	{name: "orchestrator not tapped", recorders: [][]string{{streamName}, {pushName}, {failName}}, strangers: true},
}

// apartConcerts are what the orchestras play for them.
var apartConcerts = []struct {
	name string
	plan peers.Plan
	says []string
}{
	{"one traced", peers.Plan{Trace: true}, []string{aFence}},
	{"one", peers.Plan{}, []string{aFence}},
	{"two traced", peers.Plan{Trace: true}, []string{aFence, aFence}},
	{"two in their contexts", peers.Plan{Context: true}, []string{aFence, aFence}},
	{"two with different texts", peers.Plan{}, []string{aFence, aLoaf}},
	{"two with equal texts", peers.Plan{}, []string{aFence, aFence}},
}

// TestOrchestraApart compares the links inferred from an orchestra's traffic with its agents' own reports of their
// calls, for several divisions of the agents among recorders. No link is wrong, and all links that can be known are
// found.
func TestOrchestraApart(t *testing.T) {
	t.Parallel()
	sdk := peers.Go2Program("peer-go2")
	newOrchestra(t, sdk, sdk, sdk, sdk).playApart(t, telling(apart))
}

// telling returns all ways with the tag peers, else two: with a recorder each, and the next.
func telling(ways []recordedBy) []recordedBy {
	if thorough {
		return ways
	}
	return ways[1:3]
}

// playApart plays all concerts in some ways; without the tag peers every other one, the others in the next way.
func (o *orchestra) playApart(t *testing.T, ways []recordedBy) {
	for i, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			recognised := 0
			for k, piece := range apartConcerts {
				if !thorough && (i+k)%2 == 0 {
					continue
				}
				t.Run(piece.name, func(t *testing.T) {
					c := &concert{plan: piece.plan}
					for k, text := range piece.says {
						user := peers.User{Text: text}
						if piece.plan.Trace {
							user.Trace = "00-" + string(rune('a'+k)) + "000000000000000000000000000000f-00f067aa0ba902b7-01"
						}
						c.users = append(c.users, user)
					}
					o.recordApart(t, c, way.ship, way.recorders...)
					all := c.performed(t)
					ix := c.links(t)
					checkLinks(t, ix, all)
					checkTree(t, c, ix, all)
					checkSpans(t, c, ix, all)
					recognised += checkKnown(t, c, ix, all)
				})
			}
			// A single concert can be over before anybody has looked who plays.
			if recognised == 0 && !way.strangers {
				t.Error("no orchestrator is known by its process anywhere")
			}
		})
	}
}

// checkKnown demands that what can be known is made out: what names a task, what notifies of one, what carries a trace,
// and what an agent whose process was recognised does for its only user. It returns how many exchanges such agents have
// made.
func checkKnown(t *testing.T, c *concert, ix *workflow.Index, all map[uint64]*performed) (recognised int) {
	t.Helper()
	right, open := 0, 0
	for _, n := range slices.Sorted(maps.Keys(all)) {
		x, l := all[n], ix.Of(n)
		byAgent := x.by != "" && x.Client.Name == x.by
		if byAgent {
			recognised++
		}
		if l.Maybe != (workflow.Choice{}) && !slices.Contains(l.Maybe.All(), x.parent) {
			t.Errorf("%s is %s, and was by %d", x, l.Doubt(), x.parent)
		}
		switch parent := all[x.parent]; {
		case parent == nil:
		case l.Parent != 0:
			right++
		case slices.ContainsFunc(x.Task, func(id string) bool { return slices.Contains(parent.Task, id) }),
			c.plan.Trace && x.header("Traceparent") != "" && !x.card,
			c.plan.Context && strings.Contains(x.Request.Body, `"contextId"`) && parent.user == parent.N,
			byAgent && len(c.users) == 1:
			t.Errorf("%s (%s) begins a workflow, and is known to be under %d", x, x.Client.How, x.parent)
		case len(c.users) == 2 && byAgent && !x.card && l.Maybe == (workflow.Choice{}):
			t.Errorf("%s (%s) begins a workflow, and it is not said that it is of one of two users", x, x.Client.How)
		default:
			open++
		}
	}
	t.Logf("%d right, %d lost, %d by an agent, as is known", right, open, recognised)
	return recognised
}
