package mcpserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/spelling"
)

// A Runner runs a command line of a2atap and returns its exit status.
type Runner func(ctx context.Context, e cli.Env, args []string) int

// A server has the state that its tools share.
type server struct {
	e       cli.Env
	capture string // the capture to serve; "" serves those in the working directory
	replay  []string
	run     Runner
	turn    chan struct{} // holds a value while a tool runs: commands share the limit of memory
}

// command runs a command line with these outputs and without input.
func (s *server) command(ctx context.Context, out, messages io.Writer, args []string) (status int) {
	e := s.e
	e.In, e.Out, e.Err, e.Alone, e.Program = strings.NewReader(""), out, messages, false, "a2atap"
	return s.run(ctx, e, args)
}

// find returns the capture of that name if a client may read it: the one that is served, or one in the working directory.
func (s *server) find(name string) (string, error) {
	files, err := captures()
	if err != nil {
		return "", err
	}
	var names []string
	if s.capture != "" {
		names = append(names, s.capture)
	}
	for _, file := range files {
		names = append(names, file.Name())
	}
	if slices.Contains(names, name) {
		return name, nil
	}
	clean := filepath.Clean(name)
	if here, err := os.Getwd(); err == nil && filepath.Dir(clean) == here {
		clean = filepath.Base(clean)
	}
	if slices.Contains(names, clean) {
		return clean, nil
	}
	if len(names) == 0 {
		return "", fmt.Errorf("no capture %q: the working directory has none; record one with a2atap record -o FILE.a2atap", name)
	}
	const most = 20
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
	}
	return "", fmt.Errorf("no capture %q in the working directory; use one of %s%s%s", name,
		strings.Join(names[:min(len(names), most)], ", "), more, spelling.Hint(name, names))
}

// captures returns the captures in the working directory, the newest first.
func captures() ([]os.FileInfo, error) {
	entries, err := os.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("list the working directory: %w", cli.Cause(err))
	}
	var files []os.FileInfo
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".a2atap" && !source.IsText(entry.Name()) {
			continue
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	slices.SortStableFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	return files, nil
}

// listCaptures writes the captures in the working directory as a table.
func listCaptures(w io.Writer) error {
	files, err := captures()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		_, err := io.WriteString(w, "The working directory has no capture; record one with a2atap record -o FILE.a2atap.\n")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CAPTURE\tBYTES\tCHANGED (UTC)")
	for _, file := range files {
		fmt.Fprintf(table, "%s\t%d\t%s\n", analysis.Clean(file.Name()), file.Size(), file.ModTime().UTC().Format("2006-01-02 15:04:05"))
	}
	return table.Flush()
}

// workflowOf returns the number of the exchange that began the workflow of an exchange.
func (s *server) workflowOf(ctx context.Context, a args) uint64 {
	for n := a.Number; ; {
		var out bytes.Buffer
		s.command(ctx, &out, io.Discard, []string{"show", "--format=csv", "--columns=parent", "--", a.Capture, strconv.FormatUint(n, 10)})
		_, parent, _ := strings.Cut(out.String(), "\n")
		above, err := strconv.ParseUint(strings.TrimSpace(parent), 10, 64)
		if err != nil || above >= n {
			return n
		}
		n = above
	}
}
