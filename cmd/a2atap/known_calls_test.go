package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// Failed calls that a project accepts stay in the record and in the counts, and only others fail.
func TestKnownCalls(t *testing.T) {
	t.Parallel()
	s := &shell{t: t, dir: t.TempDir()}
	put := func(name, text string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o644))
	}
	check := func(line string, code int, wants ...string) {
		t.Helper()
		out, errs, got := s.execute("a2atap check " + line)
		if got != code {
			t.Errorf("check %s exits with %d, want %d:\n%s%s", line, got, code, out, errs)
		}
		for _, want := range wants {
			want, lacks := strings.CutPrefix(want, "!")
			if strings.Contains(out+errs, want) == lacks {
				t.Errorf("check %s: with %q is %v:\n%s%s", line, want, lacks, out, errs)
			}
		}
	}
	failed := func(code int, text string) string {
		return "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" +
			fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%%[1]d","error":{"code":%d,"message":%q}}`, code, text) + "\n"
	}
	down := func(job int) string { return failed(-32603, fmt.Sprintf("job %d: database is down", job)) }
	put("old.txtar", calls("planner", worldDone, down(17), down(18)))
	put("again.txtar", calls("planner", down(35), worldDone, down(4), down(5)))
	put("new.txtar", calls("planner", worldDone, down(17), down(18), failed(-32099, "overloaded")))
	put("other.txtar", calls("tourist", worldDone, down(17), down(18)))
	put("mended.txtar", calls("planner", worldDone, worldDone))
	put("dead.txtar", calls("planner", down(1)))

	check("old.txtar", 1, "check: failing: 2 of 3 calls failed: InternalError 2;")
	check("old.txtar --baseline known.json --update-baseline", 0, "known.json holds 0 known findings and 1 kind of failed calls")
	check("old.txtar --baseline known.json", 0, "check: no violation: 2 of 3 calls failed: InternalError 2, as is accepted;", "!failed calls")
	check("again.txtar --baseline known.json --fail-on error,calls", 0, "check: no violation: 3 of 4 calls failed")
	check("dead.txtar --baseline known.json", 0, "check: no violation: 1 of 1 call failed: InternalError 1, as is accepted")

	text := must.Get(os.ReadFile(filepath.Join(s.dir, "known.json")))(t)
	for _, want := range []string{
		`"version": 2`, `"error": "-32603 InternalError"`, `"client": "planner"`, `"agent": "agent"`, `"operation": "SendMessage"`,
		`"message": "job 17: database is down"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the baseline lacks %s:\n%s", want, text)
		}
	}

	// Known failures alone do not make a link failing, but they count where another one comes.
	check("new.txtar --baseline known.json", 1, "check: failing: 3 of 4 calls failed: InternalError 2, code -32099 1, 2 of them accepted;",
		"4 SendMessage code -32099: overloaded", "accepted failures\n  2 SendMessage InternalError: job 17: database is down (and 1 more)")
	check("new.txtar --baseline known.json --format json", 1, `"callsKnown": 2`, `"code": "-32099"`, `"binding": "jsonrpc"`)
	check("new.txtar --baseline known.json --format junit", 1, `<failure message="at least half failed on planner → agent: 3 of 4 calls failed`)
	check("old.txtar --baseline known.json --format junit", 0, "!<failure")
	check("old.txtar --baseline known.json --format github", 0, "::notice title=a2atap::no violation: 2 of 3 calls failed")

	// A client has its own, unless an entry names none.
	check("other.txtar --baseline known.json", 1, "check: failing")
	put("all.json", strings.Replace(string(text), `"client": "planner",`, "", 1))
	check("other.txtar --baseline all.json", 0, "check: no violation")

	// What is over is named, and what has expired.
	put("past.json", strings.Replace(string(text), `"client"`, `"until": "2020-01-31", "client"`, 1))
	check("old.txtar --baseline past.json", 1, "past.json: -32603 InternalError of agent SendMessage has expired on 2020-01-31")
	check("mended.txtar --baseline known.json", 0, "known.json: -32603 InternalError of agent SendMessage is no longer found")
	check("mended.txtar --baseline known.json --update-baseline", 0, "known.json holds 0 known findings\n")

	// A baseline that was written before there were failed calls in it is read as it was.
	put("before.json", `{"version": 1, "known": [{"fingerprint": "00", "rule": "rpc-id-echo", "side": "agent", "agent": "booker"}]}`)
	check("old.txtar --baseline before.json", 1, "check: failing")
}

// A failed call names the rules that say something of it, and their findings name its error, in every report for people
// and programs.
func TestExplainedCalls(t *testing.T) {
	s := &shell{t: t, dir: t.TempDir()}
	text := calls("planner", worldDone, "HTTP/1.1 500 Internal Server Error\nContent-Length: 0\n\n")
	must.Do(t, os.WriteFile(filepath.Join(s.dir, "c.txtar"), []byte(text), 0o644))
	for format, wants := range map[string][]string{
		"text":     {"  2 SendMessage HTTP 500 [outcome-no-protocol] (planner → agent)\n", "  call      failed: HTTP 500\n"},
		"markdown": {"| 2 | planner → agent | SendMessage | HTTP 500 | - | 1 | outcome-no-protocol |", "; the call failed: HTTP 500 |"},
		"html":     {"<code>outcome-no-protocol</code> </td></tr>", "; the call failed: HTTP 500<br>"},
		"junit":    {"2 SendMessage HTTP 500 [outcome-no-protocol]", "; the call failed: HTTP 500"},
		"json":     {`"rules": [`, `"failure": "HTTP 500"`},
	} {
		out, _, _ := s.execute("a2atap check c.txtar --format " + format)
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s lacks %q:\n%s", format, want, out)
			}
		}
	}
}

// calls returns a transcript of calls of a client that are answered so.
func calls(client string, answers ...string) string {
	var b strings.Builder
	for i, answer := range answers {
		fmt.Fprintf(&b, "-- %[1]d.request --\n%[2]s-- %[1]d.response --\n%[3]s-- %[1]d.meta --\nclient: %[4]s\n",
			i+1, numbered(worldSend, i+1), numbered(answer, i+1), client)
	}
	return b.String()
}
