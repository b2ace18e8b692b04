package replaytest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/replay/playback"
)

// AgentOptions are the options of package playback, with additions for tests. If the session has several agents,
// Options.Agent must name the one to play.
type AgentOptions struct {
	playback.Options

	// Whole also fails the test if the client did not make a recorded request.
	Whole bool
}

// maxLines bounds the requests that are printed one by one.
const maxLines = 20

// Agent plays the agent of a session on a test server until the test and its subtests end, and returns its URL,
// including the path, which a client should use instead of the agent's.
//
// When the test ends, it calls t.Error for each unmatched request, with the nearest recorded one and the difference,
// and if no request came at all. It logs recorded requests that the client did not make. It does not check a skipped
// test.
//
// It fails the test at once if the session cannot be read. It is safe in tests that run in parallel.
func Agent(t testing.TB, file string, options ...func(*AgentOptions)) (url string) {
	t.Helper()
	var o AgentOptions
	for _, option := range options {
		option(&o)
	}
	src, err := open(file)
	if err == nil {
		err = o.choose(context.WithoutCancel(t.Context()), src)
	}
	if err != nil {
		t.Fatalf("replaytest.Agent: %s: %v", file, err)
	}
	player, err := playback.New(context.WithoutCancel(t.Context()), src, o.Options)
	if err != nil {
		t.Fatalf("replaytest.Agent: %s: %v", file, err)
	}
	server := httptest.NewServer(player)
	t.Cleanup(func() {
		t.Helper()
		server.CloseClientConnections()
		server.Close()
		player.Close()
		o.judge(t, file, player.Report())
	})
	return server.URL + player.Path()
}

// choose checks whether the choice of the played agent is clear.
func (o *AgentOptions) choose(ctx context.Context, src capture.Source) error {
	names, others, err := playback.Agents(ctx, src)
	switch {
	case err != nil:
		return err
	case o.Agent == "" && len(names) > 1 && o.Keep == nil:
		return fmt.Errorf("it has several agents, %s; choose one by AgentOptions.Agent", strings.Join(names, ", "))
	case o.Agent != "" && !slices.Contains(append(names, others...), o.Agent):
		return fmt.Errorf("it has no agent %q; it has %s", o.Agent, strings.Join(names, ", "))
	}
	return nil
}

// judge fails the test for unmatched requests.
func (o *AgentOptions) judge(t testing.TB, file string, r playback.Report) {
	t.Helper()
	if t.Skipped() {
		return
	}
	for i, m := range r.Misses {
		if i == maxLines {
			break
		}
		t.Errorf("%s: not matched: %s", file, analysis.Clean(m.String()))
	}
	if r.Missed > maxLines {
		t.Errorf("%s: and %d more requests without a match", file, r.Missed-maxLines)
	}
	for _, line := range r.NotRequested() {
		if o.Whole {
			t.Errorf("%s: %s", file, line)
		} else {
			t.Logf("%s: %s", file, line)
		}
	}
	if r.Came()+r.Missed == 0 {
		t.Errorf("%s: no request arrived; configure the client with the URL that replaytest.Agent returns", file)
	}
	t.Logf("%s: %s", file, r.Verdict())
}
