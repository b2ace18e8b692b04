package redact

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

var testMask = mask{
	key:     []byte("a key for tests"),
	headers: map[string]bool{"x-mine": true},
	agent:   &learned{headers: map[string]bool{"x-booking": true}, query: map[string]bool{"pin": true}},
}

var hiddenMark = regexp.MustCompile(`«([^»]*)»`)

func testSearch(set *placeSet) search { return search{&testMask, set} }

// masked replaces the text inside «» with placeholders.
func masked(s string) string {
	return hiddenMark.ReplaceAllStringFunc(s, func(mark string) string {
		return testMask.placeholder(strings.Trim(mark, "«»"))
	})
}

func TestHead(t *testing.T) {
	const done = "redacted.0123456789abcdef"
	tests := []struct{ name, in, want string }{
		{"authorization", "Authorization: Bearer abc", "Authorization: Bearer «abc»"},
		{"scheme as written, blanks kept", "AUTHORIZATION:\t bearer   abc \t", "AUTHORIZATION:\t bearer   «abc» \t"},
		{"no scheme", "Authorization: abc", "Authorization: «abc»"},
		{"scheme of their own", "Authorization: Acme-V2 abc", "Authorization: Acme-V2 «abc»"},
		{"scheme alone", "Authorization: Bearer", "Authorization: Bearer"},
		{"basic", "Proxy-Authorization: Basic dXNlcjpwYXNz==", "Proxy-Authorization: Basic «dXNlcjpwYXNz==»"},
		{
			"digest", `Authorization: Digest username="u", response="r"`,
			`Authorization: Digest «username="u", response="r"»`,
		},
		{"empty", "Authorization:", "Authorization:"},
		{"blank before the colon", "Authorization : Bearer abc", "Authorization : Bearer «abc»"},
		{"no colon", "Authorization Bearer", "Authorization Bearer"},
		{"no colon, with a secret", "Authorization Bearer abc", "Authorization Bearer «abc»"},
		{"continued", "Authorization: Bearer\r\n abc\r\nX: y", "Authorization: Bearer\r\n «abc»\r\nX: y"},
		{"bare CR", "X: y\rX-Api-Key: abc", "X: y\rX-Api-Key: «abc»"},
		{"continued after a bare CR", "X-Api-Key: abc\r def", "X-Api-Key: «abc»\r «def»"},
		{"key", "X-Api-Key: abc", "X-Api-Key: «abc»"},
		{"token with a scheme", "X-Auth-Token: Bearer abc", "X-Auth-Token: Bearer «abc»"},
		{"token with a blank and no scheme", "X-Auth-Token: abc def", "X-Auth-Token: «abc def»"},
		{"webhook token", "X-A2A-Notification-Token: abc", "X-A2A-Notification-Token: «abc»"},
		{"secret", "X-SECRET-THING: abc", "X-SECRET-THING: «abc»"},
		{"proof of possession", "DPoP: abc", "DPoP: «abc»"},
		{"named by the user", "X-Mine: abc", "X-Mine: «abc»"},
		{"named by the card", "X-Booking: abc", "X-Booking: «abc»"},
		{"done already", "Authorization: Bearer " + done, "Authorization: Bearer " + done},
		{"cookies", `Cookie: a=abc; b="def"; c=; ghi`, `Cookie: a=«abc»; b="«def»"; c=; «ghi»`},
		{"cookie of quotes", `Cookie: """`, `Cookie: "«"»"`},
		{"no colon, and quotes", `Cookie """`, `Cookie "«"»"`},
		{"session", "Mcp-Session-Id: abc", "Mcp-Session-Id: «abc»"},
		{"one-time password", "X-OTP: abc", "X-OTP: «abc»"},
		{"token in an unknown field", "X-Note: Bearer abc1234 or so", "X-Note: Bearer «abc1234» or so"},
		{"cookie with an equals sign", "Cookie: a=abc==", "Cookie: a=«abc==»"},
		{
			"set-cookie", "Set-Cookie: a=abc; Path=/; HttpOnly; Expires=Wed, 09 Jun 2027 10:18:14 GMT",
			"Set-Cookie: a=«abc»; Path=/; HttpOnly; Expires=Wed, 09 Jun 2027 10:18:14 GMT",
		},
		{"set-cookie deletes", "Set-Cookie: a=; Max-Age=0", "Set-Cookie: a=; Max-Age=0"},
		{
			"set-cookie joined", "Set-Cookie: a=abc; Path=/, b=def; Secure",
			"Set-Cookie: a=«abc»; Path=/, b=«def»; Secure",
		},
		{"set-cookie with an odd attribute", "Set-Cookie: a=abc; other=def", "Set-Cookie: a=«abc»; other=«def»"},
		{
			"challenge",
			`WWW-Authenticate: Bearer realm="a, b", error="invalid_token", error_description="the token, again",` +
				` authorization_uri="https://login.example/"`, "",
		},
		{"challenge with a token", "WWW-Authenticate: Negotiate YIIabc==", "WWW-Authenticate: Negotiate «YIIabc==»"},
		{"challenges", `Proxy-Authenticate: Digest realm="r", nonce="n", Basic realm="s"`, ""},
		{
			"challenge with a secret parameter", `WWW-Authenticate: Acme realm="r", access_token="abc"`,
			`WWW-Authenticate: Acme realm="r", access_token="«abc»"`,
		},
		{"nothing secret", "Access-Control-Allow-Headers: Authorization, X-Api-Key", ""},
		{"allowed credentials", "Access-Control-Allow-Credentials: true", ""},
		{"keep-alive", "Keep-Alive: timeout=5", ""},
		{"nonce of a handshake", "Sec-WebSocket-Key: abc", ""},
		{"idempotency", "Idempotency-Key: abc", ""},
		{"quota", "X-RateLimit-Remaining-Tokens: 12", ""},
		{"pseudo header", ":authority: host", ""},
		{
			"location", "Location: /cb?access_token=abc&state=x#id_token=def",
			"Location: /cb?access_token=«abc»&state=x#id_token=«def»",
		},
		{"referer", "Referer: https://user:abc@h/p?code=def", "Referer: https://«user»:«abc»@h/p?code=«def»"},
		{
			"link", `Link: </n?api_key=abc>; rel="next", </p?page=2>`,
			`Link: </n?api_key=«abc»>; rel="next", </p?page=2>`,
		},
		{"mail", "From: someone@host", ""},
		{"user in an authority", ":authority: alice:abc@host:80", ":authority: «alice»:«abc»@host:80"},
		{"user in a host", "Host:\tabc@host", "Host:\t«abc»@host"},
		{"percent-encoded message", "grpc-message: refused: Bearer%20abc1234%0A", "grpc-message: refused: Bearer «abc1234»%0A"},
		{"URL in a percent-encoded message", "Grpc-Message: at%20http://h/?sig=abc%20now", "Grpc-Message: at http://h/?sig=«abc» now"},
		{"percent-encoded message without a secret", "grpc-message: no%20such%20task%2c %zz", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := masked(tt.want)
			if tt.want == "" {
				want = tt.in
			}
			for _, frame := range []struct {
				kind          headKind
				before, after string
			}{
				{requestHead, "GET / HTTP/1.1\r\n", "\r\n\r\n"},
				{answerHead, "HTTP/1.1 200 OK\n", "\n\n"},
				{fieldsOnly, "", "\r\n"},
				{fieldsOnly, "", ""},
			} {
				got := string(testMask.head([]byte(frame.before+tt.in+frame.after), frame.kind))
				expect.Same(t, "", frame.before+want+frame.after, got)
				expect.Equal(t, "done twice", got, string(testMask.head([]byte(got), frame.kind)))
			}
		})
	}
}

