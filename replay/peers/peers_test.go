package peers

import (
	"flag"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/paralleltest"
	"a2atap/proxy/webhook"
)

var update = flag.Bool("update", false,
	"write what the clients saw directly to testdata/seen; other routes then compare when run again")

func TestMain(m *testing.M) {
	paralleltest.AtOnce(16)
	// The SDK creates a new queue if a client requests a task just when it ends, and then keeps the queue.
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/a2aproject/a2a-go/v2/a2asrv/eventqueue.newInMemoryEventBroker.func1"))
}

// inProcess are pairs whose two ends are Go SDKs of the same line: one for each dialect and binding.
var inProcess = []Pair{
	{Go03Client, Go03Agent, JSONRPC},
	{Go2Client, Go2Agent, JSONRPC},
	{Go2Client, Go2Agent, HTTPJSON},
	{Go2LegacyClient, Go2HybridAgent, HTTPJSON},
	{Go03GRPCClient, Go03GRPCAgent, GRPC},
	{Go2GRPCClient, Go2GRPCAgent, GRPC},
}

// TestPeers plays the script over each route, and compares the client's results with testdata/seen: the results of a
// direct connection. Those files document the behavior of an SDK.
func TestPeers(t *testing.T) {
	t.Parallel()
	testPairs(t, inProcess)
}

// routes are the routes from a client to an agent. The check of each route gets the result of a script that the pair
// played over it.
var routes = []struct {
	name string
	open func(t *testing.T, pair Pair) (route Route, check func(Result))
}{
	{"direct", func(*testing.T, Pair) (Route, func(Result)) { return Direct, func(Result) {} }},
	{"hop", func(t *testing.T, _ Pair) (Route, func(Result)) {
		h := &hop{rewrite: true}
		return h.route, func(r Result) {
			if around := r.Around(h.dialled()); len(around) > 0 {
				t.Errorf("requests went around the hop: %v", around)
			}
		}
	}},
	{"tap", func(t *testing.T, pair Pair) (Route, func(Result)) {
		tp := &tap{agent: pair.Agent.Name}
		return tp.route, func(r Result) { tp.check(t, pair, r) }
	}},
	{"tap and webhooks", func(t *testing.T, pair Pair) (Route, func(Result)) {
		tp := &tap{agent: pair.Agent.Name, webhooks: &webhook.Spec{Key: []byte("a key of thirty-two bytes, or so.")}}
		return tp.route, func(r Result) { tp.checkNotifications(t, r) }
	}},
}

func testPairs(t *testing.T, pairs []Pair) {
	for _, pair := range pairs {
		for _, r := range routes {
			if r.name == "hop" && (pair.Binding == GRPC || pair.Client.Name != pair.Agent.Name) {
				continue // it speaks HTTP/1.1; whether an SDK bears an intermediary shows with its own agent
			}
			if r.name == "direct" && !*update {
				continue // what it saw is in the file
			}
			t.Run(pair.String()+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				route, check := r.open(t, pair)
				got := Play(t, pair, route)
				golden(t, pair, got.Seen)
				check(got)
			})
		}
	}
}

// golden compares lines with the pair's file in testdata/seen.
func golden(t *testing.T, pair Pair, lines []string) {
	t.Helper()
	file := pair.seenFile()
	got := strings.Join(lines, "\n") + "\n"
	if *update && strings.HasSuffix(t.Name(), "/direct") {
		must.Do(t, os.WriteFile(file, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test -update to write what the client saw:\n%s", err, got)
	}
	expect.Same(t, "the client saw something else than without anything in between",
		strings.Split(string(want), "\n"), strings.Split(got, "\n"))
}
