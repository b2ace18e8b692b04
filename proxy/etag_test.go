package proxy_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func TestCardRequestHead(t *testing.T) {
	agent := newRawAgent(t, length("{}"))
	r := newRig(t, nil, "http://"+agent.addr)
	tap := r.tap(0).Addr()
	askCard(t, tap, "accept-encoding: gzip, br", "X-Mine: 1", "Range: bytes=0-9", `If-Range: "x"`,
		`If-None-Match: "other", W/"weak", *`)
	want := "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: " + agent.addr + "\r\nConnection: close\r\n" +
		"accept-encoding: identity\r\nX-Mine: 1\r\n" + `If-None-Match: "other", W/"weak", *` + "\r\n\r\n"
	expect.Same(t, "", want, agent.asked())
	askCard(t, tap)
	if !strings.HasSuffix(agent.asked(), "Connection: close\r\nAccept-Encoding: identity\r\n\r\n") {
		t.Errorf("got %q", agent.asked())
	}
	askCard(t, tap, "Accept-Encoding: identity")
	record := r.record()
	if head := string(record[0].Request.Head); !strings.Contains(head, "accept-encoding: gzip, br\r\n") ||
		!strings.Contains(head, "Range: bytes=0-9\r\n") {
		t.Errorf("the record does not keep the head that the client sent:\n%s", head)
	}
	wantRewrites := []capture.Rewrite{
		{Place: "request.header[Accept-Encoding]", Was: "gzip, br", Now: "identity"},
		{Place: "request.header[Range]", Was: "bytes=0-9", Now: ""},
		{Place: "request.header[If-Range]", Was: `"x"`, Now: ""},
	}
	expect.Same(t, "", wantRewrites, record[0].Rewrites)
	expect.Equal(t, fmt.Sprintf("rewrites %v where none was needed", record[2].Rewrites), 0, len(record[2].Rewrites))
}

func TestEntityTags(t *testing.T) {
	for _, tag := range []string{`"abc"`, `W/"abc"`, `""`} {
		t.Run(tag, func(t *testing.T) {
			agent := newRawAgent(t, "")
			card := agent.expand(`{"url":"http://ADDR/"}`)
			agent.answer = func(string, string) string {
				if strings.Contains(agent.asked(), "If-None-Match: "+tag) {
					return "HTTP/1.1 304 Not Modified\r\nETag: " + tag + "\r\nX-A: b\r\n\r\n"
				}
				return fmt.Sprintf("HTTP/1.1 200 OK\r\nETag: %s\r\nDigest: sha-256=x\r\nContent-Digest: "+
					"sha-256=:x:\r\nRepr-Digest: y\r\nContent-MD5: z\r\nContent-Length: %d\r\n\r\n%s", tag, len(card),
					card)
			}
			r := newRig(t, nil, "http://"+agent.addr)
			tap := r.tap(0).Addr()
			first := askCard(t, tap)
			found := regexp.MustCompile(`ETag: (.*)\r\n`).FindStringSubmatch(first)
			if found == nil || found[1] == tag || !strings.Contains(found[1], "-a2atap-") {
				t.Fatalf("got %q", first)
			}
			if strings.Contains(strings.ToLower(first), "digest") || strings.Contains(first, "MD5") {
				t.Errorf("digests of another body stayed:\n%s", first)
			}
			askCard(t, tap, `If-None-Match: "other", `+found[1])
			if want := `If-None-Match: "other", ` + tag + "\r\n"; !strings.Contains(agent.asked(), want) {
				t.Fatalf("the agent was asked\n%s", agent.asked())
			}
			agent.answer = func(string, string) string {
				return "HTTP/1.1 304 Not Modified\r\nETag: " + tag +
					"\r\nX-A: b\r\n\r\n"
			}
			again := askCard(t, tap, "If-None-Match: "+found[1])
			expect.Equal(t, "", "HTTP/1.1 304 Not Modified\r\nETag: "+found[1]+"\r\nX-A: b\r\n\r\n", again)
			// A tag of the agent's own is confirmed as it is.
			expect.Contains(t, "", "ETag: "+tag+"\r\n", askCard(t, tap, "If-None-Match: "+tag))
			record := r.record()
			if !strings.Contains(string(record[0].Response.Head), "ETag: "+tag+"\r\nDigest:") {
				t.Errorf("the record does not keep the head that the agent sent:\n%s", record[0].Response.Head)
			}
			expect.Equal(t, "rewrite", found[1], now(record[0])["response.header[ETag]"])
			expect.Equal(t, "rewrite", tag, now(record[2])["request.header[If-None-Match]"])
		})
	}
}

// HEAD must not promise the length of a body that GET would not give, nor its entity tag.
func TestHeadOfCard(t *testing.T) {
	agent := newRawAgent(t, "HTTP/1.1 200 OK\r\nContent-Length: 22\r\nETag: \"abc\"\r\nDigest: x\r\nContent-Type: "+
		"application/json\r\n\r\n")
	r := newRig(t, nil, "http://"+agent.addr)
	tap := r.tap(0).Addr()
	got := cardRequestOf(t, tap, "HEAD /.well-known/agent-card.json HTTP/1.1\r\nHost: "+tap+
		"\r\nConnection: close\r\n\r\n")
	if !regexp.MustCompile(`^HTTP/1.1 200 OK\r\nETag: "abc-a2atap-[0-9a-f]{8}"\r\nContent-Type: ` +
		`application/json\r\n\r\n$`).MatchString(got) {
		t.Errorf("got %q", got)
	}
}
