package credential

import (
	"strings"
	"testing"
)

func TestHeader(t *testing.T) {
	for kind, names := range map[Kind]string{
		Plain: "Host User-Agent Accept Accept-Encoding Content-Type Content-Length Connection Date Server " +
			"A2A-Version A2A-Extensions X-Request-Id traceparent If-None-Match X-Forwarded-For Via Pin - :path Ke-y",
		Identity: "Idempotency-Key x-idempotency-key Sec-WebSocket-Key :authority Authority Author " +
			"Access-Control-Allow-Credentials X-RateLimit-Token-Count X-Session-Id Signature Signature-Input " +
			"X-DPoP-Nonce",
		Secret: "X-Api-Key apikey x-a2a-notification-token X-AUTH-TOKEN DPoP dpop X-Client-Secret Password X-Passwd " +
			"X-Jwt-Assertion X-Credentials Auth X-Cookie-Id MyKey \u212aey authorization-info",
		Authorization: "Authorization AUTHORIZATION proxy-authorization X-Forwarded-Authorization",
		Cookie:        "Cookie cookie COOKIE2",
		SetCookie:     "Set-Cookie set-cookie2",
		Challenge:     "WWW-Authenticate proxy-authenticate",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := Header(name); got != kind {
				t.Errorf("%s: kind %d, want %d", name, got, kind)
			}
		}
	}
	if got := Header(""); got != Plain {
		t.Errorf("no name: kind %d", got)
	}
	if got := Header(strings.Repeat("x", 1000) + "Token"); got != Secret {
		t.Errorf("a long name: kind %d", got)
	}
}

// The names that are known at a glance are what their words say.
func TestCommonHeaders(t *testing.T) {
	common := 0
	for name := range strings.FieldsSeq("Host Accept Accept-Encoding User-Agent Content-Type Content-Length Transfer-Encoding " +
		"Connection Cache-Control Date Server A2A-Version A2A-Extensions Authorization X-Api-Key Cookie") {
		for _, spelling := range [...]string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if got, want := Header(spelling), headerByWords(spelling); got != want {
				t.Errorf("%s: kind %d, want %d", spelling, got, want)
			}
			common++
		}
	}
	if common < 40 {
		t.Errorf("%d names", common)
	}
}

func TestParam(t *testing.T) {
	for kind, names := range map[Kind]string{
		Plain:    "pageToken page_token nextPageToken tenant historyLength filter coded x a.u.t",
		Identity: "keyword max_tokens token_type authorization_uri Author session_id dpop",
		Secret: "key api_key apiKey access_token to-ken X-Amz-Signature sig code Code_Verifier pass pwd " +
			"client.secret jwt " +
			"samlResponse userCredential cookie passwd \u212aey",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := Param(name); got != kind {
				t.Errorf("%s: kind %d, want %d", name, got, kind)
			}
		}
	}
	if got := Param(strings.Repeat("x_", 1000) + "Tok_en"); got != Secret {
		t.Errorf("a long name: kind %d", got)
	}
}

// What is hidden also tells callers apart, so that a request whose credentials are hidden never counts as one without
// any.
func TestHiddenTellsCaller(t *testing.T) {
	for kind := Plain; kind <= Challenge; kind++ {
		if kind.Hidden() && !kind.TellsCaller() {
			t.Errorf("kind %d is hidden and tells nothing", kind)
		}
	}
	if Identity.Hidden() || !Identity.TellsCaller() || Plain.TellsCaller() || !Secret.Hidden() {
		t.Error("a kind says the wrong thing")
	}
}

func TestMember(t *testing.T) {
	tests := map[string]struct{ member, loose bool }{
		"access_token": {true, true}, "accessToken": {true, true}, "ID.TOKEN": {true, true}, "client-secret": {true, true},
		"_Id_Token": {true, true}, "-.token": {false, true}, "REFRESHTOKEN": {true, true},
		"token": {false, true}, "apiKey": {false, true}, "Authorization": {false, true}, "to\u212aen": {false, true},
		"pageToken": {false, false}, "": {false, false}, strings.Repeat("access_token", 10): {false, false},
	}
	for name, want := range tests {
		if got := Member([]byte(name)); got != want.member {
			t.Errorf("Member(%q) = %v", name, got)
		}
		if got := LooseMember([]byte(name)); got != want.loose {
			t.Errorf("LooseMember(%q) = %v", name, got)
		}
	}
}

func TestOtherNames(t *testing.T) {
	for name, want := range map[string]bool{
		"access_token": true, "X-Secret": true, "authorization_uri": false, "token_type": false, "realm": false,
	} {
		if got := ChallengeParam(name); got != want {
			t.Errorf("ChallengeParam(%q) = %v", name, got)
		}
	}
	for name, want := range map[string]bool{
		"Path": true, "max-age": true, "HttpOnly": true, "session": false,
		"": false,
	} {
		if got := CookieAttribute(name); got != want {
			t.Errorf("CookieAttribute(%q) = %v", name, got)
		}
	}
	for name, want := range map[string]bool{
		"pageToken": true, "next_page_token": true, "token": false, "page": false,
		"": false,
	} {
		if got := PageToken(name); got != want {
			t.Errorf("PageToken(%q) = %v", name, got)
		}
	}
	if got := Normal("Access_To-Ken."); got != "accesstoken" {
		t.Errorf("Normal: %q", got)
	}
}

func TestPlaceholder(t *testing.T) {
	const p = PlaceholderPrefix + "0123456789abcdef"
	if !IsPlaceholder(p) {
		t.Errorf("%q is no placeholder", p)
	}
	for text, want := range map[string]bool{
		p: true, "Bearer " + p + "\"": true, "redacted." + p: true, p[:len(p)-1]: false,
		"redacted.0123456789ABCDEF": false, "": false,
		"redacted.redacted": false,
	} {
		if got := HasPlaceholder([]byte(text)); got != want {
			t.Errorf("HasPlaceholder(%q) = %v", text, got)
		}
	}
	if IsPlaceholder(p + "0") {
		t.Error("a longer text is a placeholder")
	}
}

func TestNamesAreReadWithoutAllocating(t *testing.T) {
	member := []byte("access_token")
	if n := testing.AllocsPerRun(100, func() {
		Header("Content-Type")
		Header("X-Api-Key")
		Param("page_token")
		Param("api_key")
		Member(member)
		CookieAttribute("Path")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHeader(b *testing.B) {
	names := strings.Fields("Host User-Agent Accept Content-Type A2A-Version Authorization Content-Length")
	b.ReportAllocs()
	for b.Loop() {
		for _, name := range names {
			Header(name)
		}
	}
}
