package refagent_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs an agent on a real socket until the test ends, and returns its origin.
func serve(t testing.TB, name string, opts refagent.Options) string {
	t.Helper()
	return strings.TrimSuffix(agenttest.Start(t, name, opts), "/"+name)
}

// A link is an agent and a protocol for it.
type link struct {
	agent    string
	protocol client.Protocol
}

// with returns options that make the agent support the protocol.
func (l link) with(o refagent.Options) refagent.Options {
	if l.protocol.Binding == client.GRPC10.Binding {
		o.Bindings = []string{l.protocol.Binding}
	}
	return o
}

// proto reports whether messages follow the 0.3 proto definition. Data then has a wrapper, and 0 cannot be
// distinguished from a missing value.
func (l link) proto() bool { return l.agent == "spec03-proto" || l.protocol == client.GRPC03 }

func (l link) String() string { return l.agent + " " + l.protocol.String() }

var specLinks = []link{
	{"spec", client.JSONRPC10},
	{"spec", client.REST10},
	{"spec03", client.JSONRPC03},
	{"spec03-rest", client.REST03},
	{"spec03-proto", client.REST03},
	{"spec02", client.JSONRPC03},
	{"spec", client.GRPC10},
	{"spec03", client.GRPC03},
}

// eachLink runs a test against every spec agent over every protocol it speaks.
func eachLink(t *testing.T, opts refagent.Options, test func(t *testing.T, l link, c *client.Client)) {
	for _, l := range specLinks {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			url := serve(t, l.agent, l.with(opts))
			test(t, l, agenttest.Connect(t, url+"/"+l.agent, l.protocol, client.Options{ProtoJSON: l.agent == "spec03-proto"}))
		})
	}
}

// fixed returns options with which an agent's answers are always the same: ids count up, the clock does not advance.
func fixed() refagent.Options {
	var n atomic.Int64
	return refagent.Options{
		StepTime: time.Millisecond,
		NewID:    func() string { return fmt.Sprintf("id-%d", n.Add(1)) },
		Now:      func() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) },
	}
}

// describe writes an event in one word, so that a stream is a line to compare.
func describe(e client.Event) string {
	switch {
	case e.Task != nil:
		return "task:" + string(e.Task.Status.State)
	case e.Message != nil:
		return "message"
	case e.Status != nil:
		return string(e.Status.Status.State)
	}
	s := "artifact:" + e.Artifact.Artifact.Name
	if e.Artifact.Append {
		s += "+"
	}
	if e.Artifact.LastChunk {
		s += "!"
	}
	return s
}
