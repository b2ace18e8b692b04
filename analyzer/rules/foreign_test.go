package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
)

// What a capture of another program holds besides the exchanges of a transcript.
const (
	nothing     = ""
	wholeHeads  = "User-Agent: kit/1\r\n"
	aCredential = "User-Agent: kit/1\r\nAuthorization: Bearer s3cret\r\n"
	aStub       = "User-Agent: kit/1\r\nAuthorization: Bearer [REDACTED]\r\n"
)

// foreign returns the exchanges of a transcript as another program might have kept them, and one more with fields that
// show what that program keeps.
func foreign(t *testing.T, path, fields string) []*capture.Exchange {
	t.Helper()
	exchanges := rulestest.Exchanges(t, path)
	last := uint64(0)
	for _, x := range exchanges {
		x.ID = uuid.NewSHA1(uuid.NameSpaceURL, []byte{byte(x.Seq)})
		last = max(last, x.Seq)
	}
	if fields == nothing || len(exchanges) == 0 {
		return exchanges
	}
	end := exchanges[len(exchanges)-1].Started
	empty := capture.Body{Data: []byte{}, Complete: true, Size: 0}
	return append(exchanges, &capture.Exchange{
		Seq: last + 1, ID: uuid.NewSHA1(uuid.NameSpaceURL, []byte("last")), Started: end, State: capture.StateClosed,
		Client: capture.Peer{Name: "someone"}, Agent: capture.Peer{Name: "metrics", URL: "http://metrics.example"},
		Request: capture.Request{
			Head: []byte("POST /metrics HTTP/1.1\r\nHost: metrics.example\r\n" + fields + "Content-Length: 0\r\n\r\n"),
			Body: empty,
		},
		Response: &capture.Response{
			Head: []byte("HTTP/1.1 204 No Content\r\nDate: Sun, 01 Mar 2026 10:00:00 GMT\r\nConnection: keep-alive\r\n\r\n"),
			Body: empty,
		},
	})
}

// A credential anywhere in a capture of another program shows that it keeps everything: then all is found in it that is
// found in a capture of our own. A whole field list shows the same of all but credentials. What shows neither is
// judged by what is there.
func TestForeignCaptures(t *testing.T) {
	t.Parallel()
	aboutCredentials := []string{
		"auth-credentials-sent", "auth-not-enforced", "auth-scheme-undeclared", "auth-extended-card-client",
		"auth-extended-card-server", "auth-error-no-leak", "hook-auth", "hook-auth-0x", "hook-token",
		"equiv-error-same", "equiv-result-same", "req-message-id-reuse", "error-internal-for-named-case",
		"card-guarded", "hook-token-v1",
	}
	lessKept := map[string]string{ // whatever fields a program keeps
		"grpc-message-count":  "other programs may leave bodies out",
		"grpc-status":         "other programs may list trailers among the fields of the head",
		"rest-query-encoding": "other programs may show URLs decoded",
	}
	bareHeads := []string{ // that no program writes which keeps everything
		"auth/auth-www-authenticate-v03", "grpc/grpc-content-type", "http/rpc-request-content-type-v01",
		"version/ver-header-present-rest", "webhook/hook-content-type-absent",
	}
	resting := make(map[string]bool)
	for _, path := range sample(t) {
		own := lines(rulestest.FindingsIn(t, path))
		found := func(fields string) []string { return lines(rulestest.Findings(t, foreign(t, path, fields))) }
		without := func(list []string) (rules []string) {
			for _, line := range own {
				if !slices.Contains(list, line) {
					_, id, _ := strings.Cut(line[strings.LastIndexByte(line, ' '):], "[")
					rules = append(rules, strings.TrimSuffix(id, "]"))
				}
			}
			return rules
		}
		missing := without(found(nothing))
		if len(missing) == 0 {
			continue // nothing depends on what is left out
		}
		for _, id := range missing {
			resting[id] = true
		}
		for _, id := range without(found(aCredential)) {
			if lessKept[id] == "" {
				t.Errorf("%s: %s rests although a credential shows that nothing was left out", path, id)
			}
		}
		for _, fields := range []string{wholeHeads, aStub} {
			for _, id := range without(found(fields)) {
				if lessKept[id] == "" && !slices.Contains(aboutCredentials, id) && !slices.Contains(bareHeads, path) {
					t.Errorf("%s: %s rests although the fields show that only credentials may be missing", path, id)
				}
			}
		}
	}
	if len(resting)*oneIn < 20 {
		t.Errorf("only %d rules rest where fields may be missing", len(resting))
	}
}
