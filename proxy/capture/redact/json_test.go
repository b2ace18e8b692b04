package redact

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

// places reads pointers; numbers are hidden at those that end in "!".
func places(t testing.TB, pointers ...string) []secretPlace {
	t.Helper()
	var out []secretPlace
	for _, s := range pointers {
		s, numbers := strings.CutSuffix(s, "!")
		p := must.Get(capture.ParsePointer(s))(t)
		out = append(out, secretPlace{p, numbers})
	}
	return out
}

// hideIn returns a JSON text without its secrets.
func hideIn(t *testing.T, text string, places []secretPlace) string {
	t.Helper()
	body := capture.Parsed{Text: []byte(text)}
	got, err := testSearch(testMask.placed(places)).body(bodyJSON, &body)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return string(got)
}

func TestJSON(t *testing.T) {
	tests := []struct {
		name, in, want string
		places         []secretPlace
	}{
		{
			"at a pointer", `{ "a" : {"t":"abc","x":"abc"} , "t":"abc" }`,
			`{ "a" : {"t":"«abc»","x":"abc"} , "t":"abc" }`, places(t, "/a/t"),
		},
		{"any element", `[{"t":"a"},{"t":"b"},{"u":"c"}]`, `[{"t":"«a»"},{"t":"«b»"},{"u":"c"}]`, places(t, "/*/t")},
		{"element by index", `["a","b"]`, `["a","«b»"]`, places(t, "/1")},
		{"twice the same name", `{"t":"a","t":"b"}`, `{"t":"«a»","t":"«b»"}`, places(t, "/t")},
		{"escapes in name and value", `{"\u0074":"a\u0062\/c\n"}`, "{\"\\u0074\":\"«ab/c\n»\"}", places(t, "/t")},
		{"scheme stays", `{"t":"Bearer abc"}`, `{"t":"Bearer «abc»"}`, places(t, "/t")},
		{"empty stays", `{"t":""}`, "", places(t, "/t")},
		{"done already", `{"t":"redacted.0123456789abcdef"}`, "", places(t, "/t")},
		{"null and numbers stay", `{"t":null,"u":1,"v":true}`, "", places(t, "/t", "/u", "/v")},
		{
			"numbers of the user", `{"t":12,"u":-1.5e3,"v":true,"w":0}`, `{"t":0,"u":0,"v":true,"w":0}`,
			places(t, "/t!", "/u!", "/v!", "/w!"),
		},
		{"all beneath", `{"t":{"a":["b",{"c":"d"}],"n":1}}`, `{"t":{"a":["«b»",{"c":"«d»"}],"n":1}}`, places(t, "/t")},
		{"all beneath, with numbers", `{"t":[1,"a"]}`, `{"t":[0,"«a»"]}`, places(t, "/t!")},
		{"whole text", `"abc"`, `"«abc»"`, places(t, "")},
		{
			"OAuth",
			`{"access_token":"a","token_type":"Bearer","refreshToken":"b","id_token":"c","client_secret":"d",` +
				`"x":[{"access_token":"e"}]}`,
			`{"access_token":"«a»","token_type":"Bearer","refreshToken":"«b»","id_token":"«c»","client_secret":"«d»",` +
				`"x":[{"access_token":"«e»"}]}`, nil,
		},
		{
			"OAuth words that are no strings",
			`{"access_token":{"type":"string"},"id_token":12,"refresh_token":null,"token":true}`,
			"", nil,
		},
		{
			"lists and objects", `{"tokens":["a",["b"]],"credentials":{"user":"c","n":1},"password":{"x":[2,"d"]}}`,
			`{"tokens":["«a»",["«b»"]],"credentials":{"user":"«c»","n":1},"password":{"x":[0,"«d»"]}}`, nil,
		},
		{
			"members of all kinds", `[{"Password":"a","api_key":"b","x":{"secret":"c","Authorization":"Bearer d"},` +
				`"password":12,"Set-Cookie":"e"}]`,
			`[{"Password":"«a»","api_key":"«b»","x":{"secret":"«c»","Authorization":"Bearer «d»"},"password":0,` +
				`"Set-Cookie":"«e»"}]`, nil,
		},
		{
			"batch, unknown method", `[{"method":"x/y","params":{"cfg":{"token":"a","authentication":{"schemes":["Bearer"],` +
				`"credentials":"b"}}}}]`,
			`[{"method":"x/y","params":{"cfg":{"token":"«a»","authentication":{"schemes":["Bearer"],"credentials":"«b»"}}}}]`,
			nil,
		},
		{
			"a card's schemes", `{"securitySchemes":{"token":{"type":"apiKey","name":"X-Key","in":"header"},"password":` +
				`{"type":"oauth2","flows":{"password":{"tokenUrl":"https://h/t","scopes":{"token":"all tokens"}}}}},` +
				`"security":[{"token":["read"]}],"securityRequirements":[{"schemes":{"token":{"list":["read"]}}}]}`, "", nil,
		},
		{
			"a secret in a card's schemes", `{"securitySchemes":{"o":{"type":"oauth2","client_secret":"a"}}}`,
			`{"securitySchemes":{"o":{"type":"oauth2","client_secret":"«a»"}}}`, nil,
		},
		{
			"name and value", `[{"name":"X-Api-Key","value":"a"},{"key":"password","value":12},{"value":"b","name":"x"}]`,
			`[{"name":"X-Api-Key","value":"«a»"},{"key":"password","value":0},{"value":"b","name":"x"}]`, nil,
		},
		{"page tokens", `{"pageToken":"a","page_token":"b","nextPageToken":"c","progressToken":"d"}`, "", nil},
		{
			"URL", `{"url":"https://h/hook?token=abc&x=1","b":"see https://h/?token=abc, or (http://u:p@h)"}`,
			`{"url":"https://h/hook?token=«abc»&x=1","b":"see https://h/?token=«abc,» or (http://«u»:«p»@h)"}`, nil,
		},
		{
			"tokens in text", `{"a":"use bearer abc.def-1. Bearer authentication; Bearer redacted.0123456789abcdef",` +
				`"b":"curl -H 'Authorization: Token abc' -u x, Basic dTpw. Basic auth"}`,
			`{"a":"use bearer «abc.def-1». Bearer authentication; Bearer redacted.0123456789abcdef",` +
				`"b":"curl -H 'Authorization: Token «abc»' -u x, Basic «dTpw». Basic auth"}`, nil,
		},
		{
			"JSON Web Token", `["it is eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.abc_d-e, and eyJub3RoaW5n"]`,
			`["it is «eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.abc_d-e», and eyJub3RoaW5n"]`, nil,
		},
		{
			"private key", `["-----BEGIN EC PRIVATE KEY-----\nabc\nd\n-----END EC PRIVATE KEY-----\n"]`,
			"[\"-----BEGIN EC PRIVATE KEY-----\\n«abc\nd»\\n-----END EC PRIVATE KEY-----\\n\"]", nil,
		},
		{
			"JSON in a string", `{"arguments":"{\"password\":\"abc\",\"x\":\"[{\\\"token\\\":\\\"d\\\"}]\"}"}`,
			`{"arguments":"{\"password\":\"«abc»\",\"x\":\"[{\\\"token\\\":\\\"«d»\\\"}]\"}"}`, nil,
		},
		{"escaped though it need not be", `["\u0042earer abc1234"]`, `["Bearer «abc1234»"]`, nil},
		{"URL with escapes", `{"url":"https:\/\/u:p@h\/"}`, `{"url":"https://«u»:«p»@h/"}`, nil},
		{"URL without secrets", `{"url":"https:\/\/h\/a?b=c"}`, "", nil},
		{"not UTF-8", "{\"x\":\"\xff\",\"access_token\":\"a\"}", "{\"x\":\"\xff\",\"access_token\":\"«a»\"}", nil},
		{"byte order mark", "\xef\xbb\xbf{\"access_token\":\"a\"}", "\xef\xbb\xbf{\"access_token\":\"«a»\"}", nil},
		{
			"JSON Lines", "{\"access_token\":\"a\"}\n{\"access_token\":\"b\"}",
			"{\"access_token\":\"«a»\"}\n{\"access_token\":\"«b»\"}", nil,
		},
		{"nothing", "", "", nil},
		{"deep", strings.Repeat("[", 9000) + `"a"` + strings.Repeat("]", 9000), "", nil},

		{"cut in a secret", `{"a":{"token":"ab`, `{"a":{"token":"«ab»`, nil},
		{"cut after one", `{"p":"abc","q":{"p":"d`, `{"p":"«abc»","q":{"p":"«d»`, places(t, "/p")},
		{"cut in an escape", `{"token":"ab\u00`, `{"token":"«ab\u00»`, nil},
		{
			"broken before", `{,"credentials" : "Bearer abc", "pageToken":"p"}`,
			`{,"credentials" : "Bearer «abc»", "pageToken":"p"}`, nil,
		},
		{"quote missing", `{"a": "b, "token": "abc"}`, `{"a": "b, "token": "«abc»"}`, nil},
		{"quote missing at the end", `{"token": "abc}`, `{"token": "«abc}»`, nil},
		{"single quotes", `{'token': 'abc', 'x': 'y'}`, `{'token': '«abc»', 'x': 'y'}`, nil},
		{"no quotes", `{token: Bearer abc, x: y}`, `{token: Bearer «abc», x: y}`, nil},
		{"escaped once more", `{\"token\": \"abc\", \"x\":\"y\"}`, `{\"token\": \"«abc»\", \"x\":\"y\"}`, nil},
		{
			"broken, and no strings", `{"token": null, "password": 12, "secret": {"a":1}, }`,
			`{"token": null, "password": 0, "secret": {"a":1}, }`, nil,
		},
		{
			"broken, with a list", `{"tokens": ["a", {"x": "b"}], "y": "c",}`,
			`{"tokens": ["«a»", {"x": "«b»"}], "y": "c",}`, nil,
		},
		{"broken, with a URL", `{"url":"https://h/?key=abc",}`, `{"url":"https://h/?key=«abc»",}`, nil},
		{"broken, with an escaped URL", `{"url":"https:\/\/h\/?key=abc\n",}`, `{"url":"https://h/?key=«abc»\n",}`, nil},
		{"garbage behind", `{"access_token":"a"} access_token: b`, `{"access_token":"«a»"} access_token: «b»`, nil},
		{
			"too deep", strings.Repeat("[", 20000) + `{"id_token":"a"}`, strings.Repeat("[", 20000) +
				`{"id_token":"«a»"}`,
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := masked(tt.want)
			if want == "" {
				want = tt.in
			}
			got := hideIn(t, tt.in, tt.places)
			expect.Same(t, "", want, got)
			expect.Equal(t, "done twice", got, hideIn(t, got, tt.places))
		})
	}
}

