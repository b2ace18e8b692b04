package tui

import (
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

func TestMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		defer u.close()
		u.press("m")
		u.sees("mouse on")
		u.send(tea.MouseMsg{X: 10, Y: 4, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		if got := u.m.list.selected(); got != 3 {
			t.Errorf("a click on the fifth line selects %d, want 3", got)
		}
		u.send(tea.MouseMsg{X: 10, Y: 20, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
		u.send(tea.MouseMsg{Button: tea.MouseButtonWheelDown})
		if got := u.m.list.selected(); got != 4 {
			t.Errorf("the wheel selects %d, want 4", got)
		}
		u.press("m")
		u.sees("mouse off")
	})
}

func TestMouseInPanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 200, 60, Options{})
		defer u.close()
		click := func(x, y int) {
			u.send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			u.pass(time.Second)
		}
		u.press("m")
		click(10, 6)
		if got := u.beside(); got != "4 4 findings" {
			t.Errorf("a click on the fourth row shows %s", got)
		}
		click(150, 7)
		u.sees("┫ exchange 4 ┣")
		if got := u.m.panes.detail.window.cursor; got != 5 {
			t.Errorf("the cursor of the detail is at %d, want 5", got)
		}
		click(10, 33)
		u.sees("┫ findings ┣")
		u.send(tea.MouseMsg{X: 10, Y: 10, Button: tea.MouseButtonWheelDown})
		u.send(tea.MouseMsg{X: 150, Y: 10, Button: tea.MouseButtonWheelUp})
		u.pass(time.Second)
		if got := u.m.list.selected(); got != 5 {
			t.Errorf("the wheel over the list selects %d, want 5", got)
		}
		u.sees("┫ findings ┣")
		click(0, 0)
		click(100, 10)
		u.sees("┫ findings ┣")
	})
}
