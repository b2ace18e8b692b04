package mutation_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

// A variation is another way to say the same, or to see less of it: a conversation in which nothing is wrong stays one.
type variation struct {
	name string
	vary func(*varied)
}

// What the protocol leaves to everybody, and what recordings lack, is no finding. Transcripts in which nothing is
// wrong, and those of the lenient readings, are varied in every way.
func TestVariationsAreSilent(t *testing.T) {
	t.Parallel()
	for _, path := range rulestest.Names(t, "clean", "silent") {
		if rulestest.Random("varied "+path).IntN(oneIn) > 0 || len(loud(rulestest.FindingsIn(t, path))) > 0 {
			continue
		}
		name := filepath.Base(path)
		for _, v := range variations {
			if slices.Contains(telling[v.name], name) {
				continue
			}
			c := &varied{t: t, random: rulestest.Random(v.name + path), exchanges: rulestest.Exchanges(t, path)}
			v.vary(c)
			if got := loud(rulestest.Findings(t, c.exchanges)); len(got) > 0 {
				t.Errorf("%s, with %s:\n%s", path, v.name, strings.Join(got, "\n"))
			}
		}
	}
}

// telling names the transcripts whose silence hangs on what a variation takes away.
var telling = map[string][]string{
	"on another host too": {"card-rewritten"}, // the signature covers the host
	"numbers as ids": {
		"event-fields",
		"multi-line-events",
	}, // events of several fields and lines are left as they are
	"redirected first":   {"v1-jsonrpc-all", "v1-rest-all"}, // receivers of notifications should not redirect
	"event names":        {"keep-alive-events"},             // the names of its events are not A2A's
	"event names behind": {"keep-alive-events"},
	"no times":           {"pieces-in-two-streams", "race-with-the-end"},
	// exchanges that do not overlap prove an order
	"bodies not kept": {
		"same-webhook",
	}, // it is then unknown that two agents share the webhook
	// What was sent again, or deleted, in an exchange that is missing explains later ones.
	"some dropped": {"sent-again-not-kept", "v1-jsonrpc-all"},
	// One client made a HAR, which says neither whose calls they were nor what it lacks.
	"as HAR of others": {
		"cut-and-open", "refused-before-the-state", "streams-in-part", "task-removed",
		"v03-refused-after-the-end",
	},
}

// varied is a conversation on its way to become another.
type varied struct {
	t         *testing.T
	random    *rand.Rand
	exchanges []*capture.Exchange
}

