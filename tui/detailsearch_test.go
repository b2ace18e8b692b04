package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture"
	"a2atap/tui/internal/style"
	"a2atap/tui/internal/tuitest"
)

// search types what to search for.
func (u *ui) search(words string) *ui {
	u.press("s", "ctrl+u")
	return u.typed(words).press("enter")
}

// From match to match through events that are closed, round the end of the exchange, and back.
func TestSearchInAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Talk(t, 3_000, map[int]string{1_500: "to Kyoto, then Kyoto again", 2_900: "K\\u0079oto"})
		end(t, m)
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.press("enter").search("kyoto")
		u.sees("match 1 of 3")
		u.isOn(`"note": "to Kyoto, then Kyoto again"`)
		u.press(".")
		u.sees("match 2 of 3")
		u.press(".")
		u.sees("match 3 of 3")
		u.isOn(`"note": "K\u0079oto"`)
		if n := strings.Count(u.screen(), "▾ ·"); n > 1 {
			t.Errorf("%d events are open; those of earlier matches should be closed", n)
		}
		u.press(".")
		u.sees("match 1 of 3", "no match further down; the search continues at the top")
		u.press(",")
		u.sees("match 3 of 3", "no match further up; the search continues at the end")
		u.press(",", ",")
		u.sees("match 1 of 3")
		u.press("G", ",")
		u.sees("match 3 of 3")
		u.press("g", ".")
		u.sees("match 1 of 3")
		u.search("Osaka")
		u.sees("no match for Osaka")
		u.search("").press(".")
		u.sees(".: there is no search; s starts one")
	})
}

// The search continues while a stream is recorded.
func TestSearchFollowsAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Talk(t, 3, map[int]string{2: "kyoto"})
		u := newUI(t, m.Reader(), 80, 24, Options{})
		u.press("enter").search("kyoto")
		u.sees("match 1 of 1")
		tuitest.Record(t, m, []capture.Step{tuitest.Says(1, 4, "kyoto"), tuitest.Says(1, 5, "osaka")})
		u.pass(10 * time.Second)
		u.sees("match 1 of 2")
		u.press(".")
		u.sees("match 2 of 2", "·4 ")
	})
}

// A search that takes long says how far it is, and esc or leaving ends it.
func TestSearchIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Talk(t, 3_000, map[int]string{2_900: "kyoto", 10: "kyoto"})
		end(t, m)
		src := &steady{Source: m.Reader()}
		u := newUI(t, src, 80, 24, Options{})
		u.press("enter")
		u.pass(20 * time.Second)
		u.press("s").typed("kyoto")
		u.strike("enter")
		u.pass(200 * time.Millisecond)
		u.sees("match 1 of 1, searching ")
		u.press(".")
		u.sees("match 1 of 1, searching ") // the next is not known yet
		u.press("esc")
		u.sees("the search was stopped; . continues it")
		if got := len(u.m.stack); got != 2 {
			t.Fatalf("esc left the detail: %d panels", got)
		}
		u.pass(time.Second)
		before := src.steps.Load()
		u.pass(10 * time.Second)
		if got := src.steps.Load(); got != before {
			t.Errorf("%d steps were read after the search was stopped", got-before)
		}
		u.press(".")
		u.pass(20 * time.Second)
		u.sees("match 2 of 2")

		u.press("esc", "enter")
		u.pass(20 * time.Second) // it is read again, and searched
		u.press("v")
		u.pass(200 * time.Millisecond)
		u.sees("searching ")
		u.press("esc", "esc")
		u.pass(time.Second)
		before = src.steps.Load()
		u.pass(10 * time.Second)
		if got := src.steps.Load(); got != before {
			t.Errorf("%d steps were read after the detail was left", got-before)
		}
	})
}

