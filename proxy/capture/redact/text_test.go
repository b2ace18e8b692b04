package redact

import (
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// bodyOf returns a body of a kind without its secrets.
func bodyOf(t testing.TB, kind bodyKind, contentType, text string) string {
	t.Helper()
	got, err := testSearch(testMask.placed(nil)).body(kind, &capture.Parsed{Text: []byte(text)}, contentType)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return string(got)
}

func TestBodiesThatAreNoJSON(t *testing.T) {
	const multipart = "multipart/form-data; boundary=b"
	tests := []struct {
		name      string
		kind      bodyKind
		mediaType string
		in, want  string
	}{
		{
			"text", bodyText, "", "token=abc; password: def\nAuthorization: Digest username=\"u\", response=\"r\"\nx: y",
			"token=«abc»; password: «def»\nAuthorization: Digest «username=\"u\", response=\"r\"»\nx: y",
		},
		{"program", bodyText, "", "if token == x { secret => y }", ""},
		{"form in text", bodyText, "", "a=b&client_secret=abc&x=1", "a=b&client_secret=«abc»&x=1"},
		{"log", bodyText, "", "GET /a?token=abc 200\nuse Bearer abc1234.", "GET /a?token=«abc» 200\nuse Bearer «abc1234»."},
		{"prose", bodyText, "", "What is a token? Ask the secretary (a@b).", ""},
		{
			"XML", bodyXML, "", `<a:login x="1" token='abc'><ns:Password type="t">d&amp;f</ns:Password><b/>c</a:login>`,
			`<a:login x="1" token='«abc»'><ns:Password type="t">«d&f»</ns:Password><b/>c</a:login>`,
		},
		{
			"elements in an element", bodyXML, "", "<credentials> <u>abc</u>\n<credentials>d</credentials>e</credentials>f",
			"<credentials> <u>«abc»</u>\n<credentials>«d»</credentials>«e»</credentials>f",
		},
		{
			"character data", bodyXML, "", "<secret><![CDATA[a<b]]></secret><secret/>c",
			"<secret><![CDATA[«a<b»]]></secret><secret/>c",
		},
		{
			"value beside a name", bodyXML, "", `<add key="apiKey" value="abc"/><input type="password" name="p" value="d">`,
			`<add key="apiKey" value="«abc»"/><input type="password" name="p" value="«d»">`,
		},
		{"cut in an element", bodyXML, "", "<x><token>abc", "<x><token>«abc»"},
		{"token in XML", bodyXML, "", "<x>Bearer abc1234</x>", "<x>Bearer «abc1234»</x>"},
		{
			"multipart", bodyMultipart, multipart,
			"--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nabc\r\n--b\r\n" +
				"Content-Disposition: form-data; name=\"x\"\r\nX-Api-Key: def\r\n\r\nsid=1 Bearer ghi1234\r\n--b\r\n" +
				"Content-Type: application/json\r\n\r\n{\"token\":\"jkl\"}\r\n--b--\r\n",
			"--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n«abc»\r\n--b\r\n" +
				"Content-Disposition: form-data; name=\"x\"\r\nX-Api-Key: «def»\r\n\r\nsid=1 Bearer «ghi1234»\r\n--b\r\n" +
				"Content-Type: application/json\r\n\r\n{\"token\":\"«jkl»\"}\r\n--b--\r\n",
		},
		{
			"multipart with a file", bodyMultipart, multipart,
			"--b\nContent-Disposition: form-data; name=\"token\"; filename=\"t.png\"\nContent-Type: image/png\n\n\x89PNG token=a\n--b--", "",
		},
		{"multipart without its boundary", bodyMultipart, "multipart/mixed", "token: abc", "token: «abc»"},
		{"multipart that is cut", bodyMultipart, multipart, "--b\r\nX-Token: abc", "--b\r\nX-Token: «abc»"},
		{"binary", bodyUnknown, "", "\x00\x01token: abc", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := masked(tt.want)
			if want == "" {
				want = tt.in
			}
			got := bodyOf(t, tt.kind, tt.mediaType, tt.in)
			expect.Same(t, "", want, got)
			expect.Equal(t, "done twice", got, bodyOf(t, tt.kind, tt.mediaType, got))
		})
	}
}

func TestMediaKinds(t *testing.T) {
	for kind, types := range map[bodyKind]string{
		bodyForm: "application/x-www-form-urlencoded", bodyJSON: "application/json application/a2a+json text/json",
		bodyXML:       "text/xml application/soap+xml text/html image/svg+xml",
		bodyText:      "text/plain text/event-stream message/http",
		bodyMultipart: "multipart/form-data", bodyPasses: "image/png audio/ogg video/mp4 font/woff",
		bodyUnknown: "application/octet-stream application/x-yaml",
	} {
		for essence := range strings.FieldsSeq(types) {
			expect.Equal(t, essence+": kind", kind, mediaKind(essence))
		}
	}
	for data, want := range map[string]bodyKind{
		" \n": bodyUndecided, "\xef\xbb": bodyUndecided, " {": bodyJSON, "<x": bodyXML, "user: x": bodyText, "é": bodyText,
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
		f.Add(seed, byte(bodyXML))
		f.Add(seed, byte(bodyMultipart))
	}
	for _, x := range seeds(f) {
		f.Add(string(x.Response.Body.Data), byte(bodyText))
	}
	set := testMask.placed(places(f, "/a/pin!"))
	f.Fuzz(func(t *testing.T, in string, kind byte) {
		const contentType = "multipart/form-data; boundary=b"
		k := bodyKind(kind) % (bodyUnknown + 1)
		got, err := testSearch(set).body(k, &capture.Parsed{Text: []byte(in)}, contentType)
		if err != nil {
			return
		}
		again, err := testSearch(set).body(k, &capture.Parsed{Text: got}, contentType)
		if err != nil || string(again) != string(got) {
			t.Errorf("%q is done as %q, and that as %q, %v", in, got, again, err)
		}
	})
}
