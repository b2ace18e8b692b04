package pages

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"

	"a2atap/proxy/capture/bolt/internal/layout"
)

// The database trusts its pages: on a damaged page it panics, loops forever, or finds nothing where something exists. A
// file is therefore checked here before the database opens it.
//
// A page has a header: its own number, its kind, the number of its elements, and the number of additional pages it
// occupies. Elements of 16 bytes follow. A branch element has the position and length of a key, and the page that
// begins with it. A leaf element has flags, the position and length of a key, and the length of the value after it.
// Positions count from the element. Everything is in the machine's own byte order.
const (
	PageFlagsAt    = 8
	PageOverflowAt = 12
	elementSize    = 16
	kindBranch     = 1
	kindLeaf       = 2
	leafBucket     = 1  // flag of an element: its value is a bucket
	bucketHeader   = 16 // of such a value: the bucket's root page, or 0 and then the page itself; and a sequence
	maxDepth       = 64
)

// ErrPages means that the pages of a file are invalid.
var ErrPages = fmt.Errorf("its pages are inconsistent: %w", layout.ErrDamaged)

// A pager reads the pages of one file, each once.
type pager struct {
	file  io.ReaderAt
	meta  metaPage
	used  []uint64 // a bit for each page that was met
	rooms [maxDepth + 1][]byte
}

// A page is a page that was read, from its header on; bytes after data are only in the file.
type page struct {
	id    uint64
	kind  uint16
	count int
	size  int64 // in bytes
	data  []byte
}

// A visit is called for each entry of a tree, in order. The slices are valid during the call; value is nil where trees
// are visited without values.
type visit func(flags uint32, key, value []byte) error

func newPager(file io.ReaderAt) (*pager, error) {
	m, err := NewestMeta(file)
	if err != nil {
		return nil, err
	}
	return pagerOf(file, m), nil
}

// pagerOf returns a pager of a file that has as many pages as the meta page says.
func pagerOf(file io.ReaderAt, m metaPage) *pager {
	return &pager{file: file, meta: m, used: make([]uint64, m.Pages/64+1)}
}

// another returns a pager of the same file that has met no page yet.
func (p *pager) another() *pager {
	return &pager{file: p.file, meta: p.meta, used: make([]uint64, len(p.used))}
}

// join adds the pages that another pager has visited, which must be different ones.
func (p *pager) join(other *pager) error {
	for i, met := range other.used {
		if twice := met & p.used[i]; twice != 0 {
			return p.wrong(uint64(64*i+bits.TrailingZeros64(twice)), "it is used twice")
		}
		p.used[i] |= met
	}
	return nil
}

func (p *pager) wrong(id uint64, format string, args ...any) error {
	return fmt.Errorf("page %d: %s: %w", id, fmt.Sprintf(format, args...), ErrPages)
}

// claim notes that n pages are used from id on. None is used twice.
func (p *pager) claim(id, n uint64) error {
	if id < 2 || n > p.meta.Pages || id > p.meta.Pages-n {
		return p.wrong(id, "the file has %d pages", p.meta.Pages)
	}
	for end := id + n; id < end; {
		upTo := min(end, (id/64+1)*64)
		word := ^uint64(0) >> (64 - (upTo - id)) << (id % 64)
		if twice := p.used[id/64] & word; twice != 0 {
			return p.wrong(id/64*64+uint64(bits.TrailingZeros64(twice)), "it is used twice")
		}
		p.used[id/64] |= word
		id = upTo
	}
	return nil
}

// page reads a page: all of it if whole is true, otherwise only the part in its first page. It uses room if that is
// large enough, otherwise new memory.
func (p *pager) page(id uint64, whole bool, room []byte) (page, error) {
	if err := p.claim(id, 1); err != nil {
		return page{}, err
	}
	if uint64(cap(room)) < p.meta.PageSize {
		room = make([]byte, p.meta.PageSize)
	}
	data := room[:p.meta.PageSize]
	if _, err := p.file.ReadAt(data, Product(p.meta.PageSize, id)); err != nil {
		return page{}, fmt.Errorf("read page %d: %w", id, err)
	}
	if own := binary.NativeEndian.Uint64(data); own != id {
		return page{}, p.wrong(id, "it identifies itself as page %d", own)
	}
	pg := parsePage(id, data)
	more := uint64(binary.NativeEndian.Uint32(data[PageOverflowAt:]))
	if more > 0 {
		if err := p.claim(id+1, more); err != nil {
			return page{}, err
		}
	}
	pg.size = Product(p.meta.PageSize, 1+more)
	if more > 0 && (whole || pg.tableEnd() > int64(len(data))) {
		if int64(cap(room)) < pg.size {
			room = make([]byte, pg.size)
			copy(room, data)
		}
		pg.data = room[:pg.size]
		if _, err := p.file.ReadAt(pg.data[len(data):], Product(p.meta.PageSize, id)+int64(len(data))); err != nil {
			return page{}, fmt.Errorf("read page %d: %w", id, err)
		}
	}
	return pg, p.sane(&pg)
}

