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
		Short: "Merge captures that recorded parts of the same traffic",
		Long: `Merge combines several captures (.a2atap, .har, .jsonl, .txtar) into one, for example those of recorders
on several machines. Each capture keeps its order. Between captures, the order follows time and cause: if two recorders
saw the same exchange, the events of the one nearer to the agent come between the request and the answer of the one
nearer to the client.

An exchange that passed two recorders becomes one if this is certain: with the client's name from the outer recorder,
the agent's name from the inner one, and a note on what the inner one saw. If the answers differ, both are kept. Such
exchanges are also used to compare the clocks of different hosts and to correct times.

Traffic that a capture lost is also missing from the merged one, and the rules report nothing about it.`,
		Example: `  a2atap merge west.a2atap east.a2atap -o both.a2atap
  a2atap merge --host a.a2atap=west --host b.a2atap=east a.a2atap b.a2atap -o both.a2atap`,
		RunE: func(cmd *cobra.Command, args []string) error { return importer.Merge(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.Output, "output", "o", "", "write the merged capture to `FILE`")
	f.StringArrayVar(&o.Hosts, "host", nil, "set the host on which a capture was recorded, as `FILE=HOST` (default the name "+
		"of the file, without its extension); captures of one host share a clock; repeatable")
	o.Hide.Register(f)
	return withArgs(cmd, 2, -1)
}
