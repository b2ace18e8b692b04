package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// No folder has more Go files, and no type more methods, than a newcomer can remember. Tests do not count.
const (
	mostFiles   = 40
	mostMethods = 40
)

// stillOver lists the folders and the types that are over. It only gets shorter: what is within the limits is struck
// off, and nothing is added.
var stillOver = []string{}

func TestRoomsAreSmall(t *testing.T) {
	t.Parallel()
	files, methods := countRooms(t)
	over := make(map[string]string)
	for folder, n := range files {
		if n > mostFiles {
			over[folder] = fmt.Sprintf("%d files; %d is the most", n, mostFiles)
		}
	}
	for name, n := range methods {
		if n > mostMethods {
			over[name] = fmt.Sprintf("%d methods; %d is the most", n, mostMethods)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(over)) {
		if !slices.Contains(stillOver, name) {
			t.Errorf("%s has %s: divide it by what it is about", name, over[name])
		}
	}
	for _, name := range stillOver {
		if over[name] == "" {
			t.Errorf("%s is within the limits now: strike it off the list", name)
		}
	}
}

// countRooms returns how many files of Go each folder has and how many methods each type (FOLDER.TYPE).
func countRooms(t *testing.T) (files, methods map[string]int) {
	t.Helper()
	files, methods = make(map[string]int), make(map[string]int)
	for folder, list := range ourSource(t).files {
		files[folder] = len(list)
		for _, file := range list {
			for _, decl := range file.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
					methods[folder+"."+receiver(fn.Recv.List[0].Type)]++
				}
			}
		}
	}
	return files, methods
}

// receiver returns the name of the type to which a method belongs.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	panic(fmt.Sprintf("a receiver of type %T", x))
}

// A wing is a folder at the top, with what it does.
type wing struct{ name, does string }

// wings are drawn one below the other, so that every arrow between them leads down.
var wings = []wing{
	{"cmd", "commands, which connect the rest"},
	{"tui", "shows: the inspector"},
	{"replay", "speaks: plays client or agent"},
	{"analyzer", "judges what was recorded"},
	{"proxy", "forwards and records"},
}

// families are drawn as one room each: their packages are of one kind and do not know each other's insides.
var families = []string{
	"analyzer/engine/internal", "analyzer/internal", "analyzer/rules", "analyzer/track", "cmd/internal", "proxy/capture/bolt/internal", "proxy/internal",
	"replay/probe/scenarios", "replay/refagent/internal",
}

// passage is the way of one exchange: the rooms that it passes, in order.
var passage = []string{"proxy/relay", "proxy/recording", "proxy/capture/bolt", "analyzer/engine", "tui"}

// The picture of the packages is drawn from their imports. -update draws it again.
func TestPictureOfPackages(t *testing.T) {
	const page = "../../docs/architecture.svg"
	drawn := drawHouse(t, linkedImports(t))
	if *update {
		if err := os.WriteFile(page, drawn, 0o644); err != nil { //nolint:gosec // it is a page
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, drawn) {
		t.Error("docs/architecture.svg shows other packages or imports than there are: " +
			"go test ./cmd/a2atap -run PictureOfPackages -update draws it anew")
	}
}

// linkedImports returns, for each a2atap package in the program, its imports of a2atap packages, without the module's
// name.
func linkedImports(t *testing.T) map[string][]string {
	t.Helper()
	imports := make(map[string][]string)
	for from, list := range linked(t) {
		from, ours := strings.CutPrefix(from, modulePrefix)
		if !ours {
			continue
		}
		imports[from] = nil
		for _, to := range list {
			if to, ours := strings.CutPrefix(to, modulePrefix); ours {
				imports[from] = append(imports[from], to)
			}
		}
	}
	return imports
}

// linked returns all packages in the program, on Linux without cgo, and the imports of each.
func linked(t *testing.T) map[string][]string {
	t.Helper()
	imports, err := listLinked()
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

var listLinked = sync.OnceValues(func() (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "a2atap/cmd/a2atap")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	imports := make(map[string][]string)
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		imports[fields[0]] = fields[1:]
	}
	return imports, err
})