func parsePage(id uint64, data []byte) page {
	return page{
		id: id, kind: binary.NativeEndian.Uint16(data[PageFlagsAt:]),
		count: int(binary.NativeEndian.Uint16(data[PageCountAt:])), size: int64(len(data)), data: data,
	}
}

func (pg *page) tableEnd() int64 { return PageHeader + int64(pg.count)*elementSize }

func (p *pager) sane(pg *page) error {
	switch {
	case pg.kind != kindBranch && pg.kind != kindLeaf:
		return p.wrong(pg.id, "it is of kind %#x", pg.kind)
	case pg.kind == kindBranch && pg.count == 0:
		return p.wrong(pg.id, "a branch without elements")
	case pg.tableEnd() > int64(len(pg.data)):
		return p.wrong(pg.id, "%d elements do not fit", pg.count)
	}
	return nil
}

// An element is one of a page.
type element struct {
	flags  uint32
	child  uint64 // of a branch
	key    []byte
	value  int64 // where the value begins in the page
	length int64 // of the value
}

func (p *pager) element(pg *page, i int) (e element, err error) {
	at := PageHeader + i*elementSize
	b := pg.data[at:][:elementSize]
	word := func(i int) int64 { return int64(binary.NativeEndian.Uint32(b[4*i:])) }
	var start, length int64
	if pg.kind == kindBranch {
		start, length, e.child = int64(at)+word(0), word(1), binary.NativeEndian.Uint64(b[8:])
	} else {
		e.flags, start, length, e.length = uint32(word(0)), int64(at)+word(1), word(2), word(3)
	}
	e.value = start + length
	if start < pg.tableEnd() || length == 0 || e.value+e.length > pg.size || length > math.MaxUint16 {
		return e, p.wrong(pg.id, "element %d is outside the page", i)
	}
	e.key, err = p.bytes(pg, start, length)
	return e, err
}

// bytes returns a part of a page, from the file where it was not read yet.
func (p *pager) bytes(pg *page, at, n int64) ([]byte, error) {
	if at+n <= int64(len(pg.data)) {
		return pg.data[at:][:n:n], nil
	}
	b := make([]byte, n)
	if _, err := p.file.ReadAt(b, Product(p.meta.PageSize, pg.id)+at); err != nil {
		return nil, fmt.Errorf("read page %d: %w", pg.id, err)
	}
	return b, nil
}

// A look has callbacks for the entries of a tree, in order.
type look struct {
	values bool          // they are needed
	each   visit         // is called for each, or
	sum    *layout.Table // counts them; or neither
	parts  bool          // some may be lists of parts, which are counted as such
}

// tree visits the entries of a tree, whose keys must be in order, not below low, and below high unless that is nil.
func (p *pager) tree(id uint64, low, high []byte, depth int, l look) error {
	if depth >= maxDepth {
		return p.wrong(id, "it is too deep")
	}
	pg, err := p.page(id, l.values, p.rooms[depth])
	if err != nil {
		return err
	}
	p.rooms[depth] = pg.data
	return p.walk(&pg, low, high, depth, l)
}

func (p *pager) walk(pg *page, low, high []byte, depth int, l look) error {
	if pg.kind == kindLeaf && l.each == nil {
		return p.count(pg, low, high, l)
	}
	var before element
	for i := range pg.count {
		e, err := p.element(pg, i)
		if err != nil {
			return err
		}
		if i > 0 && bytes.Compare(before.key, e.key) >= 0 || bytes.Compare(e.key, low) < 0 ||
			high != nil && bytes.Compare(e.key, high) >= 0 {
			return p.wrong(pg.id, "its keys are not in order")
		}
		if pg.kind == kindBranch && i > 0 {
			if err := p.tree(before.child, before.key, e.key, depth+1, l); err != nil {
				return err
			}
		}
		before = e
		if pg.kind == kindBranch {
			continue
		}
		var value []byte
		if l.values {
			if value, err = p.bytes(pg, e.value, e.length); err != nil {
				return err
			}
		}
		if err := l.each(e.flags, e.key, value); err != nil {
			return err
		}
	}
	if pg.kind == kindBranch {
		return p.tree(before.child, before.key, high, depth+1, l)
	}
	return nil
}

