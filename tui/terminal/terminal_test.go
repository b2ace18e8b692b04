package terminal_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/terminal"
)

func TestIs(t *testing.T) {
	file := must.Get(os.Create(filepath.Join(t.TempDir(), "file")))(t)
	defer file.Close()
	null := must.Get(os.OpenFile(os.DevNull, os.O_WRONLY, 0))(t)
	defer null.Close()
	for name, is := range map[string]bool{
		"a file": terminal.Is(file), "the null device": terminal.Is(null), "memory": terminal.Is(&bytes.Buffer{}),
	} {
		if is {
			t.Errorf("%s is taken for a terminal", name)
		}
	}
}

func TestCopy(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, terminal.Copy(&b, "curl 'a\x1b\\b'"))
	text, ok := strings.CutPrefix(strings.TrimSuffix(b.String(), "\a"), "\x1b]52;c;")
	got, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || string(got) != "curl 'a\x1b\\b'" {
		t.Errorf("the terminal gets %q", b.String())
	}
	b.Reset()
	if err := terminal.Copy(&b, strings.Repeat("a", terminal.MaxCopy+1)); err == nil || b.Len() > 0 {
		t.Errorf("a text that is too long is copied: %v, %d bytes", err, b.Len())
	}
}

// Writes of several goroutines come out whole.
func TestOutputKeepsWritesWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	file := must.Get(os.Create(path))(t)
	out := terminal.NewOutput(file)
	var all sync.WaitGroup
	for _, c := range "abcd" {
		piece := []byte(strings.Repeat(string(c), 1000) + "\n")
		all.Go(func() {
			for range 50 {
				if _, err := out.Write(piece); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	must.Do(t, file.Close())
	data := must.Get(os.ReadFile(path))(t)
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	for _, l := range lines {
		if l != strings.Repeat(l[:1], 1000) {
			t.Fatal("a write was torn")
		}
	}
	expect.Equal(t, "lines that came out", 200, len(lines))
}
