package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/lipgloss"

	"a2atap/proxy/capture"
)

// screens are the frames that are kept as golden files, and the keys that lead to them from the list.
var screens = []struct {
	name string
	keys []string
}{
	{"list", nil},
	{"list-deltas", []string{"w"}},
	{"list-filter", []string{"/", "is:error", "enter"}},
	{"list-filter-typed", []string{"/", "op:Get*", "ctrl+u", "agent:booker staet:failed"}},
	{"list-times", []string{"T", "T"}},
	{"pane-detail", []string{"g", "j", "j", "tab"}},
	{"pane-third", []string{"g", "j", "j", "shift+tab"}},
	{"pane-alone", []string{"g", "j", "j", "z"}},
	{"list-by-task", []string{"u", "g"}},
	{"list-by-task-folded", []string{"u", "g", "j", "enter"}},
	{"list-by-workflow", []string{"u", "u", "g"}},
	{"list-longest-first", []string{"o", "o", "g"}},
	{"list-worst-first", []string{"u", "o", "o", "o", "o", "g"}},
	{"list-nothing-found", []string{"/", "dialect:0.2", "enter"}},
	{"detail", []string{"g", "j", "j", "enter"}},
	{"detail-decoded", []string{"g", "j", "j", "enter", "v"}},
	{"detail-raw", []string{"g", "j", "j", "enter", "v", "v"}},
	{"detail-rewritten", []string{"g", "enter", "G"}},
	{"detail-hostile", []string{"g", "n", "n", "n", "n", "N", "enter", "n"}},
	{"detail-reset", []string{"G", "k", "k", "enter", "G"}},
	{"stream", []string{"g", "n", "enter", "n"}},
	{"stream-deltas", []string{"g", "n", "enter", "n", "w"}},
	{"stream-event", []string{"g", "n", "enter", "n", "enter"}},
	{"stream-event-decoded", []string{"g", "n", "enter", "n", "k", "k", "enter", "v"}},
	{"text", []string{"g", "n", "a", "j", "j", "j"}},
	{"text-focus", []string{"g", "n", "enter", "n", "a", "tab"}},
	{"text-answer", []string{"g", "j", "j", "enter", "a"}},
	{"text-hostile", []string{"G", "k", "a"}},
	{"ladder", []string{"g", "n", "l"}},
	{"waterfall", []string{"g", "n", "l", "tab"}},
	{"ladder-chunks", []string{"g", "n", "l", "j", "j", "j"}},
	{"ladder-finding", []string{"g", "n", "l", "n"}},
	{"ladder-alone", []string{"g", "l"}},
	{"workflow-alone", []string{"g", "n", "W"}},
	{"workflow-alone-tree", []string{"g", "n", "W", "tab"}},
	{"findings", []string{"e"}},
	{"findings-by-rule", []string{"e", "u", "g", "j"}},
	{"findings-by-agent", []string{"e", "u", "u", "_", "g"}},
	{"findings-by-severity", []string{"e", "u", "u", "u", "g"}},
	{"coverage", []string{"c"}},
	{"coverage-open", []string{"c", "j", "enter", "j", "j"}},
	{"coverage-rule", []string{"c", "j", "enter", "j", "enter"}},
	{"findings-rule", []string{"e", "j", "tab", "space"}},
	{"help", []string{"?"}},
	{"help-text", []string{"g", "a", "?"}},
	{"help-detail", []string{"enter", "?", "G"}},
	{"curl", []string{"g", "j", "y", "y"}},
	{"copy", []string{"g", "n", "enter", "n", "y"}},
	{"search", []string{"g", "j", "enter", "s", "kyoto", "enter", "."}},
	{"search-list", []string{"g", "s", "kyoto", "enter"}},
	{"folded", []string{"g", "j", "enter", "_"}},
	{"command", []string{":", "filter agent:", "tab"}},
	{"command-wrong", []string{":", "thme", "enter"}},
	{"palette", []string{"ctrl+p", "exchange"}},
	{"rule", []string{":", "rule stream-closed-on-terminal", "enter"}},
	{"list-marked", []string{"g", "j", "x", "j", "x", "#", "why so late?", "enter"}},
	{"comment", []string{"g", "#", "why so late?"}},
	{"detail-marked", []string{"g", "j", "x", "#", "why so late?", "enter", "enter"}},
	{"diff", []string{"g", "n", "D", "G", "D"}},
	{"diff-lines", []string{"g", "n", "D", "G", "D", "tab"}},
	{"diff-all", []string{"g", "n", "D", "G", "D", "tab", "tab"}},
	{"resend", []string{"g", "j", "r"}},
	{"resent", []string{"g", "j", "r", "y"}},
	{"resent-opened", []string{"g", "j", "r", "y", "o"}},
	{"replayed", []string{"g", "n", "R", "y"}},
	{"export", []string{"g", "j", "E"}},
	{"export-to", []string{"g", "j", "E", "e", "h"}},
}

var sizes = []struct{ width, height int }{{80, 24}, {120, 40}, {200, 60}}

// laidOut are the frames of which the layout is the point: they are kept in every size, the others in one.
var laidOut = []string{
	"list", "list-by-task", "pane-detail", "pane-third", "detail", "stream", "text", "ladder", "waterfall", "findings",
	"diff-lines", "palette", "help", "workflow-tree",
}

// sizesOf returns the sizes of a frame.
func sizesOf(name string) []struct{ width, height int } {
	if slices.Contains(laidOut, name) {
		return sizes
	}
	return sizes[1:2]
}

func TestFrames(t *testing.T) {
	for _, s := range screens {
		for _, size := range sizesOf(s.name) {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.width, size.height)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					u := newUI(t, journey(t), size.width, size.height, samples())
					defer u.close()
					u.follow(s.keys)
					golden(t, filepath.Join("testdata", "frames", name+".txt"), u.screen())
				})
			})
		}
	}
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
		{Key: "h", Name: "har", Words: "HAR, which browsers and other tools read", Ending: ".har"},
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
			for _, size := range []struct{ width, height int }{
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
		defer u.close()
		if got := u.m.View(); got != "" {
			t.Errorf("a frame of no size is %q", got)
		}
	})
}
