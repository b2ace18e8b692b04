package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errNoFile = errors.New("no such file")

// world knows one file and two variables.
func world() World {
	env := map[string]string{"TOKEN": "t0ken-of-env", "HOST": "booker.example"}
	return World{
		Version: "1", Getenv: func(name string) string { return env[name] },
		Secret: func(_, value string) (string, error) {
			switch {
			case value == "@token":
				return "t0ken-of-file", nil
			case value == "@auth":
				return "basic:alice:pa55word", nil
			case strings.HasPrefix(value, "@"):
				return "", errNoFile
			case strings.HasPrefix(value, "env:"):
				return env[value[4:]], nil
			}
			return value, nil
		},
	}
}

// read parses flags as the commands do.
func read(t *testing.T, url string, args ...string) (*Setup, error) {
	t.Helper()
	var f Flags
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.Register(set)
	must.Do(t, set.Parse(args))
	return f.Setup(world(), url)
}

// dressed returns a request's URL and header.
func dressed(t *testing.T, s *Setup) (string, http.Header) {
	t.Helper()
	out := &client.Outgoing{URL: "/x", Header: s.Options.Header.Clone()}
	if out.Header == nil {
		out.Header = http.Header{}
	}
	if s.Options.Authorize != nil {
		must.Do(t, s.Options.Authorize(t.Context(), out))
	}
	return out.URL, out.Header
}

func TestCredentials(t *testing.T) {
	for _, tt := range []struct {
		args   string
		url    string
		header http.Header
		hidden string
	}{
		{"--auth bearer:env:TOKEN", "/x", http.Header{"Authorization": {"Bearer t0ken-of-env"}}, "t0ken-of-env"},
		{"--auth bearer:@token", "/x", http.Header{"Authorization": {"Bearer t0ken-of-file"}}, "t0ken-of-file"},
		{"--auth bearer:{{env.TOKEN}}", "/x", http.Header{"Authorization": {"Bearer t0ken-of-env"}}, "t0ken-of-env"},
		{"--auth bearer:{{t}} --var t=@token", "/x", http.Header{"Authorization": {"Bearer @token"}}, "@token"},
		{"--auth @auth", "/x", http.Header{"Authorization": {"Basic YWxpY2U6cGE1NXdvcmQ="}}, "pa55word"},
		{
			"--auth basic:alice:@token", "/x",
			http.Header{"Authorization": {"Basic YWxpY2U6dDBrZW4tb2YtZmlsZQ=="}},
			"t0ken-of-file",
		},
		{"--auth apikey:env:TOKEN", "/x", http.Header{"X-Api-Key": {"t0ken-of-env"}}, "t0ken-of-env"},
		{"--auth header:X-Tickets=@token", "/x", http.Header{"X-Tickets": {"t0ken-of-file"}}, "t0ken-of-file"},
		{"--auth query:k=env:TOKEN", "/x?k=t0ken-of-env", http.Header{}, "t0ken-of-env"},
		{
			"--header X-Run:7 --header X-Api-Key:abcdefgh", "/x",
			http.Header{"X-Run": {"7"}, "X-Api-Key": {"abcdefgh"}},
			"abcdefgh",
		},
		{
			"--header Authorization:@token --auth bearer:wins", "/x",
			http.Header{"Authorization": {"Bearer wins"}},
			"t0ken-of-file",
		},
	} {
		s, err := read(t, "http://127.0.0.1:1", strings.Fields(tt.args)...)
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		url, header := dressed(t, s)
		if diff := cmp.Diff(tt.header, header); diff != "" || url != tt.url {
			t.Errorf("%s: got %s (-want +got):\n%s", tt.args, url, diff)
		}
		expect.Equal(t, tt.args, "it is …!", s.Mask.Text("it is "+tt.hidden+"!"))
	}
}

func TestBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"--auth s3cretpw":                                 "--auth: invalid credentials; write bearer:TOKEN",
		"--auth bearer:@missing":                          errNoFile.Error(),
		"--auth bearer:{{env.NONE}}":                      "{{env.NONE}}: the variable is not set",
		"--auth bearer:{{s3cret}}":                        "unknown variable {{s3cret}}; use env.NAME",
		"--auth bearer:s3cretpw --oauth-client-id x":      "use one",
		"--oauth-client-secret s3cretpw":                  "--oauth-client-id is missing",
		"--oauth-scope a":                                 "--oauth-client-id is missing",
		"--oauth-user alice":                              "need each other",
		"--oauth-password s3cretpw --oauth-client-id x":   "need each other",
		"--oauth-client-id x --oauth-token-url s3cretpw":  "must begin with http",
		"--oauth-client-id x --oauth-client-secret @none": errNoFile.Error(),
		"--header X":                                      "write NAME:VALUE",
		"--header :s3cretpw":                              "has invalid characters",
		"--header X-A:@none":                              errNoFile.Error(),
		"--var s3cretpw":                                  "write NAME=VALUE",
		"--var a-b=s3cretpw":                              "write NAME=VALUE",
		"--protocol 9":                                    "unknown protocol \"9\"; use one of 1.0-jsonrpc",
		"--timeout -1s":                                   "above 0",
		"--tenant {{nobody}}":                             "--tenant: unknown variable",
	} {
		_, err := read(t, "http://127.0.0.1:1", strings.Fields(args)...)
		expect.ErrorHas(t, args, want, err)
		if err != nil && strings.Contains(err.Error(), "s3cretpw") {
			t.Errorf("%s: %v repeats a secret", args, err)
		}
	}
	expect.Error(t, "a URL with an unknown variable is taken", expect.Err(read(t, "http://{{nobody}}/")))
}

func TestProtocols(t *testing.T) {
	for args, want := range map[string][]client.Protocol{
		"":                         nil,
		"--protocol 0.3-rest":      {client.REST03},
		"--protocol 0.3-grpc":      {client.GRPC03},
		"--protocol legacy":        {client.Early},
		"--protocol-version 0.3.0": {client.JSONRPC03, client.REST03, client.GRPC03},
		"--protocol-version 1.0":   {client.JSONRPC10, client.REST10, client.GRPC10},
		"--protocol-version 0.3 --protocol 1.0-rest": {client.REST10},
		"--protocol-version 7.0":                     nil,
	} {
		s := must.Get(read(t, "a2a:http://{{env.HOST}}/a", strings.Fields(args)...))(t)
		if diff := cmp.Diff(want, s.Options.Prefer); diff != "" || s.URL != "http://booker.example/a" {
			t.Errorf("%s: got %s (-want +got):\n%s", args, s.URL, diff)
		}
	}
}

// Without a card the URL is the interface's; a protected card does not count as missing.
func TestConnect(t *testing.T) {
	status := http.StatusNotFound
	asked := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		w.WriteHeader(status)
	}))
	defer server.Close()
	connect := func(url string, args ...string) (*client.Client, error, error) {
		return must.Get(read(t, url, args...))(t).Connect(t.Context())
	}
	c, noCard, err := connect(server.URL + "/a")
	if err != nil || !errors.Is(noCard, client.ErrNoCard) || c.Endpoint().Protocol != client.REST10 ||
		c.Endpoint().URL != server.URL+"/a" {
		t.Errorf("got %v, %v, %v; want the URL as that of an interface", c, noCard, err)
	}
	if len(asked) != 4 {
		t.Errorf("asked %d times for a card", len(asked))
	}
	if _, _, err = connect(server.URL + "/agent.json"); !errors.Is(err, client.ErrNoCard) {
		t.Errorf("got %v; want that the card is not there", err)
	}
	status = http.StatusUnauthorized
	if _, _, err = connect(server.URL + "/a"); err == nil {
		t.Error("a card that is kept from us is taken for none")
	}
	before := len(asked)
	c, noCard, err = connect(server.URL+"/a", "--no-card", "--protocol", "0.3-jsonrpc", "--tenant", "t")
	want := client.Interface{URL: server.URL + "/a", Protocol: client.JSONRPC03, Tenant: "t"}
	if err != nil || noCard != nil || c.Endpoint() != want ||
		len(asked) != before {
		t.Errorf("got %+v, %v, %v; want the interface as it was named", c, noCard, err)
	}
	c, _, err = connect(server.URL+"/a", "--no-card", "--protocol-version", "0.3.0")
	if err != nil || c.Endpoint().Protocol != client.REST03 {
		t.Errorf("got %+v, %v; want A2A 0.3", c, err)
	}
	for _, url := range []string{"ftp://x/", "x", "http://", "%"} {
		if _, _, err := connect(url, "--no-card"); err == nil {
			t.Errorf("%s: connected", url)
		}
	}
}