func TestEvent(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"one line", "data: {\"t\":\"abc\"}\n\n", "data: {\"t\":\"«abc»\"}\n\n"},
		{"several lines, CRLF", "event: x\r\ndata: {\r\ndata:\"t\" :\r\ndata:  \"abc\",\r\ndata: " +
			"\"access_token\":\"d\"}\r\nid: 7\r\n\r\n", "event: x\r\ndata: {\r\ndata:\"t\" :\r\ndata:  " +
			"\"«abc»\",\r\ndata: \"access_token\":\"«d»\"}\r\nid: 7\r\n\r\n"},
		{"CR", "data:{\"t\":\"abc\"}\r\r", "data:{\"t\":\"«abc»\"}\r\r"},
		{"byte order mark", "\xef\xbb\xbfdata: {\"t\":\"abc\"}\n\n", "\xef\xbb\xbfdata: {\"t\":\"«abc»\"}\n\n"},
		{"no data", "{\"access_token\":\"abc\"}\n\n", "{\"access_token\":\"«abc»\"}\n\n"},
		{
			"data on the first line alone", "data: {\n  \"t\": \"abc\",\n  \"token\": \"def\"\n}\n\n",
			"data: {\n  \"t\": \"«abc»\",\n  \"token\": \"«def»\"\n}\n\n",
		},
		{"comment", ": token: abc\n\n", ": token: «abc»\n\n"},
		{"cut", "data: {\"token\":\"ab", "data: {\"token\":\"«ab»"},
		{"text", "data: [DONE]\n\n", "data: [DONE]\n\n"},
		{"empty data", "data\ndata:\n\n", "data\ndata:\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := capture.Event{Raw: []byte(tt.in)}
			got := must.Get(testSearch(testMask.placed(places(t, "/t"))).event(&e, parseEvent(&e, nil)))(t)
			expect.Same(t, "", masked(tt.want), string(got))
		})
	}
}

