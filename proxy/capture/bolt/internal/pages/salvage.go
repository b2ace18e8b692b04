package pages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"

	"a2atap/proxy/capture/bolt/internal/layout"
)

// A Salvage is what can be read of one file of a damaged capture.
type Salvage struct {
	File   *os.File
	Blocks map[uint64]BlockPlace // by first arrival number
	Meta   map[string][]byte     // of the meta bucket
	broken bool                  // blocks may be missing that nothing tells of
}

// A BlockPlace is where the value of a block is in a file.
type BlockPlace struct {
	file   *os.File
	at     int64
	length int
	value  []byte // instead, for a bucket so small that it is stored inline
}

// Read returns the block.
func (b BlockPlace) Read(first uint64) (layout.Block, error) {
	if b.value != nil {
		return layout.Block{First: first, Value: b.value}, nil
	}
	value := make([]byte, b.length)
	if _, err := b.file.ReadAt(value, b.at); err != nil {
		return layout.Block{}, fmt.Errorf("read the block at arrival %d: %w", first, err)
	}
	return layout.Block{First: first, Value: value}, nil
}

// OpenSalvage finds the blocks of a file: those that the database still leads to and, if it is incomplete, those in all
// other pages. It omits blocks that cannot be unpacked.
func OpenSalvage(path string) (*Salvage, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Explain(err)
	}
	s := &Salvage{File: f, Blocks: make(map[uint64]BlockPlace), Meta: make(map[string][]byte)}
	m, err := NewestMeta(f)
	if err != nil || m.Pages == 0 {
		f.Close()
		return nil, fmt.Errorf("%s: nothing in it identifies it as a capture: %w", path, ErrPages)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, Explain(err)
	}
	if there := uint64(info.Size()) / m.PageSize; m.Pages > there {
		s.broken, m.Pages = true, there
	}
	p := pagerOf(f, m)
	found, err := p.buckets()
	s.broken = s.broken || err != nil
	if value, ok := found[string(layout.BucketMeta)]; ok {
		_ = p.bucket(value, look{values: true, each: func(_ uint32, k, v []byte) error { // its readable part
			s.Meta[string(k)] = append([]byte(nil), v...)
			return nil
		}})
	}
	if value := found[string(layout.BucketBlocks)]; len(value) < bucketHeader {
		s.broken = true
	} else if root := binary.NativeEndian.Uint64(value); root != 0 {
		s.reach(p, root, 0)
	} else {
		s.small(p, value)
	}
	if s.broken {
		for id := uint64(2); id < p.meta.Pages; id++ {
			if pg, err := p.page(id, false, nil); err == nil && pg.kind == kindLeaf {
				s.leaf(p, &pg)
			}
		}
	}
	return s, nil
}

// reach takes the blocks beneath a page.
func (s *Salvage) reach(p *pager, id uint64, depth int) {
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

// small takes the blocks of a bucket that is a value in the page of the buckets: a few small ones.
func (s *Salvage) small(p *pager, value []byte) {
	err := p.bucket(value, look{values: true, each: func(_ uint32, k, v []byte) error {
		s.take(k, BlockPlace{value: bytes.Clone(v)})
		return nil
	}})
	s.broken = s.broken || err != nil
}

// leaf takes the blocks of a page, and of the small bucket that may be in it.
func (s *Salvage) leaf(p *pager, pg *page) {
	for i := range pg.count {
		e, err := p.element(pg, i)
		switch {
		case err != nil:
		case e.flags == leafBucket && bytes.Equal(e.key, layout.BucketBlocks):
			value, err := p.bytes(pg, e.value, e.length)
			if err == nil && len(value) >= bucketHeader && binary.NativeEndian.Uint64(value) == 0 {
				s.small(p, value)
			}
		case e.flags == 0 && e.length >= layout.BlockHeader:
			s.take(e.key, BlockPlace{file: s.File, at: Product(p.meta.PageSize, pg.id) + e.value, length: int(e.length)})
		}
	}
}

// take adds a page if it is a block. A block that was found earlier takes precedence: the database leads to it.
func (s *Salvage) take(key []byte, place BlockPlace) {
	if len(key) != 8 {
		return
	}
	first := binary.BigEndian.Uint64(key)
	if _, known := s.Blocks[first]; known || first == 0 {
		return
	}
	if b, err := place.Read(first); err == nil {
		if _, err := b.Unpack(); err == nil {
			s.Blocks[first] = place
		}
	}
}
