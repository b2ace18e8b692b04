package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
)

type importOptions struct {
	from        source.Flags
	output      string
	keepSecrets bool
	redact      []string
	redactKey   string
}

func newImport(e cli.Env) *cobra.Command {
	o := importOptions{}
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Convert a HAR, JSON Lines or transcript file to a capture",
		Long: `Import reads a .har (of browsers, mitmproxy and others), .jsonl or .txtar file and writes a capture. Secrets
are redacted as in a recording. Commands that take a capture also read these files directly, but a capture is smaller
and opens faster.`,
		Example: `  a2atap import session.har -o session.a2atap
  a2atap import - -o session.a2atap < session.har`,
		RunE: func(cmd *cobra.Command, args []string) error { return importFile(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "",
		"write the capture to `FILE` (default the input name with the extension .a2atap)")
	f.BoolVar(&o.keepSecrets, "keep-secrets", false, redacted.KeepSecretsHelp)
	f.StringArrayVar(&o.redact, "redact", nil, redacted.RedactHelp)
	f.StringVar(&o.redactKey, "redaction-key", "", redacted.KeyHelp)
	o.from.Register(f, nil)
	return withArgs(cmd, 1, 1)
}

func importFile(ctx context.Context, e cli.Env, o importOptions, name string) error {
	hidden := redact.Options{Keep: o.keepSecrets}
	var err error
	if hidden.Extra, err = redacted.ParsePlaces(o.redact); err != nil {
		return err
	}
	output := o.output
	if output == "" {
		if name == "-" {
			return cli.Usage("import from standard input needs -o FILE")
		}
		if strings.HasSuffix(name, ".a2atap") {
			return cli.Usage("%s is called a capture already; to copy it into a new one, name that with -o FILE", name)
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
	src, err := o.from.Open(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if !o.keepSecrets {
		if hidden.Key, err = redacted.Key(e, o.redactKey); err != nil {
			return err
		}
	}
	n, err := copyCapture(ctx, e.WithProgress(ctx, "import "+name, src), output, hidden)
	if err != nil {
		return fmt.Errorf("import %s: %w", name, err)
	}
	judged.KeepReading(ctx, e, "import", output)
	e.Tell("import: %s from %s into %s", analyzer.Plural(n, "exchange"), name, output)
	return nil
}

// copyCapture writes all steps of a source into a new capture, in order, and returns the number of exchanges. After an
// error the capture holds what was read before it.
func copyCapture(ctx context.Context, src capture.Source, output string, hidden redact.Options) (int, error) {
	store, err := bolt.Open(output, redacted.Named(bolt.Options{Tool: cli.ToolName(), SecretsKept: hidden.Keep}, hidden.Key))
	if err != nil {
		return 0, err
	}
	hidden.Describer = reading.NewDescriber()
	sink := redact.New(store, hidden)
	n := 0
	copyAll := func() error {
		for s, err := range src.Steps(ctx, 1) {
			if err != nil {
				return err
			}
			if _, opened := s.What.(capture.Opened); opened {
				n++
			}
			if err := sink.Append(s); err != nil {
				return err
			}
		}
		return nil
	}
	return n, errors.Join(copyAll(), sink.Close())
}
