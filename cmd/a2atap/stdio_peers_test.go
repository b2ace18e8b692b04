//go:build peers

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/peers"
)

// Tools of the SDKs of MCP behave behind stdio as without it: also those that print to standard output, answer with
// 1 MiB, never answer, or end. Each call is in the capture.
func TestToolsOfSDKs(t *testing.T) {
	t.Parallel()
	sdks := []peers.Program{peers.PyMCP, peers.JSMCP}
	for _, client := range sdks {
		for _, server := range sdks {
			t.Run(client.Name+"-"+server.Name, func(t *testing.T) {
				t.Parallel()
				caller, env := client.Command(t, "client")
				tool, _ := server.Command(t, "server")
				dir := t.TempDir()
				direct := shown(t, dir, env, slices.Concat(caller, tool))
				recorded := shown(t, dir, env, slices.Concat([]string{"a2atap", "run", "--no-base-urls", "-o", "c.a2atap", "--"}, caller,
					[]string{"a2atap", "stdio", "--name", "weather", "--"}, tool))
				expect.Equal(t, "the client's output", direct, recorded)
				expect.Contains(t, "the client's output", "die no answer", direct)
				got := toolCalls(t, filepath.Join(dir, "c.a2atap"))
				want := "weather: answered, weather: answered, ask: answered, shout: answered, flood: answered, hang: truncated by agent, die: truncated by agent"
				expect.Equal(t, "calls", want, got)
			})
		}
	}
}

// shown returns what a command prints to standard output.
func shown(t *testing.T, dir string, env, argv []string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(env, "PATH="+os.Getenv("PATH"))
	var failed bytes.Buffer
	cmd.Stderr = &failed
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, failed.Bytes())
	}
	return string(out)
}

// toolCalls returns the tools that were called, with the outcome of each call.
func toolCalls(t *testing.T, file string) string {
	t.Helper()
	var all []string
	for _, x := range recordedExchanges(t, file) {
		_, rest, called := strings.Cut(string(x.Request.Body.Data), `"method":"tools/call"`)
		if !called {
			continue
		}
		_, rest, _ = strings.Cut(rest, `"name":"`)
		name, _, _ := strings.Cut(rest, `"`)
		switch {
		case x.Fault != nil:
			all = append(all, fmt.Sprintf("%s: %s by %s", name, x.Fault.Kind, x.Fault.Side))
		case x.Response != nil && x.Response.Body.Kept():
			all = append(all, name+": answered")
		default:
			all = append(all, name+": unknown")
		}
	}
	return strings.Join(all, ", ")
}

func recordedExchanges(t *testing.T, file string) []*capture.Exchange {
	t.Helper()
	source := must.Get(bolt.Read(file))(t)
	defer source.Close()
	var all []*capture.Exchange
	for x, err := range source.Exchanges(context.Background(), 1) {
		must.Do(t, err)
		all = append(all, x)
	}
	return all
}

// A tool that sends 100 MiB as fast as it can is passed on whole. What the recorder missed is counted, or its exchange is
// not closed.
func TestToolThatFloods(t *testing.T) {
	t.Parallel()
	const size = 100 << 20
	flood := []string{"sh", "-c", fmt.Sprintf(`yes '{"jsonrpc":"2.0","method":"n","params":"%01000d"}' | head -c %d`, 0, size)}
	dir := t.TempDir()
	direct := shown(t, dir, os.Environ(), flood)
	passed := shown(t, dir, os.Environ(), slices.Concat(
		[]string{"a2atap", "run", "--no-base-urls", "-o", "c.a2atap", "--", "a2atap", "stdio", "--name", "flood", "--"}, flood))
	if sha256.Sum256([]byte(direct)) != sha256.Sum256([]byte(passed)) || len(passed) != size {
		t.Errorf("%d bytes passed", len(passed))
	}
	source := must.Get(bolt.Read(filepath.Join(dir, "c.a2atap")))(t)
	info := must.Get(source.Info(context.Background()))(t)
	const line = 1040 // bytes of a message, which is an exchange if no other follows it closely
	lost := info.LostBytes + line*info.LostExchanges
	must.Do(t, source.Close())
	recorded, broken := int64(0), false
	for _, x := range recordedExchanges(t, filepath.Join(dir, "c.a2atap")) {
		broken = broken || x.State != capture.StateClosed // the tool did not wait until the recorder had everything
		for _, e := range x.Response.Events {
			recorded += int64(len(e.Fields().Data)) + 1
			lost += e.Dropped
		}
		recorded += int64(len(x.Response.Body.Data))
		lost += x.Lost + x.Response.Body.Dropped
	}
	const lineEnds = 1000 // at gaps, where they are not counted
	if recorded == 0 || recorded > size || recorded+lost < size-lineEnds && !broken {
		t.Errorf("%d bytes were recorded and %d are known to be missing, of %d", recorded, lost, size)
	}
}
