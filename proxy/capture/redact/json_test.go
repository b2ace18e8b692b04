package redact

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

// places reads pointers; numbers are hidden at those that end in "!".
func places(t testing.TB, pointers ...string) []secretPlace {
	t.Helper()
	var out []secretPlace
	for _, s := range pointers {
		s, numbers := strings.CutSuffix(s, "!")
		p, err := capture.ParsePointer(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, secretPlace{p, numbers})
	}
	return out
}

func TestJSON(t *testing.T) {
	tests := []struct {
		name, in, want string
		places         []secretPlace
	}{
		{
			"at a pointer", `{ "a" : {"token":"abc","x":"abc"} , "token":"abc" }`,
			`{ "a" : {"token":"«abc»","x":"abc"} , "token":"abc" }`, places(t, "/a/token"),
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
			`{"access_token":{"type":"string"},"id_token":["a"],"refresh_token":null}`,
			"", nil,
		},
		{"page tokens", `{"pageToken":"a","page_token":"b","nextPageToken":"c","token":"d"}`, "", nil},
		{
			"URL", `{"url":"https://h/hook?token=abc&x=1","b":"see https://h/?token=abc"}`,
			`{"url":"https://h/hook?token=«abc»&x=1","b":"see https://h/?token=abc"}`, nil,
		},
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
		{"broken, and no strings", `{"token": null, "password": 12, "secret": {"a":1}, }`, "", nil},
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
			got := string(splice([]byte(tt.in), testMask.json([]byte(tt.in), tt.places)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			doc := jsondoc.Parse([]byte(tt.in))
			along := string(splice([]byte(tt.in), testMask.parsed(&doc, []byte(tt.in), testMask.placed(tt.places))))
			if along != got {
				t.Errorf("along its parse: got %q, want %q", along, got)
			}
			if again := string(splice([]byte(got), testMask.json([]byte(got), tt.places))); again != got {
				t.Errorf("done twice: got %q, want %q", again, got)
			}
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
		{"cut over lines", "data: {\"token\":\"ab\ndata: cd\n\n", "data: {\"token\":\"«ab\ncd»\ndata: \n\n"},
		{"text", "data: [DONE]\n\n", "data: [DONE]\n\n"},
		{"empty data", "data\ndata:\n\n", "data\ndata:\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := capture.Event{Raw: []byte(tt.in)}
			got := string(splice(e.Raw, testMask.event(&e, parseEvent(&e, nil), testMask.placed(places(t, "/t")))))
			if diff := cmp.Diff(masked(tt.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// tokens returns the tokens of a JSON text with the white space before them; strings as the mark of one.
func tokens(t *testing.T, text []byte) (out []string, ok bool) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsonGrammar...)
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
	where := places(f, "/a/token", "/*/token")
	set := testMask.placed(where)
	f.Fuzz(func(t *testing.T, in []byte) {
		before := bytes.Clone(in)
		got := splice(in, testMask.json(in, where))
		if !bytes.Equal(before, in) {
			t.Fatal("the input was changed")
		}
		doc := jsondoc.Parse(in)
		if along := splice(in, testMask.parsed(&doc, in, set)); !bytes.Equal(along, got) {
			t.Fatalf("%q became %q, and along its parse %q", in, got, along)
		}
		was, ok := tokens(t, in)
		if !ok {
			return // what is no JSON only must not make us fail
		}
		now, ok := tokens(t, got)
		if !ok {
			t.Fatalf("%q is JSON, %q is not", in, got)
		}
		if diff := cmp.Diff(was, now); diff != "" {
			t.Errorf("%q became %q:\n%s", in, got, diff)
		}
		if jsontext.Value(in).IsValid() && !jsontext.Value(got).IsValid() {
			t.Errorf("%q is valid, %q is not", in, got)
		}
		if again := splice(got, testMask.json(got, where)); !bytes.Equal(again, got) {
			t.Errorf("%q is done as %q, and that as %q", in, got, again)
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte("data: {\"token\":\ndata: \"abc\"}\r\n: x\n{\"access_token\":1}\r\r"))
	f.Add([]byte("\xef\xbb\xbfdata\ndata:{\"token\":\"a\rdata:b"))
	where := places(f, "/token")
	f.Fuzz(func(t *testing.T, raw []byte) {
		e := capture.Event{Raw: raw}
		got := splice(raw, testMask.event(&e, parseEvent(&e, nil), testMask.placed(where)))
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
	got := string(splice(text, r.mask.parsed(&doc, text, r.described(capture.Description{Secrets: list}))))
	if want := masked(`{"a":{"t":"x"},"b":"«y»","c":"«z»"}`); got != want {
		t.Errorf("after the list has changed: got %s, want %s", got, want)
	}
	if r.described(capture.Description{}) != r.userPlaces {
		t.Error("no places are not those of the user")
	}
}
