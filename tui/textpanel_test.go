package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/internal/assembly"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/style"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// chunk is an event that brings a chunk of an artifact.
func chunk(seq uint64, k int, words, flags string) capture.Step {
	at := time.Duration(k) * 10 * time.Millisecond
	return capture.Step{
		Seq: seq, Offset: at,
		What: capture.ResponseEvent{Event: capture.Event{K: k, At: at, Raw: fmt.Appendf(nil,
			"data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"artifactUpdate\":{\"taskId\":\"t-1\",\"contextId\":\"c\","+
				"\"artifact\":{\"artifactId\":\"poem\",\"parts\":[{\"text\":%q}]}%s}}}\n\n", seq, words, flags)}},
	}
}

// litText returns what is lit on the screen.
func (u *ui) litText() (words string) {
	for _, l := range u.m.screen.frame() {
		for _, s := range l.Spans {
			if s.Style == style.Cursor {
				words += s.Text
			}
		}
	}
	return words
}

// The text of a stream is read as a whole, and each event shows what of it has come with it.
func TestTextOfAStream(t *testing.T) {
	for _, size := range []size{narrow, medium, wide} {
		synctest.Test(t, func(t *testing.T) {
			u := newUI(t, journey(t), size.width, size.height, Options{})
			u.press("g", "n", "a")
			u.sees("text of 4", "artifact tickets", "·3 to ·5, 3 chunks, complete")
			u.sees("Car 7, seat 3ACar 7, seat 3B京都行き", "status completed  ·6", "Booked")
			u.press("j", "j", "j")
			expect.Equal(t, "of event 4 is lit", "Car 7, seat 3B", u.litText())
			u.sees("▌   Car 7, seat 3A")
			u.press("n")
			expect.Equal(t, "the next finding is at", load.EventAt(&capture.Exchange{Seq: 4}, 7), u.m.top().Target())
			u.press("n")
			u.sees("no further finding in the events of this exchange")
			u.press("k", "enter")
			d, is := u.m.top().(*detail.Panel)
			if !is || d.Target() != load.EventAt(&capture.Exchange{Seq: 4}, 6) {
				t.Errorf("enter on event 6 opens\n%s", u.screen())
			}
		})
	}
}

// Between the detail and the text one goes back and forth, and keeps the event.
func TestTextAndDetail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 40, Options{})
		u.press("g", "n", "enter", "n", "k", "k", "k", "a")
		if got := u.m.top().Target(); got != load.EventAt(&capture.Exchange{Seq: 4}, 5) {
			t.Errorf("from event 5 the text begins at %v", got)
		}
		expect.Equal(t, "of event 5 is lit", "京都行き", u.litText())
		u.press("k", "enter")
		if len(u.m.stack) != 2 || u.m.top().Target() != load.EventAt(&capture.Exchange{Seq: 4}, 4) {
			t.Errorf("enter leads to %v, %d panels deep", u.m.top().Target(), len(u.m.stack))
		}
		u.press("a", "a")
		if _, is := u.m.top().(*detail.Panel); !is {
			t.Errorf("a second a leads to\n%s", u.screen())
		}
		u.press("a", "tab")
		u.sees("text of 4")
		u.press("j", "G", "g", "tab", "j")
		if got := u.m.top().Target(); got != load.EventAt(&capture.Exchange{Seq: 4}, 5) {
			t.Errorf("the cursor moved with the text, to %v", got)
		}
	})
}

// An answer that is not a stream has text as well.
func TestTextOfAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("g", "j", "j", "a")
		u.sees("artifact plan", "Day one: Fushimi Inari. Day two: Arashiyama.", `"price": 12000.50`)
		u.sees("status completed")
		u.press("tab")
		u.sees("tab: the answer is not a stream")
		u.press("esc", "g", "a")
		u.sees(`"name": "Planner",`)
		u.press("esc", "G", "a")
		u.sees("no event so far", "the recorder ended before the exchange did")
		u.press("esc", "k", "k", "a")
		u.sees("no response was recorded", "✗ reset by agent: connection reset by peer")
		u.press("esc", "k", "a")
		u.sees("✗ TaskNotFoundError (-32001)", "no such task")
		u.press("esc", "j", "j", "a")
		u.sees("the answer is not JSON; the detail shows its body")
	})
}

