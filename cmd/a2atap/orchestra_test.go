//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/replay/peers"
)

// What users say.
const (
	aFence = "paint the garden fence red"
	aLoaf  = "bake a loaf of bread"
)

// concerts are what an orchestra plays: one user, and two who ask at the same time, in all ways in which their requests
// can be told apart, or cannot.
var concerts = []struct {
	name string
	plan peers.Plan
	says []string // each user
	mute bool     // users have no trace that could be handed on
}{
	{"one traced", peers.Plan{Trace: true}, []string{aFence}, false},
	{"one", peers.Plan{}, []string{aFence}, false},
	{"two traced", peers.Plan{Trace: true}, []string{aFence, aFence}, false},
	{"two traced from the orchestrator on", peers.Plan{Trace: true}, []string{aFence, aFence}, true},
	{"two in their contexts", peers.Plan{Context: true}, []string{aFence, aFence}, false},
	{"two with different texts", peers.Plan{}, []string{aFence, aLoaf}, false},
	{"two with equal texts", peers.Plan{}, []string{aFence, aFence}, false},
}

// TestOrchestra records what an orchestrator and the three agents that it asks say to each other, all made with the
// official Go SDK and each in a process of its own, and makes out what belongs together.
func TestOrchestra(t *testing.T) {
	t.Parallel()
	sdk := peers.Go2Program("peer-go2")
	newOrchestra(t, sdk, sdk, sdk, sdk).play(t)
}

// play plays all concerts.
func (o *orchestra) play(t *testing.T) {
	for i, piece := range concerts {
		t.Run(piece.name, func(t *testing.T) {
			c := &concert{plan: piece.plan}
			for k, text := range piece.says {
				user := peers.User{Text: text}
				if !piece.mute { // whether the trace of a user gets any further is up to the orchestrator
					user.Trace = fmt.Sprintf("00-%016x%016x-00f067aa0ba902b7-01", i+1, k+1)
				}
				c.users = append(c.users, user)
			}
			o.record(t, c)
			all := c.performed(t)
			o.checkWhole(t, c, all)
			ix := c.links(t)
			checkLinks(t, ix, all)
			checkTree(t, c, ix, all)
			checkSpans(t, c, ix, all)
			if !piece.mute {
				checkDrawn(t, piece.name, drawn(ix, all, piece.plan.Trace || len(c.users) == 1))
			}
			o.checkVerdict(t, c)
		})
	}
}

// checkWhole demands that all requests are in the capture that the orchestrator made.
func (o *orchestra) checkWhole(t *testing.T, c *concert, all map[uint64]*performed) {
	t.Helper()
	calls := make(map[string]bool)
	told, others := make(map[uint64]bool), 0 // users of whose task the orchestrator was notified; other exchanges
	for _, x := range all {
		if x.Operation == "PushNotification" && x.Client.Name == pushName && x.Agent.Name == leaderName {
			told[x.user] = true
		} else {
			others++
		}
		if calls[x.header("X-Request-Id")] = true; x.header("X-Request-Id") != "" && x.Client.Name != leaderName {
			t.Errorf("%s: the client is the orchestrator", x)
		}
		if x.user == 0 {
			t.Errorf("%s is of nobody known", x)
		}
	}
	for id, call := range c.calls {
		if slices.Contains(c.messages, call.message) && !calls[id] {
			t.Errorf("the request %s of the orchestrator is not in the capture", id)
		}
	}
	if want := 10 * len(c.users); others != want || len(told) != len(c.users) {
		t.Errorf("%d exchanges beside notifications to %d users are in the capture, want %d and %d", others, len(told), want,
			len(c.users))
	}
}

// known are all findings about the agents of each SDK, by rule; reasons are with the pairs in replay/peers.
var known = map[string][]string{
	"go2": {"card-cache-control", "card-etag"},
	"js1": nil,
	"py1": {"card-cache-control"},
}

// checkVerdict requires that only known problems of the SDKs were found, live and afterward.
func (o *orchestra) checkVerdict(t *testing.T, c *concert) {
	t.Helper()
	want := map[string]bool{}
	for agent, sdk := range o.made {
		for _, rule := range known[sdk] {
			want[agent+": "+rule] = true
		}
	}
	want[streamName+": msg-context-on-server-message"] = true // its answer to the release
	type found struct {
		Type, Rule, Link, Message string
		Status                    string
		Lost, CallsFailed         int
		FailedTasks               []struct{ Link, Error string }
		Unproved                  []string
	}
	got := map[string]bool{}
	for _, line := range c.printed {
		var f found
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		switch f.Type {
		case "finding":
			if f.Rule == "card-cache-honoured" { // whether a card is fetched again over the same connection is chance
				continue
			}
			if f.Rule == "workflow-trace-dropped" && !c.plan.Trace { // which of them the orchestrator asks first is chance
				continue
			}
			got[agentOf(f.Link)+": "+f.Rule] = true
		case "verdict":
			one := len(f.FailedTasks) == 1 && agentOf(f.FailedTasks[0].Link) == failName // as it is meant to
			if f.Status != "failing" || !one || f.Lost > 0 || f.CallsFailed > 0 || len(f.Unproved) > 0 {
				t.Errorf("the verdict is %s", line)
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("findings while it was recorded (-known +got):\n%s", diff)
	}
}
