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
		Long: `Doctor reads all files of a capture, further segments included, and prints what it examined and each
problem, with the file, the bucket of the database and the key. It checks that all blocks can be decoded and no step is
missing, that exchanges, index and totals agree with the steps, and that the database's pages are consistent. It names
the keys with which secrets were hidden by their fingerprints. docs/capture-format.md explains these terms. If the
capture holds the result of judging it, it is judged again, and the two are compared. Nothing is changed.

With --repair it records what can be read of a damaged capture into a new one, with its index rebuilt, which says what
could not be read. The damaged capture stays as it is. A sound one is not copied.

A capture that is being recorded cannot be examined, and no recorder can open it while it is examined.

Exit status: 0 sound, or repaired and nothing is missing, 1 problems, 2 wrong usage, 3 the capture could not be read, 4
repaired, and something is missing.`,
		Example: `  a2atap doctor c.a2atap
  a2atap doctor c.a2atap --format json
  a2atap doctor c.a2atap --repair -o whole.a2atap`,
		RunE: func(cmd *cobra.Command, args []string) error { return doctor.Run(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "text", "print as `FORMAT`: text or json")
	f.BoolVar(&o.Repair, "repair", false, "record what can be read of a damaged capture into a new one")
	f.StringVarP(&o.Output, "output", "o", "", "with --repair: the new capture `FILE` (default NAME.repaired.a2atap)")
	return withArgs(cmd, 1, 1)
}
