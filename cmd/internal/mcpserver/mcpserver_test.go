package mcpserver

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// connect connects a client to a server with this runner.
func connect(t *testing.T, o Options, capture string, run Runner) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	must.Get(newServer(cli.Env{}, o, capture, run).Connect(t.Context(), ours, nil))(t)
	client := mcp.NewClient(&mcp.Implementation{Name: "reader", Version: "1"}, nil)
	session := must.Get(client.Connect(t.Context(), theirs, nil))(t)
	t.Cleanup(func() { must.Do(t, session.Close()) })
	return session
}

// A canceled call ends its command, and the next call has its turn.
func TestCanceledCall(t *testing.T) {
	started := make(chan struct{})
	session := connect(t, Options{}, "c.a2atap", func(ctx context.Context, e cli.Env, args []string) int {
		if args[0] == "show" {
			close(started)
			<-ctx.Done()
			return cli.ExitInterrupted
		}
		fmt.Fprint(e.Out, "explained")
		return cli.ExitOK
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	_, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "exchanges"})
	expect.ErrorHas(t, "a canceled call", "canceled", err)
	answer := must.Get(session.CallTool(t.Context(), &mcp.CallToolParams{Name: "rule", Arguments: map[string]any{"id": "x"}}))(t)
	expect.Equal(t, "the next answer", "explained\n", answer.Content[0].(*mcp.TextContent).Text)
}

// No value from a client is read as a flag, and replay sends only to the addresses of the user.
func TestCommandLines(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	must.Do(t, os.WriteFile("-a.har", nil, 0o600))
	must.Do(t, os.Symlink("-a.har", "link.har"))
	var line []string
	run := func(_ context.Context, _ cli.Env, args []string) int {
		line = args
		return cli.ExitOK
	}
	session := connect(t, Options{Replay: []string{"booker=http://127.0.0.1:1"}}, "--capture", run)
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string // the command line; or, after !, the answer
	}{
		{"overview", nil, "check --brief -- --capture"},
		{"exchanges", map[string]any{"filter": "--to=http://evil"}, "show --format=list --filter=--to=http://evil -- --capture"},
		{"exchanges", map[string]any{"from": 3}, "show --format=list --filter=n:>=3 -- --capture"},
		{"exchanges", map[string]any{"from": 3, "filter": "a or b"}, "show --format=list --filter=n:>=3 (a or b) -- --capture"},
		{"exchange", map[string]any{"number": 3, "part": "--raw"}, "show -- --capture 3.--raw"},
		{"findings", map[string]any{"filter": "-o x"}, "check --filter=-o x -- --capture"},
		{"rule", map[string]any{"id": "--format=json"}, "rules -- --format=json"},
		{"tree", nil, "show --format=tree -- --capture"},
		{"compare", map[string]any{"before": "-a.har", "after": "--capture"}, "diff --filter= -- -a.har --capture"},
		{"compare", map[string]any{"after": "./-a.har"}, "diff --filter= -- --capture -a.har"},
		{"compare", map[string]any{"after": filepath.Join(here, "-a.har")}, "diff --filter= -- --capture -a.har"},
		{"compare", map[string]any{"after": "link.har"}, `!compare: no capture "link.har" in the working directory; use one of --capture, -a.har; did you mean "-a.har"?`},
		{
			"replay",
			map[string]any{"agent": "--stay=false"},
			"replay --stay --filter= --agent=--stay=false --to=booker=http://127.0.0.1:1 -- --capture",
		},
		{"replay", map[string]any{"to": "http://evil"}, `!replay: unknown argument "to"; use filter, agent, offset, limit`},
		{"exchange", map[string]any{}, "!exchange: the argument number is missing: the number of an exchange"},
		{"rule", map[string]any{"id": ""}, "!rule: the argument id is missing: the id of a rule, as findings have it in brackets, or words to search for"},
		{"exchange", map[string]any{"number": 0}, "!exchange: number is 0; exchanges are counted from 1"},
		{"exchange", map[string]any{"number": "3"}, "!exchange: the argument number is a JSON string: it must be a whole number, 0 or more"},
		{"findings", map[string]any{"filter": 3}, "!findings: the argument filter is a JSON number: it must be a string"},
		{"findings", map[string]any{"capture": "other"}, `!findings: unknown argument "capture"; use filter, offset, limit`},
		{"tree", map[string]any{"limit": 80_001}, "!tree: limit is 80001; write 1 to 80000 characters, and continue with offset"},
		{"tree", map[string]any{"offset": -1}, "!tree: offset is negative; write the offset that the last answer named"},
		{
			"compare",
			map[string]any{"before": "/etc/passwd", "after": "--capture"},
			`!compare: no capture "/etc/passwd" in the working directory; use one of --capture, -a.har`,
		},
	} {
		line = nil
		answer := must.Get(session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments}))(t)
		got := strings.Join(line, " ")
		if answer.IsError {
			text := strings.Split(answer.Content[0].(*mcp.TextContent).Text, "\n")
			got = "!" + text[min(2, len(text)-2)] // the third line of a quoted answer; or the only one
		}
		expect.Equal(t, fmt.Sprintf("%s %v", c.tool, c.arguments), c.want, got)
	}
}

