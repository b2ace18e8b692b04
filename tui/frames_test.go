package tui

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/lipgloss"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

// A state is one of the inspector whose screen is kept as a golden file.
type state struct {
	name string
	size size     // each layout is drawn in one of its states; those of the list and of panes change with the width
	keys []string // what leads to it from the list
}

type size struct{ width, height int }

var narrow, medium, wide = size{80, 24}, size{120, 40}, size{200, 60} // one pane, two, and three

var screens = []state{
	{"list", narrow, nil},
	{"list-deltas", medium, []string{"w"}},
	{"list-filter", medium, []string{"G", "/", "is:error", "enter"}},
	{"list-filter-typed", medium, []string{"/", "op:Get*", "ctrl+u", "agent:booker staet:failed"}},
	{"list-times", medium, []string{"T", "T"}},
	{"pane-detail", medium, []string{"g", "j", "j", "tab"}},
	{"pane-third", wide, []string{"g", "j", "j", "shift+tab"}},
	{"pane-alone", medium, []string{"g", "j", "j", "z"}},
	{"list-by-task", wide, []string{"u", "g"}},
	{"list-by-task-folded", medium, []string{"u", "g", "j", "enter"}},
	{"list-by-workflow", medium, []string{"u", "u", "g"}},
	{"list-longest-first", medium, []string{"o", "o", "g"}},
	{"list-worst-first", medium, []string{"u", "o", "o", "o", "o", "g"}},
	{"list-nothing-found", medium, []string{"/", "dialect:0.2", "enter"}},
	{"detail", narrow, []string{"g", "j", "j", "enter"}},
	{"detail-decoded", medium, []string{"g", "j", "j", "enter", "v"}},
	{"detail-raw", medium, []string{"g", "j", "j", "enter", "v", "v"}},
	{"detail-rewritten", medium, []string{"g", "enter", "G"}},
	{"detail-hostile", medium, []string{"g", "n", "n", "n", "n", "N", "enter", "n"}},
	{"detail-reset", medium, []string{"G", "k", "k", "enter", "G"}},
	{"stream", narrow, []string{"g", "n", "enter", "n"}},
	{"stream-deltas", medium, []string{"g", "n", "enter", "n", "w"}},
	{"stream-event", medium, []string{"g", "n", "enter", "n", "enter"}},
	{"stream-event-decoded", medium, []string{"g", "n", "enter", "n", "k", "k", "enter", "v"}},
	{"text", wide, []string{"g", "n", "a", "j", "j", "j"}},
	{"text-focus", medium, []string{"g", "n", "enter", "n", "a", "tab"}},
	{"text-answer", medium, []string{"g", "j", "j", "enter", "a"}},
	{"text-hostile", medium, []string{"G", "k", "a"}},
	{"ladder", narrow, []string{"g", "n", "l"}},
	{"waterfall", wide, []string{"g", "n", "l", "tab"}},
	{"ladder-chunks", medium, []string{"g", "n", "l", "j", "j", "j"}},
	{"ladder-finding", medium, []string{"g", "n", "l", "n"}},
	{"ladder-alone", medium, []string{"g", "l"}},
	{"workflow-alone", medium, []string{"g", "n", "W"}},
	{"workflow-alone-tree", medium, []string{"g", "n", "W", "tab"}},
	{"findings", wide, []string{"e"}},
	{"findings-by-rule", medium, []string{"e", "u", "g", "j"}},
	{"findings-by-agent", medium, []string{"e", "u", "u", "_", "g"}},
	{"findings-by-severity", medium, []string{"e", "u", "u", "u", "g"}},
	{"coverage", medium, []string{"c"}},
	{"coverage-open", medium, []string{"c", "j", "enter", "j", "j"}},
	{"coverage-rule", medium, []string{"c", "j", "enter", "j", "enter"}},
	{"findings-rule", medium, []string{"e", "j", "tab", "space"}},
	{"help", wide, []string{"?"}},
	{"help-text", medium, []string{"g", "a", "?"}},
	{"help-detail", medium, []string{"enter", "?", "G"}},
	{"curl", medium, []string{"g", "j", "y", "y"}},
	{"copy", medium, []string{"g", "n", "enter", "n", "y"}},
	{"search", medium, []string{"g", "j", "enter", "s", "kyoto", "enter", "."}},
	{"search-list", medium, []string{"g", "s", "kyoto", "enter"}},
	{"folded", medium, []string{"g", "j", "enter", "_"}},
	{"command", medium, []string{":", "filter agent:", "tab"}},
	{"command-wrong", medium, []string{":", "thme", "enter"}},
	{"palette", narrow, []string{"ctrl+p", "exchange"}},
	{"rule", medium, []string{":", "rule stream-closed-on-terminal", "enter"}},
	{"list-marked", medium, []string{"g", "j", "x", "j", "x", "#", "why so late?", "enter"}},
	{"comment", medium, []string{"g", "#", "why so late?"}},
	{"detail-marked", medium, []string{"g", "j", "x", "#", "why so late?", "enter", "enter"}},
	{"diff", medium, []string{"g", "n", "D", "G", "D"}},
	{"diff-lines", narrow, []string{"g", "n", "D", "G", "D", "tab"}},
	{"diff-all", medium, []string{"g", "n", "D", "G", "D", "tab", "tab"}},
	{"resend", medium, []string{"g", "j", "r"}},
	{"resent", medium, []string{"g", "j", "r", "y"}},
	{"resent-opened", medium, []string{"g", "j", "r", "y", "o"}},
	{"replayed", medium, []string{"g", "n", "R", "y"}},
	{"export", medium, []string{"g", "j", "E"}},
	{"export-to", medium, []string{"g", "j", "E", "e", "h"}},
}

