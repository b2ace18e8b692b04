package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

// Somebody marks what is odd, says why, finds it again by the filter, and it is there the next day.
func TestMarkAndComment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.a2atap.notes")
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 120, 30, Options{Notes: file})
		u.press("g", "j", "x")
		u.sees("2 is marked")
		u.isOn("2*")
		u.press("j", "x", "#").typed("why so late?").press("enter")
		u.sees("# why so late?")
		u.press("x")
		u.sees("3 is no longer marked")
		u.press("/").typed("is:marked").press("enter")
		u.sees("1 of ")
		u.press("x")
		u.sees("0 of ")
		u.press("esc", "g", "j", "j", "enter")
		u.sees("# why so late?")
		u.press("#", "ctrl+u").typed("solved").press("enter")
		u.sees("# solved")
		u.close()

		u = newUI(t, journey(t), 120, 30, Options{Notes: file})
		u.sees("# solved")
		u.press("g", "j", "j", "#", "ctrl+u", "enter")
		u.sees("3 has no comment")
		u.close()
	})
	if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), "solved") {
		t.Errorf("the file has %q, %v", data, err)
	}
}

// A comment can hold anything that a keyboard has, and nothing of it reaches the terminal as a command.
func TestHostileNotes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.a2atap.notes")
	bad := "1 - x \"\\x1b]52;c;AAAA\\a\\u202e\"\nthree is odd\nso is four\n"
	if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 200, 30, Options{Notes: file})
		u.sees("c.a2atap.notes:2: \"three\" is not the number of an exchange; the line is kept, as 1 line like it")
		u.press("g", "#", "ctrl+u").typed("x").press("enter")
		if strings.ContainsAny(u.screen(), "\x1b\a\u202e") {
			t.Errorf("the screen has escape sequences:\n%q", u.screen())
		}
	})
	if data, err := os.ReadFile(file); err != nil || !strings.Contains(string(data), "\nthree is odd\nso is four\n") {
		t.Errorf("the file has %q, %v", data, err)
	}
}

// If the notes file cannot be written, the inspector reports that once, and keeps notes until the end.
func TestNotesThatCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gone", "c.a2atap.notes")
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 160, 30, Options{Notes: file})
		u.press("g", "x")
		u.sees("until you quit: write the notes: lstat ")
		u.press("j", "x")
		u.sees("2 is marked; the filter")
		u.press("/").typed("is:marked").press("enter")
		u.sees("2 of ")
	})
}
