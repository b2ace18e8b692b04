package source

import (
	"context"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
)

// Notes returns the notes on a capture, from the file next to it.
func Notes(ctx context.Context, src capture.Source) (*notes.Notes, error) {
	info, err := src.Info(ctx)
	if err != nil || info.Name == "" {
		return nil, err
	}
	return notes.Read(notes.Path(cli.Beside(info.Name)))
}

// ReadNotes reads the notes on a capture, and prints which lines of their file cannot be read.
func ReadNotes(ctx context.Context, e cli.Env, command string, src capture.Source) (*notes.Notes, error) {
	n, err := Notes(ctx, src)
	if err != nil {
		return nil, err
	}
	for i, bad := range n.Bad() {
		if i == 3 {
			e.Tell("%s: … and %s", command, analysis.Plural(len(n.Bad())-i, "more line"))
			break
		}
		info, _ := src.Info(ctx)
		e.Tell("%s: %s:%d: %s; the line is skipped", command, notes.Path(cli.Beside(info.Name)), bad.Line, bad.Why)
	}
	return n, nil
}
