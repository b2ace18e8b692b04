package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"a2atap/proxy/expect"
)

func TestPalette(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("g", "ctrl+p")
		u.sees("exchanges › actions")
		u.typed("next finding")
		u.sees("> n            :next-finding")
		u.press("enter")
		if got := u.m.list.Selected(); got != 4 || u.m.prompt != nil || len(u.m.stack) != 1 {
			t.Errorf("the next finding leads to %d\n%s", got, u.screen())
		}
		u.press("ctrl+p").typed("body cut")
		u.sees("(not here; in detail")
		u.press("enter")
		u.sees("! not here; in detail")
		u.press("backspace", "ctrl+u").typed("xyzzy")
		u.sees("no action matches")
		u.press("enter")
		u.sees("esc goes back")
		if u.press("esc"); len(u.m.stack) != 1 || u.m.prompt != nil {
			t.Errorf("esc does not close the palette:\n%s", u.screen())
		}
		u.press("ctrl+p").typed("explain a rule").press("enter")
		u.sees(" : rule")
		u.typed("stream-closed-on-terminal").press("enter")
		u.sees("› rule stream-closed-on-terminal")
		u.press("esc", "enter", "ctrl+p").typed("raw").press("down", "up", "enter")
		u.sees("decoded")
	})
}

// In the palette ctrl-c quits, and what needs no argument and no list works from anywhere.
func TestPaletteEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, keys := range []string{"", "enter", "l", "W", "e", "?"} {
			u := newUI(t, journey(t), 80, 24, Options{})
			deep := len(u.press(strings.Fields(keys)...).m.stack)
			u.press("ctrl+p").typed("theme dark").press("enter")
			u.sees("theme: dark")
			expect.Equal(t, fmt.Sprintf("panels after %q", keys), deep, len(u.m.stack))
			if u.press("ctrl+p", "ctrl+c"); !u.quit {
				t.Errorf("after %q ctrl-c in the palette does not quit", keys)
			}
			u.close()
		}
	})
}
