package tui

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A scene is what all panels see: the capture as it is now, what was found in it, and how to show it. The inspector
// changes it, and only in Update; panels read it.
type scene struct {
	load    *loader
	info    capture.Info
	opened  bool   // info was read
	wasLive bool   // it was being recorded when it was opened
	trouble string // why the capture cannot be followed for now
	found   ledger
	judged  judged
	deltas  bool // times are those since the one before
	theme   Theme
	spinner int // moves with every message, for signs of progress
	tickets uint64
}

// ticket returns a new number for something asked for. An answer that does not carry the number that its panel waits
// for is out of date.
func (s *scene) ticket() uint64 {
	s.tickets++
	return s.tickets
}

// A panel is one screenful between the title and the last line. It is a plain struct: Update is told of keys, as
// actions, and of what was loaded; it changes the panel and returns what is to be done outside. View draws the panel as
// it is, at most height lines of it.
type panel interface {
	resize(width, height int) tea.Cmd
	update(msg tea.Msg) tea.Cmd
	view() []line
	place() place
	title() string          // for the breadcrumb
	status() string         // counts and modes, for the end of the title
	target() analyzer.Place // what is selected; without an exchange if nothing is
}

// Messages for all panels.
type (
	// changed says that the capture has grown, or that it was opened.
	changed struct {
		seqs []uint64 // exchanges that have something new, in order
	}
	// learned says that the rules have found something in these exchanges.
	learned struct{ seqs []uint64 }
)

// A loader asks the capture. Its methods return commands, which run outside the loop and answer with a message.
type loader struct {
	ctx      context.Context
	src      capture.Source
	rules    []*analyzer.Rule
	keys     []analyzer.EngineOption // that cards are signed with
	verdicts chan judged             // from judge to hear
	reader   analyzer.Reader
	cards    uint64 // exchanges up to this one were searched for cards; for open and watch, of which one is under way
}

func newLoader(ctx context.Context, src capture.Source, rules []*analyzer.Rule, keys ...analyzer.EngineOption) *loader {
	return &loader{ctx: ctx, src: src, rules: rules, keys: keys, verdicts: make(chan judged)}
}

// learn reads the agent cards that came since it was called last, where the capture can find them: they tell what calls
// mean whose path alone proves nothing.
func (l *loader) learn(exchanges uint64) error {
	index, ok := l.src.(capture.Index)
	if !ok || exchanges <= l.cards {
		return nil
	}
	for _, op := range []a2a.Operation{a2a.GetCard, a2a.GetExtendedCard} {
		for seq, err := range index.Find(l.ctx, capture.Key{Kind: "operation", Value: op.String()}, l.cards+1) {
			if err != nil {
				return err
			}
			x, err := l.src.Exchange(l.ctx, seq)
			if err != nil {
				return err
			}
			l.reader.Read(brief(x))
		}
	}
	l.cards = max(exchanges, cardsAgain) - cardsAgain
	return nil
}

// cardsAgain is how many of the newest exchanges are looked at again: their answers may still have to come.
const cardsAgain = 100

// clock writes an instant as people read it.
func clock(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("15:04:05.000")
}

// since writes a span of time in at most eight columns, such as "1.204s".
func since(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + since(-d)
	case d < time.Second:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%.3fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%04.1fs", d/time.Minute, (d % time.Minute).Seconds())
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}

// size writes a number of bytes in at most seven columns.
func size(n int64) string {
	switch {
	case n < 0:
		return "?"
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// number writes a count with commas.
func number[N int | int64 | uint64](n N) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func plural[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

// A window is what is seen of a list that is longer than the panel.
type window struct {
	cursor, top   int // positions in the list
	length        int // of the list
	width, height int // of the panel, without its heading
}

// move moves the cursor and the view after it. Positions that are not there become those nearest to them.
func (w *window) move(to int) {
	w.cursor = min(max(to, 0), max(w.length-1, 0))
	w.reveal()
}

// reveal scrolls as far as the cursor needs.
func (w *window) reveal() {
	w.top = min(w.top, w.cursor)
	w.top = max(w.top, w.cursor-max(w.height, 1)+1)
	w.top = max(min(w.top, w.length-w.height), 0)
}

// act moves the cursor for a key, and reports whether the key was one of those.
func (w *window) act(a action) bool {
	page := max(w.height-1, 1)
	switch a {
	case goDown:
		w.move(w.cursor + 1)
	case goUp:
		w.move(w.cursor - 1)
	case pageDown:
		w.top += page
		w.move(w.cursor + page)
	case pageUp:
		w.top = max(w.top-page, 0)
		w.move(w.cursor - page)
	case goTop:
		w.move(0)
	case goBottom:
		w.move(w.length - 1)
	default:
		return false
	}
	return true
}

// bottom returns the position after the last one that is seen.
func (w *window) bottom() int { return min(w.top+max(w.height, 0), w.length) }

// below says how much of the list is beneath the window.
func (w *window) below() int { return max(w.length-w.bottom(), 0) }
