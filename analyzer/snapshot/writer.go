package snapshot

import (
	"maps"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
)

// Bounds of a Writer's memory. Later updates of a row whose chunk was released become patches.
const (
	maxChunks   = 4 // of rows
	maxPatches  = 4096
	maxCards    = 1000
	flushPause  = 200 * time.Millisecond // between two writings of a reading that grows
	openPause   = time.Second            // the same for exchanges that are open
	resultPause = 2 * time.Second        // the same for the result
	maxCoverage = 20_000                 // maximum rows of coverage with which a growing result is written
)

// A Writer writes the reading of a capture while an engine checks it. Only the goroutine of the engine may use it. Give
// the engine its Options, and each finding to Found.
type Writer struct {
	// Interrupted means that the recorder was killed: exchanges open at the end of the capture were interrupted.
	Interrupted bool

	put    func(...capture.Entry) error
	engine *engine.Engine
	head   Head
	err    error // why writing has stopped

	chunks   map[uint64]*rowChunk
	gone     map[uint64]bool     // chunks that were released
	links    *workflow.Index     // nil if not requested
	patches  map[uint64][]*patch // by exchange, not written yet
	patched  int                 // how many patches there were
	findings *findingChunk       // the newest ones
	replaced []capture.Entry     // not written yet
	revised  []provisional
	kinds    kinds
	cards    map[string]uint64 // digest of the card, by its source
	spare    []*Row            // of chunks that were released
	encoder  *encoder

	flushed, opened, told time.Time
	changed               bool // since the last flush
	rowless               bool // a finding was made in an open exchange that has no row yet
	more                  bool // is known than the result has
}

// A rowChunk is rows that are written together. A row with Seq 0 is not known yet.
type rowChunk struct {
	rows  [chunkRows]*Row
	dirty bool
}

type findingChunk struct {
	number uint64
	list   []analysis.Finding
	dirty  bool
}

// A provisional finding may be replaced at the end.
type provisional struct {
	number  uint64
	finding analysis.Finding
}

// NewWriter returns a Writer for the results of the rules, which passes each entry to put. Entries replace earlier ones
// with the same key. After put returns an error, it is not called again: see Err.
func NewWriter(rules []*analysis.Rule, put func(...capture.Entry) error) *Writer {
	return &Writer{
		put: put, head: Head{Digest: Digest(rules)}, chunks: make(map[uint64]*rowChunk), gone: make(map[uint64]bool),
		patches: make(map[uint64][]*patch), findings: &findingChunk{},
		kinds: make(kinds), cards: make(map[string]uint64), encoder: newEncoder(), flushed: time.Now(),
	}
}

// Err returns why the reading could not be written; nil if writing has not failed.
func (w *Writer) Err() error { return w.err }

// Links returns the index of causes for exchanges that are checked from now on.
func (w *Writer) Links() *workflow.Index {
	if w.links == nil {
		w.links = &workflow.Index{}
	}
	return w.links
}

// Options returns the engine options that fill the reading.
func (w *Writer) Options() []engine.Option {
	return append(workflow.Into(w.Linked),
		engine.OnEnded(w.ended), engine.OnLate(w.late), func(e *engine.Engine) { w.engine = e })
}

// row returns the row of an exchange; nil if its chunk was released.
func (w *Writer) row(seq uint64) *Row {
	number := chunkOf(seq)
	c := w.chunks[number]
	if c == nil {
		if w.gone[number] {
			return nil
		}
		c = &rowChunk{}
		w.chunks[number] = c
	}
	c.dirty, w.changed = true, true
	at := (seq - 1) % chunkRows
	if c.rows[at] == nil {
		c.rows[at] = w.newRow()
	}
	return c.rows[at]
}

// newRow returns an empty row, a released one if possible.
func (w *Writer) newRow() *Row {
	n := len(w.spare)
	if n == 0 {
		return &Row{}
	}
	r := w.spare[n-1]
	w.spare = w.spare[:n-1]
	*r = Row{}
	return r
}

