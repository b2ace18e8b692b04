package bolt

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/check"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// openedBy returns the database that a reader has open of the first file.
func openedBy(r *Reader) any {
	f := &r.access.(*remote.Capture).Opened
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Set == nil {
		return nil
	}
	return f.Set[0].DB
}

// TestFilesStayOpen checks that files stay open between calls, without blocking writers.
func TestFilesStayOpen(t *testing.T) {
	if !segments.CanUnlock {
		t.Skip("here files are closed after each call")
	}
	path := closedCapture(t, Options{SegmentSize: 1}, 4)
	r := mustRead(t, path)
	first := openedBy(r)
	for range 100 {
		must.Get(r.Exchange(patient(t), 2))(t)
	}
	if first == nil || openedBy(r) != first {
		t.Error("the files were opened again, and nobody wrote them")
	}
	paths := must.Get(segments.Paths(path))(t)
	for _, p := range paths {
		s := &segments.Segment{Path: p}
		if err := s.TryExclusive(0); err != nil {
			t.Errorf("%s: %v", p, err)
		} else if err := s.DB.Close(); err != nil {
			t.Error(err)
		}
	}
	expect.OK(t, expect.Err(r.Info(patient(t))))
}

// TestReaderNotices what becomes of a capture between two calls.
func TestReaderNotices(t *testing.T) {
	t.Parallel()
	other := closedCapture(t, Options{}, 9)
	record := func(segment int64, n int) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			s := mustOpen(t, path, Options{SegmentSize: segment})
			for range n {
				mustAppend(t, s, exchangeSteps(s.Committed().Seq+1, 100)...)
				s.Flush()
			}
			mustClose(t, s)
		}
	}
	const before = 3
	for name, c := range map[string]struct {
		happens   func(t *testing.T, path string)
		exchanges uint64
		err       error
	}{
		"nothing":            {func(*testing.T, string) {}, before, nil},
		"it goes on":         {record(0, 1), before + 1, nil},
		"another segment":    {record(1, 1), before + 1, nil},
		"several":            {record(1, 5), before + 5, nil},
		"it is replaced":     {func(t *testing.T, path string) { replaceFile(t, path, readFile(t, other)) }, 9, nil},
		"it is written over": {func(t *testing.T, path string) { writeFile(t, path, readFile(t, other)) }, 9, nil},
		"it is cut": {
			func(t *testing.T, path string) { writeFile(t, path, readFile(t, path)[:9000]) }, 0, layout.ErrDamaged,
		},
		"it is emptied":   {func(t *testing.T, path string) { writeFile(t, path, nil) }, 0, capture.ErrFormat},
		"it is deleted":   {func(t *testing.T, path string) { os.Remove(path) }, 0, os.ErrNotExist},
		"a blank segment": {func(t *testing.T, path string) { writeFile(t, path+".0002", nil) }, before, nil},
		"a segment of others": {
			func(t *testing.T, path string) { writeFile(t, path+".0002", readFile(t, other)) }, 0, capture.ErrFormat,
		},
		"a page of zeros": {func(t *testing.T, path string) {
			data := readFile(t, path)
			page := os.Getpagesize()
			m := must.Get(pages.NewestMeta(bytes.NewReader(data)))(t)
			clear(data[int(m.Root)*page:][:page])
			replaceFile(t, path, data)
		}, 0, layout.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "c.a2atap")
			record(0, before)(t, path)
			r := mustRead(t, path)
			for range 3 {
				c.happens(t, path)
				c.happens = func(*testing.T, string) {}
				info, err := r.Info(patient(t))
				if !errors.Is(err, c.err) || err == nil && info.Exchanges != c.exchanges {
					t.Errorf("%d exchanges, error %v; want %d, %v", info.Exchanges, err, c.exchanges, c.err)
				}
				if err != nil {
					continue
				}
				if x, err := r.Exchange(patient(t), c.exchanges); err != nil || x.State != capture.StateClosed {
					t.Errorf("the last exchange: %v", err)
				}
			}
		})
	}
}

// replaceFile puts another file in the place of one.
func replaceFile(t *testing.T, path string, data []byte) {
	t.Helper()
	must.Do(t, os.Rename(writeFile(t, path+".new", data), path))
}

// TestBlankSegmentIsFilled has a recorder continue in a segment that another recorder left empty. It must not write the
// first file.
func TestBlankSegmentIsFilled(t *testing.T) {
	path := closedCapture(t, Options{}, 3)
	writeFile(t, path+".0002", nil)
	r := mustRead(t, path)
	expect.Equal(t, "steps", 21, len(collect(t, r, 1)))
	before := readFile(t, path)
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(4, 100)...)
	mustClose(t, s)
	if !bytes.Equal(before, readFile(t, path)) {
		t.Error("the first file was written; the test wants it not to be")
	}
	expect.Equal(t, "steps after more was recorded", 28, len(collect(t, r, 1)))
}

// A segment that goes is missed, also by who had read it.
func TestSegmentGoes(t *testing.T) {
	path := closedCapture(t, Options{SegmentSize: 1}, 4)
	r := mustRead(t, path)
	paths := must.Get(segments.Paths(path))(t)
	last := paths[len(paths)-1]
	data := readFile(t, last)
	os.Remove(last)
	expect.ErrorIs(t, "", layout.ErrDamaged, expect.Err(r.Info(patient(t))))
	writeFile(t, last, data)
	expect.Equal(t, "steps when it is back", 28, len(collect(t, r, 1)))
}

// BenchmarkLook looks at a finished capture as the inspector does, page by page.
func BenchmarkLook(b *testing.B) {
	path := benchCapture(b, benchExchanges)
	r := must.Get(Read(path))(b)
	defer r.Close()
	b.Run("info", func(b *testing.B) {
		for b.Loop() {
			must.Get(r.Info(context.Background()))(b)
		}
	})
	b.Run("exchange", func(b *testing.B) {
		for seq := uint64(1); b.Loop(); seq = (seq+7)%benchExchanges + 1 {
			must.Get(r.Exchange(context.Background(), seq))(b)
		}
	})
	b.Run("sound", func(b *testing.B) {
		b.SetBytes(check.SizeOf(path))
		for b.Loop() {
			must.Do(b, r.Sound(context.Background(), nil))
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			r := must.Get(Read(path))(b)
			r.Close()
		}
	})
}
