package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
)

// cachedChunks is how many chunks of rows Results keep in memory, some 200 KB each.
const cachedChunks = 24

// Results are the stored results of checking a capture. They are safe for concurrent use. Its results are shared and
// must not be modified, except for findings.
type Results struct {
	shelf capture.Shelf
	rules map[string]*analysis.Rule

	mu    sync.Mutex
	head  Head
	cache map[uint64]*cached
	order []uint64 // of cache, the one used last at the end
}

type cached struct {
	version uint64
	rows    []*Row
}

// Open opens the reading on a shelf. If the shelf has none made by these rules, the error is
// ErrNone. If the reading is damaged, the error wraps capture.ErrDamagedEntry.
func Open(ctx context.Context, shelf capture.Shelf, rules []*analysis.Rule) (*Results, error) {
	r := &Results{shelf: shelf, rules: make(map[string]*analysis.Rule, len(rules)), cache: make(map[uint64]*cached)}
	for _, rule := range rules {
		r.rules[rule.ID] = rule
	}
	head, err := r.readHead(ctx)
	if err != nil {
		return nil, err
	}
	if head.Digest != Digest(rules) {
		return nil, ErrNone
	}
	r.head = head
	return r, nil
}

// HeadOf returns the head of the reading on a shelf, made by any rules. If the shelf has none, the error is
// ErrNone. If the reading is damaged, the error wraps capture.ErrDamagedEntry.
func HeadOf(ctx context.Context, shelf capture.Shelf) (Head, error) {
	return (&Results{shelf: shelf}).readHead(ctx)
}

func (r *Results) readHead(ctx context.Context) (Head, error) {
	var head Head
	values, err := r.shelf.Kept(ctx, keyHead)
	switch {
	case err != nil:
		return head, err
	case values[0] == nil:
		return head, ErrNone
	}
	if err := json.Unmarshal(values[0], &head); err != nil {
		return head, damaged("its head: %v", err)
	}
	return head, nil
}

// Head returns the reading's head as of the last Open or Refresh.
func (r *Results) Head() Head {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head
}

// Refresh checks whether the reading has grown, and reports whether it has.
func (r *Results) Refresh(ctx context.Context) (bool, error) {
	head, err := r.readHead(ctx)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	grown := head.Version != r.head.Version
	r.head = head
	return grown, nil
}

// Row returns the row of an exchange, or nil.
func (r *Results) Row(ctx context.Context, seq uint64) (*Row, error) {
	if seq == 0 {
		return nil, nil
	}
	rows, err := r.chunk(ctx, chunkOf(seq))
	if err != nil {
		return nil, err
	}
	return rowOf(rows, seq), nil
}

func rowOf(rows []*Row, seq uint64) *Row {
	for _, row := range rows {
		if row.Seq == seq {
			return row
		}
	}
	return nil
}

// chunk returns the rows of a chunk, in order.
func (r *Results) chunk(ctx context.Context, number uint64) ([]*Row, error) {
	r.mu.Lock()
	version := r.head.Version
	if c := r.cache[number]; c != nil && c.version == version {
		r.touch(number)
		r.mu.Unlock()
		return c.rows, nil
	}
	r.mu.Unlock()
	e, patches, err := r.entry(ctx, number)
	if err != nil {
		return nil, err
	}
	rows, err := r.rowsOf(e, patches)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cache[number] = &cached{version, rows}
	r.touch(number)
	return rows, nil
}

// touch marks a chunk as used, and releases the least recently used one.
func (r *Results) touch(number uint64) {
	for i, n := range r.order {
		if n == number {
			r.order = append(r.order[:i], r.order[i+1:]...)
			break
		}
	}
	r.order = append(r.order, number)
	if len(r.order) > cachedChunks {
		delete(r.cache, r.order[0])
		r.order = r.order[1:]
	}
}

// A patchAt is a patch and the exchange that it updates.
type patchAt struct {
	seq uint64
	*patch
}

// entry returns a chunk as written, and the patches of its rows.
func (r *Results) entry(ctx context.Context, number uint64) (capture.Entry, map[uint64][]patchAt, error) {
	e := capture.Entry{Key: chunkKey('s', number)}
	values, err := r.shelf.Kept(ctx, e.Key)
	if err != nil {
		return e, nil, err
	}
	e.Value = values[0]
	patches, err := r.patches(ctx, chunkKey('p', number*chunkRows+1), chunkKey('p', (number+1)*chunkRows+1))
	return e, patches, err
}

