//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"a2atap/cmd/internal/cmdtest"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/replay/peers"
)

// An orchestra is four agents, each in a process of its own: an orchestrator, and those that it asks.
type orchestra struct {
	leader  *peers.Orchestrator
	players map[string]string // origins of the others, by name
	made    map[string]string // the SDKs of all four, by name
}

// The names of the agents in captures.
const (
	leaderName = "planner"
	streamName = "booker"
	pushName   = "printer"
	failName   = "painter"
)

func newOrchestra(t *testing.T, leader, stream, push, fail peers.Program) *orchestra {
	t.Helper()
	o := &orchestra{
		leader: leader.Orchestrator(t), players: make(map[string]string), made: map[string]string{leaderName: leader.Name},
	}
	for name, sdk := range map[string]peers.Program{streamName: stream, pushName: push, failName: fail} {
		o.players[name], o.made[name] = sdk.Agent().Start(t).URL, sdk.Name
	}
	return o
}

// userAgents are what the orchestrators of the SDKs call themselves, as --client takes it.
var userAgents = map[string]string{"go2": "Go-http-client*", "py1": "python-httpx*"}

// A concert is a recording of what an orchestra does about some users at the same time.
type concert struct {
	plan  peers.Plan
	users []peers.User

	path     string            // of the capture
	messages []string          // of the users, by id
	calls    map[string]string // as peers.Orchestrator has them
	printed  []string          // by the recorder: JSON Lines
	said     string            // by the recorder, on standard error
}

// record records a concert, through taps in front of all four agents.
func (o *orchestra) record(t *testing.T, c *concert) {
	t.Helper()
	c.path = filepath.Join(t.TempDir(), "c.a2atap")
	agents := maps.Clone(o.players)
	agents[leaderName] = o.leader.URL
	args := []string{
		"record", "--format", "json", "-o", c.path,
		"--client", "user-agent:" + userAgents[o.made[leaderName]] + "=" + leaderName,
	}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		args = append(args, "--agent", name+"="+agents[name])
	}
	r := startRecorder(t, len(agents), args...)
	o.perform(t, c, r.taps)
	c.printed, c.said = r.stop(t)
	c.calls = o.leader.Calls(t)
	if t.Failed() {
		t.Fatalf("the recorder says:\n%s%s", strings.Join(c.printed, ""), c.said)
	}
}

// recordApart records a concert with several recorders, each in front of some of the agents, that are told nothing of
// who calls, and makes one capture of theirs: by way of a server, or of their files. Agents that have none are called
// without a tap.
func (o *orchestra) recordApart(t *testing.T, c *concert, ship bool, recorders ...[]string) {
	t.Helper()
	stream := ""
	if ship {
		stream = fleettest.Start(t).URL("orchestra")
	}
	agents := maps.Clone(o.players)
	agents[leaderName] = o.leader.URL
	at := maps.Clone(agents)
	dir := t.TempDir()
	var files []string
	var running []*recorderProcess
	for _, names := range recorders {
		file := filepath.Join(dir, names[0]+".a2atap")
		args := []string{"record", "--format", "json", "-o", file}
		for _, name := range names {
			args = append(args, "--agent", name+"="+agents[name])
		}
		if ship {
			args = append(args, "--ship", stream)
		}
		r := startRecorder(t, len(names), args...)
		maps.Copy(at, r.taps)
		files, running = append(files, file), append(running, r)
	}
	o.perform(t, c, at)
	for _, r := range running {
		_, said := r.stop(t)
		c.said += said
	}
	c.calls = o.leader.Calls(t)
	c.path = files[0]
	if len(files) > 1 {
		c.path = filepath.Join(dir, "merged.a2atap")
		from := append([]string{"merge", "-o", c.path}, files...)
		if ship {
			from = []string{"import", stream, "-o", c.path}
		}
		merge := exec.Command("a2atap", from...)
		merge.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
		if said, err := merge.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	if t.Failed() {
		t.Fatalf("the recorders say:\n%s", c.said)
	}
}

// perform lets the users ask the orchestrator, all at once. The URLs of the agents are by name.
func (o *orchestra) perform(t *testing.T, c *concert, at map[string]string) {
	t.Helper()
	c.plan.Stream, c.plan.Push, c.plan.Fail = at[streamName], at[pushName], at[failName]
	c.plan.Together = len(c.users)
	o.leader.Follow(t, c.plan)

	ctx, cancel := context.WithTimeout(t.Context(), cmdtest.Patience)
	defer cancel()
	c.messages = make([]string, len(c.users))
	var asking sync.WaitGroup
	for i, user := range c.users {
		asking.Go(func() {
			id, task, err := user.Ask(ctx, t, at[leaderName])
			if want := user.Text + ": polled, done, out of paint"; err != nil || len(task.Artifacts) != 1 ||
				task.Artifacts[0] != want {
				t.Errorf("a user gets %+v (%v), want %q", task, err, want)
			}
			c.messages[i] = id
		})
	}
	asking.Wait()
}

// A recorderProcess is the command record.
type recorderProcess struct {
	cmd   *exec.Cmd
	taps  map[string]string // URLs by name
	lines chan []string     // gets what is printed after the taps, when it has ended
	said  bytes.Buffer
}

// startRecorder runs the command record until it has opened so many taps.
func startRecorder(t *testing.T, taps int, args ...string) *recorderProcess {
	t.Helper()
	r := &recorderProcess{
		cmd: exec.Command("a2atap", args...), taps: make(map[string]string), lines: make(chan []string, 1),
	}
	r.cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	r.cmd.Stderr = &r.said
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r.cmd.ProcessState == nil {
			r.cmd.Process.Kill()
			r.cmd.Wait()
		}
	})
	printed := bufio.NewReader(out)
	for len(r.taps) < taps {
		var tap struct{ Type, Name, URL string }
		line, err := printed.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &tap)
		}
		if err == nil && tap.Type == "ship" {
			continue
		}
		if err != nil || tap.Type != "tap" {
			r.cmd.Process.Kill()
			r.cmd.Wait()
			t.Fatalf("start a2atap record: %v: %s\n%s", err, line, r.said.String())
		}
		r.taps[tap.Name] = strings.TrimSuffix(tap.URL, "/")
	}
	go func() {
		rest, _ := io.ReadAll(printed) // how it ends, its status says
		r.lines <- slices.Collect(strings.Lines(string(rest)))
	}()
	return r
}

// stop interrupts the recorder, waits for its end and returns what it printed after the taps.
func (r *recorderProcess) stop(t *testing.T) (printed []string, said string) {
	t.Helper()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	printed = <-r.lines
	if err := r.cmd.Wait(); err != nil {
		t.Fatalf("a2atap record ends with %v:\n%s", err, r.said.String())
	}
	return printed, r.said.String()
}
