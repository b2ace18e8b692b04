package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/tuitest"
)

func TestWaysBackAndOut(t *testing.T) {
	for _, c := range []struct {
		name string
		keys string
		quit bool
		deep int // panels on the stack
	}{
		{"q on the list asks", "q", false, 1},
		{"and again quits", "q q", true, 1},
		{"esc on the list does not", "esc esc esc", false, 1},
		{"q in the detail goes back", "enter q", false, 1},
		{"Q in the detail quits", "enter Q Q", true, 2},
		{"ctrl-c quits anywhere", "enter ? ctrl+c", true, 3},
		{"step by step", "l d e esc esc esc esc", false, 1},
		{"esc closes the help", "enter ? esc", false, 2},
		{"help on help stays", "? ?", false, 2},
		{"keys of the filter are text", "/ q Q", false, 1},
		{"left goes back", "enter left", false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUI(t, journey(t), 80, 24, Options{})
				u.press(strings.Fields(c.keys)...)
				if u.quit != c.quit || len(u.m.stack) != c.deep {
					t.Errorf("after %s: quit %v and %d panels, want %v and %d\n%s", c.keys, u.quit, len(u.m.stack), c.quit, c.deep,
						u.screen())
				}
			})
		})
	}
}

func TestQuittingARecordingAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, tuitest.Growing(t, 2).Reader(), 80, 24, Options{QuitEnds: "Quitting ends the recording."})
		u.press("q")
		u.sees("Quitting ends the recording. q again to quit, any other key to stay")
		u.press("k")
		if u.quit {
			t.Fatal("it quit although the user stayed")
		}
		if u.press("Q", "Q"); !u.quit {
			t.Error("Q twice does not quit")
		}
	})
}

func TestKeysStruckTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("gjjj")}) // what the library makes of fast typing
		u.drain()
		u.selects(4)
		u.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("QQ"), Paste: true})
		if u.drain(); u.quit {
			t.Error("pasted text is taken for keys")
		}
	})
}

func TestMoving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, tuitest.Growing(t, 100).Reader(), 80, 24, Options{})
		for _, c := range []struct {
			key  string
			want uint64
		}{
			{"g", 1},
			{"k", 1},
			{"j", 2},
			{"down", 3},
			{"up", 2},
			{"space", 22},
			{"ctrl+f", 42},
			{"ctrl+b", 22},
			{"b", 2},
			{"b", 1},
			{"G", 100},
			{"j", 100},
			{"home", 1},
			{"end", 100},
		} {
			u.press(c.key)
			expect.Equal(t, fmt.Sprintf("%s selects", c.key), c.want, u.m.list.Selected())
			if u.cursorLine() == "" || strings.Contains(u.screen(), "…\n") {
				t.Errorf("after %s the screen lacks the cursor or a row:\n%s", c.key, u.screen())
			}
		}
	})
}

func TestResizeKeepsSelection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, tuitest.Growing(t, 100).Reader(), 80, 24, Options{})
		u.press("k", "k", "k")
		for _, size := range []tea.Msg{sizeOf(80, 5), sizeOf(0, 0), sizeOf(20, 5), sizeOf(200, 60), sizeOf(80, 24)} {
			u.send(size)
			u.pass(time.Second)
			u.selects(97)
		}
		if !strings.HasPrefix(u.cursorLine(), ">  97 ") {
			t.Errorf("the cursor is at %q", u.cursorLine())
		}
	})
}

func TestResizeKeepsPlaceInDetail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("g", "n", "enter", "n", "k", "k")
		want := u.m.top().Target()
		for _, size := range []tea.Msg{sizeOf(40, 12), sizeOf(120, 40), sizeOf(20, 5), sizeOf(80, 24)} {
			u.send(size)
			u.pass(time.Second)
			expect.Equal(t, fmt.Sprintf("at %v the cursor is at", size), want, u.m.top().Target())
		}
	})
}

func TestFilterAsYouType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 120, 40, Options{})
		u.press("g", "j") // exchange 2
		u.press("/").typed("task:plan-7f3a")
		u.lists(2, 3)
		u.selects(2)
		u.typed(" state:")
		u.sees("^ column 22: state has no value")
		u.typed("working")
		u.lists(2)
	})
}

func TestFilterErrorsKeepTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 120, 40, Options{})
		u.press("/").typed("is:error").press("enter")
		u.sees("2 of 8 exchanges")
		u.press("/").typed(" (state:failed").press("enter")
		u.sees("^ column 10: this parenthesis is not closed", "2 of 8 exchanges")
		u.press("esc")
		u.sees(" / is:error")
		if u.m.list.Filter.Typing() {
			t.Error("esc does not close the line")
		}
		u.press("esc")
		u.sees("8 exchanges")
		if _, filtered := u.m.list.Matches(); filtered {
			t.Error("esc does not take the filter off")
		}
		u.press("esc")
		u.sees("no filter is set; Q quits")
	})
}

func TestFindingsOneAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("g")
		var list, detail []string
		for range 4 {
			list = append(list, fmt.Sprint(u.press("n").m.list.Selected()))
		}
		u.sees("·  8")
		u.press("n")
		u.sees("no finding further down; continuing at the top")
		expect.Same(t, "n in the list", []string{"4", "6", "7", "8"}, list)
		u.press("g", "enter")
		for range 5 { // a finding about a whole request is below its first line
			u.press("n")
			detail = append(detail, u.m.top().Title()+" "+u.cursorLine()[:10])
		}
		expect.Same(t, "n in the detail",
			[]string{"4 >│ ! sta", "6 >→ POST ", "6 >! CancelT", "7 >! not JSO", "8 >· the st"}, detail)
		u.press("N", "N", "N")
		u.titled("4")
		u.press("e", "enter")
		if got := u.cursorLine(); !strings.HasPrefix(got, ">│ ! status") {
			t.Errorf("a finding opens at %q", got)
		}
	})
}

func TestNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("/").typed("agent:booker").press("enter", "g", "enter")
		u.titled("4")
		u.press("]", "]", "[", "v", "]")
		u.titled("6")
		u.sees("decoded")
		u.press("[", "[", "[")
		u.sees("no further exchange in the list")
		u.press("esc")
		u.selects(4)
	})
}

// Keys that are typed faster than exchanges load are not lost.
func TestNeighboursTypedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("g")
		for _, k := range []string{"enter", "]", "]", "v", "]", "[", "]"} {
			u.strike(k)
		}
		u.pass(time.Second)
		u.titled("4")
		u.sees("decoded")
	})
}

func TestSections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("g", "enter")
		var lines []string
		for range 4 {
			lines = append(lines, u.cursorLine())
			u.press("tab")
		}
		want := []string{
			">→ GET /.well-known/agent-card.json HTTP/1.1", ">← HTTP/1.1 200 OK",
			">  a2a, forwarded as http://127.0.0.1:7001/a2a", ">→ GET /.well-known/agent-card.json HTTP/1.1",
		}
		expect.Same(t, "tab", want, lines)
	})
}

func TestKeysThatDoNothingSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clean := recorded(t, "clean", nil)
		u := newUI(t, clean, 80, 24, Options{})
		u.sees("nothing recorded")
		for key, why := range map[string]string{
			"enter": "enter: nothing is selected", "l": "l: nothing is selected", "n": "n: there is no finding",
			"F": "F: the recording has ended", "y": "y: nothing is selected", ".": ".: there is no search; s starts one",
		} {
			u.press(key)
			u.sees(why)
		}
		u.press("e")
		u.sees("no finding, but nothing was checked")
	})
}

func TestBigBodyIsCutAndLoadsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		tuitest.Record(t, m, append(tuitest.Asked(1, "POST /a2a HTTP/1.1\r\nHost: booker.example\r\n\r\n", "{}"),
			tuitest.Answered(1, `{"jsonrpc":"2.0","id":1,"result":["`+strings.Repeat("kyoto ", 40_000)+`"]}`)...))
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.press("enter")
		short := u.m.top().(*detail.Panel).Length()
		u.press("G", "k", "k")
		u.sees("… 65.5 kB of 240.0 kB; + shows more")
		u.press("+")
		if long := u.m.top().(*detail.Panel).Length(); long < 3*short {
			t.Errorf("+ makes %d lines of %d", long, short)
		}
		u.press("+")
		u.sees("+: the whole exchange is shown")
	})
}

func TestCompressedBodyIsShownDecoded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		steps := append(tuitest.Asked(1, "POST /a2a HTTP/1.1\r\nHost: booker.example\r\n\r\n", "{}"),
			tuitest.Answered(1, gzipped(t, `{"city":"Kyoto"}`))...)
		steps[3].What = capture.ResponseHead{
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\n"),
		}
		tuitest.Record(t, m, steps)
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.press("enter", "tab", "tab")
		u.sees(`"city": "Kyoto"`)
		u.press("v", "v")
		u.sees("000000  1f 8b")
	})
}

