//go:build peers && unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/peers"
)

// A caused is an exchange as show prints it, with its cause, and with the turn that caused it as the planner says.
type caused struct {
	performed

	Kind  string
	Cause *struct {
		Exchange uint64
		How      string
		Proved   bool
		OneOf    []uint64
		More     int
	}
	Model struct {
		Name                      string
		Text                      string
		Finish                    string
		InputTokens, OutputTokens int64
		FirstChunk                float64
		ToolCalls                 []struct{ Name, Arguments string }
	}
	MCP      struct{ Tool string }
	Response struct{ Status int }

	turn uint64 // the exchange of the user's message; 0 for what belongs to no turn
}

// causedExchanges returns all exchanges of a capture.
func causedExchanges(t *testing.T, path string) (all []*caused) {
	t.Helper()
	shown := json.NewDecoder(strings.NewReader(printed(t, "show", path, "--format", "json")))
	for shown.More() {
		x := &caused{}
		must.Do(t, shown.Decode(x))
		all = append(all, x)
	}
	return all
}

// A planning is a recording of a planner: of several turns, one after the other and at once.
type planning struct {
	planner *peers.Orchestrator
	plan    peers.Plan
	address string // of the planner, for users
	proxy   string // of users

	turns map[string]string // what each turn is about, by the id of the user's message
}

// take has the planner take turns, all at once, one for each user.
func (p *planning) take(t *testing.T, about string, users ...peers.User) {
	t.Helper()
	plan := p.plan
	plan.Together = len(users)
	plan.Trace = users[0].Trace != ""
	p.planner.Follow(t, plan)
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	var mu sync.Mutex
	var asking sync.WaitGroup
	for _, user := range users {
		asking.Go(func() {
			user.Proxy = p.proxy
			id, task, err := user.Ask(ctx, t, p.address)
			mu.Lock()
			defer mu.Unlock()
			p.turns[id] = about
			if err != nil || !strings.Contains(fmt.Sprint(task), user.Text) && about != "failure" {
				t.Errorf("%s: %q is answered with %v, %v", about, user.Text, task, err)
			}
		})
	}
	asking.Wait()
}

// takeAll has the planner take all turns of the test.
func (p *planning) takeAll(t *testing.T) {
	t.Helper()
	ask := func(city string) peers.User { return peers.User{Text: "Plan a trip to " + city} }
	p.take(t, "alone", ask("Rome"))
	p.take(t, "alone", ask("Oslo"))
	p.take(t, "tool failure", ask("nowhere"))
	p.take(t, "failure", peers.User{Text: "I am " + peers.Busy + " in Lima"})
	p.take(t, "secret", peers.User{Text: "Use the " + peers.Secret + " word in Bern"})
	p.take(t, "two at once", ask("Paris"), ask("Cairo"))
	p.take(t, "two at once about the same", ask("Quito"), ask("Quito"))
	one, other := ask("Tunis"), ask("Accra")
	one.Trace, other.Trace = "00-0000000000000000000000000000a2a1-0000000000000001-01", "00-0000000000000000000000000000a2a2-0000000000000001-01"
	p.take(t, "two at once with traces", one, other)
}

// Planners of frameworks ask models, call tools of MCP servers and ask agents of two SDKs, for two users at once, too.
// What show says caused each call is compared with what the planner says about it: no cause may be wrong.
func TestPlannersOfFrameworks(t *testing.T) {
	t.Parallel()
	models := peers.StartModels(t)
	book, paint := peers.JS1.Agent().Start(t).URL, peers.Py1.Agent().Start(t).URL
	for _, c := range []struct {
		framework    string
		behindRun    bool
		http, spoken peers.Program // the SDKs of the MCP servers over HTTP, and on standard input and output
	}{
		{"langgraph", true, peers.PyMCP, peers.JSMCP},
		{"agents", false, peers.JSMCP, peers.PyMCP},
		{"adk", true, peers.JSMCP, peers.PyMCP},
		{"litellm", false, peers.PyMCP, peers.JSMCP},
	} {
		t.Run(c.framework, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "c.a2atap")
			if os.Getenv("KEEPC") != "" {
				path = os.Getenv("KEEPC") + c.framework
			}
			weather := c.http.ToolServer(t)
			clock, _ := c.spoken.Command(t, "server")
			p := &planning{turns: make(map[string]string), plan: peers.Plan{
				Weather: weather, Clock: slices.Concat([]string{"a2atap", "stdio", "--name", "clock", "--"}, clock), Book: book, Paint: paint,
			}}
			if c.behindRun {
				program := peers.PyFlow.In(modelEnvironment(t, models)...).Behind("a2atap", "run", "-o", path, "--")
				planner, stop := program.Planner(t, c.framework)
				p.planner, p.address, p.proxy = planner, planner.URL, strings.Replace(planner.Proxy, "://", "://user@", 1)
				p.takeAll(t)
				p.check(t, path, planner.Calls(t), stop)
				return
			}
			planner, stop := peers.PyFlow.In(modelEnvironment(t, "")...).Planner(t, c.framework)
			r := startRecorder(t, 5, "record", "--format", "json", "-o", path, "--client", "user-agent:user/*=user",
				"--agent", "planner="+planner.URL, "--agent", "llm="+models, "--agent", "weather="+strings.TrimSuffix(weather, "/mcp"),
				"--agent", "booker="+book, "--agent", "painter="+paint)
			p.planner, p.address = planner, r.taps["planner"]
			p.plan.Models, p.plan.Weather = r.taps["llm"], r.taps["weather"]+"/mcp"
			p.plan.Book, p.plan.Paint = r.taps["booker"], r.taps["painter"]
			p.takeAll(t)
			p.check(t, path, planner.Calls(t), func() { stop(); r.stop(t) })
		})
	}
}

