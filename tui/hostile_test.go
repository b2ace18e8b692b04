package tui

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/style"
	"a2atap/tui/internal/tuitest"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Whatever an agent sends, the terminal gets colours that are ours, and text.
func TestHostileBytesAreShownAndNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, theme := range style.Themes {
			u := newUI(t, hostile(t), 100, 40, Options{Theme: theme, Curl: sampleCurl})
			for _, keys := range []string{
				"", "enter", "v", "v", "G", "a", "tab", "esc", "esc", "l", "tab", "esc", "W", "tab", "tab", "esc", "e", "esc",
				"y", "y", "?",
			} {
				u.press(strings.Fields(keys)...)
				for _, r := range sgr.ReplaceAllString(u.m.View(), "") {
					if r != '\n' && !unicode.IsPrint(r) {
						t.Fatalf("after %q the terminal gets %U: %q", keys, r, u.m.View())
					}
				}
			}
			u.press("esc", "/").typed("a").send(tea.KeyMsg{
				Type: tea.KeyRunes, Runes: []rune("\x1b[2J\u202e\u009b"),
				Paste: true,
			})
			u.pass(time.Second)
			if got := sgr.ReplaceAllString(u.m.View(), ""); strings.ContainsAny(got, "\x1b\u202e\u009b") {
				t.Errorf("a filter that was pasted reaches the terminal: %q", got)
			}
			u.press("esc", "enter", "s").send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("\x1b[2J\u202e"), Paste: true})
			for _, keys := range []string{"enter", "s ctrl+u [ 2 J enter", ". . .", "v .", "v .", "y", "v", "esc y t"} {
				u.press(strings.Fields(keys)...)
				if got := sgr.ReplaceAllString(u.m.View(), ""); strings.ContainsAny(got, "\x1b\u202e\u009b") {
					t.Errorf("after %s the terminal gets %q", keys, got)
				}
			}
			u.close()
		}
	})
}

// hostile returns a capture in which everything that an agent or a client chooses tries to act on a terminal.
func hostile(t *testing.T) capture.Source {
	const evil = "\x1b]0;owned\a\x1b[2J\u009b31m\u202e\x9b\x00\u200b\r\n"
	line := strings.NewReplacer("\r\n", "").Replace(evil)
	m := capture.NewMemory(capture.Info{Name: evil})
	steps := tuitest.Subscribed(1, "t"+line)
	opened := steps[0].What.(capture.Opened)
	opened.Client.Name, opened.Agent.Name = evil, "booker"+evil
	opened.Head = append([]byte("POST /"+line+" HTTP/1.1\r\nX-"+line+": "+line+"\r\n"), opened.Head...)
	steps[0].What = opened
	steps = append(steps, capture.Step{Seq: 1, Offset: 1, What: capture.ResponseEvent{Event: capture.Event{
		K:   1,
		Raw: []byte("event: " + line + "\ndata: {\"a\":\"" + line + "\"}\n\n"),
	}}})
	steps = append(steps, tuitest.Status(1, 2, "t", "TASK_STATE_"+line), capture.Step{
		Seq: 1, Offset: 2,
		What: capture.Fact{Note: evil, Rewrites: []capture.Rewrite{{Place: evil, Was: evil, Now: evil}}},
	},
		capture.Step{Seq: 1, Offset: 3, What: capture.Closed{Fault: &capture.TransportFault{
			Kind: "reset" + evil, Side: "agent",
			Detail: evil,
		}}})
	tuitest.Record(t, m, steps)
	end(t, m)
	return m
}

// The plain theme uses only bold, dim, underline and reverse, and loses no text.
func TestPlainThemeHasNoColour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{Theme: style.Plain})
		for _, keys := range []string{"", "enter", "s o enter .", "esc", "l", "esc", "e", "esc", "/"} {
			u.press(strings.Fields(keys)...)
			for _, code := range sgr.FindAllString(u.m.View(), -1) {
				if !regexp.MustCompile("^\x1b\\[(0|1|2|4|1;4|7|7;1|7;2|7;4|7;1;4|7;7)m$").MatchString(code) {
					t.Errorf("after %q the plain theme draws with %q", keys, code)
				}
			}
		}
	})
}