func TestRequestLine(t *testing.T) {
	tests := []struct{ in, want string }{
		{"GET /a?pageToken=p&token=abc HTTP/1.1", "GET /a?pageToken=p&token=«abc» HTTP/1.1"},
		{"GET http://u:p@h/a?pin=abc HTTP/1.1", "GET http://«u»:«p»@h/a?pin=«abc» HTTP/1.1"},
		{"GET /a?token=abc def HTTP/1.1", "GET /a?token=«abc def» HTTP/1.1"},
		{"GET /a?token=abc", "GET /a?token=«abc»"},
		{"GET /a?sid=abc&otp=def&pin=ghi&side=x HTTP/1.1", "GET /a?sid=«abc»&otp=«def»&pin=«ghi»&side=x HTTP/1.1"},
		{
			"GET /f/eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.x/y HTTP/1.1",
			"GET /f/«eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.x»/y HTTP/1.1",
		},
		{"CONNECT u:p@h:443 HTTP/1.1", "CONNECT «u»:«p»@h:443 HTTP/1.1"},
		{"CONNECT h:443 HTTP/1.1", "CONNECT h:443 HTTP/1.1"},
		{"Authorization: Bearer abc", "Authorization: Bearer «abc»"},
		{"OPTIONS * HTTP/1.1", "OPTIONS * HTTP/1.1"},
		{"\x16\x03\x01", "\x16\x03\x01"},
	}
	for _, tt := range tests {
		if got := string(testMask.head([]byte(tt.in+"\r\n"), requestHead)); got != masked(tt.want)+"\r\n" {
			t.Errorf("%q:\ngot  %q\nwant %q", tt.in, got, masked(tt.want))
		}
	}
}

