// Command a2atap sits between two agents that speak A2A, records what they say, and tells where they break the protocol.
//
// Each verb is one file: it parses its flags into an options struct and calls a function that knows nothing of the
// command line. This package wires; what is decided is decided in the packages below it.
package main

import (
	"context"
	"io"
	"os"
	"time"
)

// env is the world as a verb sees it.
type env struct {
	In     io.Reader
	Out    io.Writer // results
	Err    io.Writer // talk
	Now    func() time.Time
	Getenv func(string) string

	manners *manners // set by the flags that all verbs share
}

func main() {
	os.Exit(run(context.Background(), env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Now: time.Now, Getenv: os.Getenv,
	}, os.Args[1:]))
}
