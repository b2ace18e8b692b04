package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/joshdk/go-junit"

	"a2atap/analyzer/report"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A verdictKind is a small capture with one kind of verdict.
type verdictKind struct {
	name     string
	capture  string   // a transcript
	flags    string   // of check
	status   string   // the first word of the verdict
	exit     int      // the exit status
	subjects []string // of the statements, in order
}

// one is an exchange of a transcript. Its request is a message to booker unless another is given.
type one struct{ request, answer, meta string }

func exchangesOf(list ...one) string {
	var b strings.Builder
	for i, x := range list {
		if x.request == "" {
			x.request = worldSend
		}
		fmt.Fprintf(&b, "-- %d.request --\n%s", i+1, numbered(x.request, i+1))
		if x.answer != "" {
			fmt.Fprintf(&b, "-- %d.response --\n%s", i+1, numbered(x.answer, i+1))
		}
		fmt.Fprintf(&b, "-- %d.meta --\nclient: planner\nagent: booker url http://booker.example:9001\n%s", i+1, x.meta)
	}
	return b.String()
}

func verdictKinds() []verdictKind {
	done := one{answer: worldDone}
	down := one{answer: "HTTP/1.1 200 OK\nContent-Type: application/json\n\n" +
		`{"jsonrpc":"2.0","id":"r%[1]d","error":{"code":-32603,"message":"database is down"}}` + "\n"}
	card := one{
		request: "GET /.well-known/agent-card.json HTTP/1.1\nHost: booker.example:9001\n\n", answer: onlyCard,
	}
	uncached := card
	uncached.answer = strings.Replace(onlyCard, "Cache-Control: max-age=60\n", "", 1)
	hook := one{
		request: strings.Replace(worldSend, `"SendMessage","params":{`,
			`"SendMessage","params":{"configuration":{"taskPushNotificationConfig":{"url":"http://hooks.example/x"}},`, 1),
		answer: worldDone, meta: "note: \"webhooks not observed: hooks.example is another machine\"\n",
	}
	batch := func(answer string) one { return one{request: batchOfThree, answer: answer} }
	stream := one{
		request: worldStream,
		answer: "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n" +
			`ZGF0YTogeyJqc29ucnBjIjoiMi4wIiwiaWQiOiJyMiIsImVycm9yIjp7ImNvZGUiOi0zMjYwMywibWVzc2FnZSI6Iv8ifX0KCg==` + "\n",
		meta: "response.body: base64\n",
	}
	without := func(x one, was, now string) one {
		x.request = strings.Replace(worldSend, was, now, 1)
		return x
	}
	gaps := func(lines string) string { return "-- gaps --\n" + lines }
	gone := one{meta: "fault: unreachable agent \"connection refused\"\n"}
	model := one{
		request: "POST /v1/chat/completions HTTP/1.1\nHost: llm:9002\nContent-Type: application/json\n\n" +
			`{"model":"m","messages":[]}` + "\n", meta: gone.meta,
	}
	crashed := one{answer: "HTTP/1.1 500 Internal Server Error\nContent-Type: text/plain\n\npanic\n"}
	ended := one{answer: worldEnded("TASK_STATE_REJECTED", "we book no flights")}
	login := one{answer: worldEnded("TASK_STATE_AUTH_REQUIRED", "sign in")}
	kept := one{answer: "HTTP/1.1 200 OK\nContent-Type: application/json\n\n", meta: "response.body: missing\nresponse.size: 90\n"}
	elsewhere := one{answer: "HTTP/1.1 302 Found\nLocation: http://other.example/rpc\nContent-Length: 0\n\n"}
	past := one{answer: "HTTP/1.1 307 Temporary Redirect\nLocation: http://booker.example:9001/rpc\nContent-Length: 0\n\n"}
	past.request = strings.Replace(worldSend, "booker.example:9001", "127.0.0.1:9100", 1)
	left := one{meta: "fault: client-left client \"closed after 1 s\"\n"}
	lookup := one{
		request: strings.Replace(worldSend, strings.SplitAfter(worldSend, "\n\n")[1],
			`{"jsonrpc":"2.0","id":"r%[1]d","method":"GetTask","params":{"id":"t9"}}`+"\n", 1), answer: down.answer,
	}
	made := one{answer: "HTTP/1.1 503 Service Unavailable\nContent-Length: 0\n\n", meta: "note: \"fault made here: status 503\"\n"}
	return []verdictKind{
		{"clean", exchangesOf(done, done), "", "clean", 0, nil},
		{"warnings", exchangesOf(uncached, done), "", "warnings", 0, nil},
		{"warnings at the gate", exchangesOf(uncached, done), "--fail-on warning", "findings", 1, nil},
		{"findings", exchangesOf(without(done, `"jsonrpc":"2.0",`, ""), done), "", "findings", 1, nil},
		{"findings, never", exchangesOf(without(done, `"jsonrpc":"2.0",`, ""), done), "--fail-on never", "findings", 0, nil},
		{"findings, hidden", exchangesOf(uncached, done), "--fail-on warning --min-severity error", "findings", 1, nil},
		{"a failed call", exchangesOf(done, down, done), "", "no violation", 0, []string{"failed-calls"}},
		{
			"a failed call that counts", exchangesOf(done, down, done), "--fail-on error,calls", "no violation", 1,
			[]string{"failed-calls"},
		},
		{"a model that is not reached", exchangesOf(done, model), "", "clean", 0, []string{"other-calls", "unreached"}},
		{"failing calls", exchangesOf(done, down, down), "", "failing", 1, []string{"failing", "failed-calls"}},
		{"failing, never", exchangesOf(done, down, down), "--fail-on never", "failing", 0, []string{"failing", "failed-calls"}},
		{
			"nothing works, never", exchangesOf(down, down), "--fail-on never", "failing", 0,
			[]string{"unproved", "failing", "failed-calls"},
		},
		{"a failed task", exchangesOf(done, ended, done), "", "no violation", 0, []string{"failed-tasks"}},
		{"failing tasks", exchangesOf(done, ended), "", "failing", 1, []string{"failing", "failed-tasks"}},
		{"a waiting task", exchangesOf(done, login), "", "no violation", 0, []string{"not-seen"}},
		{"accepted", exchangesOf(done, down, down), "--baseline known.json", "no violation", 0, []string{"known-calls"}},
		{
			"a batch refused", exchangesOf(done, batch(strings.Replace(down.answer, `"r%[1]d"`, "null", 1))), "", "failing", 1,
			[]string{"failing", "failed-calls", "failed-calls"},
		},
		{
			"a batch refused by HTTP",
			exchangesOf(done, batch("HTTP/1.1 503 Service Unavailable\nContent-Length: 0\n\n")), "", "failing", 1,
			[]string{"failing", "failed-calls", "failed-calls"},
		},
		{
			"nothing", exchangesOf(one{request: "GET / HTTP/1.1\nHost: booker.example:9001\n\n", answer: "HTTP/1.1 404 Not Found\n\n"}),
			"", "nothing", 4,
			[]string{"nothing"},
		},
		{
			"nothing, allowed", exchangesOf(one{
				request: "GET / HTTP/1.1\nHost: booker.example:9001\n\n", answer: "HTTP/1.1 404 Not Found\n\n",
			}), "--allow-empty", "nothing", 0, []string{"nothing"},
		},
		{"nothing matches", exchangesOf(done), "--filter op:CancelTask", "nothing", 4, []string{"nothing"}},
		{
			"chosen in part", exchangesOf(done, lookup, done), "--filter op:SendMessage", "clean", 0, []string{"selection"},
		},
		{
			"what failed is chosen", exchangesOf(done, lookup, done), "--filter op:GetTask", "failing", 1,
			[]string{"failing", "failed-calls", "selection"},
		},
		{"findings are chosen", exchangesOf(uncached, done), "--filter severity:error", "clean", 0, []string{"selection"}},
		{"given up", exchangesOf(done, left, done), "", "no violation", 0, []string{"failed-calls"}},
		{"given up each time", exchangesOf(left, left), "", "failing", 1, []string{"unproved", "failing", "failed-calls"}},
		{"past the recorder", exchangesOf(done, done, past), "", "no violation", 0, []string{"not-seen"}},
		{"lost", exchangesOf(done) + gaps("lost: 3\n"), "", "incomplete", 4, []string{"lost"}},
		{"lost, allowed", exchangesOf(done) + gaps("lost: 3\n"), "--allow-empty", "incomplete", 0, []string{"lost"}},
		{
			"killed", exchangesOf(done) + gaps("crashes: 1\ncrash: 2026-02-03T04:05:06Z 50ms\n"), "", "incomplete", 4,
			[]string{"crash"},
		},
		{"killed at an unknown time", exchangesOf(done) + gaps("crashes: 2\n"), "", "incomplete", 4, []string{"crash"}},
		{"unproved", exchangesOf(elsewhere), "", "incomplete", 4, []string{"not-seen", "unproved", "blind"}},
		{"blind", exchangesOf(done, kept, kept, kept), "", "incomplete", 4, []string{"not-seen", "blind"}},
		{"card alone", exchangesOf(card), "", "incomplete", 4, []string{"not-seen"}},
		{"webhooks", exchangesOf(hook, done), "", "no violation", 0, []string{"webhooks"}},
		{"insecure", exchangesOf(done) + gaps("insecure: yes\n"), "", "clean", 0, []string{"insecure"}},
		{
			"gone", exchangesOf(done, done, done, crashed, gone), "--fail-on never", "findings", 0,
			[]string{"failed-calls", "failed-calls", "critical"},
		},
		{"a fault made here", exchangesOf(done, made), "", "clean", 0, []string{"faults-made"}},
		{"live", exchangesOf(done) + gaps("unfinished: yes\n"), "", "clean", 0, []string{"live"}},
		{"an event that is not UTF-8", exchangesOf(done, stream), "", "findings", 1, []string{"failing", "failed-calls"}},
	}
}

