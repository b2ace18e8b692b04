package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/tui/internal/command"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct{ line, verb, argument string }{
		{"", "", ""},
		{"quit", "quit", ""},
		{" :quit ", "quit", ""},
		{"filter  agent:booker or  is:open ", "filter", "agent:booker or  is:open"},
		{"12", "12", ""},
	} {
		if verb, argument := command.Split(c.line); verb != c.verb || argument != c.argument {
			t.Errorf("%q is %q and %q, want %q and %q", c.line, verb, argument, c.verb, c.argument)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		query string
		want  bool
	}{
		{"", true},
		{"  ", true},
		{"findING", true},
		{"next find", true},
		{"finding next", true},
		{"finding previous", false},
	} {
		if got := command.Matches(c.query, "to the next finding, in later exchanges too"); got != c.want {
			t.Errorf("%q: got %v, want %v", c.query, got, c.want)
		}
	}
}

// walk takes steps through a history and returns what is then in the line.
func walk(h *command.History, line string, steps string) string {
	for _, s := range steps {
		next, ok := "", false
		if s == '^' {
			next, ok = h.Older(line)
		} else {
			next, ok = h.Newer()
		}
		if ok {
			line = next
		}
	}
	return line
}

func TestHistory(t *testing.T) {
	for _, c := range []struct{ typed, steps, want string }{
		{"", "^", "goto 5"},
		{"", "^^", "theme dark"},
		{"", "^^^", "filter is:open"},
		{"", "^^^^^", "filter is:open"},
		{"", "^^v", "goto 5"},
		{"th", "^v", "th"},
		{"half", "^", "half"},
		{"f", "^", "filter is:open"},
		{"f", "^vv", "f"},
		{"none", "v", "none"},
	} {
		var h command.History
		for _, line := range []string{"goto 5", "filter is:open", "theme dark", " ", "goto 5"} {
			h.Add(line)
		}
		expect.Equal(t, fmt.Sprintf("%s from %q leads to", c.steps, c.typed), c.want, walk(&h, c.typed, c.steps))
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var h command.History
	for i := range 1000 {
		h.Add(fmt.Sprint("goto ", i))
	}
	expect.Equal(t, "the oldest line", "goto 800", walk(&h, "", strings.Repeat("^", 1000)))
}

func TestComplete(t *testing.T) {
	c := command.Complete("theme ", "d", []string{"auto", "dark", "Dim", "dark", "light"})
	if want := []string{"dark", "Dim"}; !slices.Equal(c.Words, want) {
		t.Fatalf("d may be %q, want %q", c.Words, want)
	}
	expect.Equal(t, "what is chosen before anything was", -1, c.Chosen())
	var lines []string
	for _, step := range []int{1, 1, 1, 1, -1, -1} {
		line, ok := c.Next(step)
		if !ok {
			t.Fatal("there is no next word")
		}
		lines = append(lines, line)
	}
	want := []string{"theme dark", "theme Dim", "theme d", "theme dark", "theme d", "theme Dim"}
	if !slices.Equal(lines, want) {
		t.Errorf("tab makes %q, want %q", lines, want)
	}
	if none := command.Complete("", "x", []string{"dark"}); none.Words != nil {
		t.Errorf("x may be %q", none.Words)
	} else if line, ok := none.Next(1); ok {
		t.Errorf("nothing is completed to %q", line)
	}
}