// Every panel, in every theme, is drawn with the sixteen colours that every terminal has, and with none where that was
// asked for. The theme of high contrast has nothing dim.
func TestThemesAreOfSixteenColours(t *testing.T) {
	attributes := []string{"", "0", "1", "2", "4", "7"}
	colour := regexp.MustCompile("^([349]|10)[0-7]$")
	for _, s := range screens {
		synctest.Test(t, func(t *testing.T) {
			u := newUI(t, journey(t), 120, 40, Options{Curl: sampleCurl})
			u.follow(s.keys)
			for _, theme := range style.Themes {
				u.m.shared.Theme = theme
				frame := u.m.View()
				if rest := sgr.ReplaceAllString(frame, ""); strings.Contains(rest, "\x1b") {
					t.Errorf("%s, %s: there are sequences that are not SGR: %q", s.name, theme, rest)
				}
				coloured := false
				for _, code := range sgr.FindAllString(frame, -1) {
					for n := range strings.SplitSeq(strings.Trim(code, "\x1b[m"), ";") {
						isColour := colour.MatchString(n)
						coloured = coloured || isColour
						if !isColour && !slices.Contains(attributes, n) || theme == style.Contrast && (n == "2" || n == "90") {
							t.Errorf("%s is drawn with %q in the theme %s", s.name, code, theme)
						}
					}
				}
				if coloured && theme == style.Plain {
					t.Errorf("%s has a colour in the plain theme", s.name)
				}
			}
		})
	}
}

func TestThemesDifferInColourOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{Theme: style.Dark})
		before, dark := u.screen(), u.m.View()
		u.press("t")
		u.sees("theme: light")
		u.press("k")
		if u.m.View() == dark {
			t.Error("light looks like dark")
		}
		u.press("t", "t", "t", "k")
		expect.Same(t, "the text differs", before, u.screen())
	})
}

func TestChooseTheme(t *testing.T) {
	for _, c := range []struct {
		name string
		env  map[string]string
		want style.Theme
	}{
		{"", nil, style.Dark},
		{"auto", map[string]string{"COLORFGBG": "0;15"}, style.Light},
		{"auto", map[string]string{"COLORFGBG": "15;0"}, style.Dark},
		{"auto", map[string]string{"COLORFGBG": "0;default;7"}, style.Light},
		{"auto", map[string]string{"NO_COLOR": "1", "COLORFGBG": "0;15"}, style.Plain},
		{"light", map[string]string{"NO_COLOR": "1"}, style.Light},
		{"plain", nil, style.Plain},
		{"contrast", nil, style.Contrast},
		{"auto", map[string]string{"NO_COLOR": "", "COLORFGBG": "0;15"}, style.Light},
	} {
		got, err := style.ChooseTheme(c.name, func(name string) string { return c.env[name] })
		if err != nil || got != c.want {
			t.Errorf("ChooseTheme(%q) with %v = %q, %v, want %q", c.name, c.env, got, err, c.want)
		}
	}
	if _, err := style.ChooseTheme("solarized", func(string) string { return "" }); err == nil || !strings.Contains(err.Error(),
		"auto, dark, light, contrast, plain") {
		t.Errorf("an unknown theme is answered with %v", err)
	}
}

func TestCopyAsCurl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 80, 24, Options{Curl: sampleCurl})
		var terminal bytes.Buffer
		u.m.out = &terminal
		u.press("g", "j", "y", "y")
		u.sees("exchanges › curl")
		if got := terminal.String(); !strings.HasPrefix(got, "\x1b]52;c;Y3VybC") || !strings.HasSuffix(got, "\a") {
			t.Errorf("the terminal is asked with %q", got)
		}
		terminal.Reset()
		evil := func(*capture.Exchange) (string, error) { return "curl '\x1b[201~; rm -rf ~'", nil }
		u.m.options.Curl = evil
		u.press("esc", "y", "y")
		u.sees("y: curl: exchange 2 contains control characters")
		if terminal.Len() > 0 {
			t.Errorf("control characters were put on the clipboard: %q", terminal.String())
		}
	})
}
