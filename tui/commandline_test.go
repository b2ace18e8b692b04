package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/findings"
	"a2atap/tui/internal/keys"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
)

// Whoever adds an action adds a verb for it, so that the command line, the palette and the help have it too.
func TestEveryActionHasAVerb(t *testing.T) {
	for i := range keys.Table {
		if _, err := verbOf(keys.Table[i].Action); err != nil {
			t.Errorf("%s (%s): %v; add a row to tui/verbs.go", keys.Table[i].Label, keys.Table[i].Words, err)
		}
	}
}

func TestVerbsAreOneTable(t *testing.T) {
	names := make(map[string]string)
	does := make(map[keys.Action]string)
	for _, v := range verbs() {
		for _, name := range append([]string{v.name}, v.also...) {
			if other, twice := names[name]; twice {
				t.Errorf("%s is %s and %s", name, other, v.name)
			}
			names[name] = v.name
			if strings.ContainsAny(name, " :") || name[0] >= '0' && name[0] <= '9' {
				t.Errorf("%q cannot be typed", name)
			}
		}
		if other := does[v.do]; other != "" && v.do != keys.None {
			t.Errorf("%s does the same as %s", v.name, other)
		}
		does[v.do] = v.name
		if v.words == "" || v.do == keys.None && v.run == nil {
			t.Errorf("the row of %s lacks something", v.name)
		}
		if v.argument != "" && v.run == nil {
			t.Errorf("%s takes %s and does nothing with it", v.name, v.argument)
		}
		if optional := strings.HasPrefix(v.argument, "["); v.argument != "" && optional != (v.do != keys.None) {
			t.Errorf("%s takes %s, but with nothing behind it does action %d", v.name, v.argument, v.do)
		}
		if v.do != keys.None && keys.Of(v.do, keys.Anywhere) == nil {
			t.Errorf("no key does what %s does", v.name)
		}
	}
}

// command types a command and performs it.
func (u *ui) command(line string) *ui {
	return u.press(":").typed(line).press("enter")
}

func TestCommandsLeadSomewhere(t *testing.T) {
	for _, c := range []struct {
		name, from, line, sees string
	}{
		{"a number goes to that exchange", "", "3", ">   3"},
		{"as goto does", "", "goto 3", ">   3"},
		{"from other panels back to the list", "l", "3", ">   3"},
		{"in the detail to its neighbour", "enter", "3", "exchanges › 3"},
		{"a place opens the detail there", "", "4.response.event[3]", ">▸ ·3"},
		{"open opens", "", "open 2", "exchanges › 2"},
		{"what is selected, too", "g j", "open", "exchanges › 2"},
		{"ladder", "", "ladder 4", "ladder of 4"},
		{"workflow", "", "workflow 4", "workflow"},
		{"findings", "", "findings", "── rule"},
		{"a filter", "", "filter is:error", "2 of 8 exchanges"},
		{"a filter goes to the list", "enter", "filter is:error", "2 of 8 exchanges"},
		{"filter alone opens its line", "enter", "filter", "enter keep"},
		{"an order", "enter", "sort size", "exchanges biggest first"},
		{"groups", "", "set group workflow", "exchanges by workflow"},
		{"a comment", "g j", "comment why so late?", "2 has your comment"},
		{"a difference", "g j", "diff 3", "3"},
		{"a rule", "", "rule stream-closed-on-terminal", "Not reported"},
		{"a theme", "", "theme light", "theme: light"},
		{"a theme that is set", "", "set theme=contrast", "theme: contrast"},
		{"times", "", "time elapsed", "since"},
		{"a clock", "", "clock utc", "time UTC"},
		{"a clock from the beginning", "", "set clock relative", "from 1st"},
		{"raw bytes", "g j enter", "view raw", "raw"},
		{"a mouse", "", "set mouse on", "mouse on"},
		{"the beginning of a name", "", "the", "theme: light"},
		{"another name", "", "q", "Quit?"},
		{"help", "", "help", "Move"},
		{"help on a topic", "", "help filter", "op:SendMessage"},
		{"help on a command", "", "help theme", "Arguments"},
		{"the commands", "", "help commands", ":goto PLACE"},
		{"a colon too many", "", ":findings", "── rule"},
		{"nothing", "", "", "8 exchanges"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUI(t, journey(t), 80, 24, Options{Theme: style.Dark})
				u.press(strings.Fields(c.from)...).command(c.line)
				u.sees(c.sees)
				if u.m.prompt != nil {
					t.Errorf("the command line is still open:\n%s", u.screen())
				}
			})
		})
	}
}

