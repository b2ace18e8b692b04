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

	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
	"a2atap/replay/peers"
)

// An orchestra is agents, each in a process of its own: an orchestrator and the three that it asks, or a chain of
// orchestrators of which each asks the next.
type orchestra struct {
	asking  []asking          // the orchestrators, the one that users ask first
	players map[string]string // origins of the others, by name
	made    map[string]string // the SDKs of all, by name
	speaks  map[string]string // bindings that orchestrators use, by name; JSONRPC by default
}

// asking is an agent that asks others.
type asking struct {
	name string
	*peers.Orchestrator
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
	o := newChain(t, []string{leaderName}, leader)
	o.players = make(map[string]string)
	for name, sdk := range map[string]peers.Program{streamName: stream, pushName: push, failName: fail} {
		o.players[name], o.made[name] = sdk.Agent().Start(t).URL, sdk.Name
	}
	return o
}

// newChain returns a chain of orchestrators.
func newChain(t *testing.T, names []string, sdks ...peers.Program) *orchestra {
	t.Helper()
	o := &orchestra{made: make(map[string]string)}
	for i, sdk := range sdks {
		o.asking = append(o.asking, asking{names[i], sdk.Orchestrator(t)})
		o.made[names[i]] = sdk.Name
	}
	return o
}

// agents returns the origins of all agents, by name.
func (o *orchestra) agents() map[string]string {
	all := maps.Clone(o.players)
	if all == nil {
		all = make(map[string]string)
	}
	for _, a := range o.asking {
		all[a.name] = a.URL
	}
	return all
}

// calls returns what the orchestrators say of their calls.
func (o *orchestra) calls(t *testing.T) map[string]calling {
	t.Helper()
	all := make(map[string]calling)
	for _, a := range o.asking {
		for id, message := range a.Calls(t) {
			all[id] = calling{a.name, message}
		}
	}
	return all
}

// userAgents are what the orchestrators of the SDKs call themselves, as --client takes it.
var userAgents = map[string]string{"go2": "Go-http-client*", "py1": "python-httpx*"}

// A concert is a recording of what an orchestra does about some users at the same time.
type concert struct {
	plan  peers.Plan
	users []peers.User

	path     string             // of the capture
	messages []string           // of the users, by id
	calls    map[string]calling // by X-Request-Id or id of the message, as peers.Orchestrator has them
	printed  []string           // by the recorder: JSON Lines
	said     string             // by the recorder, on standard error
}

// A calling is who made a call, and for which message.
type calling struct{ by, message string }

// record records a concert, through taps in front of all four agents.
func (o *orchestra) record(t *testing.T, c *concert) {
	t.Helper()
	c.path = filepath.Join(t.TempDir(), "c.a2atap")
	agents := o.agents()
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
	c.calls = o.calls(t)
	if t.Failed() {
		t.Fatalf("the recorder says:\n%s%s", strings.Join(c.printed, ""), c.said)
	}
}

// recordApart records a concert with several recorders, each in front of some of the agents, without information about
// callers. It combines their captures: through a server, or from their files. Agents without a recorder are called
// without a tap.
func (o *orchestra) recordApart(t *testing.T, c *concert, ship bool, recorders ...[]string) {
	t.Helper()
	stream := ""
	if ship {
		stream = fleettest.Start(t).URL("orchestra")
	}
	agents, at := o.agents(), o.agents()
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
	c.calls = o.calls(t)
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
	for i, a := range o.asking {
		c.plan.Next, c.plan.Binding = "", o.speaks[a.name]
		if i+1 < len(o.asking) {
			c.plan.Next = at[o.asking[i+1].name]
		}
		a.Follow(t, c.plan)
	}

	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	c.messages = make([]string, len(c.users))
	var asking sync.WaitGroup
	for i, user := range c.users {
		asking.Go(func() {
			id, task, err := user.Ask(ctx, t, at[leaderName])
			want := strings.Repeat(user.Text+": ", len(o.asking))
			if len(o.players) > 0 {
				want += "polled, done, out of paint"
			}
			if err != nil || len(task.Artifacts) != 1 || task.Artifacts[0] != want {
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
	must.Do(t, err)
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
		if tap.Type == "forward" {
			tap.Type, tap.Name = "tap", tap.Type
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
	must.Do(t, r.cmd.Process.Signal(os.Interrupt))
	printed = <-r.lines
	if err := r.cmd.Wait(); err != nil {
		t.Fatalf("a2atap record ends with %v:\n%s", err, r.said.String())
	}
	return printed, r.said.String()
}