// Every format states all of the verdict and agrees with the exit status, and so do those of every copy of the capture.
func TestVerdictsInEveryFormat(t *testing.T) {
	s := newShell(t)
	must.Do(t, os.WriteFile(filepath.Join(s.dir, "known.txtar"), []byte(verdictNamed("accepted").capture), 0o644))
	s.execute("a2atap check known.txtar --baseline known.json --update-baseline")
	for i, kind := range verdictKinds() {
		file := fmt.Sprintf("c%d.txtar", i)
		must.Do(t, os.WriteFile(filepath.Join(s.dir, file), []byte(kind.capture), 0o644))
		t.Run(kind.name, func(t *testing.T) {
			first := checkedAs(t, s, file, kind)
			eachFormat(t, s, file, kind, first)
			for _, ending := range []string{"har", "jsonl", "txtar", "a2atap"} {
				copied := fmt.Sprintf("copy%d.%s", i, ending)
				command := "a2atap export " + file + " -o " + copied
				if ending == "a2atap" {
					command = "a2atap import " + file + " -o " + copied
				}
				if out, errs, code := s.execute(command); code != 0 {
					t.Fatalf("%s exits with %d: %s%s", command, code, out, errs)
				}
				expect.Same(t, "the verdict on "+copied, first, checkedAs(t, s, copied, kind))
			}
		})
	}
}

