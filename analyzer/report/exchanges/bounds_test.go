package exchanges

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture/notes"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// poll returns an exchange that asks for a task, in a transcript.
func poll(n int, task string) string {
	return fmt.Sprintf(`-- %d.request --
POST /rpc HTTP/1.1
Host: booker.example
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":%d,"method":"GetTask","params":{"id":"%s"}}
-- %d.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"jsonrpc":"2.0","id":%d,"result":{"id":"%s","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}
`, n, n, task, n, n, task)
}

// at returns a finding at a place, by the first rule.
func at(exchange uint64, severity analysis.Severity, part, pointer string) analysis.Finding {
	place := analysis.Place{Exchange: exchange, Response: true, Part: part, Pointer: pointer, HasPointer: pointer != ""}
	return analysis.Finding{Rule: rules.All[0], Severity: severity, Place: place, Seen: "seen", Expected: "expected"}
}

func seqs(s *Section) []uint64 {
	var list []uint64
	for _, it := range s.captures[0].items {
		list = append(list, it.seq)
	}
	return list
}

// Of many exchanges those with findings are shown first, then those that belong to them, then the earliest; and the
// page says how many are not there.
func TestWhichExchangesAreShown(t *testing.T) {
	var text strings.Builder
	for n := range 40 {
		text.WriteString(poll(n+1, fmt.Sprintf("t%d", n%20)))
	}
	c, _ := open(t, "polls.txtar", []byte(text.String()))
	findings := []analysis.Finding{
		at(25, analysis.Error, "body", "/result"), at(30, analysis.Note, "body", ""), at(31, analysis.Warning, "status", ""),
	}
	c.Findings = len(findings)
	for _, test := range []struct {
		most    int
		chosen  []uint64
		want    []uint64
		anchors []string
		left    string
	}{
		{1, nil, []uint64{25}, []string{"f1", "", ""}, "39 of 40 exchanges of polls.txtar are not on the page"},
		{2, nil, []uint64{25, 30}, []string{"f1", "f2", ""}, "38 of 40"},
		{5, nil, []uint64{5, 10, 25, 30, 31}, []string{"f1", "f2", "f3"}, "35 of 40"},
		{7, nil, []uint64{1, 5, 10, 11, 25, 30, 31}, []string{"f1", "f2", "f3"}, "33 of 40"},
		{5, []uint64{7, 8, 30, 39}, []uint64{7, 8, 30, 39}, []string{"", "f2", ""}, ""},
		{5, []uint64{}, nil, []string{"", "", ""}, ""},
	} {
		c.Chosen = test.chosen
		s, err := read(t.Context(), []Capture{c}, findings, limits{exchanges: test.most, bytes: 1 << 20, arrows: 10})
		must.Do(t, err)
		if got := seqs(s); !slices.Equal(got, test.want) {
			t.Errorf("at most %d: got %v, want %v", test.most, got, test.want)
		}
		for i, want := range test.anchors {
			expect.Equal(t, fmt.Sprintf("at most %d: finding %d stands at", test.most, i), want, s.Anchor(i))
		}
		page := write(t, s)
		check(t, page)
		left := strings.Join(s.LeftOut(), "\n")
		if !strings.HasPrefix(left, test.left) || (left == "") != (test.left == "") {
			t.Errorf("at most %d: left out is %q, want %q", test.most, left, test.left)
		}
		for _, words := range s.LeftOut() {
			if !strings.Contains(page, words) {
				t.Errorf("the page does not say %q", words)
			}
		}
	}
}

// When the page is full, exchanges are listed without their contents, those with findings last. Their findings are
// still shown.
func TestFullPage(t *testing.T) {
	var text strings.Builder
	for n := range 20 {
		text.WriteString(poll(n+1, "t1"))
	}
	c, _ := open(t, "polls.txtar", []byte(text.String()))
	findings := []analysis.Finding{
		at(19, analysis.Error, "body", "/result/id"), at(20, analysis.Error, "body", "/result/id"),
	}
	c.Findings = 2
	s := must.Get(read(t.Context(), []Capture{c}, findings, limits{exchanges: 100, bytes: 2000, arrows: 10}))(t)
	page := write(t, s)
	ids := check(t, page)
	if got := strings.Count(page, "The contents are left out"); got != 18 || s.cuts.contents != got {
		t.Errorf("%d exchanges have no contents, and %d are counted; want 18", got, s.cuts.contents)
	}
	for _, want := range []string{"1.request", "19.request", "f1", "f2"} {
		expect.Equal(t, fmt.Sprintf("how often %s is there", want), 1, ids[want])
	}
	if !strings.Contains(page, "arrows left out") {
		t.Error("the ladder does not say what it leaves out")
	}
}