// A line break in a string is not JSON; a placeholder in its place would make it JSON that is cut off.
func TestWithholdsAnEventThatWouldBeAnother(t *testing.T) {
	e := capture.Event{Raw: []byte("data: {\"token\":\"ab\ndata: cd\n\n")}
	if got, err := testSearch(testMask.placed(nil)).event(&e, parseEvent(&e, nil)); err == nil {
		t.Errorf("got %q", got)
	}
}

// tokens returns the tokens of a JSON text with the white space before them; strings as the mark of one.
func tokens(t *testing.T, text []byte) (out []string, ok bool) {
	d := jsontext.NewDecoder(bytes.NewReader(capture.TrimBOM(text)), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	at := int64(0)
	for {
		token, err := d.ReadToken()
		if err != nil {
			return out, len(bytes.TrimLeft(text[at:], " \t\r\n")) == 0
		}
		raw := text[at:d.InputOffset()]
		at = d.InputOffset()
		if i := bytes.IndexByte(raw, '"'); i >= 0 && token.Kind() == '"' {
			raw = append(raw[:i:i], "string"...)
		}
		out = append(out, string(raw))
	}
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"token":"abc"},"access_token":"Bearer x"}`, `[{"token":"a","token":"\ud800"},1,"https:\/\/u@h?key=1"]`,
		`{"token":"ab`, `{'id_token': x}`,
		"{\"client_secret\":\"\xff\"} {}", "",
	} {
		f.Add([]byte(seed))
	}
	for _, x := range seeds(f) {
		f.Add(x.Request.Body.Data)
		f.Add(x.Response.Body.Data)
	}
	set := testMask.placed(places(f, "/a/token", "/*/token"))
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		doc := jsondoc.Parse(in)
		got, err := testSearch(set).body(bodyJSON, &capture.Parsed{Text: in, Doc: &doc})
		if !bytes.Equal(before, in) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			if doc.Err == nil {
				t.Errorf("%q is JSON and was withheld: %v", in, err)
			}
			return
		}
		if again, err := testSearch(set).body(bodyJSON, &capture.Parsed{Text: got}); !bytes.Equal(again, got) {
			t.Errorf("%q is done as %q, and that as %q, %v", in, got, again, err)
		}
		now := jsondoc.Parse(got)
		if looksLikeJSON(in) && !sameFault(in, got) {
			t.Errorf("%q has the fault %v, %q has %v", in, doc.Err, got, now.Err)
		}
		if doc.Err != nil {
			return
		}
		was, _ := tokens(t, in)
		is, ok := tokens(t, got)
		if !ok {
			t.Fatalf("%q is JSON, %q is not", in, got)
		}
		expect.Same(t, fmt.Sprintf("%q became %q", in, got), was, is)
		if jsontext.Value(in).IsValid() && !jsontext.Value(got).IsValid() {
			t.Errorf("%q is valid, %q is not", in, got)
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte("data: {\"token\":\ndata: \"abc\"}\r\n: x\n{\"access_token\":1}\r\r"))
	f.Add([]byte("\xef\xbb\xbfdata\ndata:{\"token\":\"a\rdata:b"))
	for _, x := range seeds(f) {
		for _, e := range x.Response.Events[:min(1, len(x.Response.Events))] {
			f.Add(e.Raw)
		}
	}
	set := testMask.placed(places(f, "/token"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e := capture.Event{Raw: raw}
		got, err := testSearch(set).event(&e, parseEvent(&e, nil))
		if err != nil {
			return
		}
		again := capture.Event{Raw: got}
		if twice, err := testSearch(set).event(&again, parseEvent(&again, nil)); string(twice) != string(got) {
			t.Errorf("%q is done as %q, and that as %q, %v", raw, got, twice, err)
		}
		if a, b := capture.ParseEvent(raw), capture.ParseEvent(got); a.DataLines != b.DataLines || a.HasData != b.HasData {
			t.Errorf("%q has other data lines than %q", got, raw)
		}
	})
}

// The places that a Describer names are known again, also when a list is another one where the first was.
func TestDescribedPlacesAreKnownAgain(t *testing.T) {
	r := New(discardSink{}, Options{Key: testMask.key}).(*redactor)
	list := []string{"/a/t", "/b", "no pointer"}
	first := r.described(capture.Description{Secrets: list})
	if again := r.described(capture.Description{Secrets: list}); again != first || len(first.list) != 2 {
		t.Errorf("the same list is another set; it has %d places, want 2", len(first.list))
	}
	if n := testing.AllocsPerRun(100, func() { r.described(capture.Description{Secrets: list}) }); n != 0 {
		t.Errorf("a list that is known takes %v allocations", n)
	}
	list[0] = "/c"
	text := []byte(`{"a":{"t":"x"},"b":"y","c":"z"}`)
	doc := jsondoc.Parse(text)
	got := string(splice(text, search{&r.mask, r.described(capture.Description{Secrets: list})}.json(&doc, text)))
	expect.Equal(t, "after the list has changed", masked(`{"a":{"t":"x"},"b":"«y»","c":"«z»"}`), got)
	expect.Equal(t, "no places are not those of the user", r.userPlaces, r.described(capture.Description{}))
}
