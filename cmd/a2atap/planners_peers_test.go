//go:build peers && unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
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
	path    string // of the capture
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

// setups are the ways in which planners are recorded.
var setups = map[string]func(t *testing.T, p *planning, framework, models string) (stop func()){
	// run sets the addresses of models and the proxy. The planner has no tap, and users reach it through the proxy, too.
	"run": func(t *testing.T, p *planning, framework, models string) func() {
		program := peers.PyFlow.In(modelEnvironment(t, models)...).Behind("a2atap", "run", "-o", p.path, "--")
		planner, stop := program.Planner(t, framework)
		p.planner, p.address, p.proxy = planner, planner.URL, strings.Replace(planner.Proxy, "://", "://user@", 1)
		return stop
	},
	// All are behind taps.
	"taps": func(t *testing.T, p *planning, framework, models string) func() {
		planner, stop := peers.PyFlow.In(modelEnvironment(t, "")...).Planner(t, framework)
		r := p.record(t, 5, planner, "--agent", "llm="+models, "--agent", "weather="+strings.TrimSuffix(p.plan.Weather, "/mcp"),
			"--agent", "booker="+p.plan.Book, "--agent", "painter="+p.plan.Paint)
		p.plan.Models, p.plan.Weather = r.taps["llm"], r.taps["weather"]+"/mcp"
		p.plan.Book, p.plan.Paint = r.taps["booker"], r.taps["painter"]
		return func() { stop(); r.stop(t) }
	},
	// The planner is behind a tap, and reaches all others through the forward proxy.
	"tap and forward proxy": func(t *testing.T, p *planning, framework, models string) func() {
		planner, stop := peers.PyFlow.In(modelEnvironment(t, "")...).Planner(t, framework)
		r := p.record(t, 2, planner, "--forward", "0")
		p.plan.Models, p.plan.Proxy = models, r.taps["forward"]
		return func() { stop(); r.stop(t) }
	},
}

// record starts a recorder with a tap in front of the planner.
func (p *planning) record(t *testing.T, taps int, planner *peers.Orchestrator, args ...string) *recorderProcess {
	t.Helper()
	r := startRecorder(t, taps, append([]string{
		"record", "--format", "json", "-o", p.path, "--client", "user-agent:user/*=user", "--agent", "planner=" + planner.URL,
	}, args...)...)
	p.planner, p.address = planner, r.taps["planner"]
	return r
}

// Planners of frameworks ask models, call tools of MCP servers and ask agents of two SDKs, for two users at once, too.
// What show says caused each call is compared with what the planner says about it: no cause may be wrong.
func TestPlannersOfFrameworks(t *testing.T) {
	t.Parallel()
	models := peers.StartModels(t)
	book, paint := peers.JS1.Agent().Start(t).URL, peers.Py1.Agent().Start(t).URL
	for _, c := range []struct {
		framework, setup string
		http, stdio      peers.Program // the SDKs of the MCP servers
	}{
		{"langgraph", "run", peers.PyMCP, peers.JSMCP},
		{"agents", "taps", peers.JSMCP, peers.PyMCP},
		{"adk", "tap and forward proxy", peers.JSMCP, peers.PyMCP},
		{"litellm", "run", peers.JSMCP, peers.PyMCP},
	} {
		t.Run(c.framework, func(t *testing.T) {
			t.Parallel()
			clock, _ := c.stdio.Command(t, "server")
			p := &planning{turns: make(map[string]string), path: filepath.Join(t.TempDir(), "c.a2atap"), plan: peers.Plan{
				Weather: c.http.ToolServer(t), Book: book, Paint: paint,
				Clock: slices.Concat([]string{"a2atap", "stdio", "--name", "clock", "--"}, clock),
			}}
			stop := setups[c.setup](t, p, c.framework, models)
			p.takeAll(t)
			calls := p.planner.Calls(t)
			stop()
			if !t.Failed() {
				p.check(t, c.setup, calls)
			}
		})
	}
}

