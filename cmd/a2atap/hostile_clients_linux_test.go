//go:build linux && !race

package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
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

// hostileServers are commands that ask an agent for their clients, and how a client has them ask: with a request to a path.
// OUTPUT is a file, and TAP the address of the tap that the command prints.
var hostileServers = []struct{ words, path, body string }{
	{"playback CAPTURE --listen 127.0.0.1:0 --on-miss forward=AGENT", "/", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"unknown"}}`},
	{"web CAPTURE", "/api/send", `{"to":"AGENT","text":"hello"}`},
	{"record --web --agent a=AGENT -o OUTPUT", "/api/send", `{"to":"TAP","text":"hello"}`},
}

// TestHostileAgentsOfServersAreBounded has the clients of commands that listen wait for hostile agents, some at a time,
// and leave. The commands take bounded memory, and end when they are interrupted.
func TestHostileAgentsOfServersAreBounded(t *testing.T) {
	t.Parallel()
	recorded := recordedForHostile(t)
	for i, b := range hostile.Behaviors {
		for j, s := range hostileServers {
			if !*allHostile && (i+j)%6 != 0 || !thorough && i > 6 {
				continue
			}
			t.Run(b.Name+" "+s.words, func(t *testing.T) {
				t.Parallel()
				agent := hostile.New(b)
				t.Cleanup(agent.Close)
				url := serveHostile(t, agent)
				fill := []string{"AGENT", url, "CAPTURE", recorded, "OUTPUT", filepath.Join(t.TempDir(), "o.a2atap")}
				cmd := exec.Command("a2atap", strings.Fields(strings.NewReplacer(fill...).Replace(s.words))...)
				out := &bytes.Buffer{}
				cmd.Stderr = out
				lines := bufio.NewReader(must.Get(cmd.StdoutPipe())(t))
				must.Do(t, cmd.Start())
				t.Cleanup(func() { cmd.Process.Kill() }) //nolint:errcheck // it may have ended
				first := must.Get(lines.ReadString('\n'))(t)
				if tap := strings.Fields(first); len(tap) > 1 && tap[0] == "a" {
					fill = append(fill, "TAP", tap[1])
					first = must.Get(lines.ReadString('\n'))(t)
				}
				body := strings.NewReplacer(fill...).Replace(s.body)
				go io.Copy(io.Discard, lines) //nolint:errcheck // until it ends
				at := regexp.MustCompile(`(http://[^/\s]+)\S*?(?:#token=(\S+))?\s`).FindStringSubmatch(first)
				if at == nil {
					t.Fatalf("it says %q", first)
				}
				client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{}}
				var calls sync.WaitGroup
				for range 4 {
					calls.Go(func() {
						request := must.Get(http.NewRequest("POST", at[1]+s.path, strings.NewReader(body)))(t)
						request.Header.Set("Content-Type", "application/json")
						request.Header.Set("Origin", at[1])
						request.Header.Set("Authorization", "Bearer "+at[2])
						if answer, err := client.Do(request); err == nil {
							io.Copy(io.Discard, answer.Body) //nolint:errcheck // the client leaves
							answer.Body.Close()
						}
					})
				}
				calls.Wait()
				client.CloseIdleConnections()
				var peak, program int64
				peakSoFar(t, cmd.Process.Pid, &peak, &program)
				must.Do(t, cmd.Process.Signal(os.Interrupt))
				ended := exitOf(cmd)
				select {
				case <-ended:
				case <-time.After(must.Patience):
					cmd.Process.Kill() //nolint:errcheck // it may have ended
					<-ended
					t.Errorf("it does not end: %.2000s", out.String())
				}
				if code := cmd.ProcessState.ExitCode(); code < 0 || strings.Contains(out.String(), "goroutine ") {
					t.Errorf("exit status %d: %.2000s", code, out.String())
				}
				if peak-program > clientCeiling || out.Len() > 8<<20 {
					t.Errorf("it took %d MiB, and wrote %d bytes", (peak-program)>>20, out.Len())
				}
				select {
				case <-agent.Attacked:
				default:
					t.Errorf("the agent was not asked: %.2000s", out.String())
				}
			})
		}
	}
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
	url := serveHostile(t, agent)
	args := append(strings.Fields(words), more...)
	for i := range args {
		args[i] = strings.NewReplacer("AGENT", url, "CAPTURE", recorded).Replace(args[i])
	}
	cmd := exec.Command("a2atap", args...)
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	must.Do(t, cmd.Start())
	return cmd, out
}

// serveHostile returns the URL at which an agent listens.
func serveHostile(t *testing.T, agent *hostile.Agent) string {
	t.Helper()
	server := httptest.NewUnstartedServer(agent)
	server.Config.Protocols = agent.Protocols()
	server.Start()
	t.Cleanup(func() { agent.Close(); server.CloseClientConnections(); server.Close() })
	return server.URL
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
