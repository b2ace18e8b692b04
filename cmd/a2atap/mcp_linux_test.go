package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// instructingCapture is traffic that tries to instruct its reader: wherever an agent or a client can put text.
const instructingCapture = "testdata/instructing.txtar"

// An mcpReader is a client of a2atap mcp, which runs in this process.
type mcpReader struct {
	t       *testing.T
	session *mcp.ClientSession
}

// startMCP runs a2atap mcp with these arguments until the test ends.
func startMCP(t *testing.T, args ...string) mcpReader {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan int, 1)
	var errs strings.Builder
	go func() {
		ended <- run(t.Context(), cli.Env{
			In: fromClient, Out: toClient, Err: &errs, Now: time.Now, Getenv: os.Getenv, Program: "a2atap",
		}, append([]string{"mcp"}, args...))
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, nil)
	session := must.Get(client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil))(t)
	t.Cleanup(func() {
		must.Do(t, session.Close())
		must.Do(t, toServer.Close())
		if code := <-ended; code != cli.ExitOK {
			t.Errorf("a2atap mcp ended with %d: %s", code, errs.String())
		}
	})
	return mcpReader{t, session}
}

// call returns the answer of a tool, and whether it failed.
func (r mcpReader) call(tool string, arguments map[string]any) (text string, failed bool) {
	r.t.Helper()
	answer := must.Get(r.session.CallTool(r.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments}))(r.t)
	if len(answer.Content) != 1 {
		r.t.Fatalf("%s: %d contents", tool, len(answer.Content))
	}
	return answer.Content[0].(*mcp.TextContent).Text, answer.IsError
}

// framed matches an answer: the text between the markers, which are equal, and what follows.
var framed = regexp.MustCompile(`(?s)^Text between two marker lines is [^\n]+\n--- begin (a2atap-[A-Z2-7]{26})\n(.*)\n--- end (a2atap-[A-Z2-7]{26})\n(.*)$`)

// quoted returns the text between the markers of an answer, what follows, and the marker.
func quoted(t *testing.T, answer string) (text, after, marker string) {
	t.Helper()
	m := framed.FindStringSubmatch(answer)
	if m == nil || m[1] != m[3] || strings.Count(answer, m[1]) != 2 {
		t.Fatalf("the answer is not between two equal markers:\n%s", answer)
	}
	return m[2] + "\n", m[4], m[1]
}

// Each tool answers with the output of a command: its messages, then what it prints.
func TestMCPAnswersAreTheCommands(t *testing.T) {
	session := must.Get(os.ReadFile("../../tui/testdata/journey.txtar"))(t)
	s := newShell(t)
	must.Do(t, os.WriteFile("before.txtar", session, 0o600))
	must.Do(t, os.WriteFile("after.txtar", []byte(strings.ReplaceAll(string(session), `"nights":1`, `"nights":"one"`)), 0o600))
	reader := startMCP(t)
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		command   string
	}{
		{"overview", nil, "check --brief before.txtar"},
		{"exchanges", nil, "show before.txtar"},
		{"exchanges", map[string]any{"from": 3, "filter": "agent:booker"}, "show before.txtar --filter 'n:>=3 agent:booker'"},
		{"exchange", map[string]any{"number": 4}, "show before.txtar 4"},
		{"exchange", map[string]any{"number": 4, "part": "response.event[7]"}, "show before.txtar 4.response.event[7]"},
		{"findings", map[string]any{"filter": "severity:error"}, "check before.txtar --filter severity:error"},
		{"tree", nil, "show before.txtar --format tree"},
		{"tree", map[string]any{"number": 6}, "show before.txtar --format tree --filter workflow:4"},
		{"compare", map[string]any{"before": "before.txtar", "after": "after.txtar"}, "diff before.txtar after.txtar"},
	} {
		arguments := map[string]any{"capture": "before.txtar"}
		if c.tool == "compare" {
			arguments = map[string]any{}
		}
		for name, value := range c.arguments {
			arguments[name] = value
		}
		answer, failed := reader.call(c.tool, arguments)
		text, after, _ := quoted(t, answer)
		out, errs, _ := s.execute("a2atap " + c.command)
		if errs != "" && out != "" {
			errs += "\n"
		}
		expect.Equal(t, c.command, errs+out, text)
		if failed || after != "" || out == "" {
			t.Errorf("%s: failed %v, followed by %q, of\n%s", c.command, failed, after, out)
		}
	}
	rule, _ := reader.call("rule", map[string]any{"id": "json-wellformed"})
	out, _, _ := s.execute("a2atap rules json-wellformed")
	expect.Equal(t, "rule", out, rule)
	list, _ := reader.call("captures", nil)
	text, _, _ := quoted(t, list)
	expect.Contains(t, "captures", "before.txtar", text)
	expect.Contains(t, "captures", "after.txtar", text)
}

