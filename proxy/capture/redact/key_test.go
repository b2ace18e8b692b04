package redact_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/expect"
	"a2atap/proxy/internal/childtest"
	"a2atap/proxy/must"
)

// A process that is started with this variable takes the key in the file that it names and prints its fingerprint, once
// its standard input ends.
const childVariable = "A2ATAP_TEST_USER_KEY"

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		var nothing [1]byte
		os.Stdin.Read(nothing[:]) // the end of it is the signal to begin
		key, err := redact.UserKey(name)
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Stdout.WriteString(redact.Fingerprint(key))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newKeyFile(t *testing.T, text string, mode fs.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "team.key")
	must.Do(t, errors.Join(os.WriteFile(name, []byte(text), mode), os.Chmod(name, mode)))
	return name
}

func TestUserKeyIsMadeAndKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "deep", "a2atap", "redaction.key")
	first := must.Get(redact.UserKey(name))(t)
	again, err := redact.UserKey(name)
	if err != nil || !bytes.Equal(first, again) {
		t.Errorf("the second time it is another key, error %v", err)
	}
	other, err := redact.UserKey(name + "2")
	if err != nil || bytes.Equal(first, other) || redact.Fingerprint(first) == redact.Fingerprint(other) {
		t.Errorf("another file has the same key, error %v", err)
	}
	for path, want := range map[string]fs.FileMode{name: 0o600, filepath.Dir(name): fs.ModeDir | 0o700} {
		expect.Equal(t, path+" has mode", want, must.Get(os.Stat(path))(t).Mode())
	}
	if names, _ := os.ReadDir(filepath.Dir(name)); len(names) != 2 {
		t.Errorf("the folder holds %v", names)
	}
	// The same file may be given to others as the key of a team.
	if team, err := redact.ReadKey(name); err != nil || !bytes.Equal(first, team) {
		t.Errorf("read as a team's it is another key, error %v", err)
	}
}

// Recorders that use the key for the first time at the same moment get the same one.
func TestUserKeyAtOnce(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a2atap", "redaction.key")
	outputs := childtest.AtOnce(t, 6, childVariable+"="+name)
	key := must.Get(redact.UserKey(name))(t)
	for i, got := range outputs {
		expect.Equal(t, fmt.Sprintf("process %d", i), redact.Fingerprint(key), got)
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	good := strings.Repeat("0123456789abcdef", 4) + "\n"
	for name, test := range map[string]struct {
		text string
		mode fs.FileMode
		want []string // what the message says; nothing if the key is good
		own  bool     // refused only as the user's own
	}{
		"good":              {text: good, mode: 0o600},
		"read only":         {text: good, mode: 0o400},
		"without a newline": {text: strings.TrimSpace(good), mode: 0o600},
		"of a group":        {text: good, mode: 0o640, own: true, want: []string{"mode 0640", "run chmod 600"}},
		"of everybody": {
			text: good, mode: 0o644,
			want: []string{"other users have access", "mode 0644", "run chmod 600"},
		},
		"empty":      {mode: 0o600, want: []string{"it is empty", "openssl rand -hex 32"}},
		"blank":      {text: " \n\n", mode: 0o600, want: []string{"it is empty"}},
		"a password": {text: "correct horse\n", mode: 0o600, want: []string{"13 bytes", "at least 32"}},
		"a book":     {text: strings.Repeat("x", 10_000), mode: 0o600, want: []string{"more than 4096 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := newKeyFile(t, test.text, test.mode)
			_, teamErr := redact.ReadKey(file)
			_, ownErr := redact.UserKey(file)
			if (teamErr != nil) != (len(test.want) > 0 && !test.own) || (ownErr != nil) != (len(test.want) > 0) {
				t.Fatalf("as a team's: %v; as the user's own: %v", teamErr, ownErr)
			}
			for _, want := range test.want {
				if !strings.Contains(ownErr.Error(), want) {
					t.Errorf("%q does not say %q", ownErr, want)
				}
			}
			if ownErr != nil && !strings.Contains(ownErr.Error(), file) {
				t.Errorf("%q does not name the file", ownErr)
			}
		})
	}
	missing := filepath.Join(t.TempDir(), "no.key")
	if _, err := redact.ReadKey(missing); err == nil || !strings.Contains(err.Error(), "no such file") ||
		!strings.Contains(err.Error(), "make one with openssl rand -hex 32 > "+missing) {
		t.Errorf("of a file that is not there: %v", err)
	}
	expect.Error(t, "a team's key was made", expect.Err(os.Stat(missing)))
	expect.Error(t, "a key was made below a file",
		expect.Err(redact.UserKey(filepath.Join(newKeyFile(t, "", 0o600), "a2atap", "redaction.key"))))
}

// White space around a key does not matter, all else does.
func TestParseKey(t *testing.T) {
	text := strings.Repeat("k", 32)
	key, err := redact.ParseKey([]byte(text))
	if err != nil || len(key) != 32 {
		t.Fatalf("key %x, error %v", key, err)
	}
	for other, want := range map[string]bool{text + "\r\n": true, "\n" + text: true, text + "k": false} {
		if got, err := redact.ParseKey([]byte(other)); err != nil || bytes.Equal(got, key) != want {
			t.Errorf("%q: equal is not %v, error %v", other, want, err)
		}
	}
	if bytes.Contains(key, []byte("kkkk")) || strings.Contains(text, redact.Fingerprint(key)) {
		t.Error("the key is the text")
	}
}

// Equal secrets have equal placeholders with one key, and with two keys such as differ and say that the key does.
func TestPlaceholdersOfTwoKeys(t *testing.T) {
	mine, theirs := redact.NewKey(), redact.NewKey()
	hidden := func(key []byte, pin string) string {
		memory := capture.NewMemory(capture.Info{})
		sink := redact.New(memory, redact.Options{Key: key})
		head := "GET / HTTP/1.1\r\nHost: a\r\nX-Api-Key: " + pin + "\r\n\r\n"
		err := sink.Append(capture.Step{Seq: 1, What: capture.Opened{Head: []byte(head)}},
			capture.Step{Seq: 1, What: capture.Closed{}})
		must.Do(t, err)
		x := must.Get(memory.Exchange(t.Context(), 1))(t)
		return capture.ParseRequestHead(x.Request.Head).Fields.Get("X-Api-Key")
	}
	pin := hidden(mine, "1234")
	if !credential.IsPlaceholder(pin) || !strings.HasSuffix(pin, "."+redact.Fingerprint(mine)) {
		t.Errorf("got %q, whose key is %s", pin, redact.Fingerprint(mine))
	}
	if again := hidden(mine, "1234"); again != pin {
		t.Errorf("the same secret is %q, and then %q", pin, again)
	}
	if other := hidden(mine, "1235"); credential.SameSecret(pin, other) {
		t.Errorf("two secrets are %q and %q", pin, other)
	}
	other := hidden(theirs, "1234")
	if other[:25] == pin[:25] || !credential.SameSecret(pin, other) {
		t.Errorf("with two keys the secret is %q and %q", pin, other)
	}
	if a, b := hidden(nil, "1234"), hidden(nil, "1234"); a == b {
		t.Errorf("without a key it is %q twice: anybody could make it", a)
	}
}
