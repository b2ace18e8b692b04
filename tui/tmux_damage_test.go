//go:build peers

package tui_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"a2atap/proxy/must"
)

// The test shows a damaged capture, and one that is damaged under the inspector, in a real terminal. The inspector
// reports the damage, does not panic, and ends on request.
func TestDamagedInTerminal(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "a2atap")
	if out, err := exec.Command("go", "build", "-o", program, "a2atap/cmd/a2atap").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	sound := filepath.Join(dir, "sound.a2atap")
	if out, err := exec.Command(program, "demo", "-o", sound).CombinedOutput(); err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	data := must.Get(os.ReadFile(sound))(t)
	page := os.Getpagesize()
	for name, test := range map[string]struct {
		spoil func(data []byte) []byte
		said  string
	}{
		"emptied":          {func([]byte) []byte { return nil }, "not a capture"},
		"cut":              {func(data []byte) []byte { return data[:3*page] }, "the file is truncated"},
		"cut in its head":  {func(data []byte) []byte { return data[:100] }, "the file is truncated"},
		"without its head": {func(data []byte) []byte { clear(data[:2*page]); return data }, "not a capture"},
		"without pages":    {func(data []byte) []byte { clear(data[2*page:]); return data }, "damaged"},
		"a page over others": {func(data []byte) []byte {
			for at := 3 * page; at < len(data); at += page {
				copy(data[at:], data[2*page:3*page])
			}
			return data
		}, "damaged"},
		"many bits": {func(data []byte) []byte {
			for at := 2 * page; at < len(data); at += 97 {
				data[at] ^= 0xff
			}
			return data
		}, "damaged"},
		"another file": {func([]byte) []byte { return bytes.Repeat([]byte("hello\n"), 1000) }, "not a capture"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := test.spoil(bytes.Clone(data))
			path := filepath.Join(t.TempDir(), "c.a2atap")
			write := func(data []byte) { // over what is there, as nobody should
				t.Helper()
				must.Do(t, os.WriteFile(path, data, 0o600))
			}
			inspect := func() screen {
				s := screen{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
				s.tmux("new-session", "-d", "-s", "it", "-x", "240", "-y", "30",
					"env TERM=screen-256color "+program+" tui "+path+"; echo ended with $?; exec sleep 60")
				t.Cleanup(func() { s.tmux("kill-server") })
				return s
			}
			write(spoilt)
			inspect().shows(test.said, "ended with 3")

			write(data)
			s := inspect()
			s.shows("c.a2atap › exchanges", "! 1 error")
			write(spoilt)
			s.keys("n", "Enter")
			s.shows(test.said)
			s.keys("q", "q", "q", "q")
			s.shows("ended with 0")
		})
	}
}
