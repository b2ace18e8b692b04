package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/expect"
	"a2atap/tui/text"
)

func TestMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("m")
		u.sees("mouse on")
		u.send(tea.MouseMsg{X: 10, Y: 4, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		u.selects(3)
		u.send(tea.MouseMsg{X: 10, Y: 20, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		u.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown})
		u.selects(4)
		u.press("m")
		u.sees("mouse off")
	})
}

func TestMouseOpensAndGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{Mouse: true})
		click := func(x, y int) {
			u.send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			u.pass(time.Second)
		}
		at := func(words string) int { // its column in the first line
			title, _, _ := strings.Cut(u.screen(), "\n")
			return text.Width(title[:strings.Index(title, words)])
		}
		click(10, 5)
		u.press("k")
		click(10, 5)
		if got := u.m.list.Selected(); got != 4 || len(u.m.stack) != 1 {
			t.Fatalf("clicks with a key between them lead to %d\n%s", got, u.screen())
		}
		click(10, 5)
		u.sees("exchanges › 4 ")
		click(3, 12) // the row of an event, in the lower part
		click(3, 12)
		u.press("l", "e", "?")
		u.sees("exchanges › 4 › ladder of 4 › findings › help")
		click(at("ladder"), 0)
		u.titled("ladder of 4")
		click(at("›"), 0)
		click(at("ladder"), 0)
		u.sees("› ladder of 4 ")
		click(at("exchanges"), 0)
		if len(u.m.stack) != 1 {
			t.Errorf("a click on the first name leads to\n%s", u.screen())
		}
		click(10, 20) // nothing is there
		click(10, 20)
		if len(u.m.stack) != 1 {
			t.Errorf("two clicks on nothing lead to\n%s", u.screen())
		}
		u.press("ctrl+p").typed("findings, with")
		click(10, 1)
		click(10, 1)
		u.sees("exchanges › findings")
		u.press("esc", "q")
		click(10, 5)
		u.sees("Quit?")
		u.press("esc", ":")
		click(10, 3)
		u.selects(4)
	})
}

func TestMouseInPanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 200, 60, Options{})
		click := func(x, y int) {
			u.send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			u.pass(time.Second)
		}
		u.press("m")
		click(10, 6)
		u.isBeside("4 4 findings")
		click(100, 7)
		u.sees("┫ exchange 4 ┣")
		expect.Equal(t, "the cursor of the detail is at", 5, u.m.panes.detail.Window.Cursor)
		click(180, 4)
		u.sees("┫ findings ┣")
		u.send(tea.MouseMsg{X: 10, Y: 10, Button: tea.MouseButtonWheelDown})
		u.send(tea.MouseMsg{X: 100, Y: 10, Button: tea.MouseButtonWheelUp})
		u.pass(time.Second)
		u.selects(5)
		u.sees("┫ findings ┣")
		click(0, 0)
		click(79, 10)
		u.sees("┫ findings ┣")
	})
}
