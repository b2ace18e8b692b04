package otlphttp

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// What listens for gRPC does not speak HTTP/1.1.
func TestPortOfGRPC(t *testing.T) {
	u := &url.URL{Scheme: "http", Host: "127.0.0.1:4317"}
	s := &Sender{o: Options{URL: u}}
	if err := s.unreached(&url.Error{Err: io.ErrUnexpectedEOF}); !strings.Contains(err.Error(), "usually uses 4318") {
		t.Error(err)
	}
}

func TestParseURL(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:4318":                 "http://127.0.0.1:4318/v1/traces",
		"http://[::1]:4318/":                    "http://[::1]:4318/v1/traces",
		"https://otlp.example/v1/traces":        "https://otlp.example/v1/traces",
		"https://otlp.example/api/otel":         "https://otlp.example/api/otel/v1/traces",
		"https://otlp.example/api/v1/traces/":   "https://otlp.example/api/v1/traces/",
		"127.0.0.1:4318":                        "!is not a URL",
		"collector":                             "!is not the URL of a collector",
		"grpc://127.0.0.1:4317":                 "!is not the URL of a collector",
		"http://":                               "!is not the URL of a collector",
		"http://user:s3cret@127.0.0.1:4318":     "!must not contain user and password",
		"https://otlp.example/?api-key=s3cret":  "!must not have a query",
		"https://otlp.example/v1/traces#s3cret": "!must not have a query or a fragment",
	} {
		u, err := ParseURL(text)
		switch wrong, fails := strings.CutPrefix(want, "!"); {
		case fails && (err == nil || !strings.Contains(err.Error(), wrong) || strings.Contains(err.Error(), "s3cret")):
			t.Errorf("%s gives %v", text, err)
		case !fails && (err != nil || u.String() != want):
			t.Errorf("%s gives %v, %v", text, u, err)
		}
	}
}

func TestParseHeader(t *testing.T) {
	secret := func(value string) (string, error) { return strings.Replace(value, "env:KEY", "k=1", 1), nil }
	for text, want := range map[string]string{
		"x-api-key=env:KEY":        "k=1",
		"Authorization = Bearer a": "Bearer a",
		"s3cret":                   "!no =",
		"=s3cret":                  "!is not a valid header name",
		"a b=s3cret":               "!is not a valid header name",
		"x=":                       "!empty",
		"x=s3cret\r\ny: z":         "!invalid in a header",
		"content-type=text/s3cret": "!set by a2atap",
		"Transfer-Encoding=s3cret": "!set by a2atap",
	} {
		h := make(http.Header)
		err := ParseHeader(h, text, secret)
		switch wrong, fails := strings.CutPrefix(want, "!"); {
		case fails && (err == nil || !strings.Contains(err.Error(), wrong) || strings.Contains(err.Error(), "s3cret")):
			t.Errorf("%s gives %v", text, err)
		case !fails && (err != nil || h.Get(strings.TrimSpace(text[:strings.IndexByte(text, '=')])) != want):
			t.Errorf("%s gives %v, %v", text, h, err)
		}
	}
}
