//go:build !unix

package tool

import (
	"errors"
	"net"
	"os"
	"os/exec"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/stdio"
)

// run runs the tool, and relays between the client and the tool until the tool has ended.
func run(e cli.Env, o Options, path string, args []string, recorder *net.UnixConn, above []int) error {
	toolIn, toTool, err := os.Pipe()
	if err != nil {
		return err
	}
	fromTool, toolOut, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0] = args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = toolIn, toolOut, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	toolIn.Close()
	toolOut.Close()
	var feed *stdio.Feed
	end := func() {}
	if recorder != nil || o.Output != "" {
		feed, end = o.feed(e, recorder, above)
	}
	go stdio.Pass(os.Stdin, toTool, stdio.Client, feed)
	stdio.Pass(fromTool, os.Stdout, stdio.Server, feed)
	err = cmd.Wait()
	if x, ok := errors.AsType[*exec.ExitError](err); ok {
		err = &cli.Exit{Code: max(x.ExitCode(), 1)}
	}
	end()
	return err
}

func runRelay(cli.Env, Options, string) error {
	return errors.New("this system needs no relay: unset " + relayVariable)
}
