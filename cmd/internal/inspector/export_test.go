package inspector

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/must"
)

// What the inspector exports is what a2atap export writes, and nothing is overwritten that is there.
func TestExporter(t *testing.T) {
	x, y := sentBefore("http://127.0.0.1:1/spec", "s"), sentBefore("http://127.0.0.1:1/spec", "s")
	y.Seq, y.ID = 2, [16]byte{2}
	src := inMemory(t, x, y)
	dir := t.TempDir()
	e := newExporter(src)
	for _, f := range e.Formats {
		seqs := []uint64{2}
		if !f.Single {
			seqs = []uint64{1, 2}
		}
		file := filepath.Join(dir, "out"+f.Ending)
		size := must.Get(e.Write(t.Context(), file, f, seqs, false))(t)
		info, err := os.Stat(file)
		if err != nil || info.Size() != size || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %d bytes, said %d, mode %v: %v", f.Name, info.Size(), size, info.Mode(), err)
		}
		if _, err := e.Write(t.Context(), file, f, seqs, false); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s is overwritten without a word: %v", f.Name, err)
		}
		if _, err := e.Write(t.Context(), file, f, seqs, true); err != nil {
			t.Errorf("%s is not overwritten: %v", f.Name, err)
		}
		if f.Single || f.Name == "curl" {
			continue
		}
		again := must.Get(source.Open(cli.Env{}, file))(t)
		if info, err := again.Info(t.Context()); err != nil || info.Exchanges != 2 {
			t.Errorf("%s holds %d exchanges, %v", f.Name, info.Exchanges, err)
		}
		for where, want := range map[string]string{file: "is the capture itself", dir: "is a directory"} {
			if _, err := newExporter(again).Write(t.Context(), where, f, nil, true); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("written over %s: %v", where, err)
			}
		}
		again.Close()
	}
	body, err := os.ReadFile(filepath.Join(dir, "out.body"))
	if err != nil || string(body) != string(x.Request.Body.Data) {
		t.Errorf("the body is %q, %v", body, err)
	}
	curl, err := os.ReadFile(filepath.Join(dir, "out.sh"))
	if err != nil || strings.Count(string(curl), "curl ") != 2 {
		t.Errorf("the commands are %q, %v", curl, err)
	}
	if _, err := e.Write(t.Context(), filepath.Join(dir, "no", "out.har"), e.Formats[0], nil, false); err == nil ||
		!strings.Contains(err.Error(), "choose a directory that you can write to") {
		t.Errorf("a folder that is not there: %v", err)
	}
}
