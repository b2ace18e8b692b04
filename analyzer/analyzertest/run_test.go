package analyzertest

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// The directory that TestRun judges when this test program is run by another test.
const otherDir = "ANALYZERTEST_DIR"

func TestRun(t *testing.T) {
	Run(t, cmp.Or(os.Getenv(otherDir), "testdata/booker"))
}

// runOn runs TestRun on a directory, in a process of its own since it may fail.
func runOn(t *testing.T, dir string, flags ...string) (output string, passed bool) {
	t.Helper()
	args := append([]string{"-test.run=^TestRun$", "-test.timeout=60s", "-test.v"}, flags...)
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), otherDir+"="+dir)
	out, err := c.CombinedOutput()
	return string(out), err == nil
}

// put writes a transcript into a directory of its own.
func put(t *testing.T, name, text string) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, name)
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	return dir, file
}

func read(t *testing.T, file string) string {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	return string(text)
}

// What is found and not listed fails, and so does what is listed and not found.
func TestRunFails(t *testing.T) {
	t.Parallel()
	good := read(t, "testdata/booker/streams.txtar")
	bad := read(t, "testdata/booker/known/resumes.txtar")
	unwanted, _, _ := strings.Cut(bad, "-- want --\n")
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{
			"not listed", "booker/resumes.txtar", unwanted + "-- want --\n",
			[]string{"--- FAIL: TestRun/booker/resumes", "then read the diff", "[" + resumes + "]"},
		},
		{
			"not found", "streams.txtar", good + "1.response: it is late [agent-late]\n",
			[]string{"--- FAIL: TestRun/streams", "[agent-late]"},
		},
		{
			"no section", "resumes.txtar", unwanted,
			[]string{"has no section want; go test -analyzertest.update writes it", "[" + resumes + "]"},
		},
		{"no transcript", "broken.txtar", "-- 1.answer --\n", []string{"--- FAIL: TestRun/broken", "broken.txtar:1: "}},
		{"none", "readme.txt", "", []string{"no transcripts (*.txtar) below "}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, _ := put(t, test.file, test.text)
			output, passed := runOn(t, dir)
			if passed {
				t.Error("it passes")
			}
			for _, want := range test.want {
				if !strings.Contains(output, want) {
					t.Errorf("%q is not in\n%s", want, output)
				}
			}
		})
	}
}

// Either flag writes what is found, and leaves the rest as it was.
func TestRunUpdates(t *testing.T) {
	t.Parallel()
	const second = "-- scenario near --\n"
	broken, near := read(t, "testdata/booker/known/resumes.txtar"), read(t, "testdata/booker/streams.txtar")
	known := broken + second + near
	unwanted, _, _ := strings.Cut(broken, "-- want --\n")
	stale := unwanted + second + near + "1.response: it is late [agent-late]\n"
	for _, name := range []string{"-update", "-analyzertest.update"} {
		dir, file := put(t, "resumes.txtar", stale)
		if output, _ := runOn(t, dir); !strings.Contains(output, "--- FAIL: TestRun/resumes-near") {
			t.Errorf("no scenario fails:\n%s", output)
		}
		if output, passed := runOn(t, dir, name); !passed {
			t.Errorf("%s fails:\n%s", name, output)
		}
		if got := read(t, file); got != known {
			t.Errorf("%s writes\n%s", name, got)
		}
		if output, passed := runOn(t, dir); !passed {
			t.Errorf("what %s wrote fails:\n%s", name, output)
		}
	}
}

func TestWithWant(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"story\n", "story\n-- want --\nNEW\n"},
		{"story", "story\n-- want --\nNEW\n"},
		{"story\n-- 1.request --\nGET\n-- want --\nold\nolder\n", "story\n-- 1.request --\nGET\n-- want --\nNEW\n"},
		{"-- want --\nold\n-- 1.meta --\n\nstate: open\n", "-- want --\nNEW\n-- 1.meta --\n\nstate: open\n"},
		{"-- want --", "-- want --\nNEW\n"},
	}
	for _, test := range tests {
		expect.Equal(t, "", test.want, string(withWant([]byte(test.text), "NEW\n")))
	}
}