// A house is what is drawn: the rooms of each wing in rows, and the arrows between wings.
type house struct {
	packages map[string]int             // number of packages in each room
	on       map[string]map[string]bool // the rooms that a room imports
	depth    map[string]int             // rows below a room's own that its wing must have
}

func newHouse(t *testing.T, imports map[string][]string) *house {
	h := &house{packages: map[string]int{}, on: map[string]map[string]bool{}, depth: map[string]int{}}
	for from, list := range imports {
		room := roomOf(from)
		h.packages[room]++
		if h.on[room] == nil {
			h.on[room] = make(map[string]bool)
		}
		for _, to := range list {
			if to := roomOf(to); to != room {
				h.on[room][to] = true
			}
		}
	}
	for room := range h.on {
		h.measure(t, room, nil)
	}
	return h
}

// measure sets the depth of a room: rooms that it imports from its own wing are in lower rows.
func (h *house) measure(t *testing.T, room string, above []string) int {
	if slices.Contains(above, room) {
		t.Fatalf("the rooms %s import each other", strings.Join(above, ", "))
	}
	if d, known := h.depth[room]; known {
		return d
	}
	d := 0
	for to := range h.on[room] {
		if wingOf(to) == wingOf(room) {
			d = max(d, 1+h.measure(t, to, append(above, room)))
		}
	}
	h.depth[room] = d
	return d
}

// rows returns the rooms of a wing, those that import others first.
func (h *house) rows(name string) [][]string {
	var rows [][]string
	for _, room := range slices.Sorted(maps.Keys(h.on)) {
		if wingOf(room) == name {
			for len(rows) <= h.depth[room] {
				rows = append(rows, nil)
			}
			rows[h.depth[room]] = append(rows[h.depth[room]], room)
		}
	}
	slices.Reverse(rows)
	return rows
}

// imports reports whether a room of one wing imports one of another.
func (h *house) imports(from, to string) bool {
	for room, on := range h.on {
		if wingOf(room) == from && slices.ContainsFunc(slices.Collect(maps.Keys(on)), func(r string) bool {
			return wingOf(r) == to
		}) {
			return true
		}
	}
	return false
}

func roomOf(name string) string {
	for _, family := range families {
		if strings.HasPrefix(name+"/", family+"/") {
			return family
		}
	}
	return name
}

func wingOf(name string) string {
	name, _, _ = strings.Cut(name, "/")
	return name
}

// label returns what a room is called in the box of its wing.
func (h *house) label(room string) string {
	_, within, inside := strings.Cut(room, "/")
	if !inside {
		return room
	}
	if slices.Contains(families, room) {
		return fmt.Sprintf("%s/… (%d)", within, h.packages[room])
	}
	return within
}

// Measures of the picture in pixels. A telephone shows it at its full width of 360, where no text is smaller than 12.
const (
	houseWidth = 360
	boxLeft    = 6
	boxRight   = 312
	roomHeight = 22
	letter     = 7.3 // the width of a letter at 12
)

const houseStyle = `<style>
:root{--page:#fff;--box:#f6f8fa;--room:#fff;--line:#c3ccd5;--ink:#1f2328;--soft:#59636e;--lit:#0b62c4;--on:#fff}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--box:#151b23;--room:#212830;--line:#3d444d;--ink:#f0f6fc;
--soft:#9aa4b0;--lit:#58a6ff;--on:#0d1117}}
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:var(--ink)}
.t{font:13px system-ui,sans-serif}.b{font-weight:bold}.s{fill:var(--soft)}.n{fill:var(--on);text-anchor:middle}
.box{fill:var(--box);stroke:var(--line)}.room{fill:var(--room);stroke:var(--line)}.lit{stroke:var(--lit);stroke-width:1.5}
.dot{fill:var(--lit)}.arrow{fill:none;stroke:var(--soft)}.head{fill:var(--soft)}.rule{stroke:var(--line);stroke-dasharray:2 3}
</style>
`