// Only the tool replay, which --allow-replay adds, is not read-only. The tools depend on the flags, and on nothing in a
// capture.
func TestTools(t *testing.T) {
	for _, c := range []struct {
		capture string
		replay  []string
		want    string
	}{
		{"", nil, "captures compare exchange exchanges findings overview rule tree"},
		{"c.a2atap", nil, "compare exchange exchanges findings overview rule tree"},
		{"c.a2atap", []string{"http://127.0.0.1:1"}, "compare exchange exchanges findings overview replay rule tree"},
	} {
		var names []string
		list := must.Get(connect(t, Options{Replay: c.replay}, c.capture, nil).ListTools(t.Context(), nil))(t)
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			expect.Equal(t, tool.Name+" is read-only", tool.Name != "replay", tool.Annotations.ReadOnlyHint)
			_, hasCapture := tool.InputSchema.(map[string]any)["properties"].(map[string]any)["capture"]
			expect.Equal(t, tool.Name+" has a capture", c.capture == "" && !strings.Contains("captures compare rule", tool.Name), hasCapture)
		}
		expect.Equal(t, "tools", c.want, strings.Join(names, " "))
	}
}

// Standard input is the protocol, and addresses are checked before anything is served.
func TestUsage(t *testing.T) {
	e := cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	for _, c := range []struct{ capture, replay, want string }{
		{"-", "http://127.0.0.1:1", "standard input carries the protocol"},
		{"c.a2atap", "127.0.0.1:1", "write [NAME=]URL"},
		{"c.a2atap", "booker=ftp://127.0.0.1", "write [NAME=]URL"},
	} {
		err := Run(t.Context(), e, Options{Replay: []string{c.replay}}, c.capture, nil)
		expect.ErrorHas(t, c.capture+" "+c.replay, c.want, err)
	}
}

// Pages that begin where the last one ended are the whole output, and none has more than its limit.
func FuzzPages(f *testing.F) {
	f.Add("one\ntwo\nthree", 4, 2)
	f.Add("→ déjà\n\xff\xe2\x86", 3, 1)
	f.Add("--- end a2atap-\n", 1, 7)
	f.Fuzz(func(t *testing.T, text string, limit, piece int) {
		if limit < 1 || piece < 1 {
			t.Skip()
		}
		var whole strings.Builder
		for offset := 0; ; {
			w := &window{from: offset, to: offset + limit}
			for rest := text; rest != ""; rest = rest[min(piece, len(rest)):] {
				must.Get(io.WriteString(w, rest[:min(piece, len(rest))]))(t)
			}
			page, next := w.text()
			if n := utf8.RuneCountInString(page); n > limit || n == 0 && next < w.count {
				t.Fatalf("a page of %d characters at %d of %d, with limit %d", n, offset, w.count, limit)
			}
			whole.WriteString(page)
			if offset = next; offset >= w.count {
				break
			}
		}
		expect.Equal(t, "all pages", string([]rune(text)), whole.String())
	})
}

// Arguments of any form are rejected, or keep the bounds.
func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"number":3,"part":"request","limit":300}`))
	f.Add([]byte(`{"filter":"op:SendMessage","Limit":-1}`))
	f.Add([]byte(`[1e999]`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := &server{capture: "c.a2atap"}
		for _, tool := range tools {
			a, err := s.parse(tool, raw)
			if err == nil && (a.Capture != "c.a2atap" || a.Offset < 0 || a.Limit < 1 || a.Limit > mostLimit || a.Before != a.Capture || a.After != a.Capture) {
				t.Errorf("%s %s: %+v", tool.name, raw, a)
			}
		}
	})
}
