package tui

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/internal/style"
	"a2atap/tui/text"
)

// The picture in the README is a frame: the list, the findings and the stream of the journey, at the finding.
func TestPicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUI(t, journey(t), 164, 38, Options{Theme: style.Dark})
		u.press("g", "n", "enter", "n")
		expect.Golden(t, *update, filepath.Join("..", "docs", "inspector.svg"),
			picture(u.m.screen.frame(), 164, "The inspector, at a finding in a stream"))
	})
}

// The picture of a workflow is its ladder: a planner asks a model, a tool and two agents.
func TestPictureOfWorkflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := must.Get(transcript.ReadFile(filepath.Join("testdata", "workflow.txtar")))(t)
		u := newUI(t, recorded(t, "demo.a2atap", script.Exchanges), 132, 38, Options{Theme: style.Dark})
		u.press("g", "j", "W")
		expect.Golden(t, *update, filepath.Join("..", "docs", "workflows.svg"),
			picture(u.m.screen.frame(), 132, "The ladder of a workflow of agents, a model and a tool"))
	})
}

// Sizes of a cell of the picture, and of the space around all of them.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 12
)

// ink has the colors of the dark theme, by SGR number; 0 is plain text.
var ink = map[string]string{
	"0": "#d0d4da", "30": "#1b1f26", "32": "#8fbf7f", "33": "#d7ba7d", "35": "#c792ea", "36": "#6cb6c9", "90": "#7d8590",
	"91": "#ff7b72",
	"93": "#e3b341", "94": "#79b8ff", "96": "#7fd5e0",
}

const paper = "#1b1f26"

// picture draws a frame as SVG.
func picture(frame []style.Line, columns int, label string) string {
	var b strings.Builder
	w, h := float64(columns)*cellWidth+2*margin, len(frame)*cellHeight+2*margin
	fmt.Fprintf(&b, "<!-- Generated from a frame of the inspector: go test ./tui -update -->\n")
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" aria-label="%s">`+"\n", w, h, w, h, label)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	b.WriteString(
		`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">` +
			"\n",
	)
	for i, l := range frame {
		drawLine(&b, l, margin+i*cellHeight)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func drawLine(b *strings.Builder, l style.Line, y int) {
	column := 0
	for _, s := range l.Spans {
		used := text.Width(s.Text)
		if l.Selected || s.Selected {
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#39414d"/>`+"\n",
				margin+float64(column)*cellWidth, y, float64(used)*cellWidth, cellHeight)
		}
		if words := strings.Trim(s.Text, " "); words != "" {
			bold, colour := look(s.Style)
			start := column + len(s.Text) - len(strings.TrimLeft(s.Text, " "))
			fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">`,
				margin+float64(start)*cellWidth, y+13, colour, bold, float64(text.Width(words))*cellWidth)
			words = strings.ReplaceAll(words, " ", "\u00a0") // of others, browsers leave one of several
			xml.EscapeText(b, []byte(words))                 //nolint:errcheck // a strings.Builder takes everything
			b.WriteString("</text>\n")
		}
		column += used
	}
}

// look returns what SGR says of a style, as attributes of SVG.
func look(s style.Style) (bold, colour string) {
	colour = ink["0"]
	for code := range strings.SplitSeq(style.Looks[style.Dark][s], ";") {
		if code == "1" {
			bold = ` font-weight="bold"`
		} else if c, known := ink[code]; known {
			colour = c
		}
	}
	return bold, colour
}