func TestVarsInObjects(t *testing.T) {
	v := must.Get(parseVars([]string{"who=al\"ice", "n=5"}, world().Getenv))(t)
	v = v.With("prompt", `a "b" {{n}}`)
	got, err := v.Object(
		`{"parts":[{"text":"{{ prompt }}, {{who}}"}],"big":12345678901234567890,"{{n}}":{"x":"{{n}}{{env.TOKEN}}"},"y":null}`,
	)
	must.Do(t, err)
	text := must.Get(json.Marshal(got))(t)
	const want = `{"big":12345678901234567890,"parts":[{"text":"a \"b\" {{n}}, al\"ice"}],"y":null,"{{n}}":{"x":"5t0ken-of-env"}}`
	expect.Same(t, "", want, string(text))
	for _, text := range []string{
		``, `[]`, `"x"`, `null`, `{"a":1} {}`, `{"a":"{{b}}"}`, `{"a":["{{b}}"]}`, `{"a":{"c":"{{b}}"}}`,
	} {
		expect.Error(t, fmt.Sprintf("%s is taken", text), expect.Err(v.Object(text)))
	}
}

func TestMask(t *testing.T) {
	m := &Mask{}
	m.Add("abcd", "abcdefgh", "a\"b c", "xy", "")
	var out strings.Builder
	expect.Equal(t, "",
		45, must.Get(m.Writer(&out).Write([]byte(`abcdefgh abcd {"a\"b c"} a%22b+c a%22b%20c xy`)))(t))
	expect.Equal(t, "", `… … {"…"} … … xy`, out.String())
	err := m.Error(errors.Join(errNoFile, errors.New("abcdefgh")))
	if !errors.Is(err, errNoFile) || err.Error() != "no such file\n…" {
		t.Errorf("got %v", err)
	}
	if m.Error(nil) != nil {
		t.Error("an error comes from nowhere")
	}
}

// Tokens from a server are masked as soon as they arrive, and the card is requested with them.
func TestOAuthSetup(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"access_token":"fresh-token","token_type":"Bearer","expires_in":3600}`))
			return
		}
		if r.Header.Get("Authorization") != "Bearer fresh-token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Write(
			[]byte(`{"name":"booker","supportedInterfaces":[{"url":"/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`),
		)
	}))
	defer server.Close()
	s, err := read(t, server.URL, "--oauth-client-id", "cli", "--oauth-client-secret", "env:TOKEN",
		"--oauth-token-url", server.URL+"/token", "--timeout", "30s")
	must.Do(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	c, _, err := s.Connect(ctx)
	must.Do(t, err)
	defer c.Close()
	expect.Equal(t, "", "booker", c.Card().Name)
	expect.Equal(t, "", "… …", s.Mask.Text("fresh-token t0ken-of-env"))
}

// A command may have only the flags of credentials. The names under which they are sent are known.
func TestCredentialsAlone(t *testing.T) {
	for args, want := range map[string][2][]string{
		"":                                    {nil, nil},
		"--auth bearer:{{env.TOKEN}}":         {{"Authorization"}, nil},
		"--auth apikey:@token":                {{"X-API-Key"}, nil},
		"--auth header:X-Tickets=t0ken":       {{"X-Tickets"}, nil},
		"--auth query:tickets=env:TOKEN":      {nil, {"tickets"}},
		"--oauth-user a --oauth-password pwd": {nil, nil},
	} {
		var f Flags
		set := pflag.NewFlagSet("test", pflag.ContinueOnError)
		f.registerCredentials(set, "now and then")
		must.Do(t, set.Parse(strings.Fields(args)))
		s, err := f.setupCredentials(world(), "http://{{env.HOST}}/a")
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		expect.Same(t, args+": names", want, [2][]string{s.SecretHeaders, s.SecretQuery})
		if (s.Options.Authorize != nil) != (args != "") || s.URL != "http://booker.example/a" {
			t.Errorf("%s: got %+v", args, s.Options)
		}
		expect.Contains(t, "--auth", "send `CREDENTIALS` now and then: bearer:TOKEN", set.Lookup("auth").Usage)
	}
	f := Flags{Auth: "bearer"}
	if s, err := f.setupCredentials(world(), "http://h"); err == nil || s != nil {
		t.Errorf("got %v, %v; want how credentials are written", s, err)
	}
	s := must.Get(read(t, "http://h", "--header", "X-Seats:@token", "--header", "X-Run:7"))(t)
	expect.Same(t, "names of headers", []string{"X-Seats"}, s.SecretHeaders)
}