// amend updates a row, or adds a patch if its chunk was released.
func (w *Writer) amend(seq uint64, p patch) {
	if r := w.row(seq); r != nil {
		p.apply(r)
		return
	}
	kept := p // so that row data need not be on the heap
	w.patch(seq, &kept)
}

// patch stores an update of a row whose chunk was released.
func (w *Writer) patch(seq uint64, p *patch) {
	w.changed = true
	w.patches[seq] = append(w.patches[seq], p)
	if len(w.patches) > maxPatches {
		w.write(w.takePatches(nil))
	}
}

func (w *Writer) ended(s summary.Summary) {
	if s.Seq == 0 {
		return
	}
	if s.Life == capture.StateOpen && w.Interrupted {
		s.Life = capture.StateInterrupted
	}
	w.learn(&s)
	if r := w.row(s.Seq); r != nil {
		w.set(r, &s)
		w.letGo()
		return
	}
	w.patch(s.Seq, &patch{row: &Row{Summary: s}})
}

// set stores the summary of an exchange.
func (w *Writer) set(r *Row, s *summary.Summary) {
	if r.Seq == 0 {
		w.head.Rows++
	}
	w.head.Last = max(w.head.Last, s.Seq)
	r.Summary = *s
}

// learn records exchanges that brought a different card than the known one.
func (w *Writer) learn(s *summary.Summary) {
	if !s.Card || s.Status != 200 || s.Life != capture.StateClosed {
		return
	}
	from := s.AgentURL + " " + s.Target + " " + s.Called
	if sum, known := w.cards[from]; known && sum == s.CardSum && sum != 0 {
		return
	}
	w.cards[from] = s.CardSum
	w.head.Cards = append(w.head.Cards, s.Seq)
	if len(w.head.Cards) > maxCards || len(w.cards) > maxCards {
		w.head.Cards = w.head.Cards[max(len(w.head.Cards)-maxCards, 0):]
		w.head.MoreCards = true
		w.cards = make(map[string]uint64)
	}
}

func (w *Writer) late(seq uint64, fact capture.Fact) { w.amend(seq, patch{fact: &fact}) }

// Linked stores the cause of an exchange, or an update of it.
func (w *Writer) Linked(l workflow.Link) {
	if l.Exchange == 0 {
		return
	}
	w.head.Linked, w.changed = max(w.head.Linked, l.Exchange), true
	if w.links != nil {
		w.links.Put(l)
	}
	r := w.row(l.Exchange)
	if r == nil && l.Before == 0 && l.Parent == 0 && l.By == workflow.None {
		return
	}
	if r != nil {
		r.Parent, r.By, r.Maybe = l.Parent, l.By, l.Maybe
	} else {
		w.patch(l.Exchange, &patch{caused: true, parent: l.Parent, by: l.By, maybe: l.Maybe})
	}
	if l.Before != l.Parent {
		w.child(l.Before, -1)
		w.child(l.Parent, 1)
	}
}

func (w *Writer) child(seq uint64, n int) {
	if seq != 0 {
		w.amend(seq, patch{children: n})
	}
}

// Found stores a finding in place of the findings that it revises.
func (w *Writer) Found(f analysis.Finding) {
	number := w.head.Findings
	if f.Revises {
		number = w.revise(&f)
	}
	if f.Rule.Revises || f.Unsettled {
		w.revised = append(w.revised, provisional{number, f})
	}
	if number == w.head.Findings {
		w.add(f)
	} else {
		w.replace(number, &f)
	}
	short := shortOf(number, &f)
	if seq := f.Place.Exchange; seq != 0 {
		w.kinds.of(&short).made.add(seq)
		if r := w.row(seq); r != nil && r.Seq == 0 {
			w.rowless = true
		}
		w.amend(seq, patch{found: []Found{short}})
	}
}

