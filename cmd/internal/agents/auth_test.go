package agents

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/expect"
)

// The agent's credentials are read in every form, as those of clients are.
func TestAgentAuth(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"KEY": "k3y", "ALL": "basic:u:p:w", "PAIR": "me:pw"}
	e := cli.Env{Err: new(bytes.Buffer), Getenv: func(name string) string { return vars[name] }}
	for value, want := range map[string]string{
		"bearer:t0k":          "bearer   t0k",
		"Bearer:@" + file:     "bearer   s3cret",
		"basic:user:@" + file: "basic   user:s3cret",
		"basic:env:PAIR":      "basic   me:pw",
		"env:ALL":             "basic   u:p:w",
		"apikey:env:KEY":      "apiKey X-API-Key  k3y",
		"header:X-Key=a=b":    "apiKey X-Key  a=b",
		"query:key=env:KEY":   "apiKey  key k3y",
		"oauth2:cli:@" + file: "oauth2   cli:s3cret",
	} {
		c, err := agentAuth(e, []string{value})
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		expect.Equal(t, value, want, strings.Join([]string{string(c.Scheme), c.Header, c.Query, c.Secret}, " "))
	}
	for _, value := range []string{
		"bearer", "bearer:", "basic:user", "oauth2:cli", "header:X Key=a", "header:=a", "header:X=", "query:=a", "query:k", "digest:a",
		"apikey:", "jwt", "jwt:", "jwt:" + file, "jwt:" + file + "x", "env:NOTHING", "query:k=env:NOTHING", "@" + file, "bearer:@" + file + "x",
	} {
		if c, err := agentAuth(e, []string{value}); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %+v, %v", value, c, err)
		}
	}
}

// Several credentials are of users who bring the same kind, each their own.
func TestAgentAuthOfSeveral(t *testing.T) {
	for values, want := range map[string]string{
		"bearer:a bearer:b":                    "",
		"basic:alice:1 basic:bob:1":            "",
		"oauth2:a:1 oauth2:b:1 oauth2:c:1":     "",
		"header:X-Key=a header:x-key=b":        "",
		"bearer:a basic:u:p":                   "for a bearer token and for user and password (basic); all users need the same kind of credentials",
		"query:key=a query:k=b":                "parameter key and for an API key in the query parameter k",
		"bearer:s3cret bearer:b bearer:s3cret": "given twice for the same user",
		"basic:alice:s3cret basic:alice:2":     "given twice for the same user",
		"bearer:a digest:b":                    "use bearer:TOKEN",
	} {
		c, err := agentAuth(cli.Env{}, strings.Fields(values))
		switch {
		case want != "":
			expect.ErrorHas(t, values, want, err)
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %v repeats a secret", values, err)
			}
		case err != nil || 1+len(c.Others) != len(strings.Fields(values)):
			t.Errorf("%s: got %+v, %v", values, c, err)
		}
	}
	if c, err := agentAuth(cli.Env{}, nil); c != nil || err != nil {
		t.Errorf("without the flag: got %+v, %v", c, err)
	}
}
