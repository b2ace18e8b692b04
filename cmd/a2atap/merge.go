package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/importer"
)

func newMerge(e cli.Env) *cobra.Command {
	o := importer.MergeOptions{}
	cmd := &cobra.Command{
		Use:   "merge CAPTURE CAPTURE...",
		Short: "Make one capture of several that recorded parts of the same traffic",
		Long: `Merge makes one capture of several (.a2atap, .har, .jsonl, .txtar), such as those of recorders on several
machines. Each keeps its own order; between them the order is that of time and of cause: what a recorder nearer to
the agent saw of an exchange comes after the one nearer to the client opened it, and before that one saw the answer.

An exchange that two recorders saw, one behind the other, becomes one, where that is certain: with the client as the
outer recorder saw it, the agent as the inner one names it, and a note that says what was seen there. If the answers
differ, both stay. Clocks of different hosts are compared by such exchanges, and times are corrected.

What a capture lost is lost in the merged one, and the rules are silent there.`,
		Example: `  a2atap merge west.a2atap east.a2atap -o both.a2atap
  a2atap merge --host a.a2atap=west --host b.a2atap=east a.a2atap b.a2atap -o both.a2atap`,
		RunE: func(cmd *cobra.Command, args []string) error { return importer.Merge(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.Output, "output", "o", "", "write the merged capture to `FILE`")
	f.StringArrayVar(&o.Hosts, "host", nil, "say on which host a capture was recorded, as `FILE=HOST` (default the name "+
		"of the file, without its ending); captures of one host share a clock; repeatable")
	o.Hide.Register(f)
	return withArgs(cmd, 2, -1)
}
