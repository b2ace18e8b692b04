// Command a2atap records the traffic between A2A clients and agents, and reports where it breaks the protocol.
//
// Each subcommand is one file: it parses its flags into an options struct and calls a function that does not depend on
// the command line. This package only connects the packages below it, which make the decisions.
package main

import (
	"context"
	"io"
	"os"
	"time"
)

// env is what a command uses of the process: its streams, clock and environment, and the flags of all commands.
type env struct {
	In     io.Reader
	Out    io.Writer // results
	Err    io.Writer // messages, progress and verdicts
	Now    func() time.Time
	Getenv func(string) string

	Program string       // how the user calls this program; empty for a2atap
	common  *commonFlags // nil stands for the defaults
}

func main() {
	surviveFileLimit()
	os.Exit(run(context.Background(), env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Now: time.Now, Getenv: os.Getenv,
		Program: calledAs(os.Args[0]),
	}, os.Args[1:]))
}
