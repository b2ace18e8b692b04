package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/tuitest"
)

// nested returns a capture of one call with an answer in which something is nested, and with a finding in it.
func nested(t *testing.T) *capture.Memory {
	t.Helper()
	m := tuitest.Growing(t, 0)
	tuitest.Record(t, m, append(
		tuitest.Asked(1, "POST /a2a HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n\r\n",
			`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t-1"}}`),
		tuitest.Answered(1, `{"jsonrpc":"2.0","id":1,"result":{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"},`+
			`"history":[{"messageId":"m-1","role":"ROLE_PILOT","parts":[{"text":"to Kyoto"}]}]}}`)...))
	return m
}

func TestFolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, nested(t).Reader(), 80, 60, Options{Rules: []*analysis.Rule{}})
		u.press("enter").search(`"status"`).search("")
		const folded = `>    "status": {… 1 member},`
		for _, c := range []struct{ keys, cursor string }{
			{"enter", folded},
			{"enter", `>    "status": {`},
			{"-", folded},
			{"-", `>  "result": {… 4 members}`}, // the one around it
			{"=", `>  "result": {`},
			{"j j j", folded}, // as it was left
			{"=", `>    "status": {`},
			{"j -", folded}, // from inside
			{"j", `>    "history": [`},
			{"-", `>    "history": [… 1 element]`},
			{"j", `>  }`},
			{"-", `>  "result": {… 4 members}`}, // a bracket is in what it closes
			{"_", `>  "result": {… 4 members}`},
			{"_ =", `>  "result": {`},
			{"j j j", `>    "status": {`}, // _ forgets what was folded before
			{"j _", `>  "result": {… 4 members}`},
		} {
			u.press(strings.Fields(c.keys)...)
			if got := u.cursorLine(); got != c.cursor {
				t.Fatalf("after %s the cursor is on %q, want %q\n%s", c.keys, got, c.cursor, u.screen())
			}
		}
		u.sees(`"params": {… 1 member}`)
		u.press("g", "-")
		u.sees("-: the selected line is not in an object or array")
		u.press("=")
		u.sees("=: the selected line is not folded")
		u.press("v", "_")
		u.sees("_: only JSON can be folded; v changes the view")
	})
}

// What is folded stays so at another width, when findings come, and in the events that are opened later.
func TestFoldsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Talk(t, 3, nil)
		u := newUI(t, m.Reader(), 80, 40, Options{})
		u.press("enter").search("statusUpdate").press("-")
		u.sees(`"statusUpdate": {… 3 members}`)
		u.send(sizeOf(40, 40))
		u.pass(time.Second)
		u.sees(`"statusUpdate": {… 3 members}`)
		tuitest.Record(t, m, []capture.Step{tuitest.Status(1, 4, "t-2", "TASK_STATE_WORKING")})
		u.pass(10 * time.Second)
		u.sees("·4 ", `"statusUpdate": {… 3 members}`)
		u.press("_").search(`taskid": "t-2`)
		u.sees("match 1 of 1")
		if got := u.cursorLine(); !strings.HasSuffix(got, ` "taskId": "t-2",`) {
			t.Errorf("the match in a folded object is on %q", got)
		}
	})
}

// A folded value shows its number of findings and matches, and unfolds when the cursor moves to one.
func TestFoldedFindingsAndMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, nested(t).Reader(), 109, 50, Options{})
		u.press("enter", "n")
		finding := u.cursorLine()
		if !strings.HasSuffix(finding, "[msg-role-enum]") {
			t.Fatalf("n goes to %q", finding)
		}
		u.press("_")
		u.sees(`"result": {… 4 members, 1 finding}`)
		u.press("g", "n")
		expect.Equal(t, "n from above goes to", finding, u.cursorLine())
		u.press("_", "_", "n") // from the line in which it is folded
		expect.Equal(t, "n from what is folded goes to", finding, u.cursorLine())
		u.press("_", "_", "G", "N")
		expect.Equal(t, "N from below goes to", finding, u.cursorLine())
		u.press("_", "_").search("/kyoto|pilot/")
		u.sees("match 1 of 2")
		u.press(".")
		u.isOn(`"text": "to Kyoto"`)
		u.press("_", "_")
		u.sees(`"result": {… 4 members, 1 finding, 2 matches}`)
	})
}

// A finding that is opened from elsewhere is unfolded, too.
func TestFindingIsUnfoldedWhenItIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := nested(t)
		tuitest.Record(t, m, tuitest.Call(2, "t-2", "TASK_STATE_PILOT"))
		u := newUI(t, m.Reader(), 109, 50, Options{})
		u.press("g", "enter", "_", "n", "n")
		u.titled("2")
		if got := u.cursorLine(); !strings.HasPrefix(got, ">!") {
			t.Errorf("the finding is opened at %q\n%s", got, u.screen())
		}
		u.sees(`"params": {… 1 member}`)
	})
}
