package bolt

import (
	"encoding/binary"
	"fmt"
	"os"
)

// A salvage is what can be read of one file of a damaged capture.
type salvage struct {
	file   *os.File
	blocks map[uint64]blockPlace // by first arrival number
	meta   map[string][]byte     // of the meta bucket
	broken bool                  // blocks may be missing that nothing tells of
}

// A blockPlace is where the value of a block is in a file.
type blockPlace struct {
	file   *os.File
	at     int64
	length int
}

// read returns the block.
func (b blockPlace) read(first uint64) (block, error) {
	value := make([]byte, b.length)
	if _, err := b.file.ReadAt(value, b.at); err != nil {
		return block{}, fmt.Errorf("read the block at arrival %d: %w", first, err)
	}
	return block{first: first, value: value}, nil
}

// salvageFile finds the blocks of a file: those that the database still leads to and, where it does not lead
// everywhere, those in all its other pages. What cannot be unpacked is left out.
func salvageFile(path string) (*salvage, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, explain(err)
	}
	s := &salvage{file: f, blocks: make(map[uint64]blockPlace), meta: make(map[string][]byte)}
	p, err := newPager(f)
	if err != nil || p.meta.pages == 0 {
		f.Close()
		return nil, fmt.Errorf("%s: nothing in it says what it is: %w", path, errPages)
	}
	if info, err := f.Stat(); err != nil || product(p.meta.pageSize, p.meta.pages) > info.Size() {
		s.broken = true
	}
	found, err := p.buckets()
	s.broken = s.broken || err != nil
	if value, ok := found[string(bucketMeta)]; ok {
		_ = p.bucket(value, look{values: true, each: func(_ uint32, k, v []byte) error { // what there is of it
			s.meta[string(k)] = append([]byte(nil), v...)
			return nil
		}})
	}
	if value := found[string(bucketBlocks)]; len(value) < bucketHeader {
		s.broken = true
	} else if root := binary.NativeEndian.Uint64(value); root != 0 {
		s.reach(p, root, 0)
	} // else it is in the page of the buckets, and has no block: the smallest is larger than that
	if s.broken {
		for id := uint64(2); id < p.meta.pages; id++ {
			if pg, err := p.page(id, false, nil); err == nil && pg.kind == kindLeaf {
				s.leaf(p, &pg)
			}
		}
	}
	return s, nil
}

// reach takes the blocks beneath a page.
func (s *salvage) reach(p *pager, id uint64, depth int) {
	pg, err := p.page(id, false, nil)
	if err != nil || depth > maxDepth {
		s.broken = true
		return
	}
	if pg.kind == kindLeaf {
		s.leaf(p, &pg)
		return
	}
	for i := range pg.count {
		if e, err := p.element(&pg, i); err == nil {
			s.reach(p, e.child, depth+1)
		} else {
			s.broken = true
		}
	}
}

// leaf takes the blocks of a page. What was found before counts: it is what the database leads to.
func (s *salvage) leaf(p *pager, pg *page) {
	for i := range pg.count {
		e, err := p.element(pg, i)
		if err != nil || e.flags != 0 || len(e.key) != 8 || e.length < blockHeader {
			continue
		}
		first := binary.BigEndian.Uint64(e.key)
		place := blockPlace{s.file, product(p.meta.pageSize, pg.id) + e.value, int(e.length)}
		if _, known := s.blocks[first]; known || first == 0 {
			continue
		}
		if b, err := place.read(first); err == nil {
			if _, err := b.unpack(); err == nil {
				s.blocks[first] = place
			}
		}
	}
}