// check compares the recording with what the planner says. stop ends it.
func (p *planning) check(t *testing.T, path string, calls map[string]string, stop func()) {
	t.Helper()
	stop()
	if t.Failed() {
		return
	}
	all := causedExchanges(t, path)
	byN := make(map[uint64]*caused)
	turns := make(map[string]uint64)
	about := make(map[uint64]string)
	for _, x := range all {
		byN[x.N] = x
		x.readMessage(t)
		if id := x.message(); p.turns[id] != "" {
			turns[id], x.turn, about[x.N] = x.N, x.N, p.turns[id]
		}
	}
	expect.Equal(t, "recorded turns", len(p.turns), len(turns))
	counts := make(map[string]int)
	seen := make(map[string]bool)
	for _, x := range all {
		id := x.callID()
		if message, made := calls[id]; made {
			seen[id] = true
			x.turn = turns[message]
		}
	}
	for _, x := range all { // a user fetches the card over the connection of the message
		for _, o := range all {
			if x.Operation == "GetAgentCard" && x.turn == 0 && x.Conn == o.Conn && o.turn == o.N {
				x.turn = o.N
			}
		}
	}
	for _, x := range all {
		what := about[x.turn]
		if x.turn == x.N {
			what = "turn"
		}
		counts[what+": "+x.checkCause(t, byN)]++
		if x.Kind == "other" || x.Operation == "" {
			t.Errorf("%s is of kind %q", x, x.Kind)
		}
	}
	for id := range calls {
		if !seen[id] && id != "" {
			counts["not recorded"]++
		}
	}
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%4d %s", counts[line], line)
	}
	t.Logf("%s", printed(t, "show", path, "--format", "tree"))
	t.Logf("%q", checkNoFindings(t, path))
	checkNoSecrets(t, path)
}

// callID returns the id that the planner gave a call.
func (x *caused) callID() string {
	if id := x.header("X-Request-Id"); id != "" {
		return id
	}
	var call struct {
		Params struct {
			Meta struct{ Call string } `json:"_meta"`
		}
	}
	json.Unmarshal([]byte(x.Request.Body), &call) //nolint:errcheck // else it has no id
	return call.Params.Meta.Call
}

// checkCause compares the cause of an exchange with the truth, and says how it is placed.
func (x *caused) checkCause(t *testing.T, all map[uint64]*caused) string {
	t.Helper()
	switch c := x.Cause; {
	case c == nil && x.turn == x.N:
		return "begins a workflow"
	case c == nil && x.turn == 0:
		return "of no turn: " + x.Client.Name + " " + x.Operation
	case c == nil:
		return "NO CAUSE " + x.Client.Name + " " + x.Agent.Name + " " + x.Operation
	case len(c.OneOf) > 0:
		if c.More == 0 && !slices.ContainsFunc(c.OneOf, func(n uint64) bool { return all[n].turn == x.turn }) {
			t.Errorf("%s is said to be caused by one of %d, and belongs to %d", x, c.OneOf, x.turn)
		}
		return "uncertain"
	case c.Exchange == 0:
		return "UNCERTAIN " + c.How
	case all[c.Exchange].turn != x.turn:
		t.Errorf("%s is said to be caused by %d (%s), and belongs to %d", x, c.Exchange, c.How, x.turn)
		return "WRONG"
	case c.Proved:
		return "proved, " + c.How
	default:
		return "inferred, " + c.How
	}
}
