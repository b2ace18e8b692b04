package present_test

import (
	"os/exec"
	"strings"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/proxy/capture"
)

func requested(head, body string) *capture.Exchange {
	x := &capture.Exchange{Seq: 1, Agent: capture.Peer{URL: "http://booker.example:9001/rpc"}}
	x.Request.Head = []byte(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n")
	x.Request.Body = capture.Body{Data: []byte(body)}
	return x
}

func TestCurl(t *testing.T) {
	for name, test := range map[string]struct {
		head, body, want string
	}{
		"plain": {
			"POST /rpc HTTP/1.1\nHost: tap\nContent-Type: application/json\nContent-Length: 2", "{}",
			`curl -sS -X 'POST' -H 'Content-Type: application/json' --data-raw '{}' --globoff 'http://booker.example:9001/rpc'`,
		},
		"quotes, and what curl would take for a list": {
			"GET /tasks?id=[1-9]&x={a,b}'; HTTP/1.1\nHost: tap\nX-Name: it's", "",
			`curl -sS -X 'GET' -H 'X-Name: it'\''s' --globoff 'http://booker.example:9001/tasks?id=[1-9]&x={a,b}'\'';'`,
		},
		"control characters, marks of direction and what is no text": {
			"GET / HTTP/1.1\nHost: tap\nX-Name: \x1b[2J'\\\u0085\u202eé\xff", "",
			`curl -sS -X 'GET' -H $'X-Name: \033[2J\'\\\302\205\342\200\256é\377' --globoff 'http://booker.example:9001/'`,
		},
		"lines": {
			"POST / HTTP/1.1\nHost: tap", "{\n\t\"a\": 1\n}\n::error::x",
			`curl -sS -X 'POST' --data-raw $'{\n\t"a": 1\n}\n::error::x' --globoff 'http://booker.example:9001/'`,
		},
		"a field without a value, and one that curl would read from a file": {
			"GET / HTTP/1.1\nHost: tap\nX-Empty:\n@/etc/passwd: x", "",
			`curl -sS -X 'GET' -H 'X-Empty;' --globoff 'http://booker.example:9001/'`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := present.Curl(requested(test.head, test.body))
			if err != nil || got != test.want {
				t.Errorf("got  %s\nwant %s\nerror %v", got, test.want, err)
			}
		})
	}
	for name, x := range map[string]*capture.Exchange{
		"body":   requested("POST / HTTP/1.1\nHost: tap", "a\x00b"),
		"header": requested("POST / HTTP/1.1\nHost: tap\nX-Name: a\x00b", ""),
		"bytes":  requested("POST / HTTP/1.1\nHost: tap", "\xff"),
	} {
		if got, err := present.Curl(x); err == nil {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// A shell reads back what was quoted.
func TestQuoteForAShell(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	var words []string
	for c := 1; c < 256; c++ {
		words = append(words, string([]byte{byte(c), '7', '\''}))
	}
	words = append(words, "", "plain", "it's", "\n", "\u202eé\u2028", "$(id)`id`$HOME", `\'`, "\ufffd\x1b", "'\x7f'",
		"a\xe2\x80")
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = cli.Quote(word)
		if strings.ContainsFunc(quoted[i], cli.Obeyed) && strings.ToValidUTF8(quoted[i], "") != quoted[i] {
			t.Errorf("%q is quoted as %q", word, quoted[i])
		}
	}
	cmd := exec.Command(bash, "-c", `printf '%s\0' `+strings.Join(quoted, " "))
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(got) != len(words) {
		t.Fatalf("%d words became %d", len(words), len(got))
	}
	for i := range words {
		if got[i] != words[i] {
			t.Errorf("%q is quoted as %s, which is %q", words[i], quoted[i], got[i])
		}
	}
}