// count is walk for a leaf of which only the number of entries, and unless l.sum is nil their sums, are needed. Opening
// a large file spends most of its time here: a million rows.
func (p *pager) count(pg *page, low, high []byte, l look) error {
	before := low
	first := pg.tableEnd()
	for i := range pg.count {
		at := PageHeader + i*elementSize
		b := pg.data[at:][:elementSize]
		flags := binary.NativeEndian.Uint32(b)
		start := int64(at) + int64(binary.NativeEndian.Uint32(b[4:]))
		length := int64(binary.NativeEndian.Uint32(b[8:]))
		end := start + length + int64(binary.NativeEndian.Uint32(b[12:]))
		if start < first || length == 0 || end > pg.size || length > math.MaxUint16 {
			return p.wrong(pg.id, "element %d is outside the page", i)
		}
		if flags != 0 {
			return p.wrong(pg.id, "an entry has flags %#x", flags)
		}
		var key []byte
		if start+length <= int64(len(pg.data)) {
			key = pg.data[start:][:length]
		} else {
			var err error
			if key, err = p.bytes(pg, start, length); err != nil {
				return err
			}
		}
		if order := compareKeys(before, key); order > 0 || order == 0 && i > 0 {
			return p.wrong(pg.id, "its keys are not in order")
		}
		before = key
		switch {
		case l.sum == nil:
		case l.parts && layout.IsPartList(key):
			l.sum.SumParts(key, pg.data[start+length:end])
		default: // the value follows its key: this is their EntrySum
			l.sum.Add(uint64(layout.CRC(pg.data[start:end])))
		}
	}
	if pg.count > 0 && high != nil && bytes.Compare(before, high) >= 0 {
		return p.wrong(pg.id, "its keys are not in order")
	}
	return nil
}

// compareKeys is bytes.Compare, and faster for numbers.
func compareKeys(a, b []byte) int {
	if len(a) == 8 && len(b) == 8 {
		return cmp.Compare(binary.BigEndian.Uint64(a), binary.BigEndian.Uint64(b))
	}
	return bytes.Compare(a, b)
}

// bucket looks at the entries of a bucket, given its value in the root bucket. They must not be buckets.
func (p *pager) bucket(value []byte, l look) error {
	if len(value) < bucketHeader {
		return fmt.Errorf("a bucket has %d bytes: %w", len(value), ErrPages)
	}
	if each := l.each; each != nil {
		l.each = func(flags uint32, key, value []byte) error {
			if flags != 0 {
				return fmt.Errorf("an entry has flags %#x: %w", flags, ErrPages)
			}
			return each(flags, key, value)
		}
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return p.tree(root, nil, nil, 0, l)
	}
	inline := value[bucketHeader:]
	if len(inline) < PageHeader {
		return fmt.Errorf("a bucket has %d bytes: %w", len(value), ErrPages)
	}
	pg := parsePage(0, inline)
	if pg.kind != kindLeaf {
		return fmt.Errorf("a bucket is of kind %#x: %w", pg.kind, ErrPages)
	}
	if err := p.sane(&pg); err != nil {
		return err
	}
	return p.walk(&pg, nil, nil, 0, l)
}

// buckets returns the values of the buckets.
func (p *pager) buckets() (map[string][]byte, error) {
	found := make(map[string][]byte)
	each := func(flags uint32, key, value []byte) error {
		if flags != leafBucket {
			return fmt.Errorf("an entry next to the buckets has flags %#x: %w", flags, ErrPages)
		}
		found[string(key)] = bytes.Clone(value)
		return nil
	}
	return found, p.tree(p.meta.Root, nil, nil, 0, look{values: true, each: each})
}

