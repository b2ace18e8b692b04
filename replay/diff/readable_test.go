package diff_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/compare"
	"a2atap/replay/diff"
	"a2atap/replay/report"
)

// streamed returns a session that shows one task in its stream (exchange 1), by GetTask (2) and in a list (3); a
// request is refused (4), and a message is answered with a message (5).
func streamed() []*capture.Exchange {
	s := newSession()
	chunk := func(text, more string) string {
		return `{"artifactUpdate":{"taskId":"task-1","contextId":"ctx-1","artifact":{"artifactId":"a-1","name":"plan",` +
			`"parts":[{"text":"` + text + `","mediaType":"text/plain"}]}` + more + `}}`
	}
	whole := `{"id":"task-1","contextId":"ctx-1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a-1",` +
		`"name":"plan","parts":[{"text":"first ","mediaType":"text/plain"},{"text":"second ","mediaType":"text/plain"},` +
		`{"text":"third","mediaType":"text/plain"}]}],"metadata":{"seats":2}}`
	s.ask("cli", "SendStreamingMessage", message("m-1", "a plan"),
		`{"task":{"id":"task-1","contextId":"ctx-1","status":{"state":"TASK_STATE_WORKING"},"metadata":{"seats":2}}}`,
		chunk("first ", ""), chunk("second ", `,"append":true`), chunk("third", `,"append":true,"lastChunk":true`),
		`{"statusUpdate":{"taskId":"task-1","contextId":"ctx-1","status":{"state":"TASK_STATE_COMPLETED"}}}`)
	s.ask("cli", "GetTask", about("task-1"), whole)
	s.ask("cli", "ListTasks", `{"includeArtifacts":true}`,
		`{"tasks":[`+whole+`],"nextPageToken":"","pageSize":50,"totalSize":1}`)
	s.ask("cli", "GetTask", about("no-such-task"), "null")
	s.exchanges[3].Response.Body.Data = []byte(`{"jsonrpc":"2.0","id":4,"error":{"code":-32001,"message":"no such task"}}`)
	s.ask("cli", "SendMessage", message("m-2", "hello"),
		`{"message":{"messageId":"r-1","role":"ROLE_AGENT","parts":[{"text":"hello yourself"}]}}`)
	return s.exchanges
}

// everywhere replaces a text in all answers.
func everywhere(was, now string) func([]*capture.Exchange) []*capture.Exchange {
	return func(xs []*capture.Exchange) []*capture.Exchange {
		for _, x := range xs {
			edit(x, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(was), []byte(now)) })
		}
		return xs
	}
}

// A regression reads the same in every format, without opening a capture: what changed, both values, and the numbers of
// the exchanges.
func TestRegressionsAreReadable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func([]*capture.Exchange) []*capture.Exchange
		shows  []string // in every format
	}{
		{"a chunk is lost", func(xs []*capture.Exchange) []*capture.Exchange {
			events := xs[0].Response.Events
			xs[0].Response.Events = slices.Delete(events, 2, 3)
			return everywhere(`{"text":"second ","mediaType":"text/plain"},`, "")(xs)
		}, []string{"artifact 1 (plan)", `"second "`}},
		{"a member is missing", everywhere(`"contextId":"ctx-1",`, ""), []string{"contextId", "missing", "ctx-1"}},
		{"a member has another type", everywhere(`"seats":2`, `"seats":"2"`), []string{"seats", `"2"`}},
		{"a member is new", everywhere(`"name":"plan"`, `"name":"plan","extra":true`), []string{"extra", "true"}},
		{"a name", everywhere(`"name":"plan"`, `"name":"idea"`), []string{"name", "plan", "idea"}},
		{"an id", everywhere(`"artifactId":"a-1"`, `"artifactId":""`), []string{"artifactId", "non-empty"}},
		{"a media type", everywhere("text/plain", "text/html"), []string{"text/plain", "text/html"}},
		{"a kind of part", everywhere(`"text":"third"`, `"data":{"n":3}`), []string{"text", "data", "third", `{"n":3}`}},
		{"an order", everywhere(`"text":"third"`, `"text":"fourth"`), []string{"third", "fourth"}},
		{"a state", everywhere("TASK_STATE_COMPLETED", "TASK_STATE_FAILED"), []string{"completed", "failed"}},
		{"an error", everywhere("-32001", "-32004"), []string{"TaskNotFound", "UnsupportedOperation", "-32001", "-32004"}},
		{"a status", func(xs []*capture.Exchange) []*capture.Exchange {
			for _, x := range xs {
				if x.Response.Body.Data != nil {
					x.Response.Head = []byte("HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/plain\r\n\r\n")
					x.Response.Body.Data = []byte("out of memory\n")
				}
			}
			return xs
		}, []string{"500"}},
		{
			"a message instead of a task", everywhere(`"task":{"id":"task-1"`, `"message":{"messageId":"task-1"`),
			[]string{"Task", "Message"},
		},
	} {
		profile := compare.Protocol
		if c.name == "an order" {
			profile = compare.Exact
		}
		r := run(t, streamed(), c.change(streamed()), diff.Options{Profile: profile, Rules: rules.All})
		if r.Same() {
			t.Errorf("%s: no difference", c.name)
			continue
		}
		for _, format := range report.Formats() {
			var b bytes.Buffer
			if err := report.Write(&b, format, r); err != nil {
				t.Fatal(err)
			}
			text := readable(t, format, b.Bytes())
			for _, want := range append(c.shows, "1") {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %s does not show %q:\n%s", c.name, format, want, text)
				}
			}
			if strings.Contains(text, "→  ") || strings.Contains(text, "→ [") || strings.Contains(text, "→ \n") {
				t.Errorf("%s: %s has an empty change:\n%s", c.name, format, text)
			}
		}
		if testing.Verbose() {
			var b bytes.Buffer
			_ = report.Text(&b, r)
			fmt.Printf("## %s\n%s\n", c.name, &b)
		}
	}
}