// shortOf returns the short form of a finding.
func shortOf(number uint64, f *analysis.Finding) Found {
	return Found{Number: number, Rule: f.Rule.ID, Also: f.Also, Severity: f.Severity, Side: f.Side}
}

// revise removes the findings that a finding replaces, and returns the position of the first of them.
func (w *Writer) revise(f *analysis.Finding) uint64 {
	at := w.head.Findings
	left := w.revised[:0]
	for _, g := range w.revised {
		if !f.Replace(&g.finding) {
			left = append(left, g)
			continue
		}
		at = min(at, g.number)
		w.replace(g.number, nil)
		short, seq := shortOf(g.number, &g.finding), g.finding.Place.Exchange
		w.kinds.of(&short).dropped.add(seq)
		w.amend(seq, patch{dropped: []uint64{g.number}})
	}
	w.revised = left
	f.Revises = false
	return at
}

// add adds a finding to those that were made.
func (w *Writer) add(f analysis.Finding) {
	w.head.Findings++
	w.changed, w.findings.dirty = true, true
	if w.findings.list = append(w.findings.list, f); len(w.findings.list) < chunkFindings {
		return
	}
	full := w.findings
	w.findings = &findingChunk{number: full.number + 1}
	w.write([]capture.Entry{full.entry(w.encoder)})
}

// replace replaces an earlier finding with another one, or with nothing.
func (w *Writer) replace(number uint64, f *analysis.Finding) {
	w.head.Replaced++
	e, there := newEncoder(), f != nil
	c := codec{w: e}
	if c.flags(&there); there {
		c.finding(f)
	}
	w.changed = true
	w.replaced = append(w.replaced, capture.Entry{Key: chunkKey('g', number), Value: pack(e.b)})
}

func (c *findingChunk) entry(e *encoder) capture.Entry {
	c.dirty = false
	e.reset()
	e.count(len(c.list))
	for i := range c.list {
		codec{w: e}.finding(&c.list[i])
	}
	return capture.Entry{Key: chunkKey('f', c.number), Value: pack(e.b)}
}

func (c *rowChunk) entry(number uint64, e *encoder) capture.Entry {
	c.dirty = false
	e.reset()
	known := slices.DeleteFunc(slices.Clone(c.rows[:]), func(r *Row) bool { return r == nil || r.Seq == 0 })
	e.count(len(known))
	for _, r := range known {
		b := r.brief()
		codec{w: e}.brief(&b)
	}
	for _, r := range known {
		codec{w: e}.rest(r)
	}
	return capture.Entry{Key: chunkKey('s', number), Value: pack(e.b)}
}

// letGo writes and releases the oldest chunks if there are many. Exchanges that are still open are written as open.
func (w *Writer) letGo() {
	if len(w.chunks) <= maxChunks {
		return
	}
	oldest := slices.Min(slices.Collect(maps.Keys(w.chunks)))
	c := w.chunks[oldest]
	w.fillOpen(func(seq uint64) bool { return chunkOf(seq) == oldest })
	var entries []capture.Entry
	if c.dirty {
		entries = append(entries, c.entry(oldest, w.encoder))
	}
	delete(w.chunks, oldest)
	w.gone[oldest] = true
	for _, r := range c.rows {
		if r != nil {
			w.spare = append(w.spare, r)
		}
	}
	w.write(entries)
}

// fillOpen adds the summaries of open exchanges.
func (w *Writer) fillOpen(wanted func(seq uint64) bool) {
	if w.engine == nil {
		return
	}
	w.engine.Open(wanted, func(s summary.Summary) {
		if c := w.chunks[chunkOf(s.Seq)]; c == nil {
			return
		} else if r := c.rows[(s.Seq-1)%chunkRows]; r != nil && r.Seq != 0 && r.ResponseSize == s.ResponseSize &&
			r.RequestSize == s.RequestSize && r.Events == s.Events {
			return
		}
		s.Call, s.Outcome = false, analysis.Outcome{}
		w.set(w.row(s.Seq), &s)
	})
}

