package replaytest_test

import (
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/replay/playback"
	"a2atap/replay/replaytest"
)

// A client with other words is served, and what it left out is logged.
func TestAgentPasses(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) {
		url := replaytest.Agent(t, session)
		if !strings.HasSuffix(url, "/spec") {
			t.Errorf("the URL is %s", url)
		}
		askForTickets(t, url)
	})
	s.wantErrors(t)
	s.wantLog(t, session+": not requested: exchange 4 SendStreamingMessage")
	s.wantLog(t, "2 requests served, 0 not matched")
}

// A request that nothing recorded matches fails the test, with the nearest one.
func TestAgentFails(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) {
		url := replaytest.Agent(t, session, func(o *replaytest.AgentOptions) { o.Match = playback.ByValue })
		ask(t, url, "task-lifecycle a boat")
	})
	s.wantErrors(t, "send: ", session+": not matched: SendMessage: nothing recorded matches; the nearest is exchange")
}

// Many requests that nothing matches are counted.
func TestAgentCountsMisses(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) {
		url := replaytest.Agent(t, session)
		for range 25 {
			response, err := http.Get(url + "/nowhere")
			if err != nil {
				t.Errorf("get: %v", err)
				return
			}
			response.Body.Close()
		}
		http.DefaultClient.CloseIdleConnections()
	})
	if n := len(s.errors); n != 21 || !strings.Contains(s.errors[20], "and 5 more requests that nothing matches") {
		t.Errorf("got %d errors:\n%s", n, strings.Join(s.errors, "\n"))
	}
}

// A client that does not come, or that leaves something out where all is wanted, has proved nothing.
func TestAgentIsNotAsked(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) { replaytest.Agent(t, session) })
	s.wantErrors(t, session+": no request came")
	s = watch(t, func(t testing.TB) {
		url := replaytest.Agent(t, session, func(o *replaytest.AgentOptions) { o.Whole = true })
		for range 3 {
			askForTickets(t, url)
		}
	})
	s.wantErrors(t, session+": not requested: exchange 4 SendStreamingMessage")
}

// A test that was skipped is not judged.
func TestAgentOfSkippedTest(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) {
		replaytest.Agent(t, session)
		t.(*spy).skipped = true
	})
	s.wantErrors(t)
}

// Of several agents one is chosen by its name.
func TestAgentAmongSeveral(t *testing.T) {
	t.Parallel()
	file := changed(t, func(x *capture.Exchange) {
		if x.Seq > 2 {
			x.Agent.Name = "planner"
		}
	})
	choose := func(name string) func(*replaytest.AgentOptions) {
		return func(o *replaytest.AgentOptions) { o.Agent = name }
	}
	s := watch(t, func(t testing.TB) { askForTickets(t, replaytest.Agent(t, file, choose("booker"))) })
	s.wantErrors(t)
	s.wantLog(t, "2 of 2 recorded exchanges used")
	for name, want := range map[string]string{
		"": "several agents, booker, planner; choose one", "guide": `no agent "guide"; it has booker, planner`,
	} {
		s := watch(t, func(t testing.TB) { replaytest.Agent(t, file, choose(name)) })
		if !strings.Contains(s.fatal, want) || !strings.Contains(s.fatal, file) {
			t.Errorf("%q: got %q, want %q", name, s.fatal, want)
		}
	}
	if s := watch(t, func(t testing.TB) { replaytest.Agent(t, "none.txtar") }); !strings.Contains(s.fatal, "none.txtar") {
		t.Errorf("got %q", s.fatal)
	}
}