// Of a long stream there are the ends, and what lies between where a finding is.
func TestLongStream(t *testing.T) {
	var text strings.Builder
	text.WriteString(`-- 1.request --
POST /rpc HTTP/1.1
Host: booker.example
Content-Type: application/json
A2A-Version: 1.0

{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}
-- 1.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

`)
	const events = 1000
	for range events {
		text.WriteString(`data: {"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c",` +
			`"status":{"state":"TASK_STATE_WORKING"}}}}` + "\n\n")
	}
	c, _ := open(t, "stream.txtar", []byte(text.String()))
	findings := []analysis.Finding{at(1, analysis.Error, "event[500]", "/result"), at(1, analysis.Note, "event[3]", "")}
	c.Findings = 2
	s := must.Get(Read(t.Context(), []Capture{c}, findings))(t)
	page := write(t, s)
	ids := check(t, page)
	for id, want := range map[string]int{
		"f1": 1, "f2": 1, "1.response.event[1]": 1, "1.response.event[60]": 1, "1.response.event[61]": 0,
		"1.response.event[500]": 1, "1.response.event[501]": 0, "1.response.event[1000]": 1,
	} {
		expect.Equal(t, fmt.Sprintf("how often %s is there", id), want, ids[id])
	}
	if got, want := s.cuts.events, events-2*maxEvents-1; got != want {
		t.Errorf("%d events are left out, want %d", got, want)
	}
	if !strings.Contains(page, "·61–499 not drawn") {
		t.Error("the ladder does not say which events it leaves out")
	}
}

// A text that is too long is cut, but not where a finding is.
func TestLongText(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"list":[`)
	for n := range 20000 {
		fmt.Fprintf(&b, `{"number":%d},`, n)
	}
	b.WriteString(`0],"last":{"wrong":true}}`)
	task := `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`
	text := strings.Replace(poll(1, "t"), task, b.String(), 1)
	c, _ := open(t, "long.txtar", []byte(text))
	findings := []analysis.Finding{
		at(1, analysis.Error, "body", "/result/list/15000/number"), at(1, analysis.Error, "body", "/result/last/missing"),
	}
	c.Findings = 2
	s := must.Get(Read(t.Context(), []Capture{c}, findings))(t)
	page := write(t, s)
	ids := check(t, page)
	if ids["f1"] != 1 || ids["f2"] != 1 || s.cuts.bodies != 1 {
		t.Errorf("the findings are there %d and %d times, and %d texts are cut", ids["f1"], ids["f2"], s.cuts.bodies)
	}
	if len(page) > 2*maxBody {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, want := range []string{
		`<mark><span class="n">&#34;number&#34;</span>: <span class="v">15000</span></mark>`,
		`<mark><span class="n">&#34;last&#34;</span>: {</mark>`, "values left out",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// Several captures have ids of their own.
func TestSeveralCaptures(t *testing.T) {
	a, _ := open(t, "a.txtar", []byte(poll(1, "t")))
	b, _ := open(t, "b.txtar", []byte(poll(1, "t")+poll(2, "t")))
	a.Findings, b.Findings = 1, 2
	findings := []analysis.Finding{
		at(1, analysis.Error, "body", ""), at(2, analysis.Note, "body", "/result"), at(1, analysis.Note, "", ""),
	}
	s := must.Get(Read(t.Context(), []Capture{a, b}, findings))(t)
	page := write(t, s)
	ids := check(t, page)
	for _, want := range []string{"1/1.request", "2/1.response", "2/2", "f1", "f2", "f3"} {
		expect.Equal(t, fmt.Sprintf("how often %s is there", want), 1, ids[want])
	}
	if strings.Index(page, `id="f1"`) > strings.Index(page, "b.txtar") {
		t.Error("the finding of the first capture stands in the second")
	}
}

// Users' notes on an exchange are shown.
func TestNotedExchanges(t *testing.T) {
	c, _ := open(t, "a.txtar", []byte(poll(1, "t")+poll(2, "t")))
	c.Findings = 0
	x := must.Get(c.Source.Exchange(t.Context(), 2))(t)
	c.Notes = (&notes.Notes{}).With(notes.Note{Seq: 2, ID: x.ID, Marked: true, Comment: "why <working>?"})
	s := must.Get(Read(t.Context(), []Capture{c}, nil))(t)
	page := write(t, s)
	check(t, page)
	_, second, _ := strings.Cut(page, ` id="2"`)
	for _, want := range []string{`<span class="kind">marked</span>`, "why &lt;working&gt;?"} {
		if strings.Count(page, want) != 1 || !strings.Contains(second, want) {
			t.Errorf("%s is there %d times", want, strings.Count(page, want))
		}
	}
}

// Whatever bytes are in a body, the page has only the expected elements, and shows the finding once.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,{"b":"</pre>"}],"a":null}`, "<script>", "\x00\x01\xff", "{", `[[[[]]]]`, "line\r\nline\n\n", "",
		`{"x":"` + strings.Repeat("\u202e", 3) + `"}`,
		`{"` + strings.Repeat("n", 5000) + `":"` + strings.Repeat("é", 5000) + `"}`,
	} {
		f.Add([]byte(s), "/a/1/b")
	}
	f.Fuzz(func(t *testing.T, data []byte, pointer string) {
		w := &writer{page: &page{}, cuts: &cuts{}}
		found := at(1, analysis.Error, "body", pointer)
		one := &finding{Finding: &found, id: "f1"}
		w.content(data, []*finding{one}, maxData)
		if !one.placed {
			t.Error("the finding does not stand anywhere")
		}
		text := w.take()
		if ids := check(t, text); ids["f1"] != 1 {
			t.Errorf("the finding stands there %d times", ids["f1"])
		}
		if len(text) > 40*maxData {
			t.Errorf("%d bytes become %d", len(data), len(text))
		}
	})
}