func drawHouse(t *testing.T, imports map[string][]string) []byte {
	t.Helper()
	h := newHouse(t, imports)
	var rooms, arrows bytes.Buffer
	tops, bottoms, y := make([]float64, len(wings)), make([]float64, len(wings)), 8.0
	for i, w := range wings {
		tops[i] = y
		var inside bytes.Buffer
		y = h.drawRows(t, &inside, w.name, y+30)
		bottoms[i] = y
		fmt.Fprintf(&rooms, "<rect class=\"box\" x=\"%d\" y=\"%g\" width=\"%d\" height=\"%g\" rx=\"6\"/>\n",
			boxLeft, tops[i], boxRight-boxLeft, y-tops[i])
		fmt.Fprintf(&rooms, "<text class=\"t\" x=\"%d\" y=\"%g\"><tspan class=\"b\">%s</tspan><tspan class=\"s\" dx=\"8\">%s</tspan></text>\n",
			boxLeft+10, tops[i]+20, w.name, w.does)
		rooms.Write(inside.Bytes())
		y += 14
	}
	for i, from := range wings {
		lane := float64(houseWidth - 8 - 9*i)
		for j, to := range wings {
			if i == j || !h.imports(from.name, to.name) {
				continue
			}
			if j < i {
				t.Errorf("%s imports %s, which is drawn above it", from.name, to.name)
			}
			at := tops[j] + 10 + 7*float64(i)
			fmt.Fprintf(&arrows, "<path class=\"arrow\" d=\"M%d %gH%gV%gH%d\"/><path class=\"head\" d=\"M%d %gl7 -3.5v7z\"/>\n",
				boxRight, bottoms[i]-10, lane, at, boxRight+6, boxRight, at)
		}
	}
	var out bytes.Buffer
	height := y + 66
	fmt.Fprintf(&out, "<!-- Drawn from the imports: go test ./cmd/a2atap -run PictureOfPackages -update -->\n"+
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %g\" width=\"%d\" height=\"%g\" role=\"img\" "+
		"aria-label=\"The packages of a2atap: cmd stands on tui, replay, analyzer and proxy, and each of these on those after it\">\n",
		houseWidth, height, houseWidth, height)
	out.WriteString(houseStyle)
	out.WriteString("<rect width=\"100%\" height=\"100%\" fill=\"var(--page)\"/>\n")
	out.Write(arrows.Bytes())
	out.Write(rooms.Bytes())
	for i, line := range []string{
		"An arrow is an import. Within a box, a package",
		"imports only what is below the next dashed line.",
		"Numbered: the way of one exchange.",
	} {
		fmt.Fprintf(&out, "<text class=\"t s\" x=\"%d\" y=\"%g\">%s</text>\n", boxLeft+2, y+12+18*float64(i), line)
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// drawRows draws the rooms of a wing from y on, and returns where its box ends.
func (h *house) drawRows(t *testing.T, out *bytes.Buffer, name string, y float64) float64 {
	rows := h.rows(name)
	if len(rows) == 0 {
		t.Fatalf("there are no packages in %s", name)
	}
	for r, row := range rows {
		if r > 0 {
			fmt.Fprintf(out, "<path class=\"rule\" d=\"M%d %gH%d\"/>\n", boxLeft+10, y, boxRight-10)
			y += 6
		}
		x := float64(boxLeft + 10)
		for _, room := range row {
			label, step := h.label(room), slices.Index(passage, room)+1
			width := 12 + letter*float64(len([]rune(label)))
			if step > 0 {
				width += 18
			}
			if x+width > boxRight-8 && x > boxLeft+10 {
				x, y = boxLeft+10, y+roomHeight+5
			}
			text, class := x+6, "room"
			if step > 0 {
				text, class = x+24, "room lit"
			}
			fmt.Fprintf(out, "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%d\" rx=\"4\"/>", class, x, y, width, roomHeight)
			if step > 0 {
				fmt.Fprintf(out, "<circle class=\"dot\" cx=\"%g\" cy=\"%g\" r=\"8\"/><text class=\"n b\" x=\"%g\" y=\"%g\">%d</text>",
					x+12, y+11, x+12, y+15, step)
			}
			fmt.Fprintf(out, "<text x=\"%g\" y=\"%g\">%s</text>\n", text, y+15, label)
			x += width + 5
		}
		y += roomHeight + 6
	}
	return y + 2
}