var variations = []variation{
	{"members in another order", json(func(v *value) { v.shuffle() })},
	{"members backwards", json(func(v *value) { slices.Reverse(v.members) })},
	{"white space", rewriteText(func(_ *capture.Exchange, text string) string {
		if v, ok := parseValue(text); ok {
			return v.text(" \t")
		}
		return text
	})},
	{"escapes", json(func(v *value) { v.escape() })},
	{"unknown members", json(func(v *value) { v.extend() })},
	{"null members", json(func(v *value) { v.addNulls() })},
	{"empty metadata", json(func(v *value) { v.addMetadata() })},
	{"optional members left out", json(func(v *value) { v.leaveOut() })},
	{"more details of errors", json(func(v *value) { v.detail() })},
	{"numbers as ids", json(func(v *value) { v.renumber(false) })},
	{"strings as ids", json(func(v *value) { v.renumber(true) })},
	{"seconds", fractions("")},
	{"microseconds", fractions(".000000")},
	{"nanoseconds", fractions(".000000000")},

	{"lower case headers", heads(func(head string) string { return eachField(head, strings.ToLower) })},
	{"upper case headers", heads(func(head string) string { return eachField(head, strings.ToUpper) })},
	{"charset", heads(func(head string) string {
		return contentType.ReplaceAllString(head, "$1; charset=utf-8\r\n")
	})},
	{"more headers", heads(func(head string) string {
		return strings.TrimSuffix(head, "\r\n") +
			"X-Request-Id: 5\r\nDate: Thu, 05 Mar 2026 10:00:00 GMT\r\nVia: 1.1 gateway\r\n" +
			"Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\nX-Empty:\r\n\r\n"
	})},
	{"http/2", heads(func(head string) string {
		return strings.Replace(eachField(head, strings.ToLower), "HTTP/1.1", "HTTP/2.0", 1)
	})},
	{"host in upper case", requestHeads(func(head string) string {
		return hostField.ReplaceAllStringFunc(head,
			func(s string) string { return "Host: " + strings.ToUpper(s[len("Host: "):]) })
	})},
	{"escaped paths", requestHeads(func(head string) string {
		return taskPath.ReplaceAllStringFunc(head,
			func(s string) string { return fmt.Sprintf("%s%%%02X", s[:len(s)-1], s[len(s)-1]) })
	})},
	{"application/json", responseHeads(func(head string) string {
		return strings.Replace(head, "application/a2a+json", "application/json", 1)
	})},
	{"gzip", (*varied).compress},

	{
		"comments between events",
		streams(func(s string) string { return ": hello\n\n" + strings.ReplaceAll(s, "\n\n", "\n\n:\n\n: ping\n\n") }),
	},
	{
		"comments in events",
		streams(func(s string) string { return strings.ReplaceAll(s, "data:", ": still here\ndata:") }),
	},
	{"carriage returns", streams(func(s string) string { return strings.ReplaceAll(s, "\n", "\r") })},
	{"carriage returns and line feeds", streams(func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") })},
	{"event names", streams(func(s string) string {
		return strings.ReplaceAll(s, "data:", "event: message\nid: 7\nretry: 3000\ndata:")
	})},
	{
		"event names behind",
		streams(func(s string) string { return strings.ReplaceAll(s, "\n\n", "\nid: 7\nevent: message\nx: y\n\n") }),
	},
	{"only an id", streams(func(s string) string { return "id: 1\n\n" + s + "retry: 10\n\n" })},
	{"no space after data", streams(func(s string) string { return strings.ReplaceAll(s, "data: ", "data:") })},
	{"events in lines", streams(func(s string) string { return strings.ReplaceAll(s, `,"`, ",\ndata: \"") })},
	{"byte order mark", streams(func(s string) string { return "\ufeff" + s })},

	{"others in between", (*varied).mix},
	{"gateway errors before", (*varied).failFirst},
	{"redirected first", (*varied).redirectFirst},
	{"reads repeated", (*varied).repeatReads},
	{"on another host too", (*varied).twice},
	{"begins in the middle", func(c *varied) { c.exchanges = c.exchanges[c.random.IntN(len(c.exchanges)):] }},
	{"first dropped", func(c *varied) { c.exchanges = c.exchanges[1:] }},
	{"ends early", func(c *varied) { c.exchanges = c.exchanges[:c.random.IntN(len(c.exchanges))] }},
	{"without cards", func(c *varied) {
		c.exchanges = slices.DeleteFunc(c.exchanges, func(x *capture.Exchange) bool {
			return bytes.Contains(x.Request.Head, []byte("/.well-known/"))
		})
	}},
	{"some dropped", func(c *varied) {
		c.exchanges = slices.DeleteFunc(c.exchanges, func(*capture.Exchange) bool { return c.random.IntN(3) == 0 })
	}},
	{"some unanswered", (*varied).unanswer},
	{"client leaves streams", (*varied).leave},
	{"recorder ends in streams", (*varied).stop},
	{"bodies not kept", (*varied).unkept},
	{"bodies cut", (*varied).cut},
	{"no times", (*varied).timeless},

	{"as HAR", func(c *varied) { c.through("x.har", c.har()) }},
	{"as HAR of others", func(c *varied) { c.through("x.har", ours.ReplaceAllString(c.har(), `"_other":`)) }},
	{"as JSON Lines", func(c *varied) { c.through("x.jsonl", c.jsonl()) }},
	{"as a transcript", func(c *varied) {
		c.through("x.txtar", string(transcript.Format(&transcript.Transcript{Exchanges: c.exchanges})))
	}},
	{"redacted", (*varied).redact},
}
