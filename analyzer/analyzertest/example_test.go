package analyzertest_test

import (
	"net/http/httptest"
	"testing"

	"a2atap/analyzer"
	"a2atap/analyzer/analyzertest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/refagent"
)

func TestBooker(t *testing.T) {
	agent := startBooker(t) // the URL of the agent that is tested, such as that of an httptest.Server
	tap := analyzertest.Tap(t, agent, analyzertest.Side(a2a.Agent))

	askForTickets(t, tap.URL) // by whichever client the tests use
}

func TestBookerTranscripts(t *testing.T) {
	analyzertest.Run(t, "testdata/booker")
}

// A test of an agent: it fails for what the agent breaks.
func ExampleTap() {
	_ = func(t *testing.T) { // func TestBooker(t *testing.T) {
		agent := startBooker(t)
		tap := analyzertest.Tap(t, agent, analyzertest.Side(a2a.Agent))
		askForTickets(t, tap.URL)
	}
}

// A stricter test, which lives with one finding.
func ExampleTap_options() {
	_ = func(t *testing.T) { // func TestBooker(t *testing.T) {
		tap := analyzertest.Tap(
			t, startBooker(t),
			analyzertest.Named("booker"),
			analyzertest.Side(a2a.Agent),
			analyzertest.Gate(analyzer.Warning),
			analyzertest.Without("card-cache-control", "the gateway in front of the agent sets it"),
			analyzertest.Keep(t.ArtifactDir()), // go test -artifacts
		)
		askForTickets(t, tap.URL)
	}
}

// A test of traffic that was written down, or exported from a capture.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestBookerTranscripts(t *testing.T) {
		analyzertest.Run(t, "testdata/booker")
	}
}

// startBooker starts the agent under test, here the reference agent, and returns its URL.
func startBooker(t *testing.T) string {
	t.Helper()
	booker := must.Get(refagent.New("spec", refagent.Options{}))(t)
	server := httptest.NewServer(booker)
	t.Cleanup(func() {
		booker.Close()
		server.Close()
	})
	return server.URL + booker.Path()
}

// askForTickets is a client: it reads the agent's card, and sends a message.
func askForTickets(t *testing.T, url string) {
	t.Helper()
	c := must.Get(client.Connect(t.Context(), url, client.Options{}))(t)
	defer c.Close()
	must.Get(c.Send(t.Context(), client.Text("two tickets to Kyoto"), client.SendOptions{}))(t)
}
