package noise

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// must returns rules, each written as a line of a file.
func rulesOf(t testing.TB, lines ...string) *Rules {
	t.Helper()
	return New(must.Get(Read(strings.NewReader(strings.Join(lines, "\n")), "rules"))(t)...)
}

func text(json, payload string) Text {
	return Text{Root: a2a.Parse([]byte(json)).Root, Payload: payload}
}

func TestWithout(t *testing.T) {
	const send = `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","metadata":{"took":3,"model":"m"},` +
		`"artifacts":[{"artifactId":"a","parts":[{"text":"x"},{"data":{"took":4}},{"text":"y"}]}]}}}`
	for _, test := range []struct{ rule, was, payload, want string }{
		{"/result/task/metadata/took", send, "/result/task", strings.Replace(send, `"took":3,`, "", 1)},
		{"/metadata/took", send, "/result/task", strings.Replace(send, `"took":3,`, "", 1)},
		{"SendMessage:/metadata/took", send, "/result/task", strings.Replace(send, `"took":3,`, "", 1)},
		{"message/send:/metadata/took", send, "/result/task", strings.Replace(send, `"took":3,`, "", 1)},
		{"*:/metadata/took", send, "/result/task", strings.Replace(send, `"took":3,`, "", 1)},
		{"GetTask:/metadata/took", send, "/result/task", send},
		{"5.response.body#/result/task/metadata/took", send, "/result/task", strings.Replace(send, `"took":3,`, "", 1)},
		{
			"5.response.event[2]#/result/task/metadata/took", send, "/result/task",
			strings.Replace(send, `"took":3,`, "", 1),
		},
		{"7.response.body#/metadata/took", send, "/result/task", strings.Replace(send, `"took":3,`, "", 1)},
		{"6.response.body#/result/task/metadata/took", send, "/result/task", send},
		{"5.request.body#/result/task/metadata/took", send, "/result/task", send},
		{"/metadata/*", send, "/result/task", strings.Replace(send, `"metadata":{"took":3,"model":"m"},`, "", 1)},
		{"/metadata", send, "/result/task", strings.Replace(send, `"metadata":{"took":3,"model":"m"},`, "", 1)},
		{"/artifacts/*/parts/*/data/took", send, "/result/task", strings.Replace(send, `{"data":{"took":4}}`, "null", 1)},
		{"/artifacts/0/parts/1", send, "/result/task", strings.Replace(send, `{"data":{"took":4}}`, "null", 1)},
		{"/artifacts/0/parts/2", send, "/result/task", strings.Replace(send, `,{"text":"y"}`, "", 1)},
		{
			"/artifacts/*", send, "/result/task",
			`{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","metadata":{"took":3,"model":"m"}}}}`,
		},
		{"/task/metadata/took", send, "/result/task", strings.Replace(send, `"took":3,`, "", 1)},
		{"/result/task/a", `{"task":{"a":1,"b":2}}`, "/task", `{"task":{"b":2}}`},
		{"/result", `{"task":{}}`, "/task", `{"task":{}}`},
		{"/took", send, "/result/task", send},
		{"/result", send, "/result/task", `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"/*", send, "/result/task", `{"result":{}}`},
		{"/result/*", send, "/result/task", `{"jsonrpc":"2.0","id":1,"result":{"task":{}}}`},
		{"/a~1b/c~0d", `{"a/b":{"c~d":1,"e":2}}`, "", `{"a/b":{"e":2}}`},
		{"/a", `{"a":1,"a":2,"b":{},"c":[]}`, "", `{"b":{},"c":[]}`},
		{"/*/1", `{"a":[[1],[2],[3]],"b":[4,5]}`, "", `{"a":[[1],null,[3]],"b":[4]}`},
		{"/a/b", ` { "a" : { "b" : 1 } } `, "", `{}`},
		{"header[Content-Type]", `{"header":1}`, "", `{"header":1}`},
		{"status", `{"status":1}`, "", `{"status":1}`},
	} {
		s := rulesOf(t, test.rule).Of(a2a.SendMessage, 5, 7)
		expect.Equal(t, test.rule, test.want, string(s.Without(text(test.was, test.payload)).Raw()))
	}
	if got := rulesOf(t, "/a").Of(a2a.GetTask).Without(Text{}); got.Exists() {
		t.Errorf("of nothing something is left: %s", got.Raw())
	}
}

// Only the name of an answer's state or error hides it.
func TestHides(t *testing.T) {
	const at = "/result/task/status/state"
	for rule, want := range map[string]bool{
		"/result/task/status/state":              true,
		"/status/state":                          true,
		"SendMessage:/*/state":                   true,
		"/status":                                false,
		"/status/*":                              false,
		"/*/*":                                   false,
		"/result/task":                           false,
		"1.response.body#" + at:                  true,
		"CancelTask:/status/state":               false,
		"/status/state=TASK_STATE_(WORKING|.*D)": true,
	} {
		s := rulesOf(t, rule).Of(a2a.SendMessage, 1)
		expect.Equal(t, rule+" hides the state", want, s.Hides(text(`{}`, "/result/task"), at))
	}
	const failed = `{"error":{"code":-32001,"message":"no","data":[{"reason":"GONE","domain":"d"}]}}`
	for rule, want := range map[string]bool{
		"/error/code":          true,
		"/code":                true,
		"/error/data/*/reason": true,
		"/error":               false,
		"/error/*":             false,
		"/error/message":       false,
		"/error/data/0":        false,
		"/result/code":         false,
	} {
		if got := rulesOf(t, rule).Of(a2a.GetTask).HidesError(text(failed, "/error"), "/error"); got != want {
			t.Errorf("%s hides which error it is: %t, want %t", rule, got, want)
		}
	}
}

func TestCovers(t *testing.T) {
	s := rulesOf(t, "/metadata", "/result/x").Of(a2a.GetTask)
	for pointer, want := range map[string]bool{
		"/result/metadata/a/b": true, "/result/metadata": true, "/result/id": false, "": false, "/result/x": true,
	} {
		expect.Equal(t, pointer+" is covered", want, s.Covers(text(`{}`, "/result"), pointer))
	}
}

func TestCheck(t *testing.T) {
	const was, now = `{"metadata":{"took":"12ms","n":1}}`, `{"metadata":{"took":"7 ms","n":25}}`
	for _, test := range []struct{ rule, was, now, want string }{
		{"/metadata/took=[0-9]+ ?ms", was, now, ""},
		{"/metadata/took=[0-9]+ms", was, now, `/metadata/took "12ms" "7 ms" rules:1`},
		{"/metadata/took=[0-9]+", was, was, `/metadata/took "12ms" "12ms" rules:1`}, // the whole value
		{"/metadata/n=[0-9]{2}", was, now, ""},
		{"/metadata/n=1|2", was, now, `/metadata/n 1 25 rules:1`},
		{"/metadata/*=x", was, now, `/metadata/took "12ms" "7 ms" rules:1, /metadata/n 1 25 rules:1`},
		{"/metadata/n=.*", was, `{"metadata":{}}`, `/metadata/n 1 missing rules:1`},
		{"/metadata/n=[0-9]+", `{}`, now, ""},
		{"/metadata/n=[a-z]+", `{}`, now, `/metadata/n  25 rules:1`},
		{"/metadata/none=.*", was, now, ""},
		{"/metadata/took", was, now, ""},
	} {
		var got []string
		for _, m := range rulesOf(t, test.rule).Of(a2a.GetTask).Check([]Text{text(test.was, "")}, []Text{text(test.now, "")}) {
			now := m.Now
			if m.Missing {
				now = "missing"
			}
			got = append(got, fmt.Sprintf("%s %s %s %s", m.Named(), m.Was, now, m.Rule.origin))
		}
		expect.Equal(t, test.rule, test.want, strings.Join(got, ", "))
	}
}

// head returns a Head with one field.
func head(status int, name, value string) Head {
	return Head{Status: status, Header: func(asked string) []string {
		if strings.EqualFold(asked, name) {
			return []string{value}
		}
		return nil
	}}
}

func TestHeads(t *testing.T) {
	rules := rulesOf(t, "header[content-type]=application/.*json", "status=20.", "header[X-Old]=v", "GetTask:header[Server]")
	s := rules.Of(a2a.SendMessage)
	if !s.HidesHeader("Content-Type") || !s.HidesStatus() || s.HidesHeader("Server") {
		t.Error("the rules about heads are not those of SendMessage")
	}
	was := head(200, "Content-Type", "application/json")
	for _, test := range []struct {
		now  Head
		want string
	}{
		{head(201, "Content-Type", "application/a2a+json"), ""},
		{head(404, "Content-Type", "application/json"), "status 404"},
		{head(200, "Content-Type", "text/html"), "header[content-type] text/html"},
		{head(200, "X-Other", ""), "header[content-type] "},
		{Head{}, "header[content-type] status "},
	} {
		got := ""
		for _, m := range s.CheckHead(was, test.now) {
			got += m.Named() + " " + m.Now
		}
		expect.Equal(t, "", test.want, got)
	}
}

// Each place counts once, and rules that never applied are reported.
func TestCounts(t *testing.T) {
	rules := rulesOf(t, "/metadata/*", "GetTask:/result/id", "ListTasks:/x", "header[Server]", "/metadata/*", "/metadata/c=3")
	s := rules.Of(a2a.GetTask)
	was := text(`{"result":{"id":"t","metadata":{"a":1,"b":2}}}`, "/result")
	now := text(`{"result":{"id":"t","metadata":{"a":1,"b":2,"c":3}}}`, "/result")
	s.Note([]Text{was}, []Text{now}, Head{}, head(200, "Server", "s"))
	expect.Equal(t, "", (Count{Ignored: 5, Rules: 3, Matched: 1}), rules.Count())
	want := []string{"rules:3: the rule ListTasks:/x never applied: no compared answer has this place"}
	expect.Same(t, "stale rules", want, rules.Stale())
}

func TestNoRules(t *testing.T) {
	var none *Rules
	s := none.Of(a2a.GetTask, 1)
	if s != nil || none.OfRequest(a2a.GetTask) != nil || len(none.Stale()) > 0 {
		t.Error("no rules say something")
	}
	if c := none.Count(); c != (Count{}) {
		t.Errorf("no rules apply: %+v", c)
	}
	in := text(`{"a":1}`, "")
	s.Note([]Text{in}, []Text{in}, Head{}, Head{})
	if s.Without(in) != in.Root || s.Hides(in, "/a") || s.Covers(in, "/a") || s.HidesError(in, "") || s.HidesStatus() ||
		s.HidesHeader("A") || len(s.Check([]Text{in}, []Text{in})) > 0 || len(s.CheckHead(Head{}, Head{})) > 0 {
		t.Error("a nil scope hides something")
	}
	if s := rulesOf(t, "GetTask:/a").Of(a2a.SendMessage); s != nil {
		t.Errorf("the rules of GetTask are those of SendMessage: %v", s.rules)
	}
}

func TestMessages(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{
			"result/x",
			`"result/x": a JSON Pointer begins with a slash; write "/result/x", OPERATION:POINTER, header[NAME] or status`,
		},
		{"GetTsk:/x", `unknown operation "GetTsk"; write a name such as SendMessage or GetTask; did you mean "GetTask"`},
		{"zzz:/x", `unknown operation "zzz"; write a name such as SendMessage or GetTask`},
		{
			"GetTask:",
			`"GetTask:" names whole answers; name a member, such as /metadata/took, or leave exchanges out with --filter`,
		},
		{"/", `"/" names whole answers`},
		{"4.response.body#", `"4.response.body#" names whole answers`},
		{"0.response.body#/x", `"0.response.body#/x": exchanges are numbered from 1`},
		{"/a~2", `read JSON Pointer "/a~2": a tilde in a name is written ~0, and a slash ~1`},
		{"header[]", `"header[]": write header[NAME], such as header[Content-Type]`},
		{"/x=", `"/x=" has no expression; write [OPERATION:]POINTER=REGEXP`},
		{"/x=(", "error parsing regexp: missing closing ): `(`; expressions are written as in Go"},
		{"/x=a)(b", "error parsing regexp: unexpected ): `a)(b`"},
	} {
		_, err := Read(strings.NewReader("# rules\n\n"+test.text), "n.txt")
		if err == nil || !strings.HasPrefix(err.Error(), "n.txt:3: "+test.want) {
			t.Errorf("%s: got %v, want %s", test.text, err, test.want)
		}
	}
	expect.ErrorHas(t, "an expression in --ignore", "which only --match accepts", expect.Err(ParseIgnore("/x=y")))
	expect.ErrorHas(t, "no expression in --match", "has no expression", expect.Err(ParseMatch("/x")))
	for _, in := range []string{"/x\xff", strings.Repeat("x", maxLine+1)} {
		_, err := Read(strings.NewReader("/a\n"+in), "n.txt")
		if err == nil || !strings.HasPrefix(err.Error(), "n.txt:2: the line") {
			t.Errorf("%.10q: %v", in, err)
		}
	}
}

func TestRead(t *testing.T) {
	in := "\ufeff# all of it\r\n/a # why\r\n\n\t GetTask:/b#c=x#y\t# because\n#/d\n  5.response.event[2]#/e=a b  \n"
	rules := must.Get(Read(strings.NewReader(in), "n"))(t)
	var got []string
	for _, r := range rules {
		got = append(got, r.String()+"|"+r.wanted+"|"+r.origin)
	}
	want := []string{"/a||n:2", "GetTask:/b#c=x#y|x#y|n:4", "5.response.event[2]#/e=a b|a b|n:6"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A rule that parses can be applied to anything, and its text parses to the same rule.
func FuzzRead(f *testing.F) {
	f.Add("/a\nGetTask:/b/*=x # why\n# c\n5.response.event[2]#/result/x\nheader[A]=a/.*\nstatus\n", `{"a":[{"b":1}]}`)
	f.Add("*:/~0~1/0\n3.request.body#/params/x\n", `{"~/":[1,[2]],"result":{"x":null}}`)
	f.Fuzz(func(t *testing.T, in, json string) {
		rules, err := Read(strings.NewReader(in), "n")
		if err != nil {
			return
		}
		doc := a2a.Parse([]byte(json))
		for _, r := range rules {
			again, err := parse(r.String())
			if err != nil || again.pointer.String() != r.pointer.String() || again.wanted != r.wanted {
				t.Fatalf("%q is read again as %+v, %v", r.text, again, err)
			}
		}
		s := New(rules...).Of(a2a.GetTask, 3, 5)
		for _, payload := range []string{"", "/result", "/a/0"} {
			whole := Text{Root: doc.Root, Payload: payload}
			out := s.Without(whole)
			if after := a2a.Parse(out.Raw()); doc.Err == nil && after.Err != nil {
				t.Fatalf("%q without %q is not JSON: %q", json, in, out.Raw())
			}
			for _, f := range s.find(whole) {
				if !s.Covers(whole, f.pointer()) {
					t.Fatalf("%q is named and not covered", f.pointer())
				}
			}
			s.Check([]Text{whole}, []Text{whole})
		}
	})
}
