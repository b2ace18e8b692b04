package replaytest_test

import (
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/replay/playback"
	"a2atap/replay/replaytest"
)

// A client with other texts is served, and its omissions are logged.
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

// An unmatched request fails the test, with the nearest recorded one.
func TestAgentFails(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) {
		url := replaytest.Agent(t, session, func(o *replaytest.AgentOptions) { o.Match = playback.ByValue })
		ask(t, url, "task-lifecycle a boat")
	})
	s.wantErrors(t, "send: ", session+": not matched: SendMessage: no recorded request matches; the nearest is exchange")
}

// Many unmatched requests are counted.
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
	if n := len(s.errors); n != 21 || !strings.Contains(s.errors[20], "and 5 more requests without a match") {
		t.Errorf("got %d errors:\n%s", n, strings.Join(s.errors, "\n"))
	}
}

// A client that makes no request, or with Whole omits one, fails the test.
func TestAgentIsNotAsked(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) { replaytest.Agent(t, session) })
	s.wantErrors(t, session+": no request arrived")
	s = watch(t, func(t testing.TB) {
		url := replaytest.Agent(t, session, func(o *replaytest.AgentOptions) { o.Whole = true })
		for range 3 {
			askForTickets(t, url)
		}
	})
	s.wantErrors(t, session+": not requested: exchange 4 SendStreamingMessage")
}

// A skipped test is not checked.
func TestAgentOfSkippedTest(t *testing.T) {
	t.Parallel()
	s := watch(t, func(t testing.TB) {
		replaytest.Agent(t, session)
		t.(*spy).skipped = true
	})
	s.wantErrors(t)
}

// One of several agents is chosen by its name.
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
