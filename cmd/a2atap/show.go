package main

import (
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/viewer"
)

func newShow(e cli.Env) *cobra.Command {
	o := viewer.Options{}
	cmd := &cobra.Command{
		Use:     "show CAPTURE [N...]",
		Aliases: []string{"list"},
		Short:   "Print exchanges of a capture",
		Long: `Show prints the exchanges of a capture: all, those that match a filter, or those with the given numbers
(3, 3..9). A number may name a part of an exchange: 3.request, 3.response, 3.response.event[2], over gRPC
3.response.message[2].

Formats: list (one line per exchange; the default), detail (heads and formatted bodies; the default for numbers), tree
(calls indented below the user's request that caused them), ladder (arrows between client and agent), transcript (HTTP
as text, which other commands read), curl (the request as a command, grpcurl for gRPC), csv, json (one line per
exchange).

--columns chooses the columns of a list or of csv:
` + columnNames() + `

--jq runs a jq program on each line of json; strings are printed without quotes.

A line of the list begins with the mark of the worst finding: ! for an error, ? for a warning, · for a note. Filters
accept shortened task ids: task:2f1e9c04, or task:*9f3c2a1b if the beginning was left out.

--raw writes the recorded bytes of bodies, the request before the answer, for a file or another program.

--follow prints the recorded exchanges and then each exchange when it ends, until the recording ends or you interrupt
it. Transcripts and ladders are printed in the order of numbers, so an exchange waits for earlier ones. Without --follow
a capture that is still being recorded is printed up to its newest exchange.`,
		Example: `  a2atap show c.a2atap
  a2atap show c.a2atap 3
  a2atap show c.a2atap --filter 'is:failed dur:>2s' --tail 10
  a2atap show c.a2atap --format ladder --filter 'task:t-1'
  a2atap show c.a2atap --format tree
  a2atap show c.a2atap --columns n,time,agent,op,status,ms,state,error
  a2atap show c.a2atap --jq '"\(.n) \(.client.name) \(.response.status)"'
  a2atap show c.a2atap 3.response --raw > answer.json
  a2atap show c.a2atap --tail 0 --follow`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return viewer.Run(cmd.Context(), e, o, args[0], args[1:])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "", "print as `FORMAT`: "+strings.Join(viewer.Formats[:7], ", ")+" or json")
	f.StringVar(&o.Columns, "columns", "", "print only these `COLUMNS`, such as n,agent,op,ms")
	f.StringVar(&o.Query, "jq", "", "print the output of the jq `PROGRAM` for each line of json")
	f.StringVar(&o.Filter, "filter", "", "print the exchanges that match `EXPR`")
	f.StringVar(&o.Agent, "agent", "", "print only exchanges with the agent `NAME`")
	f.BoolVar(&o.Raw, "raw", false, "write only the bytes of bodies")
	f.Var(&o.Head, "head", "print only the first `N` matching exchanges")
	f.Var(&o.Tail, "tail", "print only the last `N` matching exchanges")
	f.BoolVar(&o.Follow, "follow", false, "continue with each exchange that ends, until the recording ends")
	o.From.Register(f, nil)
	return withArgs(cmd, 1, -1)
}

// columnNames lists the names of columns, in lines.
func columnNames() string {
	var list strings.Builder
	at := 0
	for i, name := range present.ColumnNames() {
		if i > 0 {
			list.WriteString(",")
			at++
		}
		switch {
		case i > 0 && at+len(name) > 115:
			list.WriteString("\n")
			at = 0
		case i > 0:
			list.WriteString(" ")
			at++
		}
		list.WriteString(name)
		at += len(name)
	}
	return list.String() + "."
}
