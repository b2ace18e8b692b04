package replay

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/client/auth"
)

// hiddenWord represents a secret that the recording does not have.
const hiddenWord = "redacted.0123456789abcdef.11111111"

// secretTests are requests as recorded and as sent, with H for the placeholder.
var secretTests = []struct {
	name      string
	authorize auth.Method
	was, want string
	notes     int
}{
	{"nothing hidden", auth.Bearer("t"), "/a?b=c", "/a?b=c", 0},
	{"in the same place", auth.Query("key", "x y"), "/a?b=c&key=H&d", "/a?b=c&key=x+y&d", 0},
	{"a name that is escaped", auth.Query("my key", "x"), "/a?my%20key=H", "/a?my+key=x", 0},
	{"in the same field", auth.Header("x-key", "k"), "/a\r\nX-KEY: H\r\nB: c", "/a\r\nX-KEY: k\r\nB: c", 0},
	{"in another field", auth.Bearer("t"), "/a\r\nX-Key: H\r\nB: c", "/a\r\nB: c\r\nAuthorization: Bearer t", 1},
	{"in the query instead of a field", auth.Query("key", "x"), "/a?b=c\r\nX-Key: H", "/a?b=c&key=x", 1},
	{"in a field instead of the query", auth.Bearer("t"), "/a?key=H", "/a\r\nAuthorization: Bearer t", 1},
	{"one of two", auth.Bearer("t"), "/a?key=H\r\nAuthorization: Bearer H", "/a\r\nAuthorization: Bearer t", 1},
	{"none given", nil, "/a?key=H&b=c\r\nX-Key: H", "/a?b=c", 2},
	{"none given, nothing left", nil, "/a?key=H", "/a", 1},
	{"an empty query", auth.Bearer("t"), "/a?", "/a?", 0},
}

// sent returns the sent form of a recorded request, written as the tests are.
func (p *player) sent(t *testing.T, authorize auth.Method, was string) string {
	t.Helper()
	line, fields, _ := strings.Cut(was, "\r\n")
	recorded := capture.ParseRequestHead([]byte("GET " + line + " HTTP/1.1\r\n" + fields + "\r\n\r\n"))
	s := must.Get((&target{authorize: authorize}).secretsFor(t.Context(), &recorded))(t)
	got := []string{p.withSecrets(recorded.Target, s)}
	for _, f := range recorded.Fields {
		if value, ok := p.field(nil, f, s); ok {
			got = append(got, f.Name+": "+value)
		}
	}
	var added bytes.Buffer
	s.addFields(&added)
	for line := range strings.Lines(added.String()) {
		got = append(got, strings.TrimSpace(line))
	}
	return strings.Join(got, "\r\n")
}

func TestSecretsTakeTheirPlaces(t *testing.T) {
	t.Parallel()
	for _, tt := range secretTests {
		p := &player{}
		got := p.sent(t, tt.authorize, strings.ReplaceAll(tt.was, "H", hiddenWord))
		if got != tt.want || len(p.notes.texts()) != tt.notes {
			t.Errorf("%s: got %q, notes %q; want %q and %d notes", tt.name, got, p.notes.texts(), tt.want, tt.notes)
		}
	}
	failed := errors.New("no token today")
	to := &target{authorize: func(context.Context, *client.Outgoing) error { return failed }}
	recorded := capture.ParseRequestHead([]byte("GET /?key=" + hiddenWord + " HTTP/1.1\r\n\r\n"))
	expect.ErrorIs(t, "", failed, expect.Err(to.secretsFor(t.Context(), &recorded)))
}

// No placeholder is ever sent, and text without placeholders stays unchanged.
func FuzzSecrets(f *testing.F) {
	for _, tt := range secretTests {
		target, _, _ := strings.Cut(strings.ReplaceAll(tt.was, "H", hiddenWord), "\r\n")
		f.Add(target)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, authorize := range []auth.Method{nil, auth.Bearer("t"), auth.Query("key", "x")} {
			p, to := &player{}, &target{authorize: authorize}
			s := must.Get(to.secretsFor(t.Context(), &capture.Head{Target: text}))(t)
			got := p.withSecrets(text, s)
			_, query, _ := strings.Cut(text, "?")
			_, now, _ := strings.Cut(got, "?")
			if hidden := credential.HasPlaceholder([]byte(query)); !hidden && got != text ||
				hidden && slices.ContainsFunc(strings.Split(now, "&"), func(pair string) bool {
					return credential.HasPlaceholder([]byte(pair))
				}) {
				t.Errorf("%q becomes %q", text, got)
			}
		}
	})
}