// freelist checks that the pages which the database takes for free are used by nothing.
func (p *pager) freelist() error {
	at := p.meta.freelist
	if at == noFreelist {
		return nil
	}
	if err := p.claim(at, 1); err != nil {
		return fmt.Errorf("the list of free pages: %w", err)
	}
	var header [PageHeader + 8]byte
	if _, err := p.file.ReadAt(header[:], Product(p.meta.PageSize, at)); err != nil {
		return fmt.Errorf("read the list of free pages: %w", err)
	}
	count, start := uint64(binary.NativeEndian.Uint16(header[PageCountAt:])), int64(PageHeader)
	if count == math.MaxUint16 {
		count, start = binary.NativeEndian.Uint64(header[PageHeader:]), PageHeader+8
	}
	more := uint64(binary.NativeEndian.Uint32(header[PageOverflowAt:]))
	if count > p.meta.Pages || start+8*int64(count) > Product(p.meta.PageSize, 1+more) {
		return fmt.Errorf("the list of free pages has %d of %d: %w", count, p.meta.Pages, ErrPages)
	}
	if more > 0 {
		if err := p.claim(at+1, more); err != nil {
			return fmt.Errorf("the list of free pages: %w", err)
		}
	}
	list := make([]byte, 8*count)
	if _, err := p.file.ReadAt(list, Product(p.meta.PageSize, at)+start); err != nil {
		return fmt.Errorf("read the list of free pages: %w", err)
	}
	for ; len(list) > 0; list = list[8:] {
		if err := p.claim(binary.NativeEndian.Uint64(list), 1); err != nil {
			return fmt.Errorf("the list of free pages: %w", err)
		}
	}
	return nil
}

// InspectMeta checks the pages that lead to a file's description.
func InspectMeta(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return Explain(err)
	}
	defer f.Close()
	p, err := newPager(f)
	if err != nil {
		return err
	}
	found, err := p.buckets()
	if value, ok := found[string(layout.BucketMeta)]; err == nil && ok {
		err = p.bucket(value, look{values: true})
	}
	if err != nil {
		return Unsound(err)
	}
	return nil
}

// An inventory is what the pages of a segment hold, apart from the blocks.
type inventory struct {
	Tables  layout.Tables
	State   []byte // nil if the segment has none yet
	Reading error  // what is wrong with the pages of the reading, which can be computed again
}

// TakeInventory checks a file that is not being written. free means that the file will be written, so the freelist is
// needed, too, and everything must be in order.
func TakeInventory(file io.ReaderAt, free bool) (inventory, error) {
	p, err := newPager(file)
	if err != nil {
		return inventory{}, err
	}
	var inv inventory
	found, err := p.buckets()
	if err != nil {
		return inv, err
	}
	take := func(p *pager, name []byte, l look) error {
		value, ok := found[string(name)]
		if !ok {
			return nil
		}
		if err := p.bucket(value, l); err != nil {
			return fmt.Errorf("bucket %q: %w", name, err)
		}
		return nil
	}
	// Two halves of similar size, for two processors: buckets with an entry for each exchange, and the rest.
	rest, reading := p.another(), p.another()
	failed := make(chan error, 1)
	go func() {
		err := cmp.Or(
			take(rest, layout.BucketIndex, look{values: true, sum: &inv.Tables.Index}),
			take(rest, layout.BucketBlocks, look{}))
		inv.Reading = take(reading, layout.BucketReading, look{})
		failed <- err
	}()
	err = cmp.Or(
		take(p, layout.BucketMeta, look{values: true, each: func(_ uint32, k, v []byte) error {
			if bytes.Equal(k, layout.MetaState) {
				inv.State = bytes.Clone(v)
			} else {
				inv.Tables.Meta.Add(layout.EntrySum(k, v))
			}
			return nil
		}}),
		take(p, layout.BucketExchanges, look{values: true, sum: &inv.Tables.Rows}),
		take(p, layout.BucketParts, look{values: true, sum: &inv.Tables.Parts, parts: true}),
		take(p, layout.BucketOpen, look{values: true, sum: &inv.Tables.Open}))
	if err = cmp.Or(err, <-failed); err != nil {
		return inv, err
	}
	if err := p.join(rest); err != nil {
		return inv, err
	}
	if err := p.join(reading); err != nil && inv.Reading == nil {
		inv.Reading = fmt.Errorf("bucket %q: %w", layout.BucketReading, err)
	}
	if !free {
		return inv, nil
	}
	return inv, cmp.Or(inv.Reading, p.freelist())
}

// Unsound adds the next step.
func Unsound(err error) error {
	return fmt.Errorf("%w; run a2atap doctor for details and a repair", err)
}
