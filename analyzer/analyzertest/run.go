package analyzertest

import (
	"flag"
	"os"
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

var _ = flag.Bool(updateFlag, false, "rewrite the want sections of transcripts to the current findings")

// Run judges each transcript (*.txtar) below dir by all rules, in a subtest named after its path, and compares the
// findings with the transcript's section want: one line for each finding, PLACE: message [rule], in order. A transcript
// without findings has an empty section, so that silence is asserted too; a transcript without the section fails. A
// file may have several scenarios, each after a line "-- scenario NAME --"; the subtest is then called PATH-NAME.
//
// With the flag -analyzertest.update the sections are written instead of compared. So they are with -update, if the
// test's package defines that as a boolean flag; this package does not, since many others do.
//
// Run fails the test if there are no transcripts. Subtests run one after another, in the order of their paths.
func Run(t *testing.T, dir string) {
	t.Helper()
	list, err := transcript.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("no transcripts (*.txtar) below %s", dir)
	}
	files := make(map[string][]byte) // with the sections that are found
	for i := range list {
		s := &list[i]
		t.Run(s.Name, func(t *testing.T) { compare(t, s) })
		files[s.File] = append(files[s.File], s.Text...)
	}
	for file, text := range files {
		if updating() {
			if err := os.WriteFile(file, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// compare judges one scenario, and updates its text.
func compare(t *testing.T, s *transcript.Scenario) {
	t.Helper()
	tr, err := s.Parse()
	if err != nil {
		t.Fatal(err)
	}
	result := judge(t, tr)
	var found strings.Builder
	for i := range result.Findings {
		found.WriteString(result.Findings[i].String() + "\n")
	}
	if result.Counts.Judged == 0 {
		t.Logf("%s: no rule applied to anything in it", s)
	}
	switch got := found.String(); {
	case updating():
		s.Text = withWant(s.Text, got)
	case !tr.HasWant:
		t.Errorf("%s has no section want; go test -%s writes it. Found:\n%s", s, updateFlag, got)
	case got != tr.Want:
		t.Errorf("%s: findings (-want +got; go test -%s writes the findings, then read the diff):\n%s",
			s, updateFlag, cmp.Diff(tr.Want, got))
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

// updating reports whether to write want sections: by this package's flag, or by the test package's.
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

// withWant returns the text of a transcript with another section want: it replaces an existing one, else it is at the
// end. Everything else stays unchanged.
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
