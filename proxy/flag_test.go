package proxy_test

import (
	"net/url"
	"strings"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestParseTap(t *testing.T) {
	tests := []struct{ flag, name, agent, listen string }{
		{"http://localhost:9000", "localhost:9000", "http://localhost:9000", "127.0.0.1:0"},
		{"booker=http://localhost:9000/a2a", "booker", "http://localhost:9000/a2a", "127.0.0.1:0"},
		{"booker=http://localhost:9000@7001", "booker", "http://localhost:9000", "127.0.0.1:7001"},
		{"booker=https://b.example/a2a@localhost:7001", "booker", "https://b.example/a2a", "localhost:7001"},
		{"b.o_o-k=HTTPS://b.example@[::1]:7001", "b.o_o-k", "https://b.example", "[::1]:7001"},
		{"http://[::1]:9000/@0.0.0.0:0", "[::1]:9000", "http://[::1]:9000/", "0.0.0.0:0"},
		{"https://b.example", "b.example:443", "https://b.example", "127.0.0.1:0"},
		{"http://b.example", "b.example:80", "http://b.example", "127.0.0.1:0"},
		{"http://b.example/x?key=a=b", "b.example:80", "http://b.example/x?key=a=b", "127.0.0.1:0"},
		{"b=http://b.example/%40scope@7001", "b", "http://b.example/%40scope", "127.0.0.1:7001"},
	}
	for _, test := range tests {
		t.Run(test.flag, func(t *testing.T) {
			got := must.Get(proxy.ParseTap(test.flag))(t)
			want := []string{test.name, test.agent, test.listen}
			expect.Same(t, "", want, []string{got.Name, got.Agent.String(), got.Listen})
		})
	}
}

func TestParseTapErrors(t *testing.T) {
	tests := []struct{ flag, want string }{
		{"", "the agent's URL is missing"},
		{"booker=", "the agent's URL is missing"},
		{"=http://localhost:9000", `the name ""`},
		{"my agent=http://localhost:9000", `the name "my agent"`},
		{"localhost:9000", "no scheme; write --agent http://localhost:9000"},
		{"booker=localhost:9000/a2a@7001", "write --agent booker=http://localhost:9000/a2a@7001"},
		{"booker=b.example/x?a=b", "write --agent booker=http://b.example/x?a=b"},
		{"localhost:9000/x?a=b@7001", "write --agent http://localhost:9000/x?a=b@7001"},
		{"http://user@localhost:9000@7001", "user information"},
		{"http://user:pass@localhost:9000", "user information"},
		{"http://user:pass@9000", "user information"},
		{"http://alice:s3cret@booker:9001", `--agent "http://alice:…@booker:9001": `},
		{"http://alice:s3cret@booker@7001", `--agent "http://alice:…@7001": `},
		{"b=http://s3cret@booker", `--agent "b=http://…@booker": `},
		{"alice:s3cret@booker", `--agent "alice:…@booker": `},
		{`http://alice:s3cret"x@booker:9001/rpc`, `--agent "http://alice:…@booker:9001/rpc": `},
		{"http://alice:53227@booker", `--agent "http://alice:…@booker": `},
		{"http://[::1]:9000@7001x", `--agent "http://[::1]:…@7001x": `},
		{"http://b.example/@scope/agent", "write %40 for an @ in its path"},
		{"http://localhost:9000@", "is not a port"},
		{"http://localhost:9000@:7001", "not a listening address"},
		{"http://localhost:9000@70000", "from 0 to 65535"},
		{"http://localhost:9000@+7", "is not a port"},
		{"http://localhost:9000@::1:7001", "in brackets"},
		{"http://localhost:9000@[x:y]:7001", "not an IPv6 address"},
		{"ftp://localhost", `unknown scheme "ftp"; use http or https`},
		{"http://", "has no host"},
		{"http://:9000", "has no host"},
		{"http://localhost:", "no port"},
		{"http://localhost:99999", "not between 1 and 65535"},
		{"http://localhost:0", "not between 1 and 65535"},
		{"http://localhost:9000/#x", "fragment"},
		{"http://[::1:9000", "is not a URL"},
		{"http://a b/", "is not a URL"},
		{"http://[::1%25\x81]:9000", "is not a host"},
	}
	for _, test := range tests {
		t.Run(test.flag, func(t *testing.T) {
			spec, err := proxy.ParseTap(test.flag)
			if err == nil {
				t.Fatalf("accepted as %+v", spec)
			}
			expect.Contains(t, "", test.want, err.Error())
		})
	}
}

func TestParseAlias(t *testing.T) {
	got, err := proxy.ParseAlias("booker=https://b.example/a2a")
	if err != nil || got.Name != "booker" || got.URL.Host != "b.example" {
		t.Errorf("got %+v, %v", got, err)
	}
	for flag, want := range map[string]string{
		"https://b.example":     "write --alias NAME=URL",
		"https://b.example?a=b": "write --alias NAME=URL",
		"booker=b.example":      "write --alias booker=http://b.example",
		"booker=":               "URL is missing",
		"booker=ftp://b":        "use http or https",
	} {
		expect.ErrorHas(t, flag, want, expect.Err(proxy.ParseAlias(flag)))
	}
}

func FuzzParseTap(f *testing.F) {
	for _, seed := range []string{
		"booker=http://localhost:9000/a2a@[::1]:7001", "localhost:9000", "a=b=c@d@1", "http://u:p@h@1", "=@",
		"x=http://[::1%25eth0]:1@2", "x=http://[::1%25et\x81]:1@2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, flag string) {
		spec, err := proxy.ParseTap(flag)
		if err != nil {
			return
		}
		if spec.Agent.User != nil || spec.Agent.Host == "" || spec.Agent.Scheme != "http" &&
			spec.Agent.Scheme != "https" {
			t.Fatalf("%q gives the agent %q", flag, spec.Agent)
		}
		// What was understood can be written again and means the same.
		name := ""
		if !strings.Contains(spec.Name, ":") {
			name = spec.Name + "="
		}
		agent := *spec.Agent
		agent.Path, agent.RawPath, agent.RawQuery = "", "", url.QueryEscape(agent.RawQuery)
		again, err := proxy.ParseTap(name + agent.String() + "@" + spec.Listen)
		if err != nil {
			t.Fatalf("%q: written again: %v", flag, err)
		}
		if again.Name != spec.Name || again.Listen != spec.Listen || again.Agent.Host != spec.Agent.Host {
			t.Fatalf("%q: got %+v, then %+v", flag, spec, again)
		}
	})
}
