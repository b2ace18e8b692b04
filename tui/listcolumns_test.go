package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
)

// The wider the list, the more it says; and what it says stands below its heading.
func TestColumns(t *testing.T) {
	e := entry{
		seq: 7, client: "CLIENT", agent: "AGENT", request: "REQUEST", status: "200", took: time.Second, outcome: "OUTCOME",
		size: 4711, trace: "TRACE", message: "MESSAGE",
	}
	below := map[string]string{
		"n": "7", "time": "TIME", "client → agent": "CLIENT", "→ agent": "→ AGENT", "request": "REQUEST", "st": "200",
		"took": "1.000s", "size": "4.7 kB", "trace": "TRACE", "outcome": "OUTCOME", "message": "MESSAGE",
	}
	right := map[string]bool{"n": true, "st": true, "took": true, "size": true}
	for _, c := range []struct {
		width int
		names []string
	}{
		{54, []string{"n", "time", "→ agent", "request", "st", "outcome"}},
		{71, []string{"n", "time", "→ agent", "request", "st", "outcome"}},
		{79, []string{"n", "time", "→ agent", "request", "st", "took", "outcome"}},
		{80, []string{"n", "time", "client → agent", "request", "st", "took", "outcome"}},
		{120, []string{"n", "time", "client → agent", "request", "st", "took", "size", "outcome"}},
		{147, []string{"n", "time", "client → agent", "request", "st", "took", "size", "outcome", "message"}},
		{200, []string{"n", "time", "client → agent", "request", "st", "took", "size", "trace", "outcome", "message"}},
	} {
		columns := listColumns(c.width, 8)
		heading := columns.heading("time").fit(c.width).String()
		row := text(styleText, "  "+padLeft("7", columns.number)+" "+pad("TIME", columns.time)+" ")
		cells := columns.add(row, &e).fit(c.width).String()
		at := 0
		for _, name := range c.names {
			i := strings.Index(heading[at:], name)
			if i < 0 {
				t.Errorf("at %d columns %q is not in %q behind column %d", c.width, name, heading, at)
				break
			}
			at += i
			from := width(heading[:at])
			if right[name] {
				from += width(name) - width(below[name])
			}
			if rest := string([]rune(cells)[from:]); !strings.HasPrefix(rest, below[name]) {
				t.Errorf("at %d columns, below %q is %q, want %q\n%s\n%s", c.width, name, rest, below[name], heading, cells)
			}
			at += len(name)
		}
		if rest := strings.TrimSpace(heading[at:]); rest != "" {
			t.Errorf("at %d columns there is %q too", c.width, rest)
		}
	}
	for columns := range 300 {
		c := listColumns(columns, 1_000_000)
		if used := width(c.add(line{}, &e).String()); c.outcome > 0 && used > columns {
			t.Errorf("at %d columns a row takes %d", columns, used)
		}
	}
}

// A state and a status have a colour, and a sign or a word that says the same.
func TestStatesHaveSignsAndColours(t *testing.T) {
	for _, c := range []struct {
		e    entry
		want []span
	}{
		{entry{status: "200", outcome: "completed, task t", state: "completed"}, []span{
			{text: "200 ", style: styleGood}, {text: "✓ completed", style: styleGood}, {text: ", task t", style: styleDim},
		}},
		{entry{status: "200", outcome: "working", state: "working"}, []span{
			{text: "200 ", style: styleGood}, {text: "… working", style: styleNote},
		}},
		{entry{status: "200", outcome: "input-required", state: "input-required"}, []span{
			{text: "200 ", style: styleGood}, {text: "? input-required", style: styleWarning},
		}},
		{entry{status: "200", outcome: "failed", state: "failed"}, []span{
			{text: "200 ", style: styleGood}, {text: "✗ failed", style: styleError},
		}},
		{entry{status: "200", outcome: "canceled", state: "canceled"}, []span{
			{text: "200 ", style: styleGood}, {text: "⊘ canceled", style: styleWarning},
		}},
		{entry{status: "404", outcome: "TaskNotFoundError (-32001)", failed: true}, []span{
			{text: "404 ", style: styleWarning}, {text: "✗ TaskNotFoundError (-32001)", style: styleWarning},
		}},
		{entry{status: "503", failed: true}, []span{{text: "503 ", style: styleError}, {text: "✗", style: styleWarning}}},
		{entry{status: "–", outcome: "open, 3 events", state: "working"}, []span{
			{text: "  – ", style: styleDim}, {text: "open", style: styleDim}, {text: ", 3 events", style: styleDim},
		}},
	} {
		columns := listColumns(60, 8)
		got := columns.add(line{}, &c.e).spans[2:]
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(span{})); diff != "" {
			t.Errorf("%+v, -want +got:\n%s", c.e, diff)
		}
	}
}

// Rows of a wide list say what was said, and what an error says.
func TestMessagesInTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := growing(t, 0)
		record(t, m, append(sent(1, "traveller", "planner", parent(0xab, 1)), done(1, "t-1")...))
		record(t, m, append(asked(2, "POST /a2a HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\nb3: 0\r\n\r\n",
			`{"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"id":"t-9"}}`),
			answered(2, `{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"there is\n no \u001b[31mtask t-9"}}`)...))
		record(t, m, append(asked(3, "POST /a2a HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\n"+
			"X-B3-TraceId: 463ac35c9f6413ad48485a3953bb6124\r\n\r\n",
			`{"jsonrpc":"2.0","id":3,"method":"GetTask","params":{"id":"t-1"}}`),
			answered(3, `{"jsonrpc":"2.0","id":3,"result":{"id":"t-1","contextId":"c",`+
				`"status":{"state":"TASK_STATE_COMPLETED"},`+
				`"artifacts":[{"artifactId":"a","parts":[{"data":{}},{"text":"two  seats\nto Kyoto"}]}]}}`)...))
		record(t, m, subscribed(4, "t-1"))
		u := newUI(t, m.Reader(), 200, 60, Options{})
		defer u.close()
		u.press("z", "g")
		var rows []string
		for range 4 {
			rows = append(rows, strings.Join(strings.Fields(u.cursorLine())[8:], " "))
			u.press("j")
		}
		want := []string{
			"1.0ms 117 B 00000000 ✓ completed, task t-1 part 1 of a trip",
			"1.0ms 93 B ✗ TaskNotFoundError (-32001), there is no ␛[31mtask t-9",
			"1.0ms 191 B 463ac35c ✓ completed, task t-1 two seats to Kyoto",
			"– 0 B open, 0 events, task t-1",
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("rows, -want +got:\n%s", diff)
		}
	})
}

func TestSizeOfAnAnswer(t *testing.T) {
	long := make([]capture.Event, 2*entryEvents)
	for _, c := range []struct {
		res  *capture.Response
		want int64
	}{
		{nil, capture.NotKnown},
		{&capture.Response{Body: capture.Body{Size: 5}}, 5},
		{&capture.Response{Body: capture.Body{Size: capture.NotKnown, Data: []byte("abc"), Dropped: 4}}, 7},
		{&capture.Response{Body: capture.Body{Size: capture.NotKnown}, Events: []capture.Event{{Raw: []byte("ab")}}}, 2},
		{&capture.Response{Body: capture.Body{Size: capture.NotKnown}, Events: long}, capture.NotKnown},
	} {
		if got := answerSize(c.res); got != c.want {
			t.Errorf("the size of %+v is %d, want %d", c.res, got, c.want)
		}
	}
}