// Judged records that a step was checked. If others follow the reading while it grows, it writes from time to time.
func (w *Writer) Judged(arrival uint64) {
	w.head.Arrival = arrival
	if w.err == nil && time.Since(w.flushed) >= flushPause {
		w.Flush()
	}
}

// Flush writes the unwritten rest of a growing reading.
func (w *Writer) Flush() {
	now := time.Now()
	w.flushed = now
	if now.Sub(w.opened) >= openPause || w.rowless {
		w.opened, w.rowless = now, false
		w.fillOpen(func(uint64) bool { return true })
	}
	w.more = w.more || w.changed && w.engine != nil
	pause, due := w.Due()
	due = due && pause == 0
	if !w.changed && !due && w.head.Version > 0 || w.err != nil {
		return
	}
	entries := w.pending()
	if due {
		w.told, w.more = now, false
		r := &judgment.Result{}
		w.engine.Observed(r)
		if len(r.Coverage) <= maxCoverage {
			entries = append(entries, resultEntry(r))
		}
	}
	w.write(append(entries, w.headEntry()))
}

// Due returns how long until Flush writes the rest, and whether anything is unwritten.
func (w *Writer) Due() (pause time.Duration, any bool) {
	return max(resultPause-time.Since(w.told), 0), w.more && w.err == nil
}

// pending returns all unwritten rows and findings.
func (w *Writer) pending() []capture.Entry {
	var entries []capture.Entry
	for _, number := range slices.Sorted(maps.Keys(w.chunks)) {
		if c := w.chunks[number]; c.dirty {
			entries = append(entries, c.entry(number, w.encoder))
		}
	}
	if w.findings.dirty {
		entries = append(entries, w.findings.entry(w.encoder))
	}
	entries = append(entries, w.replaced...)
	w.replaced, w.changed = nil, false
	return w.takePatches(entries)
}

func (w *Writer) takePatches(entries []capture.Entry) []capture.Entry {
	for _, seq := range slices.Sorted(maps.Keys(w.patches)) {
		for _, p := range w.patches[seq] {
			e := newEncoder()
			codec{w: e}.patch(p)
			w.patched++
			entries = append(entries, capture.Entry{Key: patchKey(seq, uint64(w.patched)), Value: pack(e.b)})
		}
	}
	clear(w.patches)
	return entries
}

func (w *Writer) headEntry() capture.Entry {
	w.head.Version++
	if w.head.Counts = nil; w.engine != nil && !w.head.Ended {
		counts := w.engine.Counts()
		w.head.Counts = &counts
	}
	w.head.Chunks = uint64(len(w.chunks) + len(w.gone))
	value, err := w.head.encode()
	if err != nil {
		w.err = err
	}
	return capture.Entry{Key: keyHead, Value: value}
}

func resultEntry(r *judgment.Result) capture.Entry {
	e := newEncoder()
	codec{w: e}.result(r)
	return capture.Entry{Key: keyResult, Value: pack(e.b)}
}

func (w *Writer) write(entries []capture.Entry) {
	if w.err != nil || len(entries) == 0 {
		return
	}
	w.err = w.put(entries...)
}

// Finish writes the rest of the reading after all of the capture was checked: the result, and the mark of the steps.
// The reading is then whole, unless the capture is still being recorded.
func (w *Writer) Finish(r *judgment.Result, mark []byte) error {
	w.write(w.pending())
	w.head.Mark, w.head.Ended = mark, !r.Live
	var entries []capture.Entry
	if w.head.Ended {
		entries, w.head.Kinds = w.kinds.entries(w.encoder), uint64(len(w.kinds))
	}
	w.write(append(entries, resultEntry(r), w.headEntry()))
	return w.err
}