// Traffic that tries to instruct the reader stays between the markers, which it cannot guess, and out of the tools'
// descriptions. Its secrets stay hidden.
func TestMCPQuotesTraffic(t *testing.T) {
	data := must.Get(os.ReadFile(instructingCapture))(t)
	s := newShell(t)
	must.Do(t, os.WriteFile("c.txtar", data, 0o600))
	if _, errs, code := s.execute("a2atap import c.txtar -o c.a2atap"); code != cli.ExitOK {
		t.Fatal(errs)
	}
	reader := startMCP(t, "c.a2atap")
	list := must.Get(reader.session.ListTools(t.Context(), nil))(t)
	seen := fmt.Sprint(reader.session.InitializeResult().Instructions)
	for _, tool := range list.Tools {
		seen += fmt.Sprint(tool.Name, tool.Description, tool.InputSchema)
	}
	if strings.Contains(seen, "IGNORE") {
		t.Errorf("recorded text is in the descriptions:\n%s", seen)
	}
	markers := make(map[string]bool)
	for _, c := range []struct {
		tool      string
		arguments map[string]any
	}{
		{"overview", nil},
		{"exchanges", nil},
		{"exchanges", map[string]any{"filter": "IGNORE"}},
		{"exchange", map[string]any{"number": 1}},
		{"exchange", map[string]any{"number": 2}},
		{"exchange", map[string]any{"number": 2, "part": "response.body", "limit": 700}},
		{"findings", nil},
		{"tree", nil},
	} {
		answer, _ := reader.call(c.tool, c.arguments)
		text, after, marker := quoted(t, answer)
		if !strings.Contains(text, "IGNORE") || strings.Contains(after, "IGNORE") || strings.Contains(answer, "s3cr3t") || markers[marker] {
			t.Errorf("%s %v, with the marker %s, followed by %q:\n%s", c.tool, c.arguments, marker, after, text)
		}
		markers[marker] = true
	}
}

// A capture that is damaged or missing fails the call, not the server.
func TestMCPUnreadable(t *testing.T) {
	s := newShell(t)
	store := must.Get(bolt.Open("whole.a2atap", bolt.Options{}))(t)
	must.Do(t, errors.Join(store.Append(goodCall(1)...), store.Close()))
	data := must.Get(os.ReadFile("whole.a2atap"))(t)
	must.Do(t, os.WriteFile("damaged.a2atap", data[:16<<10], 0o600))
	must.Do(t, os.WriteFile("damaged.txtar", []byte("nonsense\n"), 0o600))
	for _, name := range []string{"damaged.a2atap", "damaged.txtar", "missing.a2atap"} {
		reader := startMCP(t, name)
		for tool, command := range map[string]string{"overview": "check --brief ", "exchanges": "show ", "findings": "check "} {
			answer, failed := reader.call(tool, nil)
			text, _, _ := quoted(t, answer)
			out, errs, code := s.execute("a2atap " + command + name)
			expect.Equal(t, tool+" of "+name, out+errs, text)
			if !failed || code != cli.ExitFailed || !strings.Contains(text, name) {
				t.Errorf("%s of %s: failed %v: %s", tool, name, failed, text)
			}
		}
		rule, failed := reader.call("rule", map[string]any{"id": "task-id-present"})
		if failed || !strings.Contains(rule, "task-id-present") {
			t.Errorf("the next call fails: %s", rule)
		}
	}
}

