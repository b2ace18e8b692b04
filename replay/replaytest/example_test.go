package replaytest_test

import (
	"os"
	"testing"
	"time"

	"a2atap/replay/client/auth"
	"a2atap/replay/compare"
	"a2atap/replay/replaytest"
)

func TestBookerAnswersAsRecorded(t *testing.T) {
	booker := startBooker(t) // the URL of the agent that is tested, such as that of an httptest.Server

	replaytest.Run(t, "testdata/session.txtar", booker)
}

func TestPlannerAsksTheBooker(t *testing.T) {
	booker := replaytest.Agent(t, "testdata/session.txtar")

	askForTickets(t, booker) // by the client that is tested
}

// A test of an agent: it fails if the agent differs from the recording.
func ExampleRun() {
	_ = func(t *testing.T) { // func TestBooker(t *testing.T) {
		replaytest.Run(t, "testdata/session.txtar", startBooker(t))
	}
}

// A stricter test of an agent that requires a token, and is slow to start.
func ExampleRun_options() {
	_ = func(t *testing.T) { // func TestBooker(t *testing.T) {
		replaytest.Run(t, "testdata/session.txtar", startBooker(t), func(o *replaytest.RunOptions) {
			o.Profile = compare.Shape
			o.Authorize = auth.Bearer(os.Getenv("BOOKER_TOKEN"))
			o.Wait = 30 * time.Second
			o.KeepIn = t.ArtifactDir() // go test -artifacts
		})
	}
}

// A test of a client: the agent answers as recorded, whatever texts the client sends.
func ExampleAgent() {
	_ = func(t *testing.T) { // func TestPlanner(t *testing.T) {
		booker := replaytest.Agent(t, "testdata/session.txtar")
		askForTickets(t, booker)
	}
}

// A client must tolerate a broken stream, and make every request of the session.
func ExampleAgent_options() {
	_ = func(t *testing.T) { // func TestPlanner(t *testing.T) {
		booker := replaytest.Agent(t, "testdata/session.txtar", func(o *replaytest.AgentOptions) {
			o.BreakAfter = 3
			o.Whole = true
		})
		askForTickets(t, booker)
	}
}
