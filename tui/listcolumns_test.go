package tui

import (
	"strings"
	"testing"
	"testing/synctest"

	"a2atap/proxy/expect"
	"a2atap/tui/tuitest"
)

// Rows of a wide list say what was said, and what an error says.
func TestMessagesInTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		tuitest.Record(t, m, append(sent(1, "traveller", "planner", parent(0xab, 1)), done(1, "t-1")...))
		tuitest.Record(t, m, append(tuitest.Asked(2, "POST /a2a HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\nb3: 0\r\n\r\n",
			`{"jsonrpc":"2.0","id":2,"method":"GetTask","params":{"id":"t-9"}}`),
			tuitest.Answered(2, `{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"there is\n no \u001b[31mtask t-9"}}`)...))
		tuitest.Record(t, m, append(tuitest.Asked(3, "POST /a2a HTTP/1.1\r\nHost: booker.example\r\nA2A-Version: 1.0\r\n"+
			"X-B3-TraceId: 463ac35c9f6413ad48485a3953bb6124\r\n\r\n",
			`{"jsonrpc":"2.0","id":3,"method":"GetTask","params":{"id":"t-1"}}`),
			tuitest.Answered(3, `{"jsonrpc":"2.0","id":3,"result":{"id":"t-1","contextId":"c",`+
				`"status":{"state":"TASK_STATE_COMPLETED"},`+
				`"artifacts":[{"artifactId":"a","parts":[{"data":{}},{"text":"two  seats\nto Kyoto"}]}]}}`)...))
		tuitest.Record(t, m, tuitest.Subscribed(4, "t-1"))
		u := newUI(t, m.Reader(), 200, 60, Options{})
		u.press("z", "g")
		var rows []string
		for range 4 {
			rows = append(rows, strings.Join(strings.Fields(u.cursorLine())[8:], " "))
			u.press("j")
		}
		want := []string{
			"1.0ms 117 B 00000000 ✓ t-1 completed part 1 of a trip",
			"1.0ms 93 B ✗ -32001 TaskNotFound: there is no \ufffd[31mtask t-9, task t-9",
			"1.0ms 191 B 463ac35c ✓ t-1 completed two seats to Kyoto",
			"– 0 B t-1, 0 events, open",
		}
		expect.Same(t, "rows", want, rows)
	})
}
