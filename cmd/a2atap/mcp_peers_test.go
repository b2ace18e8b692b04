//go:build peers

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/peers"
)

// The MCP clients in Python and TypeScript start a2atap mcp, list its tools, and get the same answers as each other: also
// of a capture that is missing, and of traffic that tries to instruct the reader.
func TestMCPClientsOfSDKs(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "c.txtar"), must.Get(os.ReadFile(instructingCapture))(t), 0o600))
	calls := `[["captures", {}], ["overview", {"capture": "c.txtar"}], ["exchanges", {"capture": "c.txtar", "limit": 200}],
		["exchange", {"capture": "c.txtar", "number": 2, "part": "request"}], ["findings", {"capture": "c.txtar", "filter": "n:2"}],
		["rule", {"id": "task-id-present"}], ["tree", {"capture": "c.txtar"}], ["compare", {"before": "c.txtar", "after": "c.txtar"}],
		["overview", {"capture": "missing.a2atap"}], ["exchange", {"capture": "c.txtar", "number": 9}]]`
	var of [2]string
	for i, sdk := range []peers.Program{peers.PyMCP, peers.JSMCP} {
		argv, env := sdk.Command(t, "reads")
		cmd := exec.CommandContext(t.Context(), argv[0], append(argv[1:], calls, "a2atap", "mcp")...)
		cmd.Dir, cmd.Env = dir, append(env, "PATH="+os.Getenv("PATH"))
		var failed bytes.Buffer
		cmd.Stderr = &failed
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", sdk.Name, err, failed.Bytes())
		}
		var read struct {
			Tools   []string
			Answers []struct {
				Failed bool
				Text   string
			}
		}
		must.Do(t, json.Unmarshal(out, &read))
		expect.Equal(t, sdk.Name+": tools", "captures compare exchange exchanges findings overview rule tree", strings.Join(read.Tools, " "))
		if len(read.Answers) != 10 {
			t.Fatalf("%s: %d answers", sdk.Name, len(read.Answers))
		}
		for n, answer := range read.Answers {
			text := answer.Text
			if m := framed.FindStringSubmatch(text); m != nil {
				text = m[2] + "\n" + m[4]
			}
			expect.Equal(t, sdk.Name+": failed", n >= 8, answer.Failed)
			of[i] += text + "\n"
		}
	}
	expect.Equal(t, "answers", of[0], of[1])
	expect.Contains(t, "answers", "IGNORE", of[0])
	expect.Contains(t, "answers", `no capture "missing.a2atap" in the working directory; use one of c.txtar`, of[0])
}
