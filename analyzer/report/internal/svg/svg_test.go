package svg_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"a2atap/analyzer/report/internal/svg"
	"a2atap/proxy/expect"
)

var update = flag.Bool("update", false, "rewrite the golden files to what is drawn now")

func golden(t *testing.T, name, got string) {
	t.Helper()
	expect.Golden(t, *update, filepath.Join("testdata", name), got)
}

// ladderOf returns a ladder with all that there can be, in which every foreign text is s.
func ladderOf(s string) svg.Ladder {
	return svg.Ladder{Label: "ladder of " + s, Arrows: []svg.Arrow{
		{From: "planner" + s, To: "booker", Time: "0.000s", Number: "1", Label: "SendMessage " + s, Href: "#1"},
		{
			From: "booker", To: "planner" + s, Time: "0.012s", Number: "1", Label: "200 working", Answer: true,
			Marks: []svg.Mark{{Severity: "error", Text: "rule" + s, Href: "#f1"}, {Severity: "note", Text: "other"}},
		},
		{Label: "… 3 arrows left out"},
		{From: "booker", To: "booker", Time: "1.000s", Number: "5", Label: "to itself" + s},
		{From: "booker", To: "planner" + s, Time: "2.500s", Number: "6", Label: "reset by agent", Answer: true, Broken: true},
	}}
}

func treeOf(s string) svg.Tree {
	return svg.Tree{Label: "tree of " + s, Rows: []svg.Row{
		{Number: "1", Text: "client → planner SendMessage" + s, Outcome: "completed", Aside: "12.0 ms", Href: "#1"},
		{
			Depth: 1, Number: "2", Text: "planner → booker GetAgentCard", Outcome: "card", Dashed: true,
			Aside: "(inferred: " + s + ")", Marks: []svg.Mark{{Severity: "warning", Text: "rule" + s, Href: "#f2"}},
		},
		{Depth: 2, Number: "3", Text: "booker → notary SendMessage", Outcome: "failed"},
		{Depth: 1, Number: "4", Text: "planner → booker SendMessage"},
	}}
}

func TestLadder(t *testing.T) {
	l := ladderOf("")
	golden(t, "ladder.svg", l.String())
	if got := (&svg.Ladder{}).String(); !strings.HasPrefix(got, "<svg ") {
		t.Errorf("a ladder without arrows is %s", got)
	}
}

func TestTree(t *testing.T) {
	tree := treeOf("")
	golden(t, "tree.svg", tree.String())
}

// A row that is deeper than its place allows, or than can be drawn, is drawn all the same.
func TestDeepTree(t *testing.T) {
	var tree svg.Tree
	for i := range 200 {
		tree.Rows = append(tree.Rows, svg.Row{Depth: i, Number: "1", Text: "down"})
	}
	expect.Equal(t, "rows that are drawn", 200, strings.Count(tree.String(), "<text"))
}

// Whatever a text holds, a drawing consists of what drawings are made of, and leads nowhere but into its page.
func checkDrawing(t *testing.T, drawing string) {
	t.Helper()
	known := strings.Fields("class role aria-label width height viewBox x y x1 y1 x2 y2 dx d href")
	d := xml.NewDecoder(strings.NewReader(drawing))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, drawing)
		}
		start, is := token.(xml.StartElement)
		if !is {
			continue
		}
		if !slices.Contains([]string{"svg", "a", "text", "tspan", "line", "path"}, start.Name.Local) {
			t.Errorf("there is <%s>", start.Name.Local)
		}
		for _, a := range start.Attr {
			if !slices.Contains(known, a.Name.Local) ||
				a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
				t.Errorf("there is <%s %s=%q>", start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	for _, c := range drawing {
		if c != '\n' && !unicode.IsPrint(c) {
			t.Errorf("there is %U", c)
		}
	}
}

func FuzzDrawings(f *testing.F) {
	for _, s := range []string{
		"", `"><script>alert(1)</script>`, "</text></svg><img src=x>", "\x1b[2J\u202e\xff\x00\n", "京都行きの切符",
		"e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301", strings.Repeat("long ", 100), "&lt;&#0;]]>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, tree := ladderOf(s), treeOf(s)
		checkDrawing(t, l.String())
		checkDrawing(t, tree.String())
	})
}
