package cli

// A Set is a set of exchange numbers: one bit each, in pages, since numbers in files of other programs may be far
// apart. The zero value is empty.
type Set struct{ pages map[uint64]*[1 << 10]uint64 }

const setPage = 1 << 16

// Add adds an exchange.
func (s *Set) Add(seq uint64) {
	if s.pages == nil {
		s.pages = make(map[uint64]*[1 << 10]uint64)
	}
	page := s.pages[seq/setPage]
	if page == nil {
		page = new([1 << 10]uint64)
		s.pages[seq/setPage] = page
	}
	page[seq%setPage/64] |= 1 << (seq % 64)
}

// Has reports whether an exchange was added.
func (s *Set) Has(seq uint64) bool {
	page := s.pages[seq/setPage]
	return page != nil && page[seq%setPage/64]&(1<<(seq%64)) != 0
}
