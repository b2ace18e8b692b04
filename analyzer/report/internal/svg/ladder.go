package svg

import "slices"

// A Ladder is a sequence diagram: arrows between the lifelines of clients and agents, downward in the order of time.
type Ladder struct {
	Label  string // description for screen readers
	Arrows []Arrow
}

// An Arrow is one line of a ladder. One without ends is a line of text over the whole width.
type Arrow struct {
	From, To string
	Time     string // next to it, in a few characters
	Number   string // the same
	Label    string
	Href     string // link target; none if empty
	Answer   bool   // it comes back
	Broken   bool   // it did not arrive as it should
	Marks    []Mark
}

// Where things are, in pixels from the left.
const (
	timeRight   = 60.0
	numberRight = 100.0
	firstLife   = 132.0
	ladderWidth = 900.0
	lastLife    = 70.0  // from the right
	minGap      = 150.0 // between two lifelines
	maxGap      = 420.0
	headHeight  = 34.0
)

// String draws the ladder.
func (l *Ladder) String() string {
	g := newGrid(l)
	d := &drawing{}
	g.heads(d)
	y := headHeight
	for i := range l.Arrows {
		y = g.row(d, &l.Arrows[i], y)
	}
	return d.document("ladder", l.Label, g.width, g.height)
}

// A grid is where the lifelines of a ladder are.
type grid struct {
	ends          []string
	gap           float64
	width, height float64
}

func newGrid(l *Ladder) *grid {
	g := &grid{height: headHeight + margin}
	for i := range l.Arrows {
		a := &l.Arrows[i]
		g.height += rowHeight + markRow*float64(len(a.Marks))
		for _, end := range []string{a.From, a.To} {
			if (a.From != "" || a.To != "") && !slices.Contains(g.ends, end) {
				g.ends = append(g.ends, end)
			}
		}
	}
	gaps := float64(max(len(g.ends)-1, 1))
	g.gap = min(max((ladderWidth-firstLife-lastLife)/gaps, minGap), maxGap)
	g.width = firstLife + gaps*g.gap + lastLife
	return g
}

// at returns where a lifeline is.
func (g *grid) at(end string) float64 { return firstLife + float64(slices.Index(g.ends, end))*g.gap }

// heads draws the lifelines and their names.
func (g *grid) heads(d *drawing) {
	for _, end := range g.ends {
		x := g.at(end)
		d.printf(`<line class="life" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x, headHeight-8, x, g.height-margin/2)
		name := clip(end, int((g.gap-12)/charWidth))
		d.text(max(x-float64(columns(name))*charWidth/2, 2), headHeight-16, "end", name)
	}
	d.b.WriteByte('\n')
}

// row draws an arrow and its marks, and returns where the next begins.
func (g *grid) row(d *drawing, a *Arrow, y float64) float64 {
	line := y + rowHeight - 6
	if a.From == "" && a.To == "" {
		d.text(firstLife+10, line-2, "gap", a.Label)
		return y + rowHeight
	}
	end := d.link(a.Href)
	d.text(timeRight-float64(columns(a.Time))*charWidth, line-2, "time", a.Time)
	d.text(numberRight-float64(columns(a.Number))*charWidth, line-2, "number", a.Number)
	label := g.shaft(d, a, line)
	d.printf("%s", end)
	y += rowHeight
	for _, m := range a.Marks {
		d.mark(label, y+markRow-6, m)
		y += markRow
	}
	d.b.WriteByte('\n')
	return y
}

// shaft draws the arrow itself with its label above it, and returns where the label begins.
func (g *grid) shaft(d *drawing, a *Arrow, y float64) (label float64) {
	class := "arrow"
	if a.Answer {
		class += " answer"
	}
	if a.Broken {
		class += " broken"
	}
	from, to := g.at(a.From), g.at(a.To)
	if from == to {
		text := clip(a.Label, int((g.gap-24)/charWidth))
		d.printf(`<path class="%s" d="M%.1f %.1fh12v8h-12"/>`, class, from, y-8)
		d.text(from+18, y-2, "label", text)
		return from + 18
	}
	step := 1.0 // to the right
	if to < from {
		step = -1
	}
	d.printf(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, from, y, to-step*4, y)
	if a.Broken {
		d.printf(`<path class="%s" d="M%.1f %.1fl8 8m-8 0l8 -8"/>`, class, to-step*8-4, y-4)
	} else {
		d.printf(`<path class="head" d="M%.1f %.1fl%.1f -4v8z"/>`, to, y, -step*8)
	}
	left, right := min(from, to), max(from, to)
	text := clip(a.Label, int((right-left-32)/charWidth))
	label = left + 14
	d.text(label, y-4, "label", text)
	return label
}