func TestURL(t *testing.T) {
	tests := []struct{ in, want string }{
		{"?token=abc", "?token=«abc»"},
		{"?pageToken=a&page_token=b&nextPageToken=c&page-token=d", ""},
		{"?Access-Token=a%2Bb%20c", "?Access-Token=«a+b c»"},
		{"?token=Bearer%20abc", "?token=Bearer+«abc»"},
		{"?%74oken=abc", "?%74oken=«abc»"},
		{"?token=%zz", "?token=«%zz»"},
		{"?token=", ""},
		{"?token", ""},
		{"?a=1;token=abc;b=2&c=3", "?a=1;token=«abc;b=2»&c=3"},
		{"?a=1;b=2&token=abc;d", "?a=1;b=2&token=«abc;d»"},
		{"?a=b=c&sig=abc==", "?a=b=c&sig=«abc==»"},
		{"?X-Amz-Signature=abc&X-Amz-Date=1", "?X-Amz-Signature=«abc»&X-Amz-Date=1"},
		{"?token=redacted.0123456789abcdef", ""},
		{"?token=redacted.0123456789ABCDEF", "?token=«redacted.0123456789ABCDEF»"},
		{"https://abc@h?x", "https://«abc»@h?x"},
		{"https://a%40b:c@d@h/", "https://«a@b»:«c@d»@h/"},
		{"//u@h/", "//«u»@h/"},
		{"/a//u@h/", ""},
		{"mailto:a@b", ""},
		{"https://h/p@q", ""},
		{"#access_token=abc&token_type=bearer&expires_in=3", "#access_token=«abc»&token_type=bearer&expires_in=3"},
		{"", ""},
	}
	for _, tt := range tests {
		want := masked(tt.want)
		if want == "" {
			want = tt.in
		}
		got := testMask.url(tt.in)
		expect.Equal(t, tt.in, want, got)
		expect.Equal(t, tt.in+" done twice", got, testMask.url(got))
	}
}

func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"/a?token=x&b=c;d", "https://u:p@h/?%6bey=1#code=2", "a b <c?key=d>",
		"?a=1;;=&&=#?",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		const secret = "s3cr3tv4lu3"
		got := testMask.url(in)
		if again := testMask.url(got); again != got {
			t.Errorf("%q is done as %q, and that as %q", in, got, again)
		}
		if hidden := testMask.url("/p?access_token=" + secret + "&x=" + in); strings.Contains(hidden, secret) &&
			!strings.Contains(in, secret) {
			t.Errorf("%q shows the secret", hidden)
		}
		if strings.Count(got, "&") != strings.Count(in, "&") && !strings.Contains(in, "@") {
			t.Errorf("%q has other parameters than %q", got, in)
		}
	})
}

// Heads as most clients send them are not read line by line, be there secrets in them or not.
func TestPlainHead(t *testing.T) {
	for head, plain := range map[string]bool{
		"POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n":                                             true,
		"GET /a?token=x&b=c HTTP/1.1\r\nCookie: a=b; c\r\nAuthorization: Bearer abc\r\nReferer: /?sid=1\r\n\r\n": true,
		"GET / HTTP/1.1\nX-Note: use Bearer abcd123\nX-Api-Key:\t abc \n\n":                                      false,
		"GET / HTTP/1.1\r\nX-Api-Key: abc\r\n def\r\n\r\n":                                                       false,
		"Token: abc HTTP/1.1\r\nHost: a\r\n\r\n":                                                                 false,
	} {
		h := parseHead([]byte(head), requestHead)
		got, parsed, ok := testMask.plainHead([]byte(head), h, requestHead)
		expect.Equal(t, head+" is taken for plain", plain, ok)
		if !ok {
			continue
		}
		if want := testMask.head([]byte(head), requestHead); string(got) != string(want) {
			t.Errorf("%q: got %q, want %q", head, got, want)
		}
		expect.Same(t, fmt.Sprintf("%q is parsed otherwise", got), parseHead(got, requestHead), parsed)
	}
}

func FuzzHead(f *testing.F) {
	f.Add([]byte("GET /?token=a HTTP/1.1\r\nCookie: a=b; c\r\n x\r\nSet-Cookie: a=b; Path=/, " +
		"d=e\r\nWWW-Authenticate: Negotiate abc, Basic realm=\"x\"\r\n\r\n"))
	f.Add([]byte("\r\r\n\n: :\n=\n @\n"))
	f.Add([]byte("GET / HTTP/1.1\nReferer: //u:p@h?a=b\nAuthorization: Basic  a:b\t\nX-Key: Bearer a,Bearer b1c2d3\n\n"))
	f.Add([]byte("HTTP/1.* 401 \rnauthorithorizze1 dU\n\r\n"))
	for _, x := range seeds(f) {
		f.Add(x.Request.Head)
		f.Add(x.Response.Head)
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		for _, kind := range []headKind{requestHead, answerHead} {
			h := parseHead(head, kind)
			now, parsed, ok := testMask.plainHead(head, h, kind)
			if !ok {
				continue
			}
			if want := testMask.head(head, kind); string(now) != string(want) {
				t.Errorf("%q is %q when it is taken for plain, want %q", head, now, want)
			}
			expect.Same(t, fmt.Sprintf("%q is parsed otherwise", now), parseHead(now, kind), parsed)
		}
		for _, kind := range []headKind{requestHead, answerHead, fieldsOnly} {
			got := testMask.head(head, kind)
			if strings.Count(string(got), "\n") != strings.Count(string(head), "\n") {
				t.Errorf("%q has other lines than %q", got, head)
			}
			if again := testMask.head(got, kind); string(again) != string(got) {
				t.Errorf("%q is done as %q, and that as %q", head, got, again)
			}
		}
	})
}

