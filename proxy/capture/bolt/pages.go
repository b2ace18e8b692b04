package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
)

// The database believes what stands in its pages: of a damaged one it panics, or walks in a circle for ever, or finds
// nothing where there is something. So a file is looked through here before it is given to the database.
//
// A page has a header: its own number, its kind, how many elements it has, and by how many pages it is longer than one.
// Elements of 16 bytes follow. That of a branch: position of the key, its length, and the page that begins with it; of
// a leaf: flags, position and length of the key, length of the value behind it. Positions count from the element. All
// is in the machine's own byte order.
const (
	pageFlagsAt    = 8
	pageOverflowAt = 12
	elementSize    = 16
	kindBranch     = 1
	kindLeaf       = 2
	leafBucket     = 1  // flag of an element: its value is a bucket
	bucketHeader   = 16 // of such a value: the bucket's root page, or 0 and then the page itself; and a sequence
	maxDepth       = 64
)

// errPages says that the pages of a file make no sense.
var errPages = fmt.Errorf("its pages make no sense: %w", errDamaged)

// A pager reads the pages of one file, each once.
type pager struct {
	file io.ReaderAt
	meta metaPage
	used []uint64 // a bit for each page that was met
}

// A page is one that was read, from its header on; what is behind data is in the file only.
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
	m, err := newestMeta(file)
	if err != nil {
		return nil, err
	}
	return &pager{file: file, meta: m, used: make([]uint64, m.pages/64+1)}, nil
}

func (p *pager) wrong(id uint64, format string, args ...any) error {
	return fmt.Errorf("page %d: %s: %w", id, fmt.Sprintf(format, args...), errPages)
}

// claim notes that n pages are used from id on. None is used twice.
func (p *pager) claim(id, n uint64) error {
	if id < 2 || n > p.meta.pages || id > p.meta.pages-n {
		return p.wrong(id, "there are %d pages", p.meta.pages)
	}
	for i := id; i < id+n; i++ {
		if p.used[i/64]&(1<<(i%64)) != 0 {
			return p.wrong(i, "it is used twice")
		}
		p.used[i/64] |= 1 << (i % 64)
	}
	return nil
}

// page reads a page; all of it if whole is true, and else what its first page has.
func (p *pager) page(id uint64, whole bool) (page, error) {
	if err := p.claim(id, 1); err != nil {
		return page{}, err
	}
	data := make([]byte, p.meta.pageSize)
	if _, err := p.file.ReadAt(data, product(p.meta.pageSize, id)); err != nil {
		return page{}, fmt.Errorf("read page %d: %w", id, err)
	}
	if own := binary.NativeEndian.Uint64(data); own != id {
		return page{}, p.wrong(id, "it says that it is page %d", own)
	}
	pg := parsePage(id, data)
	more := uint64(binary.NativeEndian.Uint32(data[pageOverflowAt:]))
	if more > 0 {
		if err := p.claim(id+1, more); err != nil {
			return page{}, err
		}
	}
	pg.size = product(p.meta.pageSize, 1+more)
	if more > 0 && (whole || pg.tableEnd() > int64(len(data))) {
		pg.data = make([]byte, pg.size)
		if _, err := p.file.ReadAt(pg.data, product(p.meta.pageSize, id)); err != nil {
			return page{}, fmt.Errorf("read page %d: %w", id, err)
		}
	}
	return pg, p.sane(&pg)
}

func parsePage(id uint64, data []byte) page {
	return page{
		id: id, kind: binary.NativeEndian.Uint16(data[pageFlagsAt:]),
		count: int(binary.NativeEndian.Uint16(data[pageCountAt:])), size: int64(len(data)), data: data,
	}
}

func (pg *page) tableEnd() int64 { return pageHeader + int64(pg.count)*elementSize }

func (p *pager) sane(pg *page) error {
	switch {
	case pg.kind != kindBranch && pg.kind != kindLeaf:
		return p.wrong(pg.id, "it is of kind %#x", pg.kind)
	case pg.kind == kindBranch && pg.count == 0:
		return p.wrong(pg.id, "a branch of nothing")
	case pg.tableEnd() > int64(len(pg.data)):
		return p.wrong(pg.id, "%d elements have no room", pg.count)
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
	at := pageHeader + i*elementSize
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
		return e, p.wrong(pg.id, "element %d is outside", i)
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
	if _, err := p.file.ReadAt(b, product(p.meta.pageSize, pg.id)+at); err != nil {
		return nil, fmt.Errorf("read page %d: %w", pg.id, err)
	}
	return b, nil
}

// tree visits the entries of a tree, whose keys must be in order, not below low, and below high unless that is nil.
func (p *pager) tree(id uint64, low, high []byte, depth int, values bool, each visit) error {
	if depth > maxDepth {
		return p.wrong(id, "it is too deep")
	}
	pg, err := p.page(id, values)
	if err != nil {
		return err
	}
	return p.walk(&pg, low, high, depth, values, each)
}

func (p *pager) walk(pg *page, low, high []byte, depth int, values bool, each visit) error {
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
			if err := p.tree(before.child, before.key, e.key, depth+1, values, each); err != nil {
				return err
			}
		}
		before = e
		if pg.kind == kindBranch {
			continue
		}
		var value []byte
		if values {
			if value, err = p.bytes(pg, e.value, e.length); err != nil {
				return err
			}
		}
		if err := each(e.flags, e.key, value); err != nil {
			return err
		}
	}
	if pg.kind == kindBranch {
		return p.tree(before.child, before.key, high, depth+1, values, each)
	}
	return nil
}

