// Command a2atap records the traffic between A2A clients and agents, and reports where it breaks the protocol.
//
// Each subcommand is one file: it parses its flags into an options struct and calls a function that does not depend on
// the command line. This package only connects the packages below it, which make the decisions.
package main

import (
	"context"
	"os"
	"time"

	"a2atap/cmd/internal/cli"
)

func main() {
	surviveFileLimit()
	os.Exit(run(context.Background(), cli.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Now: time.Now, Getenv: os.Getenv,
		Program: cli.CalledAs(os.Args[0]), Alone: true,
	}, os.Args[1:]))
}
