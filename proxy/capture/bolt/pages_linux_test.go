package bolt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/capture"
)

func TestDropPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	noise := make([]byte, 4<<20)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	mustAppend(t, s, capture.Step{Seq: 1, What: capture.RequestBody{Data: noise}})
	s.Flush()
	read := func() (n int) {
		for step, err := range s.Steps(context.Background(), 1) {
			if err != nil {
				t.Fatal(err)
			}
			if body, ok := step.What.(capture.RequestBody); ok {
				n += len(body.Data)
			}
		}
		return n
	}
	if n := read(); n != len(noise) {
		t.Fatalf("read %d bytes, want %d", n, len(noise))
	}
	before := mapped(t, path)
	if err := s.DropPages(); err != nil {
		t.Fatal(err)
	}
	if after := mapped(t, path); after >= before {
		t.Errorf("%d KiB of the file are in memory, %d before", after, before)
	}
	if n := read(); n != len(noise) {
		t.Errorf("read %d bytes after the pages were dropped, want %d", n, len(noise))
	}
}

// mapped returns how many KiB of a file are resident in the process.
func mapped(t *testing.T, path string) (kib int) {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(maps), path)
	if !ok {
		t.Fatalf("%s is not mapped", path)
	}
	_, rest, _ = strings.Cut(rest, "\nRss:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}
