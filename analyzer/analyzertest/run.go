package analyzertest

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

const updateFlag = "analyzertest.update"

var _ = flag.Bool(updateFlag, false, "rewrite the want sections of transcripts to what is found now")

// Run judges each transcript (*.txtar) below dir by all rules, in a subtest that is named by its path, and compares
// what is found with the transcript's section want: one line a finding, PLACE: message [rule], in order. A
// transcript in which nothing is to be found has an empty section, so that silence is asserted too; one without the
// section fails.
//
// With the flag -analyzertest.update the sections are written instead of compared. So they are with -update, if the
// test's package defines that as a boolean flag; this package does not, since many others do.
//
// Run fails the test if there are no transcripts. Subtests run one after another, in the order of their paths.
func Run(t *testing.T, dir string) {
	t.Helper()
	files := transcripts(t, dir)
	if len(files) == 0 {
		t.Fatalf("there are no transcripts (*.txtar) below %s", dir)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.ToSlash(file), ".txtar"), func(t *testing.T) {
			compare(t, filepath.Join(dir, file))
		})
	}
}

// transcripts returns the paths of the transcripts below dir, relative to it.
func transcripts(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".txtar") {
			list = append(list, filepath.FromSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatalf("look for transcripts: %v", err)
	}
	return list
}

// compare judges one transcript.
func compare(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := transcript.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	result := judge(t, tr)
	var found strings.Builder
	for i := range result.Findings {
		found.WriteString(result.Findings[i].String() + "\n")
	}
	if result.Counts.Judged == 0 {
		t.Logf("%s: no rule applied to anything in it", file)
	}
	switch got := found.String(); {
	case updating():
		if err := os.WriteFile(file, withWant(text, got), 0o644); err != nil {
			t.Fatal(err)
		}
	case !tr.HasWant:
		t.Errorf("%s has no section want; go test -%s writes it. Found:\n%s", file, updateFlag, got)
	case got != tr.Want:
		t.Errorf("%s: findings (-want +got; go test -%s writes what is found, read the diff then):\n%s",
			file, updateFlag, cmp.Diff(tr.Want, got))
	}
}

func judge(t *testing.T, tr *transcript.Transcript) *judgment.Result {
	t.Helper()
	src, err := capture.ReadMemory(capture.Info{}, capture.Each(tr.Exchanges...))
	if err != nil {
		t.Fatal(err)
	}
	result, err := engine.Run(t.Context(), rules.All, src, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// updating reports whether want sections are to be written: by our flag, or by that of the test's package.
func updating() bool {
	for _, name := range []string{updateFlag, "update"} {
		f := flag.Lookup(name)
		if f == nil {
			continue
		}
		if g, ok := f.Value.(flag.Getter); ok && g.Get() == true {
			return true
		}
	}
	return false
}

// withWant returns the text of a transcript with another section want: in the place of the one that is there, else at
// the end. All else stays as it was.
func withWant(text []byte, want string) []byte {
	const marker = "-- want --"
	var out strings.Builder
	written, within := false, false
	for line := range strings.Lines(string(text)) {
		bare := strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(bare, "-- ") && strings.HasSuffix(bare, " --") && len(bare) > len("--  --") {
			within = bare == marker && !written
			if within {
				out.WriteString(marker + "\n" + want)
				written = true
			}
		}
		if !within {
			out.WriteString(line)
		}
	}
	if !written {
		if out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
			out.WriteString("\n")
		}
		out.WriteString(marker + "\n" + want)
	}
	return []byte(out.String())
}