// The effect of a command is shown above the line, however long the text is.
func TestCommandIsExplainedInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		for _, v := range verbs() {
			u.press(":").typed(v.name + " ")
			if v.offer == nil {
				said := strings.Join(strings.Fields(u.screen()), " ")
				if !strings.Contains(said, strings.Join(strings.Fields(v.usage()+" "+v.words), " ")) {
					t.Errorf("%s is explained as\n%s", v.name, u.screen())
				}
			}
			u.press("esc")
		}
	})
}

// Errors are shown above the line, which stays open.
func TestCommandsThatAreWrong(t *testing.T) {
	for line, said := range map[string]string{
		"thme":             `there is no command "thme"; did you mean "time" or "theme"?`,
		"xyzzy":            `there is no command "xyzzy"; tab shows them all`,
		"pag":              `"pag" may be page-down or page-up`,
		"goto":             "goto needs an argument: :goto PLACE",
		"goto 9":           "there is no exchange 9; the capture has 8 exchanges",
		"goto 0":           "there is no exchange 0",
		"goto x":           "a place begins with the number of an exchange",
		"4.answer":         "a place is in 4.request or 4.response",
		"rule stream-clsd": `there is no rule "stream-clsd"`,
		"theme pink":       `there is no theme "pink"`,
		"theme drak":       `did you mean "dark"?`,
		"filter staet:x":   "column 1",
		"view raw":         "not here; in detail",
		"more":             "not here; in detail",
		"view pink":        "not here; in detail",
		"mouse maybe":      `on or off, not "maybe"`,
		"follow on":        "the recording has ended",
		"clock cuckoo":     "the clock is local, utc or relative",
		"sort color":       `there is no order "color"`,
		"group off 1":      `there is no grouping "off 1"`,
		"diff 1":           "1 is the selected exchange",
		"zoom":             "there is room for only one pane",
		"time never":       "times are clock or elapsed",
		"set":              "set needs an argument",
		"set theme":        "theme needs a value",
		"set colour dark":  `there is no setting "colour"`,
		"set theme pink":   `there is no theme "pink"`,
		"back":             "no filter is set",
		"next-finding 3":   `next-finding accepts no argument, not "3"`,
		"help xyzzy":       `there is no topic "xyzzy"`,
		"curl":             "curl commands are not available here",
	} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUI(t, journey(t), 80, 24, Options{})
				u.command(line)
				u.sees(said)
				if u.m.prompt == nil || len(u.m.stack) != 1 {
					t.Fatalf("%s is not refused:\n%s", line, u.screen())
				}
				u.sees(" : " + line)
				u.typed("!")
				u.hides(said)
			})
		})
	}
}

func TestCommandLineCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		for _, c := range []struct {
			typed string
			keys  string
			line  string
		}{
			{"th", "tab", "theme "},
			{"th", "tab tab", "theme dark"},
			{"theme ", "tab tab", "theme light"},
			{"theme ", "shift+tab", "theme plain"},
			{"theme c", "tab", "theme contrast"},
			{"set m", "tab", "set mouse"},
			{"set mouse ", "tab", "set mouse on"},
			{"filter ag", "tab", "filter agent:"},
			{"filter ag", "tab tab", "filter agent:booker"},
			{"filter is:error (agent:b", "tab", "filter is:error (agent:booker"},
			{"filter -is:str", "tab", "filter -is:stream"},
			{"filter op:sendst", "tab", "filter op:SendStreamingMessage"},
			{"filter state:inp", "tab", "filter state:input-required"},
			{"filter link:", "tab", "filter link:traveller->booker"},
			{"filter rule:stream-closed", "tab", "filter rule:stream-closed-on-terminal"},
			{"rule ", "tab", "rule stream-closed-on-terminal"},
			{"help fil", "tab", "help filter"},
			{"goto 3", "tab", "goto 3"},
			{"xyzzy ", "tab", "xyzzy "},
		} {
			u.press(":").typed(c.typed).press(strings.Fields(c.keys)...)
			expect.Equal(t, fmt.Sprintf("%q and %s make", c.typed, c.keys), c.line, u.m.prompt.input.Value())
			u.press("esc")
		}
		u.press(":").sees("open  detail  ladder  workflow")
		u.typed("goto").sees(":goto PLACE  to an exchange by its number")
		u.press("esc", ":").typed("theme ").press("tab").sees("dark  light  contrast  plain")
	})
}

func TestFilterLineCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("/").typed("ag").press("tab", "tab")
		u.sees("booker  agent:planner", " / agent:booker")
		u.typed(" st").press("tab", "shift+tab", "shift+tab")
		u.sees(" / agent:booker status:")
		u.press("backspace").typed("")
		u.press("backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "backspace")
		u.pass(1e9)
		u.sees("5 of 8 exchanges")
		u.hides("state:")
		u.press("tab", "esc").sees("8 exchanges")
	})
}

func TestCommandLineRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.command("3").command("theme light").command("thme").press("esc")
		line := func(keys ...string) string {
			u.press(":").press(keys...)
			defer u.press("esc")
			return u.m.prompt.input.Value()
		}
		for _, c := range []struct{ keys, want string }{
			{"up", "thme"},
			{"up up", "theme light"},
			{"up up up up", "3"},
			{"up up down", "thme"},
			{"up down", ""},
			{"t h up up", "theme light"},
		} {
			expect.Equal(t, fmt.Sprintf("%s brings", c.keys), c.want, line(strings.Fields(c.keys)...))
		}
		if u.press(":", "a", "backspace", "backspace"); u.m.prompt != nil {
			t.Error("a backspace in the empty line does not close it")
		}
	})
}

func TestKeysOfOtherPanelsSayWhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.press("v").sees("v: not here; in detail")
		u.press("enter", "/").sees("/: not here; in list")
		u.press("?", "n").sees("n: not here; in list, detail, ladder, workflow, findings")
		u.press("ü").sees("ü: no such key; ? for help")
		u.press("ö").sees("ö: no such key ")
		u.hides("? for help")
	})
}

func TestQuittingAsksOnce(t *testing.T) {
	for _, c := range []struct {
		keys string
		quit bool
	}{
		{"q", false},
		{"q q", true},
		{"q y", true},
		{"q j q", false},
		{"q esc q", false},
		{"Q Q", true},
		{"enter q", false},
		{"enter q q", false},
		{"enter q q q", true},
		{"enter Q q", true},
		{"ctrl+c", true},
		{"q ctrl+c", true},
	} {
		t.Run(c.keys, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUI(t, journey(t), 80, 24, Options{})
				if u.press(strings.Fields(c.keys)...); u.quit != c.quit {
					t.Errorf("quit is %v, want %v\n%s", u.quit, c.quit, u.screen())
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{})
		u.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("qq")}) // as the library reads them
		if u.drain(); !u.quit {
			t.Error("q struck twice at once does not quit")
		}
	})
}

// A rule page and the panel of findings say the same of a rule.
func TestRulePageIsWhatFindingsSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 100, 200, Options{})
		u.press("e")
		id := u.m.top().(*findings.Panel).Selected().Rule.ID
		panel := u.screen()
		u.press("esc").command("rule " + id)
		page := u.screen()
		for _, l := range strings.Split(page[strings.Index(page, " Why"):], "\n")[:6] {
			if !strings.Contains(panel, l) {
				t.Errorf("the panel of findings lacks %q:\n%s", l, panel)
			}
		}
	})
}

// No line that is typed makes a panic, whatever panel it is typed in.
func FuzzExecute(f *testing.F) {
	for _, v := range verbs() {
		f.Add(v.name)
		f.Add(v.name + " 3")
		f.Add(v.name + " " + v.argument)
	}
	f.Add("set theme=dark")
	f.Add("4.response.event[3]#/result")
	f.Add("filter (agent:\"")
	f.Fuzz(func(t *testing.T, line string) {
		m := newInspector(load.New(t.Context(), nil, nil), Options{Theme: style.Plain})
		m.Update(sizeOf(80, 24))
		m.shared.Opened, m.shared.Info.Exchanges = true, 8
		for _, in := range []func(){
			func() {},
			func() { m.push(detail.New(m.shared, analysis.Place{Exchange: 1})) },
			func() { m.push(findings.New(m.shared)) },
			func() { m.push(newHelp(keys.InList)) },
		} {
			in()
			m.commands.open(line)
			m.prompt.other("tab")
			m.View()
			m.prompt.other("shift+tab")
			m.commands.execute(line) //nolint:errcheck // most are wrong
			m.View()
		}
	})
}
