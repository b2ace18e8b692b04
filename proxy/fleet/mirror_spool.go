package fleet

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// A spool is a file that holds blocks as they came from the stream. It may be used by several goroutines.
type spool struct {
	file *os.File

	mu  sync.Mutex
	end int64
}

// A place says where a block is in a spool.
type place struct {
	at   int64
	size int
}

func newSpool(path string) (*spool, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep what is read of the stream: %w", err)
	}
	return &spool{file: file}, nil
}

// write adds a block.
func (s *spool) write(data []byte) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := place{s.end, len(data)}
	if _, err := s.file.WriteAt(data, s.end); err != nil {
		return place{}, fmt.Errorf("keep what is read of the stream: %w; make room there, or set TMPDIR to a folder "+
			"with more of it", err)
	}
	s.end += int64(len(data))
	return p, nil
}

// read returns a block, in memory of its own.
func (s *spool) read(p place) ([]byte, error) {
	data := make([]byte, p.size)
	if _, err := s.file.ReadAt(data, p.at); err != nil {
		return nil, fmt.Errorf("read again what was read of the stream: %w", err)
	}
	return data, nil
}

// close gives up the file and removes it.
func (s *spool) close() error { return errors.Join(s.file.Close(), os.Remove(s.file.Name())) }