func TestFrames(t *testing.T) {
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := newUI(t, journey(t), s.size.width, s.size.height, samples())
				u.follow(s.keys)
				u.isKept(s.name)
			})
		})
	}
}

// isKept compares the screen with the golden file of a state.
func (u *ui) isKept(state string) {
	u.t.Helper()
	expect.Golden(u.t, *update, filepath.Join("testdata", "frames", state+".txt"), u.screen())
}

// follow presses keys; what is not a key is typed.
func (u *ui) follow(keys []string) {
	for _, k := range keys {
		if _, isName := named[k]; isName || len(k) == 1 {
			u.press(k)
		} else {
			u.typed(k)
		}
	}
}

// samples are the options of an inspector that can do everything.
func samples() Options {
	f := &fakeSender{file: "journey-resent.a2atap", remote: []string{"booker.example:9001"}, answers: again()}
	return Options{Curl: sampleCurl, Sender: f.sender(), Exporter: &Exporter{Formats: []ExportFormat{
		{Key: "h", Name: "har", Words: "HAR, for browsers and other tools", Ending: ".har"},
	}}}
}

func sampleCurl(x *capture.Exchange) (string, error) {
	head := capture.ParseRequestHead(x.Request.Head)
	return "curl -X " + head.Method + " --data-raw '" + string(x.Request.Body.Data) + "' " + x.Agent.URL, nil
}

// Whatever the terminal's size, a frame has just its lines, and none is too wide.
func TestFramesFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, s := range screens {
			u := newUI(t, journey(t), 80, 24, samples())
			u.follow(s.keys)
			for _, size := range []size{
				{0, 0},
				{1, 1},
				{2, 2},
				{3, 40},
				{20, 5},
				{200, 3},
				{33, 9},
				{500, 200},
				{80, 24},
			} {
				u.send(sizeOf(size.width, size.height))
				u.pass(1e8)
				u.press("j", "G", "k", "g")
				checkFit(t, s.name, u, size.width, size.height)
			}
			u.close()
		}
	})
}

func checkFit(t *testing.T, name string, u *ui, width, height int) {
	t.Helper()
	frame := u.m.View()
	lines := strings.Split(frame, "\n")
	if frame == "" {
		lines = nil
	}
	if width > 0 && len(lines) != height {
		t.Errorf("%s at %dx%d has %d lines", name, width, height, len(lines))
	}
	for i, l := range lines {
		if w := lipgloss.Width(l); w > width {
			t.Errorf("%s at %dx%d: line %d is %d wide: %q", name, width, height, i, w, l)
		}
	}
}

// Before the terminal has told its size, there is nothing to draw, and nothing panics.
func TestFrameBeforeSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := startUI(t, journey(t), 0, 0, Options{})
		expect.Equal(t, "a frame of no size", "", u.m.View())
	})
}