// patches returns the patches with keys from..below, by chunk.
func (r *Results) patches(ctx context.Context, from, below []byte) (map[uint64][]patchAt, error) {
	all := make(map[uint64][]patchAt)
	for e, err := range r.shelf.KeptRange(ctx, from, below) {
		if err != nil {
			return nil, err
		}
		p, err := decodePatch(e)
		if err != nil {
			return nil, err
		}
		if p.seq > 0 {
			all[chunkOf(p.seq)] = append(all[chunkOf(p.seq)], p)
		}
	}
	return all, nil
}

func decodePatch(e capture.Entry) (patchAt, error) {
	d, err := reads(e, len(patchKey(0, 0)), nil)
	if err != nil {
		return patchAt{}, err
	}
	p := patchAt{numberOf(e.Key), &patch{}}
	d.patch(p.patch)
	return p, d.r.err
}

// numberOf returns the first number of a key.
func numberOf(key []byte) uint64 {
	var n uint64
	for _, c := range key[1:9] {
		n = n<<8 | uint64(c)
	}
	return n
}

// briefs returns the briefs of a chunk, in order.
func (r *Results) briefs(ctx context.Context, number uint64) ([]brief, error) {
	e, patches, err := r.entry(ctx, number)
	if err != nil {
		return nil, err
	}
	return r.briefsOf(e, patches)
}

// briefsOf is rowsOf for briefs.
func (r *Results) briefsOf(e capture.Entry, patches map[uint64][]patchAt) ([]brief, error) {
	d, list, err := openChunk(e)
	if err != nil || len(patches[d.chunk]) == 0 {
		return list, err
	}
	rows, err := r.rowsOf(e, patches)
	list = make([]brief, len(rows))
	for i, row := range rows {
		list[i] = row.brief()
	}
	return list, err
}

// A chunkReader reads the rows of a chunk behind their briefs.
type chunkReader struct {
	codec
	chunk uint64
}

// openChunk reads the briefs of a chunk; an unwritten chunk has none.
func openChunk(e capture.Entry) (d chunkReader, list []brief, err error) {
	if e.Value == nil && len(e.Key) == keySize {
		return chunkReader{chunk: numberOf(e.Key)}, nil, nil
	}
	if d.codec, err = reads(e, keySize, nil); err != nil {
		return d, nil, err
	}
	d.chunk = numberOf(e.Key)
	list = make([]brief, min(d.r.count(), chunkRows))
	last := d.chunk * chunkRows
	for i := range list {
		b := &list[i]
		d.brief(b)
		if d.r.err == nil && (b.seq <= last || chunkOf(b.seq) != d.chunk) {
			d.r.fail("a row in the wrong place")
		}
		last = b.seq
	}
	return d, list, d.r.err
}

// rowsOf decodes a chunk and applies the patches of its rows.
func (r *Results) rowsOf(e capture.Entry, patches map[uint64][]patchAt) ([]*Row, error) {
	d, briefs, err := openChunk(e)
	if err != nil {
		return nil, err
	}
	rows := make([]*Row, 0, len(briefs))
	for i := range briefs {
		row := briefs[i].row()
		d.rest(row)
		rows = append(rows, row)
	}
	if len(rows) > 0 && d.r.err != nil {
		return nil, d.r.err
	}
	better := patches[d.chunk]
	for _, p := range better {
		row := rowOf(rows, p.seq)
		if made := p.apply(row); row != nil && made != nil {
			*row = *made
		} else if made != nil && made.Seq == p.seq {
			rows = append(rows, made)
		}
	}
	if len(better) > 0 {
		slices.SortFunc(rows, func(a, b *Row) int { return cmp.Compare(a.Seq, b.Seq) })
	}
	return rows, nil
}

// Rows yields the rows of exchanges from one on, in order.
func (r *Results) Rows(ctx context.Context, from uint64) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		from = max(from, 1)
		patches, err := r.patches(ctx, chunkKey('p', chunkOf(from)*chunkRows+1), []byte{'p' + 1})
		if err != nil {
			yield(nil, err)
			return
		}
		chunks := uint64(0)
		for e, err := range r.shelf.KeptRange(ctx, chunkKey('s', chunkOf(from)), []byte{'s' + 1}) {
			var rows []*Row
			if err == nil {
				rows, err = r.rowsOf(e, patches)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			chunks++
			for _, row := range rows {
				if row.Seq >= from && !yield(row, nil) {
					return
				}
			}
		}
		if head := r.Head(); head.Ended && from == 1 && chunks != head.Chunks {
			yield(nil, damaged("there are %d chunks of rows, but %d were written", chunks, head.Chunks))
		}
	}
}

