package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// departed is an exchange whose client left after 1.0 s, and whose agent answered after 3.0 s.
const departed = `-- 1.meta --
client: planner
agent: booker url http://booker.example:9001
started: 2026-01-02T10:00:00Z
response.at: 3s
response.end: 3s
fault: client-left client "client left after 1.0 s: connection closed before the answer was complete"
ends: client close 1s 160 0
ended: 3.01s
-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example:9001
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":"r1","method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"Two tickets to Kyoto"}]}}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"jsonrpc":"2.0","id":"r1","result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}}
`

// TestDurationOfClientThatLeft prints an exchange whose client left in every form. Each has the client's duration, also
// after the exchange was exported and read.
func TestDurationOfClientThatLeft(t *testing.T) {
	s := newShell(t)
	must.Do(t, os.WriteFile("left.txtar", []byte(departed), 0o644))
	for _, copied := range []string{"har", "jsonl", "txtar"} {
		s.execute("a2atap export left.txtar -o copy-" + copied + "." + copied)
	}
	s.execute("a2atap export left.txtar -o page.html")
	agentsDuration := regexp.MustCompile(`3\.010?(s|ms|00s)|\b3010(\.0)?\b`)
	for _, file := range []string{"left.txtar", "copy-har.har", "copy-jsonl.jsonl", "copy-txtar.txtar"} {
		for command, want := range map[string]string{
			"show":                  " 1.00s ",
			"show --format detail":  " 1.00s ",
			"show --format tree":    " 1.00s",
			"show --format ladder":  "  1.000s    1      │─client-left",
			"show --format csv":     ",1000.0,",
			"show --jq .durationMs": "1000\n",
			"show --filter dur:<2s": " 1.00s ",
			"export --format jsonl": `"durationMs":1000,`,
			"export --format har":   `"time":1000,`,
			"export --format otlp":  `"name":"invoke_agent booker","kind":2,"startTimeUnixNano":"1767348000000000000","endTimeUnixNano":"1767348001000000000"`,
			"export --format html":  "1.000s",
			"diff copy-har.har":     "",
			"check --format json":   "client left after 1.0 s",
		} {
			name, flags, _ := strings.Cut(command, " ")
			out, errs, _ := s.execute("a2atap " + name + " " + file + " " + flags)
			out = strings.ReplaceAll(out, `"endedMs":3010`, "") // what the recorder saw
			if !strings.Contains(out, want) || agentsDuration.MatchString(out) {
				t.Errorf("%s of %s: want %q in\n%s%s", command, file, want, out, errs)
			}
		}
	}
}
