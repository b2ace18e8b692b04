//go:build linux && !race

package main

import (
	"bytes"
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
	"a2atap/replay/refagent/hostile"
)

const clientCeiling = 256 << 20 // bytes, without the pages of files

// hostileCommands are the ways in which commands ask an agent. Each is AGENT, a URL, CAPTURE, and more words.
var hostileCommands = []string{
	"send AGENT hello",
	"send AGENT hello --mode send",
	"send AGENT hello --stream",
	"send AGENT hello --push",
	"send AGENT --list",
	"send AGENT --get t",
	"send AGENT --subscribe t",
	"send AGENT --cancel t",
	"send AGENT --profile",
	"replay CAPTURE --to AGENT",
	"probe AGENT --only card,task-completes",
}

// fewHostile are the behaviors that are tried without the tag peers, each on another command.
var fewHostile = []string{"silent", "head-only", "sse-endless", "push-flood", "pages", "json-endless", "interim-endless", "card-redirects"}

// TestHostileAgentsAreBounded asks hostile agents with each command, in a separate process with small limits. It
// ends with its own exit status, in bounded memory, and with bounded output.
func TestHostileAgentsAreBounded(t *testing.T) {
	t.Parallel()
	recorded := recordedForHostile(t)
	each(t, 0, func(t *testing.T, agent *hostile.Agent, words string) {
		limits := []string{"--timeout", "1s", "--max-idle", "1s", "--max-events", "2000", "--max-answer", "4MiB"}
		if strings.HasPrefix(words, "send") {
			limits = append(limits, "--poll-timeout", "2s", "--poll-interval", "100ms")
		}
		cmd, out := askHostile(t, agent, words, recorded, limits)
		ended := exitOf(cmd)
		peak, program := peakOf(t, cmd.Process.Pid, ended)
		if code := cmd.ProcessState.ExitCode(); code < 0 || code > cli.ExitInconclusive || strings.Contains(out.String(), "goroutine ") {
			t.Errorf("exit status %d: %.2000s", code, out.String())
		}
		if peak-program > clientCeiling || out.Len() > 8<<20 {
			t.Errorf("it took %d MiB, and wrote %d bytes", (peak-program)>>20, out.Len())
		}
	})
}

// TestHostileAgentsAreInterrupted interrupts commands in the middle of each attack. They end without waiting for a
// timeout.
func TestHostileAgentsAreInterrupted(t *testing.T) {
	t.Parallel()
	recorded := recordedForHostile(t)
	each(t, 1, func(t *testing.T, agent *hostile.Agent, words string) {
		limits := []string{"--timeout", "1h", "--max-idle", "1h"}
		if strings.HasPrefix(words, "send") {
			limits = append(limits, "--poll-timeout", "1h")
		}
		cmd, out := askHostile(t, agent, words, recorded, limits)
		ended := exitOf(cmd)
		select {
		case <-agent.Attacked:
			cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
		case err := <-ended: // it asks nothing but the card
			ended <- err
		}
		select {
		case <-ended:
		case <-time.After(must.Patience):
			cmd.Process.Kill() //nolint:errcheck // it may have ended
			<-ended
			t.Errorf("it does not end: %.2000s", out.String())
		}
	})
}

// allHostile runs every pair of a behavior and a command. Otherwise the long tests run one pair in three, so that each
// behavior meets several commands, and each command several behaviors.
var allHostile = flag.Bool("allhostile", false, "run each hostile behavior against each command")

// each runs f for pairs of a behavior and a command. The turn chooses which.
func each(t *testing.T, turn int, f func(*testing.T, *hostile.Agent, string)) {
	t.Helper()
	for i, b := range hostile.Behaviors {
		few := slices.Index(fewHostile, b.Name)
		if !thorough && few < 0 {
			continue
		}
		for j, words := range hostileCommands {
			if !thorough && j != few || thorough && !*allHostile && (i+j)%3 != turn {
				continue
			}
			t.Run(b.Name+" "+words, func(t *testing.T) {
				t.Parallel()
				agent := hostile.New(b)
				t.Cleanup(agent.Close)
				f(t, agent, words)
			})
		}
	}
}

// recordedForHostile returns a capture of a stream.
func recordedForHostile(t *testing.T) string {
	t.Helper()
	agent := must.Get(refagent.New("spec", refagent.Options{StepTime: time.Millisecond}))(t)
	server := httptest.NewServer(agent)
	defer server.Close()
	file := filepath.Join(t.TempDir(), "c.a2atap")
	if code, said := runQuietly(t, "send", server.URL+agent.Path(), "streaming hello", "--capture", file); code != cli.ExitOK {
		t.Fatalf("exit status %d: %s", code, said)
	}
	return file
}

// askHostile starts a command.
func askHostile(t *testing.T, agent *hostile.Agent, words, recorded string, more []string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	server := httptest.NewUnstartedServer(agent)
	server.Config.Protocols = agent.Protocols()
	server.Start()
	t.Cleanup(func() { agent.Close(); server.CloseClientConnections(); server.Close() })
	args := append(strings.Fields(words), more...)
	for i := range args {
		args[i] = strings.NewReplacer("AGENT", server.URL, "CAPTURE", recorded).Replace(args[i])
	}
	cmd := exec.Command("a2atap", args...)
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	must.Do(t, cmd.Start())
	return cmd, out
}

// exitOf waits for a command, whatever its exit status is.
func exitOf(cmd *exec.Cmd) chan error {
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		if errors.As(err, new(*exec.ExitError)) {
			err = nil
		}
		ended <- err
	}()
	return ended
}
