package panel

// An Outline is a list of lines under headings, which fold. It keeps all lines in memory.
type Outline struct {
	Window
	Lines   []OutlineLine
	Shown   []int           // of lines, those that are not folded away
	toggled map[string]bool // headings in another state than initially, by key
}

// An OutlineLine is a heading, or a line under one.
type OutlineLine struct {
	Key    string // of a heading; empty for other lines
	Level  int    // of headings above it
	Closed bool   // the heading begins folded
	Item   int    // meaning, for the outline's creator
}

// Set replaces the lines. The cursor moves to the line at, or to its heading if it is folded away, and stays in its
// line of the screen; -1 leaves it unchanged.
func (o *Outline) Set(lines []OutlineLine, at int) {
	row := o.Cursor - o.Top
	o.Lines = lines
	o.lay()
	if at >= 0 {
		o.Cursor = o.rowOf(at)
		o.Top = max(o.Cursor-row, 0)
	}
	o.Move(o.Cursor)
}

// lay computes which lines are shown.
func (o *Outline) lay() {
	o.Shown = o.Shown[:0]
	folded := -1 // the level of the heading that folds what is below it
	for i := range o.Lines {
		l := &o.Lines[i]
		if folded >= 0 && l.Level > folded {
			continue
		}
		folded = -1
		o.Shown = append(o.Shown, i)
		if o.folded(l) {
			folded = l.Level
		}
	}
	o.Length = len(o.Shown)
}

func (o *Outline) folded(l *OutlineLine) bool { return l.Key != "" && l.Closed != o.toggled[l.Key] }

// rowOf returns the row of a line, or of the heading that folds it away.
func (o *Outline) rowOf(line int) int {
	row := 0
	for i, n := range o.Shown {
		if n > line {
			break
		}
		row = i
	}
	return row
}

// At returns the line in a row, or nil.
func (o *Outline) At(row int) *OutlineLine {
	if row < 0 || row >= len(o.Shown) {
		return nil
	}
	return &o.Lines[o.Shown[row]]
}

// Under returns the line of the cursor. For a heading, it returns the first line below that is not a heading, or -1 if
// there is no such line.
func (o *Outline) Under() int {
	if o.Cursor >= len(o.Shown) {
		return -1
	}
	for i := o.Shown[o.Cursor]; i < len(o.Lines); i++ {
		if o.Lines[i].Key == "" {
			return i
		}
	}
	return -1
}

// Fold folds or unfolds the heading at the cursor. It returns false if the cursor is not on a heading.
func (o *Outline) Fold() bool {
	l := o.At(o.Cursor)
	if l == nil || l.Key == "" {
		return false
	}
	o.turn(l)
	o.lay()
	o.Move(o.Cursor)
	return true
}

func (o *Outline) turn(l *OutlineLine) {
	if o.toggled == nil {
		o.toggled = make(map[string]bool)
	}
	o.toggled[l.Key] = !o.toggled[l.Key]
}

// FoldAll folds all headings, or unfolds them if they are folded.
func (o *Outline) FoldAll() {
	fold := false
	for i := range o.Lines {
		l := &o.Lines[i]
		fold = fold || l.Key != "" && !o.folded(l)
	}
	at := -1
	if o.Cursor < len(o.Shown) {
		at = o.Shown[o.Cursor]
	}
	for i := range o.Lines {
		if l := &o.Lines[i]; l.Key != "" && o.folded(l) != fold {
			o.turn(l)
		}
	}
	o.Set(o.Lines, at)
}

// Reveal unfolds the headings above a line, and moves the cursor to it.
func (o *Outline) Reveal(line int) {
	level := o.Lines[line].Level
	for i := line - 1; i >= 0 && level > 0; i-- {
		if l := &o.Lines[i]; l.Key != "" && l.Level < level {
			level = l.Level
			if o.folded(l) {
				o.turn(l)
			}
		}
	}
	o.lay()
	o.Move(o.rowOf(line))
}

// FoldSign returns the sign of a heading.
func (o *Outline) FoldSign(l *OutlineLine) string {
	if o.folded(l) {
		return "▸ "
	}
	return "▾ "
}
