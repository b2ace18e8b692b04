package auth_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/replay/client"
	"a2atap/replay/client/auth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func asIs(s string) (string, error) { return s, nil }

func TestParse(t *testing.T) {
	elsewhere := func(s string) (string, error) {
		if name, ok := strings.CutPrefix(s, "@"); ok {
			return "from " + name, nil
		}
		return s, nil
	}
	for text, want := range map[string]string{
		"bearer:a:b":                     "Authorization: Bearer a:b /x?p=1",
		"BEARER:@t":                      "Authorization: Bearer from t /x?p=1",
		"basic:alice:s3cret:pw":          "Authorization: Basic YWxpY2U6czNjcmV0OnB3 /x?p=1",
		"basic:alice:@pw":                "Authorization: Basic YWxpY2U6ZnJvbSBwdw== /x?p=1",
		"basic::":                        "Authorization: Basic Og== /x?p=1",
		"apikey:k=ey==":                  "X-Api-Key: k=ey== /x?p=1",
		"header:X-Tickets=a=b":           "X-Tickets: a=b /x?p=1",
		"header:authorization=Token abc": "Authorization: Token abc /x?p=1",
		"query:key=a b&c":                "/x?p=1&key=a+b%26c",
		"query:p=2":                      "/x?p=2",
	} {
		c, err := auth.Parse(text, elsewhere)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		inQuery := strings.HasPrefix(text, "query:")
		if len(c.Secrets) == 0 || (c.Query == "") == inQuery || (c.Header != "") == inQuery {
			t.Errorf("%s: got %+v, want what is to be hidden, and where it goes", text, c)
		}
		out := &client.Outgoing{URL: "/x?p=1", Header: http.Header{}}
		if err := c.Method(t.Context(), out); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		got := ""
		for name := range out.Header {
			got += name + ": " + out.Header.Get(name) + " "
		}
		expect.Same(t, text, want, got+out.URL)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "s3cretpw", "bearer", "bearer:", "basic:alice", "apikey:", "header:X=", "header:=s3cretpw", "header:X",
		"query:", "query:=s3cretpw", "digest:alice:s3cretpw", "bearer:s3cretpw\r\nX: y", "header:X Y=s3cretpw",
		"basic:alice:s3cretpw\n",
	} {
		c, err := auth.Parse(text, asIs)
		if !errors.Is(err, auth.ErrFormat) || c.Method != nil || c.Secrets != nil {
			t.Errorf("%q: got %v, want how to write it", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cretpw") {
			t.Errorf("%q: %v repeats the secret", text, err)
		}
	}
	failed := errors.New("no such file")
	for _, text := range []string{"bearer:@x", "basic:@x", "basic:alice:@x", "query:k=@x"} {
		if _, err := auth.Parse(text, func(string) (string, error) { return "", failed }); !errors.Is(err, failed) {
			t.Errorf("%s: got %v, want why it cannot be read", text, err)
		}
	}
}

func TestQueryWithoutOne(t *testing.T) {
	out := &client.Outgoing{URL: "http://h/a"}
	auth.Query("k", "v")(t.Context(), out)
	expect.Equal(t, "", "http://h/a?k=v", out.URL)
}
