package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/importer"
)

// importMemory is enough for an exchange with a million events, which import reads as a whole.
const importMemory = 160 << 20

func newImport(e cli.Env) *cobra.Command {
	o := importer.Options{}
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Convert a HAR, JSON Lines or transcript file to a capture",
		Long: `Import reads a .har (of browsers, mitmproxy and others), .jsonl or .txtar file and writes a capture. Secrets
are redacted as in a recording. Commands that take a capture also read these files directly, but a capture is smaller
and opens faster.`,
		Example: `  a2atap import session.har -o session.a2atap
  a2atap import - -o session.a2atap < session.har`,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer e.LimitMemoryTo(importMemory)()
			return importer.Run(cmd.Context(), e, o, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Output, "output", "o", "",
		"write the capture to `FILE` (default the input name with the extension .a2atap)")
	o.Hide.Register(f)
	o.From.Register(f, nil)
	return withArgs(cmd, 1, 1)
}