// bucket visits the entries of a bucket, given its value in the root bucket.
func (p *pager) bucket(value []byte, values bool, each visit) error {
	if len(value) < bucketHeader {
		return fmt.Errorf("a bucket has %d bytes: %w", len(value), errPages)
	}
	plain := func(flags uint32, key, value []byte) error {
		if flags != 0 {
			return fmt.Errorf("an entry has flags %#x: %w", flags, errPages)
		}
		return each(flags, key, value)
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return p.tree(root, nil, nil, 0, values, plain)
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeader {
		return fmt.Errorf("a bucket has %d bytes: %w", len(value), errPages)
	}
	pg := parsePage(0, inline)
	if pg.kind != kindLeaf {
		return fmt.Errorf("a bucket is of kind %#x: %w", pg.kind, errPages)
	}
	if err := p.sane(&pg); err != nil {
		return err
	}
	return p.walk(&pg, nil, nil, 0, true, plain)
}

// buckets returns the values of the buckets.
func (p *pager) buckets() (map[string][]byte, error) {
	found := make(map[string][]byte)
	return found, p.tree(p.meta.root, nil, nil, 0, true, func(flags uint32, key, value []byte) error {
		if flags != leafBucket {
			return fmt.Errorf("an entry beside the buckets has flags %#x: %w", flags, errPages)
		}
		found[string(key)] = bytes.Clone(value)
		return nil
	})
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
	var header [pageHeader + 8]byte
	if _, err := p.file.ReadAt(header[:], product(p.meta.pageSize, at)); err != nil {
		return fmt.Errorf("read the list of free pages: %w", err)
	}
	count, start := uint64(binary.NativeEndian.Uint16(header[pageCountAt:])), int64(pageHeader)
	if count == math.MaxUint16 {
		count, start = binary.NativeEndian.Uint64(header[pageHeader:]), pageHeader+8
	}
	more := uint64(binary.NativeEndian.Uint32(header[pageOverflowAt:]))
	if count > p.meta.pages || start+8*int64(count) > product(p.meta.pageSize, 1+more) {
		return fmt.Errorf("the list of free pages has %d of %d: %w", count, p.meta.pages, errPages)
	}
	if more > 0 {
		if err := p.claim(at+1, more); err != nil {
			return fmt.Errorf("the list of free pages: %w", err)
		}
	}
	list := make([]byte, 8*count)
	if _, err := p.file.ReadAt(list, product(p.meta.pageSize, at)+start); err != nil {
		return fmt.Errorf("read the list of free pages: %w", err)
	}
	for ; len(list) > 0; list = list[8:] {
		if err := p.claim(binary.NativeEndian.Uint64(list), 1); err != nil {
			return fmt.Errorf("the list of free pages: %w", err)
		}
	}
	return nil
}

// inspectMeta looks at the pages that lead to what a file says of itself.
func inspectMeta(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return explain(err)
	}
	defer f.Close()
	p, err := newPager(f)
	if err != nil {
		return err
	}
	found, err := p.buckets()
	if value, ok := found[string(bucketMeta)]; err == nil && ok {
		err = p.bucket(value, true, func(uint32, []byte, []byte) error { return nil })
	}
	if err != nil {
		return unsound(err)
	}
	return nil
}

// An inventory is what the pages of a segment hold, apart from the blocks.
type inventory struct {
	tables tables
	state  []byte // nil if the segment has none yet
}

// markOf returns a number that is another one when a file was written since.
func markOf(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, explain(err)
	}
	defer f.Close()
	m, err := newestMeta(f)
	return m.sum, err
}

// takeInventory looks through a file that nobody writes. free says that the list of free pages is needed too.
func takeInventory(path string, free bool) (inventory, error) {
	f, err := os.Open(path)
	if err != nil {
		return inventory{}, explain(err)
	}
	defer f.Close()
	p, err := newPager(f)
	if err != nil {
		return inventory{}, err
	}
	var inv inventory
	found, err := p.buckets()
	if err != nil {
		return inv, err
	}
	for _, b := range []struct {
		name  []byte
		table *table
	}{
		{bucketMeta, &inv.tables.meta},
		{bucketExchanges, &inv.tables.rows},
		{bucketParts, &inv.tables.parts},
		{bucketOpen, &inv.tables.open},
		{bucketIndex, &inv.tables.index},
		{bucketBlocks, nil},
	} {
		value, ok := found[string(b.name)]
		if !ok {
			continue
		}
		err := p.bucket(value, b.table != nil, func(_ uint32, k, v []byte) error {
			switch {
			case b.table == nil:
			case b.table == &inv.tables.meta && bytes.Equal(k, metaState):
				inv.state = bytes.Clone(v)
			default:
				b.table.add(entrySum(k, v))
			}
			return nil
		})
		if err != nil {
			return inv, fmt.Errorf("bucket %q: %w", b.name, err)
		}
	}
	if free {
		return inv, p.freelist()
	}
	return inv, nil
}
