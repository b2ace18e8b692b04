package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
)

// checked returns the output, the messages and the exit status of check.
func checked(t *testing.T, args ...string) (out, said string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), cli.Env{
		In: strings.NewReader(""), Out: &o, Err: &e, Getenv: func(string) string { return "" },
		Now: func() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) },
	}, append([]string{"check"}, args...))
	return o.String(), e.String(), code
}

// What check --merge makes of the reports on all parts is what one check writes, says and ends with, in every format,
// whatever is selected.
func TestMergedPartsAreTheWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	captures := []string{filepath.Join(dir, "one.txtar"), filepath.Join(dir, "two.txtar")}
	for i, name := range []string{"langgraph-api-0.16.7.txtar", "a2a-go-2.3.1-rest.txtar"} {
		copyTo(t, captures[i], filepath.Join("..", "..", "analyzer", "rules", "testdata", "wild", name))
	}
	known := filepath.Join(dir, "known.json")
	if _, said, code := checked(t, captures[1], "--baseline", known, "--update-baseline"); code > cli.ExitFindings {
		t.Fatal(said)
	}
	for _, test := range []struct {
		name     string
		of       []string // captures
		judge    []string // flags of judging
		conclude []string // flags of what becomes of it
	}{
		{"all", captures[:1], nil, nil},
		{"two captures", captures, nil, []string{"--fail-on", "note"}},
		{"an agent", captures[:1], []string{"--agent", "langgraph-api"}, nil},
		{"a filter", captures, []string{"--filter", "op:SendMessage"}, nil},
		{"a filter that matches nothing", captures[:1], []string{"--filter", "op:ListTasks"}, nil},
		{"rules", captures[:1], []string{"--rule", "card-*", "--rule", "rpc-*", "--no-rule", "card-etag"}, nil},
		{"few rules", captures[:1], []string{"--rule", "unknown-field"}, []string{"--fail-on", "never"}},
		{"a baseline", captures, nil, []string{"--baseline", known}},
		{"severities", captures, nil, []string{"--min-severity", "warning", "--coverage"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var files []string
			for _, part := range []string{"2/3", "3/3", "1/3"} {
				file := filepath.Join(t.TempDir(), part[:1]+".json")
				_, said, code := checked(t, slices.Concat(test.of, test.judge, []string{"--shard", part, "-o", file})...)
				if code == cli.ExitOK || strings.Contains(said, "clean") || !strings.Contains(said, "part "+part+" alone") {
					t.Fatalf("part %s: exit status %d: %s", part, code, said)
				}
				files = append(files, file)
			}
			for _, format := range report.Formats() {
				conclude := append([]string{"--format", format}, test.conclude...)
				merge := slices.Concat([]string{"--merge"}, files, conclude)
				if format == "html" {
					merge = append(merge, test.of...)
				}
				wantOut, wantSaid, wantCode := checked(t, slices.Concat(test.of, test.judge, conclude)...)
				out, said, code := checked(t, merge...)
				if out != wantOut {
					t.Errorf("%s: got\n%.2000s\nwant\n%.2000s", format, out, wantOut)
				}
				if said != wantSaid || code != wantCode {
					t.Errorf("%s: exit status %d: %s\nwant %d: %s", format, code, said, wantCode, wantSaid)
				}
			}
		})
	}
}

func copyTo(t *testing.T, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