// The exchanges that the filter is:failed finds are gone to one after the other, in the list and in the detail, and after
// the last the first again.
func TestFailuresOneAfterAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("/").typed("is:failed").press("enter")
		failed := append([]uint64{}, u.matches()...)
		if len(failed) < 2 || failed[0] == 1 {
			t.Fatalf("failed are %d; want several, and not the first", failed)
		}
		u.press("esc", "g")
		var list, detail []uint64
		for range failed {
			list = append(list, u.press(")").m.list.Selected())
		}
		expect.Same(t, ") in the list", failed, list)
		u.press(")")
		u.sees("no failure further down; continuing at the top")
		if got := u.m.list.Selected(); got != failed[0] {
			t.Errorf("after the last comes %d, want the first, %d", got, failed[0])
		}
		u.press("G", "enter")
		for range failed {
			detail = append(detail, u.press("(").m.top().Target().Exchange)
		}
		slices.Reverse(detail)
		if last := failed[len(failed)-1]; last == u.m.shared.Info.Exchanges { // that is where it began
			detail = append(detail[1:], last)
		}
		expect.Same(t, "( in the detail", failed, detail)
		u.press("esc", "/").typed("not is:failed").press("enter", ")")
		u.sees("no exchange of the list failed")
	})
}

// With the filter is:failed, n goes to what failed, in the list and in the detail; so it does where nothing but failed calls
// was found.
func TestNextFindingIsTheNextFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("/").typed("is:failed").press("enter")
		failed := append([]uint64{}, u.matches()...)
		u.press("g")
		for _, key := range []string{"n", "N"} {
			if key == "N" {
				slices.Reverse(failed)
			}
			for _, want := range append(failed[1:len(failed):len(failed)], failed[0]) {
				if got := u.press(key).m.list.Selected(); got != want {
					t.Errorf("%s leads to %d, want %d of %d", key, got, want, failed)
				}
			}
			if key == "n" {
				u.sees("no failure further down; continuing at the top")
				u.press("G")
			}
		}
		u.sees("no failure further up; continuing at the end")
	})
	synctest.Test(t, func(t *testing.T) {
		src := twoRuns(t, func(x *capture.Exchange) {
			body := []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the database is gone"}}`)
			x.Response = &capture.Response{
				Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"),
				Body: capture.Body{Data: body, Size: int64(len(body)), Complete: true},
			}
		})
		u := newUI(t, src, 80, 24, Options{})
		u.press("n")
		if got := u.m.list.Selected(); got != 2 || u.m.shared.Found.Total() > 0 {
			t.Errorf("n leads to %d, want 2, which failed:\n%s", got, u.screen())
		}
	})
}

// A finished capture opens at its first exchange, one that grows at its newest.
func TestWhereACaptureOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 40)
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.selects(40)
		u.close()
		end(t, m)
		u = newUI(t, m.Reader(), 80, 24, Options{})
		if got := u.m.list.Selected(); got != 1 || u.cursorRow() != 2 {
			t.Errorf("a finished one opens at %d, in line %d of the screen", got, u.cursorRow())
		}
	})
}

// The exchange's own error comes before the reason why it broke off.
func TestErrorBeforeWhoLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := twoRuns(t, func(x *capture.Exchange) {
			last := &x.Response.Events[len(x.Response.Events)-1]
			last.Raw = []byte("data: " + `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the database is gone"}}` + "\n\n")
			x.Fault = &capture.TransportFault{Kind: "client-left", Side: "client", Detail: "connection closed"}
		})
		u := newUI(t, src, 80, 40, Options{})
		u.press("G", "enter", "G")
		u.sees("✗ -32603 InternalError: the database is gone\n ✗ client-left by client: connection closed\n")
	})
}

// Messages are shown completely, in as many lines as they need.
func TestLongMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		words := "begin " + strings.Repeat("of a long story ", 8) + "end"
		u.m.shared.Message = words
		lines := strings.Split(strings.TrimRight(u.screen(), "\n"), "\n")
		got := strings.Join(strings.Fields(strings.Join(lines[len(lines)-2:], " ")), " ")
		if len(lines) != 24 || got != words {
			t.Errorf("the last two of %d lines are %q, want %q", len(lines), got, words)
		}
	})
}
