package credential

import (
	"strings"
	"testing"

	"a2atap/proxy/expect"
)

func TestHeader(t *testing.T) {
	for kind, names := range map[Kind]string{
		Plain: "Host User-Agent Accept Accept-Encoding Content-Type Content-Length Connection Date Server " +
			"A2A-Version A2A-Extensions X-Request-Id traceparent If-None-Match X-Forwarded-For Via - :path Ke-y " +
			"X-Mapping-Spinner Inside X-Option Pinned",
		Identity: "Idempotency-Key x-idempotency-key Sec-WebSocket-Key :authority Authority Author " +
			"Access-Control-Allow-Credentials X-RateLimit-Token-Count Signature-Input Accept-Signature " +
			"X-DPoP-Nonce",
		Secret: "X-Api-Key apikey x-a2a-notification-token X-AUTH-TOKEN DPoP dpop X-Client-Secret Password X-Passwd " +
			"X-Jwt-Assertion X-Credentials Auth X-Cookie-Id MyKey \u212aey authorization-info X-Session-Id PHPSESSID sid " +
			"X-Sid OTP x-totp-code Pin X-PIN userPin X-Pwd X-Passphrase X-Bearer X-Hub-Signature " +
			"X-Hub-Signature-256 x-slack-signature Stripe-Signature X-Twilio-Signature X-Line-Signature Signature",
		Authorization: "Authorization AUTHORIZATION proxy-authorization X-Forwarded-Authorization",
		Cookie:        "Cookie cookie COOKIE2",
		SetCookie:     "Set-Cookie set-cookie2",
		Challenge:     "WWW-Authenticate proxy-authenticate",
	} {
		for name := range strings.FieldsSeq(names) {
			expect.Equal(t, name+": kind", kind, Header(name))
		}
	}
	if got := Header(""); got != Plain {
		t.Errorf("no name: kind %d", got)
	}
	expect.Equal(t, "a long name: kind", Secret, Header(strings.Repeat("x", 1000)+"Token"))
}

// The names that are known at a glance are what their words say.
func TestCommonHeaders(t *testing.T) {
	common := 0
	for name := range strings.FieldsSeq("Host Accept Accept-Encoding User-Agent Content-Type Content-Length " +
		"Transfer-Encoding Connection Cache-Control Date Server A2A-Version A2A-Extensions Authorization " +
		"X-Api-Key Cookie") {
		for _, spelling := range [...]string{name, strings.ToLower(name), strings.ToUpper(name)} {
			expect.Equal(t, spelling+": kind", headerByWords(spelling), Header(spelling))
			common++
		}
	}
	if common < 40 {
		t.Errorf("%d names", common)
	}
}

func TestParam(t *testing.T) {
	for kind, names := range map[Kind]string{
		Plain:    "pageToken page_token nextPageToken tenant historyLength filter coded x a.u.t side mapping pinned",
		Identity: "keyword max_tokens token_type authorization_uri Author dpop",
		Secret: "key api_key apiKey access_token to-ken X-Amz-Signature sig code Code_Verifier pass pwd " +
			"client.secret jwt " +
			"samlResponse userCredential cookie passwd \u212aey session_id sessionId sid otp pin pinCode user-pin jsessionid",
	} {
		for name := range strings.FieldsSeq(names) {
			expect.Equal(t, name+": kind", kind, Param(name))
		}
	}
	expect.Equal(t, "a long name: kind", Secret, Param(strings.Repeat("x_", 1000)+"Tok_en"))
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
	tests := map[bool]string{
		true: "access_token accessToken ID.TOKEN client-secret _Id_Token -.token REFRESHTOKEN token tokens apiKey api_key " +
			"X-API-Key Authorization proxy-authorization to\u212aen pas.sword PASSWD user_pwd passphrase secret secrets " +
			"clientSecret credential credentials awsSecretAccessKey private_key cookie Set-Cookie jwt device_code " +
			"code_verifier password_ aws_secret_access_key tok_en- " + strings.Repeat("access_token", 10),
		false: "pageToken page_token nextPageToken next_token progressToken tokenUrl token_type tokenizer secretary key " +
			"keys publicKey kid pwdx authorizationUrl authorizationCode securitySchemes authentication schemes bearerFormat " +
			"maxTokens s ss - _ d text artifact extension description cookies_policy pin sid session sessionId " +
			strings.Repeat("x", 100) + " \u212a",
	}
	for want, names := range tests {
		for name := range strings.FieldsSeq(names) {
			if got := Member(name); got != want || Member([]byte(name)) != want {
				t.Errorf("Member(%q) = %v", name, got)
			}
		}
	}
	if Member("") {
		t.Error("no name is that of a secret")
	}
	for name, want := range map[string]bool{
		"password": true, "user_pwd": true, "passcodes": true, "passwd": true, "token": false,
		"secret": false, "": false,
	} {
		expect.Equal(t, "PasswordMember("+name+")", want, PasswordMember(name))
	}
}

func TestOtherNames(t *testing.T) {
	for name, want := range map[string]bool{
		"access_token": true, "X-Secret": true, "authorization_uri": false, "token_type": false, "realm": false,
	} {
		expect.Equal(t, "ChallengeParam("+name+")", want, ChallengeParam(name))
	}
	for name, want := range map[string]bool{
		"Path": true, "max-age": true, "HttpOnly": true, "session": false,
		"": false,
	} {
		expect.Equal(t, "CookieAttribute("+name+")", want, CookieAttribute(name))
	}
	for name, want := range map[string]bool{
		"pageToken": true, "next_page_token": true, "token": false, "page": false,
		"": false,
	} {
		expect.Equal(t, "PageToken("+name+")", want, PageToken(name))
	}
	expect.Equal(t, "Normal", "accesstoken", Normal("Access_To-Ken."))
}

func TestNamesAreReadWithoutAllocating(t *testing.T) {
	member := []byte("access_token")
	if n := testing.AllocsPerRun(100, func() {
		Header("Content-Type")
		Header("X-Api-Key")
		Param("page_token")
		Param("api_key")
		Member(member)
		Member("artifactId")
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