// RowsBefore yields the rows of exchanges before one, from the last of them to the first.
func (r *Results) RowsBefore(ctx context.Context, before uint64) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		if before = min(before, r.Head().Last+1); before <= 1 {
			return
		}
		for number, empty := chunkOf(before-1), 0; ; number-- {
			rows, err := r.chunk(ctx, number)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range slices.Backward(rows) {
				if row.Seq < before && !yield(row, nil) {
					return
				}
			}
			if empty++; len(rows) > 0 {
				empty = 0
			}
			if empty > maxEmpty {
				if number, err = r.chunkBefore(ctx, number); err != nil {
					yield(nil, err)
					return
				}
				empty = 0
			}
			if number == 0 {
				return
			}
		}
	}
}

// maxEmpty is how many chunks without rows are checked one by one. Numbers in files of other programs may be far apart.
const maxEmpty = 8

// chunkBefore returns one more than the number of the previous chunk, or 0 before the first chunk.
func (r *Results) chunkBefore(ctx context.Context, number uint64) (uint64, error) {
	var last uint64
	for e, err := range r.shelf.KeptRange(ctx, chunkKey('s', 0), chunkKey('s', number)) {
		if err != nil {
			return 0, err
		}
		if len(e.Key) == keySize {
			last = numberOf(e.Key) + 1
		}
	}
	return last, nil
}

// LastRows returns the last n rows, in order.
func (r *Results) LastRows(ctx context.Context, n int) ([]*Row, error) {
	var rows []*Row
	for row, err := range r.RowsBefore(ctx, math.MaxUint64) {
		if err != nil {
			return nil, err
		}
		if rows = append(rows, row); len(rows) == n {
			break
		}
	}
	slices.Reverse(rows)
	return rows, nil
}

// Result returns the overall result of checking the capture, without findings and the capture's gaps: see Complete.
func (r *Results) Result(ctx context.Context) (*judgment.Result, error) {
	values, err := r.shelf.Kept(ctx, keyResult)
	if err != nil {
		return nil, err
	}
	if values[0] == nil {
		return nil, ErrNone
	}
	d, err := reads(capture.Entry{Key: keyResult, Value: values[0]}, len(keyResult), r.rules)
	if err != nil {
		return nil, err
	}
	result := &judgment.Result{}
	d.result(result)
	return result, d.r.err
}

// Complete returns the result with its findings, as engine.Run on the source would, each with its workflow.
func (r *Results) Complete(ctx context.Context, src capture.Source) (*judgment.Result, error) {
	result, err := r.Result(ctx)
	if err != nil {
		return nil, err
	}
	info, err := src.Info(ctx)
	if err != nil {
		return nil, err
	}
	if newer := r.Head().Counts; newer != nil { // of results that grow
		result.Counts = *newer
	}
	result.Captures, result.Live = []string{info.Name}, info.Provisional()
	result.Note(info)
	// There may be hundreds of thousands: findings are decoded into their final place, and repeated texts are shared.
	result.Findings = make([]analysis.Finding, 0, min(r.Head().Findings, maxPresized))
	briefs, said := lookedUp{reading: r}, texts{}
	for f, err := range r.Findings(ctx, 0) {
		if err != nil {
			return nil, err
		}
		f.Capture = info.Name
		if at := f.Place.Exchange; at != 0 {
			b, err := briefs.of(ctx, at)
			if err != nil {
				return nil, err
			}
			f.ExchangeID = b.id
			if f.Workflow, err = briefs.workflow(ctx, at); err != nil {
				return nil, err
			}
		}
		said.share(f.Finding)
		result.Findings = append(result.Findings, *f.Finding)
	}
	return result, nil
}

// Links returns the links of all exchanges. It reads all rows.
func (r *Results) Links(ctx context.Context) (*workflow.Index, error) {
	patches, err := r.patches(ctx, []byte{'p'}, []byte{'p' + 1})
	if err != nil {
		return nil, err
	}
	links := &workflow.Index{}
	for e, err := range r.shelf.KeptRange(ctx, chunkKey('s', 0), []byte{'s' + 1}) {
		var list []brief
		if err == nil {
			list, err = r.briefsOf(e, patches)
		}
		if err != nil {
			return nil, err
		}
		for i := range list {
			if b := &list[i]; b.by != workflow.None {
				links.Put(workflow.Link{Exchange: b.seq, Parent: b.parent, By: b.by, Maybe: b.maybe})
			}
		}
	}
	return links, nil
}

// Workflow returns the workflow of an exchange.
func (r *Results) Workflow(ctx context.Context, seq uint64) (analysis.Workflow, error) {
	b := lookedUp{reading: r}
	return b.workflow(ctx, seq)
}
