package bolt

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

func TestDropPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	s := must.Get(Open(path, Options{}))(t)
	defer s.Close()
	noise := make([]byte, 4<<20)
	for i := range noise {
		noise[i] = byte(i * i >> 7)
	}
	mustAppend(t, s, capture.Step{Seq: 1, What: capture.RequestBody{Data: noise}})
	s.Flush()
	read := func() (n int) {
		for step, err := range s.Steps(context.Background(), 1) {
			must.Do(t, err)
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
	must.Do(t, s.DropPages())
	if after := mapped(t, path); after >= before {
		t.Errorf("%d KiB of the file are in memory, %d before", after, before)
	}
	if n := read(); n != len(noise) {
		t.Errorf("read %d bytes after the pages were dropped, want %d", n, len(noise))
	}
}

// mapped returns how many KiB of a file are resident in the process.
func mapped(t *testing.T, path string) (kib int) {
	maps := must.Get(os.ReadFile("/proc/self/smaps"))(t)
	_, rest, ok := strings.Cut(string(maps), path)
	if !ok {
		t.Fatalf("%s is not mapped", path)
	}
	_, rest, _ = strings.Cut(rest, "\nRss:")
	must.Get(fmt.Sscan(rest, &kib))(t)
	return kib
}