func verdictNamed(name string) verdictKind {
	kinds := verdictKinds()
	return kinds[slices.IndexFunc(kinds, func(k verdictKind) bool { return k.name == name })]
}

// checkedAs returns the verdict in JSON, and fails unless it is of the kind.
func checkedAs(t *testing.T, s *shell, file string, kind verdictKind) report.Verdict {
	t.Helper()
	out, errs, code := s.execute("a2atap check " + file + " --format json " + kind.flags)
	out = strings.ReplaceAll(out, file, "FILE")
	var doc report.Document
	must.Do(t, json.Unmarshal([]byte(out), &doc))
	v := doc.Verdict
	var subjects []string
	for _, statement := range v.Statements {
		subjects = append(subjects, statement.Subject)
	}
	if code != kind.exit || v.Exit != code || v.Status != kind.status || !slices.Equal(subjects, kind.subjects) ||
		!strings.Contains(errs, "check: "+kind.status+": ") {
		t.Errorf("%s: status %q, exit %d (in JSON %d), statements %q; want %q, %d, %q:\n%s%+v", file, v.Status, code, v.Exit, subjects,
			kind.status, kind.exit, kind.subjects, errs, doc.Findings)
	}
	return v
}

// eachFormat fails unless each format states the verdict, and JUnit is red exactly if the exit status is not 0.
func eachFormat(t *testing.T, s *shell, file string, kind verdictKind, v report.Verdict) {
	t.Helper()
	for _, format := range report.Formats() {
		out, errs, code := s.execute("a2atap check " + file + " --format " + format + " " + kind.flags)
		expect.Equal(t, format+": exit", kind.exit, code)
		for _, statement := range v.Statements {
			for _, words := range wordsOf(statement) {
				if !strings.Contains(plainText(strings.ReplaceAll(out, file, "FILE")), plainText(words)) {
					t.Errorf("%s does not state %q:\n%s", format, words, out)
				}
			}
		}
		switch format {
		case "junit":
			red := 0
			for _, suite := range must.Get(junit.Ingest([]byte(out)))(t) {
				red += suite.Totals.Failed + suite.Totals.Error
			}
			if red > 0 != (kind.exit != 0) {
				t.Errorf("JUnit has %d failures and errors, the exit status is %d:\n%s", red, kind.exit, out)
			}
			if kind.exit == 4 != strings.Contains(out, "<error ") && kind.exit != 1 {
				t.Errorf("JUnit has an error, or none, and the exit status is %d:\n%s", kind.exit, out)
			}
		case "sarif":
			failed := strings.Contains(out, `"executionSuccessful": false`)
			if decides := slices.ContainsFunc(v.Statements, func(s report.Statement) bool { return s.Exit != 0 }); failed != decides {
				t.Errorf("SARIF has failed %t, and a statement decides %t:\n%s", failed, decides, out)
			}
		case "markdown", "html":
			expect.Contains(t, format, kind.status, out)
		}
		expect.Contains(t, format+": standard error", "check: "+kind.status, errs)
	}
}

