package svg

import (
	"a2atap/analyzer/report/markup"
)

// A Tree is lines of text, each behind a branch of the line that it belongs to.
type Tree struct {
	Label string // description for screen readers
	Rows  []Row  // each after the one that it belongs to
}

// A Row is one line of a tree.
type Row struct {
	Depth   int // 0 for a row without a parent; at most one more than the previous row's
	Number  string
	Text    string // name of the row
	Outcome string // its result
	Aside   string // its qualification
	Dashed  bool   // that it belongs to the one above it is likely, and not proved
	Href    string // link target; none if empty
	Marks   []Mark
}

const (
	indent   = 22.0
	maxDepth = 40
	maxText  = 80 // columns of one part of a row
)

// String draws the tree.
func (t *Tree) String() string {
	d := &drawing{}
	var at [maxDepth + 1]float64 // where the last row of each depth is
	width, y := 0.0, 0.0
	for i := range t.Rows {
		r := &t.Rows[i]
		depth := min(r.Depth, maxDepth)
		x := margin + float64(depth)*indent
		if depth > 0 {
			class := "branch"
			if r.Dashed {
				class += " inferred"
			}
			d.printf(`<path class="%s" d="M%.1f %.1fV%.1fh%.1f"/>`, class, x-indent+6, at[depth-1]+rowHeight-3, y+rowHeight/2+1,
				indent-10)
		}
		at[depth] = y
		width = max(width, r.draw(d, x, y))
		y += rowHeight
	}
	return d.document("tree", t.Label, width+margin, y+margin)
}

// draw writes a row, and returns where it ends.
func (r *Row) draw(d *drawing, x, y float64) float64 {
	base := y + rowHeight/2 + 5
	end := d.link(r.Href)
	what := clip(r.Text, maxText)
	d.printf(`<text class="row" x="%.1f" y="%.1f"><tspan class="number">%s</tspan> %s`, x, base, markup.HTML(r.Number),
		markup.HTML(what))
	n := columns(r.Number) + 1 + columns(what)
	for _, part := range []struct{ class, text string }{{"outcome", r.Outcome}, {"aside", r.Aside}} {
		if text := clip(part.text, maxText); text != "" {
			d.printf(` <tspan dx="8" class="%s">%s</tspan>`, part.class, markup.HTML(text))
			n += columns(text) + 2
		}
	}
	d.printf("</text>%s", end)
	x += float64(n)*charWidth + 16
	for _, m := range r.Marks {
		x = d.mark(x, base, m) + 12
	}
	d.b.WriteByte('\n')
	return x
}
