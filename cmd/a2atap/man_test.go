package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/manual"
)

// There is a page for each command with each of its flags, and for each topic; the command writes them where man looks.
func TestManual(t *testing.T) {
	s := newShell(t)
	if out, errs, code := s.execute("a2atap man pages"); code != cli.ExitOK || out != "" || !strings.Contains(errs, "man -M 'pages' a2atap") {
		t.Fatalf("exit %d, %q, %q", code, out, errs)
	}
	root, pages := testRoot(), 0
	everyCommand(root, func(cmd *cobra.Command) {
		section := "1"
		switch {
		case cmd.IsAdditionalHelpTopicCommand():
			section = "7"
		case cmd.Name() == "help":
			return
		}
		pages++
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + "." + section
		text, err := os.ReadFile(filepath.Join("pages", "man"+section, name))
		if err != nil {
			t.Error(err)
			return
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			want := `\fB\-\-` + strings.ReplaceAll(f.Name, "-", `\-`) + `\fR`
			if !f.Hidden && f.Name != "help" && !strings.Contains(string(text), want) {
				t.Errorf("%s does not have --%s", name, f.Name)
			}
		})
	})
	files, err := filepath.Glob("pages/man?/*")
	if err != nil || len(files) != pages || pages < 40 {
		t.Errorf("%d pages were written for %d commands and topics: %v", len(files), pages, err)
	}
	if err := os.WriteFile("taken", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := s.execute("a2atap man taken"); code != cli.ExitFailed || !strings.Contains(errs, "write the manual: mkdir taken") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// Each line of a page that begins with a full stop is one of these requests.
func TestManualRequests(t *testing.T) {
	known := map[string]bool{
		".TH": true, ".SH": true, ".SS": true, ".PP": true, ".TP": true, ".B": true, ".nf": true, ".fi": true, ".nh": true,
		".ad": true,
	}
	for _, p := range manual.Pages(testRoot(), manual.Edition{Program: "a2atap devel"}) {
		for line := range strings.Lines(p.Text) {
			request, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if strings.HasPrefix(request, ".") && !known[request] {
				t.Errorf("%s(%d): %s", p.Name, p.Section, line)
			}
			if strings.TrimSpace(line) == "" && !strings.Contains(p.Text, ".nf") {
				t.Errorf("%s(%d) has an empty line", p.Name, p.Section)
			}
		}
	}
}