// check compares the recording with what the planner says.
func (p *planning) check(t *testing.T, setup string, calls map[string]string) {
	t.Helper()
	all := causedExchanges(t, p.path)
	byN := make(map[uint64]*caused)
	turns := make(map[string]uint64)
	about := make(map[uint64]string)
	for _, x := range all {
		byN[x.N] = x
		if id := x.message(); p.turns[id] != "" {
			turns[id], x.turn, about[x.N] = x.N, x.N, p.turns[id]
		}
	}
	expect.Equal(t, "recorded turns", len(p.turns), len(turns))
	recorded := make(map[string]bool)
	for _, x := range all {
		id := x.callID()
		if message, made := calls[id]; made {
			recorded[id] = true
			x.turn = turns[message]
			expect.Equal(t, x.String()+": has a turn", message != "", x.turn != 0)
		}
		for _, o := range all { // a user fetches the card over the connection of the message
			if x.Operation == "GetAgentCard" && x.turn == 0 && x.Conn == o.Conn && p.turns[o.message()] != "" {
				x.turn = o.N
			}
		}
	}
	counts := make(map[string]map[string]int)
	for _, x := range all {
		what := about[x.turn]
		if counts[what] == nil {
			counts[what] = make(map[string]int)
		}
		counts[what][x.checkCause(t, byN)]++
		x.checkNamed(t)
	}
	for id, message := range calls {
		if !recorded[id] && setup == "run" {
			t.Errorf("call %s for message %s is not recorded", id, message)
		}
	}
	checkPlaced(t, setup, counts)
	checkFailures(t, checkNoFindings(t, p.path))
	checkNoSecrets(t, p.path)
}

// checkPlaced demands how many causes are known, at least, by what turns are about.
func checkPlaced(t *testing.T, setup string, counts map[string]map[string]int) {
	t.Helper()
	for what, placed := range counts {
		t.Logf("%s: %v", what, placed)
		most := 0 // calls whose cause is uncertain
		switch {
		case strings.HasPrefix(what, "two at once") && what != "two at once with traces":
			continue // their number depends on what overlaps
		case setup == "run" && what == "alone":
			most = 4 // the planner is not known to be an agent, so nothing is known about calls of other agents
		case setup == "run":
			most = 2
		}
		if placed["uncertain"] > most {
			t.Errorf("%s: the cause of %d calls is uncertain, want %d at most", what, placed["uncertain"], most)
		}
	}
	if n := counts["alone"]["asked for"]; n < 2 {
		t.Errorf("a model asked for %d calls, want 2 or more", n)
	}
}

// checkFailures demands that the failures of takeAll are the only calls that failed.
func checkFailures(t *testing.T, failed []string) {
	t.Helper()
	slices.Sort(failed)
	if len(failed) != 2 || !strings.Contains(failed[0], ": too many requests of ") ||
		!strings.HasPrefix(failed[1], "tools/call weather: ") {
		t.Errorf("calls that failed: %q", failed)
	}
}

// checkNamed demands that a call is known by its kind, operation and client, and has its tokens.
func (x *caused) checkNamed(t *testing.T) {
	t.Helper()
	if x.Kind == "other" || x.Operation == "" || x.Client.Name == "" {
		t.Errorf("%s is of kind %q", x, x.Kind)
	}
	if x.Kind == "mcp" && x.Operation == "tools/call" && x.MCP.Tool != "weather" && x.MCP.Tool != "clock" {
		t.Errorf("%s calls the tool %q", x, x.MCP.Tool)
	}
	if x.Kind == "model" && x.Response.Status == 200 &&
		(x.Model.Name == "" || x.Model.InputTokens < 101 || x.Model.OutputTokens != 20+int64(len(x.Model.ToolCalls))) {
		t.Errorf("%s: got %+v", x, x.Model)
	}
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
	c := x.Cause
	switch {
	case c == nil && (x.turn == x.N || x.turn == 0):
		return "root"
	case c == nil && x.Operation == "GetAgentCard":
		return "card without a cause"
	case c == nil:
		t.Errorf("%s: got no cause, want one in %d", x, x.turn)
		return "wrong"
	case c.Exchange == 0:
		if c.OneOf != nil && c.More == 0 && !slices.ContainsFunc(c.OneOf, func(n uint64) bool { return all[n].turn == x.turn }) {
			t.Errorf("%s: got one of the causes %d, want one in %d", x, c.OneOf, x.turn)
		}
		return "uncertain"
	case all[c.Exchange].turn != x.turn || x.turn == x.N:
		t.Errorf("%s: got the cause %d (%s), want one in %d", x, c.Exchange, c.How, x.turn)
		return "wrong"
	}
	for _, asked := range all[c.Exchange].Model.ToolCalls {
		if asked.Name == x.MCP.Tool {
			return "asked for"
		}
	}
	if all[c.Exchange].Kind == "model" {
		t.Errorf("%s: got as its cause the model in %d, which has not asked for it", x, c.Exchange)
	}
	if c.Proved {
		return "proved"
	}
	return "inferred"
}
