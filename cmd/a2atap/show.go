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

Formats: list (a line for each exchange; the default), detail (heads, and bodies laid out for people; the default for
numbers), tree (what one request of a user has caused is indented under it), ladder (arrows between client and agent),
transcript (HTTP as text, which other commands read), curl (the request as a command, of grpcurl for gRPC), csv, json (a
line for each).

--columns chooses the columns of a list or of csv:
` + columnNames() + `

--jq runs a program in the language of jq over each line of json; strings are printed without quotes.

A line of the list begins with the sign of the worst finding: ! for an error, ? for a warning, · for a note. Short ids
of tasks are taken back by filters: task:2f1e9c04, or task:*9f3c2a1b where the beginning was left out.

--raw writes the bytes of bodies as they were recorded, a request's before the answer's, for a file or another program.

--follow prints what is there and then each exchange when it ends, until the recording ends or an interrupt comes. A
transcript and a ladder stand in the order of numbers, so there an exchange waits for those before it. A capture that is
still being recorded is otherwise printed up to its newest exchange.`,
		Example: `  a2atap show c.a2atap
  a2atap show c.a2atap 3
  a2atap show c.a2atap --filter 'is:error dur:>2s' --tail 10
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
	f.StringVar(&o.Query, "jq", "", "print what `PROGRAM` makes of each line of json")
	f.StringVar(&o.Filter, "filter", "", "print the exchanges that match `EXPR`")
	f.StringVar(&o.Agent, "agent", "", "print the exchanges of the agent `NAME`")
	f.BoolVar(&o.Raw, "raw", false, "write the bytes of bodies, and nothing else")
	f.Var(&o.Head, "head", "print only the first `N` of those that match")
	f.Var(&o.Tail, "tail", "print only the last `N` of those that match")
	f.BoolVar(&o.Follow, "follow", false, "go on with each exchange that ends, until the recording ends")
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