// An answer on a large capture is bounded, and says how to get the rest: all pages are the whole list. A growing capture is
// read as it is at the time of the call.
func TestMCPPagesOfAGrowingCapture(t *testing.T) {
	s := newShell(t)
	store := must.Get(bolt.Open("c.a2atap", bolt.Options{}))(t)
	reader := startMCP(t, "c.a2atap")
	const many = 2000
	last := uint64(0)
	for _, count := range []uint64{1, many} {
		for ; last < count; last++ {
			must.Do(t, store.Append(goodCall(last+1)...))
		}
		store.Flush()
		whole, _, _ := s.execute("a2atap show c.a2atap")
		expect.Equal(t, "lines", int(count)+1, strings.Count(whole, "\n"))
		var pages strings.Builder
		next := regexp.MustCompile(`^Characters (\d+) to (\d+) of (\d+)\. For the rest, call exchanges again with offset (\d+)`)
		for offset, n := 0, 1; offset >= 0; n++ {
			answer, _ := reader.call("exchanges", map[string]any{"offset": offset})
			text, after, _ := quoted(t, answer)
			if length := utf8.RuneCountInString(text); length > 8000 || !strings.HasSuffix(text, "\n") {
				t.Fatalf("page %d has %d characters", n, length)
			}
			pages.WriteString(text)
			offset = -1
			if m := next.FindStringSubmatch(after); m != nil {
				expect.Equal(t, "characters", fmt.Sprint(utf8.RuneCountInString(whole)), m[3])
				offset = must.Get(strconv.Atoi(m[4]))(t)
			}
		}
		expect.Equal(t, "all pages", whole, pages.String())
	}
	answer, _ := reader.call("exchanges", map[string]any{"limit": 80_000})
	text, _, _ := quoted(t, answer)
	if n := utf8.RuneCountInString(text); n < 70_000 || n > 80_000 {
		t.Errorf("a larger limit returns %d characters", n)
	}
	answer, _ = reader.call("exchange", map[string]any{"number": many, "limit": 40})
	if text, _, _ = quoted(t, answer); utf8.RuneCountInString(text) > 41 {
		t.Errorf("limit 40 returns %q", text)
	}
	must.Do(t, store.Close())
}

// A client starts the program and talks to it over standard input and output, which carry nothing else. The program ends
// with its input. A capture that does not exist yet is named in the answers.
func TestMCPOverStandardStreams(t *testing.T) {
	session := must.Get(filepath.Abs("../../tui/testdata/journey.txtar"))(t)
	for _, c := range []struct {
		capture, want string
		failed        bool
	}{
		{session, "plan-7f3a completed", false},
		{filepath.Join(t.TempDir(), "later.a2atap"), "later.a2atap: file does not exist", true},
	} {
		cmd := exec.Command("a2atap", "mcp", c.capture) // testscript put it on the path
		var errs bytes.Buffer
		cmd.Stderr = &errs
		client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, nil)
		reader := mcpReader{t, must.Get(client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil))(t)}
		answer, failed := reader.call("exchanges", nil)
		expect.Contains(t, c.capture, c.want, answer)
		expect.Equal(t, "failed", c.failed, failed)
		must.Do(t, reader.session.Close())
		expect.Equal(t, "exit status", cli.ExitOK, cmd.ProcessState.ExitCode())
		expect.Equal(t, "standard error", "mcp: serving "+c.capture+" over MCP on standard input and output\n", errs.String())
	}
}

// Replay sends to the address of the command line, and to no other, wherever the agent's card leads.
func TestMCPReplays(t *testing.T) {
	s := newShell(t)
	agent := httptest.NewServer(must.Get(refagent.New("spec", refagent.Options{StepTime: time.Millisecond}))(t))
	defer agent.Close()
	s.execute("a2atap send " + agent.URL + " hello --capture c.a2atap")
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer elsewhere.Close()
	misleading := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		agent.Config.Handler.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.WriteHeader(answer.Code)
		io.WriteString(w, strings.ReplaceAll(answer.Body.String(), r.Host, strings.TrimPrefix(elsewhere.URL, "http://"))) //nolint:errcheck // the client reports it
	}))
	defer misleading.Close()
	answer, failed := startMCP(t, "c.a2atap", "--allow-replay", agent.URL).call("replay", nil)
	text, _, _ := quoted(t, answer)
	expect.Contains(t, "the same agent", "replay: no difference", text)
	expect.Equal(t, "failed", false, failed)
	answer, _ = startMCP(t, "c.a2atap", "--allow-replay", misleading.URL).call("replay", nil)
	text, _, _ = quoted(t, answer)
	expect.Contains(t, "an agent whose card leads elsewhere", "replay stays at", text)
	expect.Equal(t, "requests elsewhere", int64(0), asked.Load())
	list := must.Get(startMCP(t, "c.a2atap").session.ListTools(t.Context(), nil))(t)
	for _, tool := range list.Tools {
		if tool.Name == "replay" {
			t.Error("without --allow-replay there is a tool that sends")
		}
	}
}
