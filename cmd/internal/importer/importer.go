// Package importer writes new captures from files in other formats, and from several captures of the same traffic. It
// hides secrets as a recording does.
package importer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
)

// Options are the flags of import.
type Options struct {
	From   source.Flags
	Output string
	Hide   redacted.Flags
}

// Run writes a capture of a file in another format, or a copy of a capture.
func Run(ctx context.Context, e cli.Env, o Options, name string) error {
	hidden, err := o.Hide.Options()
	if err != nil {
		return err
	}
	output := o.Output
	if output == "" {
		if name == "-" {
			return cli.Usage("import from standard input needs -o FILE")
		}
		if strings.HasSuffix(name, ".a2atap") {
			return cli.Usage("%s already has the name of a capture; to copy it into a new one, use -o FILE", name)
		}
		output = strings.TrimSuffix(name, ".har")
		output = strings.TrimSuffix(strings.TrimSuffix(output, ".jsonl"), ".txtar") + ".a2atap"
	}
	if _, err := os.Stat(output); err == nil {
		return fmt.Errorf("import into %s: the file already exists; remove it or choose another with -o", output)
	}
	if err := cli.NotAStream(output); err != nil {
		return err
	}
	src, err := o.From.Open(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if !hidden.Keep {
		if hidden.Key, err = o.Hide.Key(e); err != nil {
			return err
		}
	}
	hidden.Notice = e.Notice
	whole := e.Temporary(output) // an interrupt leaves no part of it
	n, err := copyCapture(ctx, e.WithProgress(ctx, "import "+name, src), output, hidden)
	whole()
	if err != nil {
		return fmt.Errorf("import %s: %w", name, err)
	}
	verdict.Keep(ctx, e, "import", output)
	e.Tell("import: %s from %s into %s", analysis.Plural(n, "exchange"), name, output)
	return nil
}

// copyCapture writes all steps of a source into a new capture, in order, and returns the number of exchanges. After an
// error, the capture has everything read before the error. After an interrupt, copyCapture removes the capture.
func copyCapture(ctx context.Context, src capture.Source, output string, hidden redacted.Options) (int, error) {
	info, err := src.Info(ctx)
	if err != nil {
		return 0, err
	}
	hidden.Store.SecretsKept, hidden.Store.Insecure, hidden.Store.Copied = hidden.Keep, info.Insecure, capture.GapsOf(&info)
	to, err := redacted.Open(output, hidden)
	if err != nil {
		return 0, err
	}
	n, lost := 0, int64(0)
	copyAll := func() error {
		for s, err := range src.Steps(ctx, 1) {
			if err != nil {
				return err
			}
			switch what := s.What.(type) {
			case capture.Opened:
				n++
			case capture.Lost:
				lost = capture.AddLost(lost, what.Exchanges)
			}
			if err := to.Append(s); err != nil {
				return err
			}
		}
		if more := info.LostExchanges - lost; more > 0 { // the file has this count, and no step does
			return to.Append(capture.Step{Offset: capture.NotKnown, What: capture.Lost{
				Exchanges: more, Reason: "lost, as " + info.Name + " says",
			}})
		}
		return nil
	}
	err = errors.Join(copyAll(), to.Close())
	if ctx.Err() != nil {
		err = errors.Join(err, os.Remove(output))
	}
	return n, err
}
