package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"strings"
	"syscall"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// What a bbolt meta page looks like: a page header, then magic, version, page size, flags, root bucket (page and
// sequence), freelist page, number of pages, transaction, and an FNV-1a checksum of all that, in the machine's own byte
// order.
const (
	PageHeader     = 16
	PageCountAt    = 10
	PageMetaSize   = 64
	boltMagic      = 0xED0CDAED
	metaPageSizeAt = 8
	metaRootAt     = 16
	MetaFreelistAt = 32
	metaPagesAt    = 40
	metaTxAt       = 48
	metaSumAt      = 56
	minPageSize    = 1 << 10
	maxPageSize    = 1 << 24
	noFreelist     = math.MaxUint64 // instead of a page's number: the list was not written
)

// ErrEmpty means that a file has no bytes. Such a file may become a capture, but is not one yet.
var ErrEmpty = fmt.Errorf("the file is empty: %w", capture.ErrFormat)

// Inspect checks a file before bbolt maps it into memory: a file shorter than it claims would fault there. Inspect
// changes nothing and takes no lock, because a file always grows before a meta page mentions the growth.
func Inspect(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return Explain(err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is %s, not a file: %w", kindOf(info.Mode()), capture.ErrFormat)
	}
	f, err := os.Open(path)
	if err != nil {
		return Explain(err)
	}
	defer f.Close()
	m, err := NewestMeta(f)
	if err != nil {
		return err
	}
	need := Product(m.PageSize, m.Pages)
	// Only now: the file may have grown since, but not shrunk.
	if info, err = f.Stat(); err != nil {
		return err
	}
	if info.Size() == 0 {
		return ErrEmpty
	}
	if need == 0 {
		return fmt.Errorf("%w; name a file that a2atap recorded, or a new one to record into", capture.ErrFormat)
	}
	if info.Size() < need {
		return fmt.Errorf("the file is truncated: it has %d of %d bytes; copy it again from its source: %w",
			info.Size(), need, layout.ErrDamaged)
	}
	return nil
}

// A metaPage is a bbolt file's description of itself. It is zero for any other file.
type metaPage struct {
	PageSize uint64 // in bytes
	Pages    uint64 // that it claims to have
	Root     uint64 // the page with the list of buckets
	freelist uint64 // the page with the list of free pages
	sum      uint64 // of the meta page
}

// NewestMeta returns the contents of the newer of the two meta pages of a file, or zero if neither is valid.
func NewestMeta(f io.ReaderAt) (newest metaPage, err error) {
	var last uint64
	for at := int64(0); at <= maxPageSize; at = max(minPageSize, 2*at) {
		var page [PageHeader + PageMetaSize]byte
		if _, err := f.ReadAt(page[:], at); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return newest, err
		}
		m := page[PageHeader:]
		sum := fnv.New64a()
		sum.Write(m[:metaSumAt])
		if binary.NativeEndian.Uint32(m) != boltMagic || binary.NativeEndian.Uint64(m[metaSumAt:]) != sum.Sum64() {
			continue
		}
		pageSize := uint64(binary.NativeEndian.Uint32(m[metaPageSizeAt:]))
		// Recorded data may look like such a page. There are two meta pages, and the second has only one possible
		// position.
		if pageSize < minPageSize || pageSize > maxPageSize || at != 0 && uint64(at) != pageSize ||
			newest.Pages != 0 && pageSize != newest.PageSize {
			continue
		}
		tx := binary.NativeEndian.Uint64(m[metaTxAt:])
		if newest.Pages == 0 || tx > last {
			last = tx
			newest = metaPage{
				PageSize: pageSize,
				Root:     binary.NativeEndian.Uint64(m[metaRootAt:]),
				sum:      sum.Sum64(),
				Pages:    binary.NativeEndian.Uint64(m[metaPagesAt:]),
				freelist: binary.NativeEndian.Uint64(m[MetaFreelistAt:]),
			}
		}
	}
	return newest, nil
}

// InspectFreelist checks the list of free pages before bbolt reads it, since bbolt allocates as much as the list claims
// to have. A file that is only read does not need the list.
func InspectFreelist(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return Explain(err)
	}
	defer f.Close()
	m, err := NewestMeta(f)
	if err != nil || m.freelist == noFreelist {
		return err
	}
	if m.freelist >= m.Pages {
		return fmt.Errorf("the list of free pages should be page %d of %d: %w", m.freelist, m.Pages, layout.ErrDamaged)
	}
	var page [PageHeader + 8]byte
	if _, err := f.ReadAt(page[:], Product(m.PageSize, m.freelist)); err != nil {
		return fmt.Errorf("read the list of free pages: %w", err)
	}
	count := uint64(binary.NativeEndian.Uint16(page[PageCountAt:]))
	if count == math.MaxUint16 {
		count = binary.NativeEndian.Uint64(page[PageHeader:])
	}
	switch {
	case count >= m.Pages:
		return fmt.Errorf("the list of free pages has %d of %d: %w", count, m.Pages, layout.ErrDamaged)
	case !m.freelistWithin(page[:]):
		return fmt.Errorf("the list of free pages, from page %d of %d on, is shorter than it says: %w", m.freelist,
			m.Pages, layout.ErrDamaged)
	}
	return nil
}

// Freelist returns the position of the freelist in bytes, or 0 without a freelist. fits reports whether the list lies
// within the file, which a commit assumes when it frees the list's pages.
func Freelist(f io.ReaderAt) (at int64, fits bool) {
	m, err := NewestMeta(f)
	if err != nil || m.freelist == noFreelist {
		return 0, err == nil
	}
	var page [PageHeader]byte
	at = Product(m.PageSize, m.freelist)
	_, err = f.ReadAt(page[:], at)
	return at, err == nil && m.freelistWithin(page[:])
}

// freelistWithin reports whether the list of free pages, by its header, lies within the file.
func (m *metaPage) freelistWithin(header []byte) bool {
	more := uint64(binary.NativeEndian.Uint32(header[PageOverflowAt:]))
	return binary.NativeEndian.Uint64(header) == m.freelist && m.freelist+more < m.Pages
}

// Product multiplies without overflow: what no file can have is the largest size there is.
func Product(a, b uint64) int64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// Explain takes the path out of a file error, which the caller says anyway, and adds the next step.
func Explain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	// The database reports a file that cannot grow only as text.
	for _, cause := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS} {
		if strings.HasSuffix(err.Error(), ": "+cause.Error()) {
			err = cause
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; choose a file that you can read and write", err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; check the name, and that its directory exists", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; choose a file that you can write", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w; free some space, or record elsewhere", err)
	}
	return err
}