func TestSearchInBodies(t *testing.T) {
	for _, c := range []struct{ name, body, look, line, count string }{
		{"what a compressed body says", `{"city":"Kyoto"}`, "kyoto", `"city": "Kyoto"`, "match 1 of 1"},
		{"a letter that was escaped", `{"a":"K\u00fcche"}`, "Küche", `"a": "K\u00fcche"`, "match 1 of 1"},
		{"as JSON is laid out", `{"a":1,"b":"x"}`, `"b": "x"`, `"b": "x"`, "match 1 of 1"},
		{"an expression", `["t-1","t-22","t-x"]`, `/T?t-\d\d/`, `"t-22"`, "match 1 of 1"},
		{
			"beyond what is shown at first",
			`["` + strings.Repeat("a ", 60_000) + `","kyoto"]`, "kyoto", `"kyoto"`, "match 1 of 1",
		},
		{"a header", `{}`, "text/json", "Content-Type: text/json", "match 1 of 1"},
		{"text", `no JSON, but Kyoto`, "but k", "no JSON, but Kyoto", "match 1 of 1"},
		{"not our own words", `{}`, "ended after", "", "0 matches"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := tuitest.Growing(t, 0)
				steps := append(tuitest.Asked(1, "POST /a2a HTTP/1.1\r\nHost: booker.example\r\n\r\n", "{}"),
					tuitest.Answered(1, gzipped(t, c.body))...)
				steps[3].What = capture.ResponseHead{
					Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: text/json\r\nContent-Encoding: gzip\r\n\r\n"),
				}
				tuitest.Record(t, m, steps)
				u := newUI(t, m.Reader(), 80, 24, Options{})
				u.press("enter").search(c.look)
				u.sees(c.count)
				u.isOn(c.line)
			})
		})
	}
}

// Errors of an expression are shown where it is typed.
func TestSearchErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 120, 24, Options{})
		u.press("enter", "s").typed("/(a/").press("enter")
		u.sees("! invalid regular expression: missing closing ): `(a`")
		u.typed("x").press("backspace", "backspace").typed(")/").press("enter")
		u.sees("match 1 of ")
	})
}

// Matches are highlighted, the current one more than the others, even without color.
func TestMatchesAreLit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 0)
		tuitest.Record(t, m, append(tuitest.Asked(1, "POST /kyoto HTTP/1.1\r\nHost: kyoto.example\r\n\r\n", ""),
			tuitest.Answered(1, `"`+strings.Repeat("-", 74)+`kyoto"`)...))
		u := newUI(t, m.Reader(), 80, 24, Options{Theme: style.Plain})
		u.press("enter").search("kyoto")
		for _, want := range []string{
			"\x1b[7;1;4mkyoto\x1b[0m", " \x1b[4mkyoto\x1b[0m.example", "-\x1b[4mkyot\x1b[0m\n", " \x1b[4mo\x1b[0m\"",
		} {
			if got := u.m.View(); !strings.Contains(got, want) {
				t.Errorf("the screen lacks %q:\n%q", want, got)
			}
		}
		u.sees("match 1 of 3")
		u.press(".", ".")
		u.sees("match 3 of 3")
		if got := u.m.View(); !strings.Contains(got, "\x1b[7;1;4mkyot\x1b[0m") {
			t.Errorf("the third match is not lit as the one that was gone to:\n%q", got)
		}
	})
}

// The commands do what the keys do.
func TestSearchAndCopyByCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, towns(t, "kyoto", "osaka", "kyoto").Reader(), 80, 24, Options{})
		u.press("g").command("search kyoto").command("next-match")
		u.sees("match 2 of 2")
		u.press("enter").command("search /osa(/")
		u.sees("missing closing )")
		u.press("esc")
		u.command(`search "id": "kyoto`)
		u.sees("match 1 of 2")
		u.command("copy pointer")
		u.sees("/params/id")
		u.press("esc").command("copy event")
		u.sees("no event is selected")
		u.press("esc").command("copy valeu")
		u.sees("value")
		u.press("esc", "l").command("search osaka")
		u.sees("3 exchanges, match 1 of 1")
	})
}
