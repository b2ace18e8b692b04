package bolt

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
)

// What a bbolt meta page looks like: a page header, then magic, version, page size, flags, root bucket (page and
// sequence), freelist page, number of pages, transaction, and an FNV-1a checksum of all that, in the machine's own byte
// order.
const (
	pageHeader     = 16
	pageCountAt    = 10
	pageMetaSize   = 64
	boltMagic      = 0xED0CDAED
	metaPageSizeAt = 8
	metaRootAt     = 16
	metaFreelistAt = 32
	metaPagesAt    = 40
	metaTxAt       = 48
	metaSumAt      = 56
	minPageSize    = 1 << 10
	maxPageSize    = 1 << 24
	noFreelist     = math.MaxUint64 // in place of a page's number: the list was not written
)

// errEmpty says that a file has no bytes at all. Such a file may become a capture, but is none.
var errEmpty = fmt.Errorf("the file is empty: %w", capture.ErrFormat)

// inspect looks at a file before bbolt maps it into memory, where a file that is too short for what it claims would
// fault. It changes nothing and takes no lock: a file only grows before a meta page speaks of the growth.
func inspect(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return explain(err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is %s, not a file: %w", kindOf(info.Mode()), capture.ErrFormat)
	}
	f, err := os.Open(path)
	if err != nil {
		return explain(err)
	}
	defer f.Close()
	m, err := newestMeta(f)
	if err != nil {
		return err
	}
	need := product(m.pageSize, m.pages)
	// Only now: the file may have grown since, but not shrunk.
	if info, err = f.Stat(); err != nil {
		return err
	}
	if info.Size() == 0 {
		return errEmpty
	}
	if need == 0 {
		return fmt.Errorf("%w; name a file that a2atap recorded, or a new one to record into", capture.ErrFormat)
	}
	if info.Size() < need {
		return fmt.Errorf("the file is cut short: it has %d bytes and claims %d; copy it again from its source: %w",
			info.Size(), need, errDamaged)
	}
	return nil
}

// A metaPage is what a bbolt file says of itself. All is zero for a file that is none.
type metaPage struct {
	pageSize uint64 // in bytes
	pages    uint64 // that it claims to have
	root     uint64 // the page with the list of buckets
	freelist uint64 // the page with the list of free pages
	sum      uint64 // of the meta page
}

func newestMeta(f io.ReaderAt) (newest metaPage, err error) {
	var last uint64
	for at := int64(0); at <= maxPageSize; at = max(minPageSize, 2*at) {
		var page [pageHeader + pageMetaSize]byte
		if _, err := f.ReadAt(page[:], at); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return newest, err
		}
		m := page[pageHeader:]
		sum := fnv.New64a()
		sum.Write(m[:metaSumAt])
		if binary.NativeEndian.Uint32(m) != boltMagic || binary.NativeEndian.Uint64(m[metaSumAt:]) != sum.Sum64() {
			continue
		}
		pageSize := uint64(binary.NativeEndian.Uint32(m[metaPageSizeAt:]))
		// What was recorded may look like such a page: there are two, and the second has one place.
		if pageSize < minPageSize || pageSize > maxPageSize || at != 0 && uint64(at) != pageSize ||
			newest.pages != 0 && pageSize != newest.pageSize {
			continue
		}
		tx := binary.NativeEndian.Uint64(m[metaTxAt:])
		if newest.pages == 0 || tx > last {
			last = tx
			newest = metaPage{
				pageSize: pageSize,
				root:     binary.NativeEndian.Uint64(m[metaRootAt:]),
				sum:      sum.Sum64(),
				pages:    binary.NativeEndian.Uint64(m[metaPagesAt:]),
				freelist: binary.NativeEndian.Uint64(m[metaFreelistAt:]),
			}
		}
	}
	return newest, nil
}

// inspectFreelist looks at the list of free pages before bbolt reads it, which makes room for as many as the list
// claims to have. A file that is only read has no need of the list.
func inspectFreelist(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return explain(err)
	}
	defer f.Close()
	m, err := newestMeta(f)
	if err != nil || m.freelist == noFreelist {
		return err
	}
	var page [pageHeader + 8]byte
	if m.freelist >= m.pages {
		return fmt.Errorf("the list of free pages is said to be page %d of %d: %w", m.freelist, m.pages, errDamaged)
	}
	if _, err := f.ReadAt(page[:], product(m.pageSize, m.freelist)); err != nil {
		return fmt.Errorf("read the list of free pages: %w", err)
	}
	count := uint64(binary.NativeEndian.Uint16(page[pageCountAt:]))
	if count == math.MaxUint16 {
		count = binary.NativeEndian.Uint64(page[pageHeader:])
	}
	if count >= m.pages {
		return fmt.Errorf("the list of free pages has %d of %d: %w", count, m.pages, errDamaged)
	}
	return nil
}

// product multiplies without overflow: what no file can have is the largest size there is.
func product(a, b uint64) int64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// explain takes the path out of a file error, which the caller says anyway, and adds the next step.
func explain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	// What the database says of a file that cannot grow is a text.
	for _, cause := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS} {
		if strings.HasSuffix(err.Error(), ": "+cause.Error()) {
			err = cause
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; choose a place that you may read and write", err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; check the name, and that its folder exists", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; choose a place that you may write", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("%w; make room there, or record to another place", err)
	}
	return err
}
