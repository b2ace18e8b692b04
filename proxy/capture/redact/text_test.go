package redact

import (
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// bodyOf returns a body of a kind without its secrets.
func bodyOf(t testing.TB, kind bodyKind, text string) string {
	t.Helper()
	got, err := testSearch(testMask.placed(nil)).body(kind, &capture.Parsed{Text: []byte(text)})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return string(got)
}

func TestBodiesThatAreNoJSON(t *testing.T) {
	tests := []struct {
		name     string
		kind     bodyKind
		in, want string
	}{
		{
			"text", bodyText, "token=abc; password: def\nAuthorization: Digest username=\"u\", response=\"r\"\nx: y",
			"token=«abc»; password: «def»\nAuthorization: Digest «username=\"u\", response=\"r\"»\nx: y",
		},
		{"program", bodyText, "if token == x { secret => y }", ""},
		{"form in text", bodyText, "a=b&client_secret=abc&x=1", "a=b&client_secret=«abc»&x=1"},
		{"log", bodyText, "GET /a?token=abc 200\nuse Bearer abc1234.", "GET /a?token=«abc» 200\nuse Bearer «abc1234»."},
		{"prose", bodyText, "What is a token? Ask the secretary (a@b).", ""},
		{"binary", bodyUnknown, "\x00\x01token: abc", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := masked(tt.want)
			if want == "" {
				want = tt.in
			}
			got := bodyOf(t, tt.kind, tt.in)
			expect.Same(t, "", want, got)
			expect.Equal(t, "done twice", got, bodyOf(t, tt.kind, got))
		})
	}
}

// Multipart bodies are withheld, and markup if a tag of it has the name of a secret, also behind another label.
func TestMarkupAndPartsAreWithheld(t *testing.T) {
	s := testSearch(testMask.placed(nil))
	for _, c := range []struct {
		kind bodyKind
		in   string
		err  error
	}{
		{bodyMarkup, `<a:login x="1" token='abc'><b/>c</a:login>`, errMarkup},
		{bodyUnknown, " \n<ns:Password type=\"t\">d&amp;f</ns:Password>", errMarkup},
		{bodyMarkup, "x<secret><![CDATA[a<b]]></secret>", errMarkup},
		{bodyMarkup, "<x><api.key>abc", errMarkup},
		{bodyMarkup, `<add key="ap&#105;Key" value="abc"/>`, errMarkup},
		{bodyMarkup, `<input title="a>b" type="password" name="p" value="d">`, errMarkup},
		{bodyParts, "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nabc\r\n--b--", errParts},
		{bodyParts, "abc", errParts},
	} {
		now, err := s.body(c.kind, &capture.Parsed{Text: []byte(c.in)})
		if len(now) > 0 || err != c.err {
			t.Errorf("%q: %q is recorded, %v", c.in, now, err)
		}
	}
	for in, want := range map[string]string{
		"<html><p>Invalid token</p></html>":         "<html><p>Invalid token</p></html>",
		"<x>Bearer abc1234 token: abc</x>":          "<x>Bearer «abc1234» token: «abc»</x>",
		`{"token":"abc"}`:                           `{"token":"«abc»"}`,
		"\r\n":                                      "\r\n",
		`<a href="http://h/?a=1">x</a> if a < b {}`: `<a href="http://h/?a=1">x</a> if a < b {}`,
	} {
		expect.Same(t, in, masked(want), bodyOf(t, bodyMarkup, in))
	}
}

func TestMediaKinds(t *testing.T) {
	for kind, types := range map[bodyKind]string{
		bodyForm: "application/x-www-form-urlencoded", bodyJSON: "application/json application/a2a+json text/json",
		bodyMarkup: "text/xml application/soap+xml text/html image/svg+xml", bodyParts: "multipart/form-data",
		bodyText: "text/plain text/event-stream message/http", bodyPasses: "image/png audio/ogg video/mp4 font/woff",
		bodyUnknown: "application/octet-stream application/x-yaml",
	} {
		for essence := range strings.FieldsSeq(types) {
			expect.Equal(t, essence+": kind", kind, mediaKind(essence))
		}
	}
	for data, want := range map[string]bodyKind{
		" \n": bodyUndecided, "\xef\xbb": bodyUndecided, " {": bodyJSON, "<x": bodyMarkup, "user: x": bodyText, "é": bodyText,
		"x\xc3": bodyText, "\x00x": bodyPasses, "x\x01": bodyPasses, "\xffx": bodyPasses,
	} {
		expect.Equal(t, data+": kind", want, sniff([]byte(data), false))
	}
}

func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		"token: abc\npassword=def&x=1 Bearer abc1234 eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.x",
		"<a token='x'><password>b<![CDATA[c]]></password><add key=\"token\" value=\"d\"/>",
		"--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nabc\r\n--b\r\n\r\n{\"token\":\"a\"\r\n--b--",
		"Authorization: Digest a=\"b\"\n-----BEGIN PRIVATE KEY-----\nab\n-----END PRIVATE KEY-----",
	} {
		f.Add(seed, byte(bodyText))
		f.Add(seed, byte(bodyMarkup))
	}
	for _, x := range seeds(f) {
		f.Add(string(x.Response.Body.Data), byte(bodyText))
	}
	set := testMask.placed(places(f, "/a/pin!"))
	f.Fuzz(func(t *testing.T, in string, kind byte) {
		k := bodyKind(kind) % (bodyUnknown + 1)
		got, err := testSearch(set).body(k, &capture.Parsed{Text: []byte(in)})
		if err != nil {
			return
		}
		again, err := testSearch(set).body(k, &capture.Parsed{Text: got})
		if err != nil || string(again) != string(got) {
			t.Errorf("%q is done as %q, and that as %q, %v", in, got, again, err)
		}
	})
}

// Groups in groups are searched again, but not without end: what is left is hidden as a whole, or not recorded.
func TestGroupsInGroups(t *testing.T) {
	for name, text := range map[string]string{
		"not closed": strings.Repeat(`{"token":`, 30_000) + `"abc"`,
		"lists":      strings.Repeat(`token=[`, 30_000) + `"abc"`,
	} {
		got, err := testSearch(testMask.placed(nil)).body(bodyText, &capture.Parsed{Text: []byte(text)})
		if err == nil && strings.Contains(string(got), `"abc"`) {
			t.Errorf("%s: %d bytes, with the secret", name, len(got))
		}
	}
}