// Encoding hides no secret from us, nor does a URL around it.
func TestEncodedSecretsInHeads(t *testing.T) {
	const secret = "q7sEcReTz9"
	for _, line := range []string{
		"GET /a?u=https%3A%2F%2Fx%3ASECRET%40h%2F HTTP/1.1", "GET /a?u=https%253A%252F%252Fx%253ASECRET%2540h%252F HTTP/1.1",
		"GET /a?u=%2Fx%3Ftoken%3DSECRET HTTP/1.1", "GET /a?u=%2Fx%3Fv%3D%252Fy%253Ftoken%253DSECRET;x=1 HTTP/1.1",
		"GET /a?%74oken=SECRET HTTP/1.1", "GET /a?%2574oken=SECRET HTTP/1.1", "GET https://u:SECRET@h/ HTTP/1.1",
		"CONNECT u:SECRET@h:1 HTTP/1.1",
		"Host: u:SECRET@h", "Host: SECRET@h", "Host: u:SECRET%40h", "Host: u%3ASECRET@h", "X-Forwarded-Host: u:SECRET@h",
		`Forwarded: for=1.2.3.4;host="u:SECRET@h"`, "Forwarded: host=u:SECRET%40h, host=u:SECRET@h;proto=http",
		":authority: u:SECRET@h", "Origin: https://u:SECRET@h",
		"Location: https://u:SECRET@h/", "Location: //SECRET@h/", "Location: https://h/cb?next=%2F%3Ftoken%3DSECRET",
		"Link: <https://h/?sig=SECRET>; rel=next", "Refresh: 0;url=https://u:SECRET@h/", "Content-Location: ?token=SECRET",
		"grpc-message: token=SECRET", "grpc-message: token%3DSECRET", "grpc-message: token%253DSECRET",
		"grpc-message: Bearer%20SECRET", "grpc-message: Bearer%2520SECRET", "grpc-message: %42earer SECRET",
		"grpc-message: %25%34%32earer%20SECRET", "grpc-message: api%5Fkey%3A SECRET", "grpc-message: token=q7s%45cReTz9",
		`grpc-message: {"token":"SECRET"}`, "grpc-message: %7B%22token%22%3A%22SECRET%22%7D",
		"grpc-message: %257B%2522token%2522%253A%2522SECRET%2522%257D", "grpc-message: call of https%3A%2F%2Fu%3ASECRET%40h",
		"grpc-message: call of https%253A%252F%252Fu%253ASECRET%2540h failed",
	} {
		text := strings.ReplaceAll(line, "SECRET", secret) + "\r\n\r\n"
		kind := fieldsOnly
		if strings.HasSuffix(line, "HTTP/1.1") {
			kind = requestHead
		} else {
			plain := "GET / HTTP/2\r\n" + text
			tp := new(tape).add(capture.Opened{Head: []byte(plain)}, capture.Closed{})
			sink, _ := run(t, Options{}, tp)
			hides(t, line+": recorded", string(sink.exchange().Request.Head), secret)
		}
		hides(t, line, string(testMask.head([]byte(text), kind)), secret)
	}
	for _, line := range []string{
		"GET /a?u=https%3A%2F%2Fh%2F%3Fx%3D1&v=100%25 HTTP/1.1", "Host: h%41", "Location: /a?next=%2Fb%3Fc%3D%2Fd",
		"grpc-message: no task %22t%22 at 100%25", "grpc-message: the token is missing",
	} {
		kind := fieldsOnly
		if strings.HasSuffix(line, "HTTP/1.1") {
			kind = requestHead
		}
		expect.Equal(t, "without a secret", line+"\r\n", string(testMask.head([]byte(line+"\r\n"), kind)))
	}
}

// hides fails if a text has a secret, or the end of one.
func hides(t *testing.T, where, text, secret string) {
	t.Helper()
	if strings.Contains(text, secret[4:]) {
		t.Errorf("%s: %q", where, text)
	}
}
