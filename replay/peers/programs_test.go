//go:build peers

package peers

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// acrossLines are the pairs of Go SDKs that are not in inProcess: those of two lines, and agents that support two
// dialects.
var acrossLines = []Pair{
	{Go03Client, Go2HybridAgent, JSONRPC},
	{Go2Client, Go2HybridAgent, JSONRPC},
	{Go2LegacyClient, Go03Agent, JSONRPC},
	{Go2LegacyClient, Go2HybridAgent, JSONRPC},
}

// TestAcrossLines is TestPeers with Go SDKs of two lines.
func TestAcrossLines(t *testing.T) {
	t.Parallel()
	testPairs(t, acrossLines)
}

// programs are the pairs with an SDK in another language at one end or both: each SDK with itself, then those that
// speak the same dialect with each other.
var programs = slices.Concat(
	both(JS03.Client(), JS03.Agent()),
	both(JS1.Client(), JS1.Agent()),
	both(Py03.Client(), Py03.Agent()),
	both(Py1.Client(), Py1.Agent()),

	// A2A 0.3. Over HTTP+JSON the compatibility layer of the Go SDK leaves out the /v1 of the paths and writes names in
	// snake_case, so it can talk to itself alone.
	[]Pair{
		{Go03Client, JS03.Agent(), JSONRPC},
		{Go03Client, Py03.Agent(), JSONRPC},
		{JS03.Client(), Go03Agent, JSONRPC},
		{Py03.Client(), Go03Agent, JSONRPC},
		{Go2LegacyClient, JS03.Agent(), JSONRPC},
		{Go2LegacyClient, Py03.Agent(), JSONRPC},
		{JS03.Client(), Go2HybridAgent, JSONRPC},
		{Py03.Client(), Go2HybridAgent, JSONRPC},
	},
	both(JS03.Client(), Py03.Agent()),
	both(Py03.Client(), JS03.Agent()),
	both(Java03.Client(), JS03.Agent()),
	[]Pair{
		{Java03.Client(), Go03Agent, JSONRPC},
		{Java03.Client(), Go2HybridAgent, JSONRPC},
		// Over HTTP+JSON this client takes each data line of that agent for an event, and which of the errors it
		// reports first is chance.
		{Java03.Client(), Py03.Agent(), JSONRPC},
	},

	// A2A 1.0
	both(Go2Client, JS1.Agent()),
	both(Go2Client, Py1.Agent()),
	both(JS1.Client(), Go2Agent),
	both(JS1.Client(), Py1.Agent()),
	both(Py1.Client(), Go2Agent),
	both(Py1.Client(), JS1.Agent()),
)

// overGRPC are all pairs of languages but those of Java with others than Go.
var overGRPC = slices.Concat(
	everyPair([]Client{Go03GRPCClient, JS03.Client(), Py03.Client()},
		[]Agent{Go03GRPCAgent, JS03.GRPCAgent(), Py03.GRPCAgent()}),
	everyPair([]Client{Go2GRPCClient, JS1.Client(), Py1.Client()},
		[]Agent{Go2GRPCAgent, JS1.GRPCAgent(), Py1.GRPCAgent()}),
	[]Pair{
		{Java03.Client(), Go03GRPCAgent, GRPC},
		{Go03GRPCClient, Java03.GRPCAgent(), GRPC},
	},
)

func everyPair(clients []Client, agents []Agent) (pairs []Pair) {
	for _, c := range clients {
		for _, a := range agents {
			pairs = append(pairs, Pair{c, a, GRPC})
		}
	}
	return pairs
}

// TestProgramsOverGRPC is TestPrograms over gRPC.
func TestProgramsOverGRPC(t *testing.T) {
	t.Parallel()
	testPairs(t, overGRPC)
}

// TestProbedProgramsOverGRPC is TestProbedOverGRPC with the SDKs in other languages.
func TestProbedProgramsOverGRPC(t *testing.T) {
	probeOverGRPC(t, JS03.GRPCAgent(), JS1.GRPCAgent(), Py03.GRPCAgent(), Py1.GRPCAgent())
}

// TestForwardProgramsOverGRPC is TestForwardOverGRPC with the SDKs in other languages. Node.js of this version asks for the
// card past the proxy.
func TestForwardProgramsOverGRPC(t *testing.T) {
	for _, p := range []Program{JS1, Py1} {
		testForwardOverGRPC(t, p.Name, func(f *forwarded, _ bool) Client {
			proxy := f.proxy.String()
			return p.In("http_proxy="+proxy, "https_proxy="+proxy, "no_proxy=", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH="+f.trustFile,
				"SSL_CERT_FILE="+f.trustFile, "NODE_EXTRA_CA_CERTS="+f.trustFile).Client()
		})
	}
}

// both pairs a client with an agent over each binding.
func both(client Client, agent Agent) []Pair {
	return []Pair{{client, agent, JSONRPC}, {client, agent, HTTPJSON}}
}

// TestPrograms is TestPeers with the SDKs in other languages.
func TestPrograms(t *testing.T) { testPairs(t, programs) }

// TestConfirmed checks that every entry in the list of findings matches a pair.
func TestConfirmed(t *testing.T) {
	pairs := slices.Concat(inProcess, acrossLines, programs, overGRPC)
	for _, c := range confirmed {
		for pattern := range strings.FieldsSeq(c.pairs) {
			if _, err := path.Match(pattern, ""); err != nil {
				t.Errorf("pattern %q: %v", pattern, err)
			}
			one := confirmation{pairs: pattern}
			if !slices.ContainsFunc(pairs, one.matches) {
				t.Errorf("pattern %q means none of the pairs", pattern)
			}
		}
		if c.reason == "" {
			t.Errorf("%s: no reason", c.finding)
		}
	}
}

// TestProbed runs the active suite against the agents of the SDKs.
func TestProbed(t *testing.T) {
	probeAgents(t, Go03Agent, Go2Agent, Go2HybridAgent, JS03.Agent(), JS1.Agent(), Py03.Agent(), Py1.Agent())
}
