package tui

// An outline is a list of lines under headings, which fold. It is for lists that are kept whole.
type outline struct {
	window
	lines   []outlineLine
	shown   []int           // of lines, those that are not folded away
	toggled map[string]bool // headings that are not as they began, by key
}

// An outlineLine is a heading, or a line under one.
type outlineLine struct {
	key    string // of a heading; empty for other lines
	level  int    // of headings above it
	closed bool   // the heading begins folded
	item   int    // what it is, for whoever made the outline
}

// set replaces the lines. The cursor goes to the line at, or to its heading if it is folded away, and stays in its line
// of the screen; -1 leaves it where it is.
func (o *outline) set(lines []outlineLine, at int) {
	row := o.cursor - o.top
	o.lines = lines
	o.lay()
	if at >= 0 {
		o.cursor = o.rowOf(at)
		o.top = max(o.cursor-row, 0)
	}
	o.move(o.cursor)
}

// lay finds out which lines are shown.
func (o *outline) lay() {
	o.shown = o.shown[:0]
	folded := -1 // the level of the heading that folds what is below it
	for i := range o.lines {
		l := &o.lines[i]
		if folded >= 0 && l.level > folded {
			continue
		}
		folded = -1
		o.shown = append(o.shown, i)
		if o.folded(l) {
			folded = l.level
		}
	}
	o.length = len(o.shown)
}

func (o *outline) folded(l *outlineLine) bool { return l.key != "" && l.closed != o.toggled[l.key] }

// rowOf returns the row of a line, or of the heading that folds it away.
func (o *outline) rowOf(line int) int {
	row := 0
	for i, n := range o.shown {
		if n > line {
			break
		}
		row = i
	}
	return row
}

// at returns the line in a row, or nil.
func (o *outline) at(row int) *outlineLine {
	if row < 0 || row >= len(o.shown) {
		return nil
	}
	return &o.lines[o.shown[row]]
}

// under returns the line of the cursor, or, if that is a heading, the first line below it that is none; -1 if there is
// none.
func (o *outline) under() int {
	if o.cursor >= len(o.shown) {
		return -1
	}
	for i := o.shown[o.cursor]; i < len(o.lines); i++ {
		if o.lines[i].key == "" {
			return i
		}
	}
	return -1
}

// fold folds or unfolds the heading at the cursor. It returns false if none is there.
func (o *outline) fold() bool {
	l := o.at(o.cursor)
	if l == nil || l.key == "" {
		return false
	}
	o.turn(l)
	o.lay()
	o.move(o.cursor)
	return true
}

func (o *outline) turn(l *outlineLine) {
	if o.toggled == nil {
		o.toggled = make(map[string]bool)
	}
	o.toggled[l.key] = !o.toggled[l.key]
}

// foldAll folds all headings, or unfolds them if they are folded.
func (o *outline) foldAll() {
	fold := false
	for i := range o.lines {
		l := &o.lines[i]
		fold = fold || l.key != "" && !o.folded(l)
	}
	at := -1
	if o.cursor < len(o.shown) {
		at = o.shown[o.cursor]
	}
	for i := range o.lines {
		if l := &o.lines[i]; l.key != "" && o.folded(l) != fold {
			o.turn(l)
		}
	}
	o.set(o.lines, at)
}

// reveal unfolds the headings above a line, and moves the cursor to it.
func (o *outline) reveal(line int) {
	level := o.lines[line].level
	for i := line - 1; i >= 0 && level > 0; i-- {
		if l := &o.lines[i]; l.key != "" && l.level < level {
			level = l.level
			if o.folded(l) {
				o.turn(l)
			}
		}
	}
	o.lay()
	o.move(o.rowOf(line))
}

// foldSign returns the sign of a heading.
func (o *outline) foldSign(l *outlineLine) string {
	if o.folded(l) {
		return "▸ "
	}
	return "▾ "
}
