package inspector

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/tui"
)

// exportFormats are the inspector's export formats.
var exportFormats = []tui.ExportFormat{
	{Key: "h", Name: "har", Words: "HAR, for browsers and other tools", Ending: ".har"},
	{Key: "t", Name: "txtar", Words: "transcript, HTTP as text", Ending: ".txtar"},
	{Key: "j", Name: "jsonl", Words: "JSON Lines, one exchange per line", Ending: ".jsonl"},
	{Key: "c", Name: "curl", Words: "curl commands that send the requests", Ending: ".sh"},
	{Key: "b", Name: "body", Words: "body of the answer, or of the request if there is no answer", Ending: ".body", Single: true},
}

// newExporter returns the inspector's exporter.
func newExporter(src capture.Source) *tui.Exporter {
	return &tui.Exporter{
		Formats: exportFormats,
		Write: func(ctx context.Context, file string, f tui.ExportFormat, seqs []uint64, overwrite bool) (int64, error) {
			return exportTo(ctx, src, file, f.Name, seqs, overwrite)
		},
	}
}

// exportTo writes the exchanges with these numbers, or all if nil, into a file, which appears complete or not at all.
func exportTo(
	ctx context.Context, src capture.Source, file, format string, seqs []uint64, overwrite bool,
) (int64, error) {
	switch there, err := os.Stat(file); {
	case err != nil:
	case there.IsDir():
		return 0, fmt.Errorf("%s is a directory; name a file in it", file)
	case isCaptureOf(ctx, src, there):
		return 0, fmt.Errorf("%s is the capture itself; choose another name", file)
	}
	if _, err := os.Lstat(file); err == nil && !overwrite {
		return 0, fmt.Errorf("write %s: %w", file, fs.ErrExist)
	}
	notes, err := source.Notes(ctx, src)
	if err != nil {
		return 0, err
	}
	reader, err := source.NewReader(ctx, src)
	if err != nil {
		return 0, err
	}
	info, err := src.Info(ctx)
	if err != nil {
		return 0, err
	}
	counted := &byteCount{}
	err = cli.WriteFile(file, func(w io.Writer) error {
		counted.w = w
		out, err := present.ExportWriter(counted, format, present.Annotator{Reader: reader, Notes: notes}, capture.GapsOf(&info))
		if err != nil {
			return err
		}
		write := func(x *capture.Exchange) error { return out.Print(&present.Shown{X: x}) }
		if seqs != nil {
			err = source.EachOf(ctx, src, seqs, write)
		} else {
			err = source.Each(ctx, src, write)
		}
		if err != nil {
			return err
		}
		return out.End()
	})
	return counted.n, err
}

// A byteCount counts the bytes written through it.
type byteCount struct {
	w io.Writer
	n int64
}

func (c *byteCount) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// isCaptureOf reports whether a file is the one that a capture is read from.
func isCaptureOf(ctx context.Context, src capture.Source, file fs.FileInfo) bool {
	info, err := src.Info(ctx)
	if err != nil {
		return false
	}
	own, err := os.Stat(info.Name)
	return err == nil && os.SameFile(own, file)
}