// readable returns what a person reads in a report: of JSON the summaries and details, of the others their text.
func readable(t *testing.T, format string, b []byte) string {
	t.Helper()
	switch format {
	case "html", "junit":
		return html.UnescapeString(string(b))
	case "json":
		var doc any
		must.Do(t, json.Unmarshal(b, &doc))
		var all []string
		var walk func(v any)
		walk = func(v any) {
			switch v := v.(type) {
			case map[string]any:
				for _, m := range v {
					walk(m)
				}
			case []any:
				for _, e := range v {
					walk(e)
				}
			default:
				all = append(all, fmt.Sprint(v))
			}
		}
		walk(doc)
		return strings.Join(all, "\n")
	}
	return string(b)
}

// A rule that only the first capture breaks is noted, if the exchange has a counterpart.
func TestRepairedRules(t *testing.T) {
	t.Parallel()
	broken := everywhere(`"artifactId":"a-1"`, `"artifactId":""`)
	r := run(t, broken(streamed()), streamed(), diff.Options{Rules: rules.All})
	expect.Contains(t, "", "no longer broken: rule artifact-id-present, broken in exchanges 1, 2, 3 of the first capture",
		strings.Join(r.Notes, "\n"))
	if !r.Same() {
		t.Errorf("%s: %v", r.Verdict(), told(r))
	}
	cut := streamed()
	cut[0].Response.Events = cut[0].Response.Events[:1]
	cut[0].Response.Body.Complete, cut[0].Fault = false, &capture.TransportFault{Kind: "reset", Side: "agent"}
	r = run(t, broken(streamed()), cut, diff.Options{Rules: rules.All})
	if notes := strings.Join(r.Notes, "\n"); strings.Contains(notes, "exchanges 1, ") {
		t.Errorf("of an answer that broke off: %s", notes)
	}
	alone := streamed()[3:]
	r = run(t, broken(streamed()), alone, diff.Options{Rules: rules.All})
	if notes := strings.Join(r.Notes, "\n"); strings.Contains(notes, "no longer broken") {
		t.Errorf("of exchanges without a counterpart: %s", notes)
	}
}

// By the profile exact, a card with another ETag is another card.
func TestETagOfCard(t *testing.T) {
	t.Parallel()
	card := func(etag string) []*capture.Exchange {
		tr := must.Get(transcript.Parse("card", []byte("-- 1.request --\nGET /.well-known/agent-card.json HTTP/1.1\n"+
			"Host: booker.example\n\n-- 1.response --\nHTTP/1.1 200 OK\nContent-Type: application/json\n"+etag+"\n"+
			`{"name":"booker","description":"d","version":"1","capabilities":{},"skills":[],"defaultInputModes":["text/plain"],`+
			`"defaultOutputModes":["text/plain"],"supportedInterfaces":[{"url":"http://booker.example/","protocolBinding":`+
			`"JSONRPC","protocolVersion":"1.0"}]}`+"\n")))(t)
		return tr.Exchanges
	}
	for profile, want := range map[compare.Profile]string{
		compare.Protocol: "", compare.Shape: "",
		compare.Exact: `1.response.header[ETag]: the card's ETag is "2", recorded "1" [value]`,
	} {
		r := run(t, card("ETag: \"1\"\n"), card("ETag: \"2\"\n"), diff.Options{Profile: profile})
		expect.Equal(t, string(profile), want, strings.Join(told(r), "\n"))
	}
}