// wordsOf returns what a format has to say of a statement: all of it, or what tables of calls have in their cells.
func wordsOf(s report.Statement) []string {
	if !strings.HasSuffix(s.Subject, "-calls") && !strings.HasSuffix(s.Subject, "-tasks") {
		return []string{s.Text}
	}
	text, _, _ := strings.Cut(s.Text, " (")
	return strings.Fields(strings.ReplaceAll(text, ":", ""))
}

// plainText is a text without what formats escape.
func plainText(text string) string {
	text = html.UnescapeString(strings.ReplaceAll(text, "%25", "%"))
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	text = strings.ReplaceAll(text, `\"`, `"`)
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// batchOfThree is a request with three calls.
var batchOfThree = strings.SplitAfter(worldSend, "\n\n")[0] + `[{"jsonrpc":"2.0","id":"b0","method":"GetTask","params":{"id":"t0"}},` +
	`{"jsonrpc":"2.0","id":"b1","method":"CancelTask","params":{"id":"t0"}},` +
	`{"jsonrpc":"2.0","id":"b2","method":"GetTask","params":{"id":"t1"}}]` + "\n"

// A batch that is refused as a whole counts each of its calls, however it is refused.
func TestBatchesRefusedAsAWhole(t *testing.T) {
	s := newShell(t)
	ok, bare := "HTTP/1.1 200 OK\nContent-Type: application/json\n\n", "Content-Length: 0\n\n"
	for i, test := range []struct {
		name            string
		batch           one
		failed, unknown int
	}{
		{"one error", one{answer: ok + `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}` + "\n"}, 3, 0},
		{"one result", one{answer: ok + `{"jsonrpc":"2.0","id":"b0","result":{}}` + "\n"}, 3, 0},
		{"no response", one{answer: ok + "[]\n"}, 3, 0},
		{"HTTP 400", one{answer: "HTTP/1.1 400 Bad Request\n" + bare}, 3, 0},
		{"HTTP 503", one{answer: "HTTP/1.1 503 Service Unavailable\n" + bare}, 3, 0},
		{"a reset", one{meta: "fault: reset agent \"connection reset by peer\"\n"}, 3, 0},
		{"unreachable", one{meta: "fault: unreachable agent \"connection refused\"\n"}, 3, 0},
		{"a redirect", one{answer: "HTTP/1.1 307 Temporary Redirect\nLocation: http://other.example/\n" + bare}, 0, 3},
	} {
		test.batch.request = batchOfThree
		file := fmt.Sprintf("b%d.txtar", i)
		text := exchangesOf(one{answer: worldDone}, test.batch)
		must.Do(t, os.WriteFile(filepath.Join(s.dir, file), []byte(text), 0o644))
		out, _, _ := s.execute("a2atap check " + file + " --format json")
		var doc report.Document
		must.Do(t, json.Unmarshal([]byte(out), &doc))
		unknown := doc.Verdict.Calls - doc.Verdict.CallsFailed - 1
		if doc.Verdict.CallsFailed != test.failed || unknown != test.unknown {
			t.Errorf("%s: %d calls, %d failed; want %d failed and %d unknown", test.name, doc.Verdict.Calls, doc.Verdict.CallsFailed,
				test.failed, test.unknown)
		}
	}
}

// Whatever fails a check, JUnit alone shows that it fails.
func TestJUnitAgreesWithTheExitStatus(t *testing.T) {
	s := newShell(t)
	must.Do(t, os.WriteFile(filepath.Join(s.dir, "known.json"), []byte(`{"version": 2, "findings": []}`), 0o644))
	for i, kind := range verdictKinds() {
		file := fmt.Sprintf("c%d.txtar", i)
		must.Do(t, os.WriteFile(filepath.Join(s.dir, file), []byte(kind.capture), 0o644))
		for _, flags := range []string{
			"", "--fail-on note", "--fail-on warning", "--fail-on error,calls", "--fail-on calls --allow-empty", "--fail-on never",
			"--fail-on never --allow-empty", "--rule json-duplicate-keys", "--fail-on note --min-severity error", "--agent nobody",
		} {
			out, _, code := s.execute("a2atap check " + file + " --format junit " + flags)
			red := strings.Contains(out, "<failure ") || strings.Contains(out, "<error ")
			if red != (code != 0) {
				t.Errorf("%s %s: JUnit is red %t, the exit status is %d:\n%s", kind.name, flags, red, code, out)
			}
		}
	}
}