// A click on an event selects it, one on the text moves there; in a workflow a click selects, too.
func TestClicksOnTextAndTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		click := func(y int) {
			u.send(tea.MouseMsg{X: 20, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			u.pass(300 * time.Millisecond)
		}
		u.press("g", "n", "a")
		click(4)
		if got := u.m.top().Target(); got != load.EventAt(&capture.Exchange{Seq: 4}, 3) {
			t.Errorf("a click on the third event selects %v", got)
		}
		click(15)
		u.press("j")
		if got := u.m.top().Target(); got != load.EventAt(&capture.Exchange{Seq: 4}, 3) {
			t.Errorf("after a click on the text a key leads to\n%s", u.screen())
		}
		u.press("tab", "j") // tab leaves the half that has the keys
		if got := u.m.top().Target(); got != load.EventAt(&capture.Exchange{Seq: 4}, 4) {
			t.Errorf("the text had the keys, and after tab a key leads to %v", got)
		}
		u.press("esc", "W", "tab")
		click(2)
		u.isAt(4)
	})
}

// The text of a notification to a webhook is in its request.
func TestTextOfANotification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		body := `{"statusUpdate":{"taskId":"t-1","contextId":"c","status":{"state":"TASK_STATE_COMPLETED","message":` +
			`{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"All is booked"}]}}}}`
		steps := tuitest.Asked(1, "POST /hook HTTP/1.1\r\nHost: client.example\r\nContent-Type: application/json\r\n\r\n", body)
		tuitest.Record(t, m, append(steps, tuitest.Answered(1, "{}")...))
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.press("a")
		u.sees("status completed", "All is booked")
	})
}

// A continuing stream grows on the screen. The cursor stays, unless it was placed at the end.
func TestTextGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		tuitest.Record(t, m, tuitest.Subscribed(1, "t-1"))
		u := newUI(t, m.Reader(), 120, 30, Options{})
		u.press("a")
		u.sees("no event so far", "still open")
		tuitest.Record(t, m, []capture.Step{chunk(1, 1, "Once", ""), chunk(1, 2, " upon", `,"append":true`)})
		u.pass(3 * time.Second)
		u.sees("Once upon", "2 chunks, no last chunk")
		expect.Equal(t, "lit", "Once", u.litText())
		tuitest.Record(t, m, []capture.Step{chunk(1, 3, " a time", `,"append":true,"lastChunk":true`)})
		u.pass(3 * time.Second)
		u.sees("Once upon a time", "3 chunks, complete")
		expect.Equal(t, "the cursor moved with the stream: lit", "Once", u.litText())
		u.press("G")
		tuitest.Record(t, m, []capture.Step{chunk(1, 4, "Another", "")})
		u.pass(3 * time.Second)
		u.sees("started again", "4 events, following", "replaced by ·4")
		expect.Equal(t, "at the end of the stream is lit", "Another", u.litText())
	})
}

// The panel shows the beginning of a very long stream's text, and reports what is missing.
func TestTextOfALongStream(t *testing.T) {
	const events = assembly.MaxEvents + 5_000
	path := filepath.Join(t.TempDir(), "long.a2atap")
	s := must.Get(bolt.Open(path, bolt.Options{}))(t)
	steps := append(tuitest.Subscribed(1, "t-1"), chunk(1, 1, "word ", ""))
	for k := 2; k <= events; k++ {
		steps = append(steps, chunk(1, k, fmt.Sprint("word", k, " "), `,"append":true`))
	}
	must.Do(t, s.Append(steps...))
	end(t, s)
	r := must.Get(bolt.Read(path))(t)
	defer r.Close()
	u := startUI(t, inParts{r, t}, 120, 40, Options{Rules: []*analysis.Rule{}})
	defer u.cancel()
	u.until("the list", func() bool { return strings.Contains(u.screen(), "SubscribeToTask") })
	u.strike("a")
	u.until("all that is put together", func() bool {
		return strings.Contains(u.screen(), "the first 20,000 of 25,000 events")
	})
	u.strike("G")
	u.sees("·20000", "word20000")
	u.strike("tab")
	u.strike("G")
	u.sees("not assembled here: 5,000 events after ·20000")
}

// A key that is struck before there is a text works when it is there.
func TestKeysBeforeTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 120, 30, Options{})
		u.press("g", "n")
		u.strike("a")
		u.strike("j")
		u.strike("j")
		u.pass(time.Second)
		expect.Equal(t, "two keys lead to", load.EventAt(&capture.Exchange{Seq: 4}, 3), u.m.top().Target())
	})
}
