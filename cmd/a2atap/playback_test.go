package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/demo"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/refagent"
)

// inBackground runs the program until stop is called, which returns its exit status and what it said.
func inBackground(t *testing.T, args ...string) (stop func() (code int, said string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	said := &lockedBuffer{}
	ended := make(chan int, 1)
	go func() {
		e := cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: said, Now: time.Now, Getenv: os.Getenv}
		ended <- run(ctx, e, args)
	}()
	return func() (int, string) {
		cancel()
		return <-ended, said.String()
	}
}

// An orchestrator under test, whose agents are played, answers as it did when it was recorded with living ones; and so
// does the whole recording, the orchestrator included.
func TestPlaybackForAnOrchestrator(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	file := filepath.Join(dir, "demo.a2atap")
	e := cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Now: time.Now, Getenv: os.Getenv}
	if code := run(t.Context(), e, []string{"demo", "-o", file}); code != 0 {
		t.Fatalf("demo ends with %d", code)
	}
	ready := filepath.Join(dir, "ready")
	stop := inBackground(t, "playback", file, "--listen", "planner=127.0.0.1:0", "--listen", "hotels=127.0.0.1:0",
		"--listen", "flights=127.0.0.1:0", "--ready-file", ready)
	at := readyAddresses(t, ready)

	var orchestrator demo.Planner
	orchestrator.Hotels, orchestrator.Flights = at["hotels"], at["flights"]
	live := must.Get(demo.Start("planner", refagent.Options{Work: orchestrator.Plan}))(t)
	defer live.Stop()
	var answers []string
	for _, planner := range []string{at["planner"], live.Tap.Agent.String()} {
		answers = append(answers, journey(t, planner))
	}
	if answers[0] != answers[1] || !strings.Contains(answers[0], "two seats and a room, two days in Kyoto") {
		t.Errorf("the recorded planner answers %q, the living one %q", answers[0], answers[1])
	}
	code, said := stop()
	if code != 0 {
		t.Errorf("playback ends with %d: %s", code, said)
	}
	for _, want := range []string{
		"playback: planner: played; 3 requests served, 0 not matched, 3 of 3 recorded exchanges used",
		"playback: hotels: played; 2 requests served, 0 not matched, 2 of 2 recorded exchanges used",
		"playback: flights: played; 2 requests served, 0 not matched, 2 of 2 recorded exchanges used",
		"; 3 notifications delivered, 0 not",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("playback does not say %q:\n%s", want, said)
		}
	}
}

// journey asks a planner as the client of the demo does, and returns its answer.
func journey(t *testing.T, planner string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	c := must.Get(client.Connect(ctx, planner, demo.Client("traveller/1.0", demo.ChildOf(""), client.REST10)))(t)
	defer c.Close()
	r, err := c.Send(ctx, client.Text("two days in Kyoto"), client.SendOptions{})
	if err != nil || r.Task == nil {
		t.Fatalf("%v, %v", r, err)
	}
	task, err := c.Get(ctx, r.Task.ID, nil)
	if err != nil || len(task.Artifacts) == 0 || len(task.Artifacts[0].Parts) == 0 {
		t.Fatalf("%v, %v", task, err)
	}
	return string(task.Status.State) + ": " + task.Artifacts[0].Parts[0].Text
}

// readyAddresses waits for a ready file, and returns its URLs by name.
func readyAddresses(t *testing.T, name string) map[string]string {
	t.Helper()
	for deadline := time.Now().Add(must.Patience); ; {
		text, err := os.ReadFile(name)
		if err == nil {
			out := map[string]string{}
			for line := range strings.Lines(string(text)) {
				who, at, _ := strings.Cut(strings.TrimSpace(line), " ")
				out[who] = at
			}
			return out
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not come", name)
		}
		<-time.After(2 * time.Millisecond) // nothing signals that a file exists
	}
}
