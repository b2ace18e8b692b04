package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/doctor"
)

func newDoctor(e cli.Env) *cobra.Command {
	o := doctor.Options{}
	cmd := &cobra.Command{
		Use:   "doctor CAPTURE",
		Short: "Check a capture's files for damage",
		Long: `Doctor reads all files of a capture, including further segments, and prints what it examined and each
problem, with the file, the database bucket and the key. It checks that all blocks can be decoded and no step is
missing, that exchanges, index and totals match the steps, and that the database's pages are consistent. It prints the
fingerprints of the keys that were used to hide secrets. docs/capture-format.md explains these terms. If the capture has
a stored check result, doctor checks it again and compares. Nothing is changed.

With --repair it copies the readable part of a damaged capture into a new one with a rebuilt index, and lists what could
not be read. The damaged capture is left unchanged. A sound one is not copied.

A capture that is being recorded cannot be examined, and no recorder can open a capture while it is examined.

Exit status: 0 sound, or repaired without loss; 1 problems; 2 wrong usage; 3 the capture could not be read; 4 repaired
with loss.`,
		Example: `  a2atap doctor c.a2atap
  a2atap doctor c.a2atap --format json
  a2atap doctor c.a2atap --repair -o whole.a2atap`,
		RunE: func(cmd *cobra.Command, args []string) error { return doctor.Run(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "text", "print as `FORMAT`: text or json")
	f.BoolVar(&o.Repair, "repair", false, "copy the readable part of a damaged capture into a new one")
	f.StringVarP(&o.Output, "output", "o", "", "with --repair: the new capture `FILE` (default NAME.repaired.a2atap)")
	return withArgs(cmd, 1, 1)
}
