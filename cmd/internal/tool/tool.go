// Package tool runs a tool that speaks JSON-RPC on its standard input and output, and records what passes.
//
// On Unix, the process becomes the tool: its exit status, its signals and its place among the processes are the tool's.
// Before that, it starts a relay, which is the same program with the variable relayVariable, between the client's pipes
// and the tool's. The relay ignores signals, and ends when the pipes are closed. On other systems, the process itself
// relays, and ends with the tool's status.
package tool

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/program"
	"a2atap/proxy/recording"
	"a2atap/proxy/stdio"
)

// Run runs a command as a tool. On Unix, it returns only if the command cannot be run.
func Run(e cli.Env, o Options, args []string) error {
	if o.Name == "" {
		o.Name, o.byCommand = nameOf(args), true
	}
	if !recording.ValidName(o.Name) || len(o.Name) > 64 {
		return cli.Usage("stdio: the name %q (--name) must consist of up to 64 letters, digits, '.', '_' and '-'", o.Name)
	}
	if above := e.Getenv(relayVariable); above != "" {
		return runRelay(e, o, above)
	}
	above := stdio.Ancestors()
	socket := stdio.Find(e.Getenv(stdio.Variable), above)
	if stdio.Plays(socket) {
		played, recorder, err := o.play(e, socket, above)
		if err != nil {
			return fmt.Errorf("stdio %s: %w", o.Name, err)
		}
		if played {
			return nil
		}
		socket = recorder
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return fmt.Errorf("stdio %s: %w; give a program on the PATH, or its path", args[0], program.Cause(err))
	}
	if !e.Alone {
		return errors.New("stdio replaces its process by the tool, so it needs a process of its own")
	}
	var recorder *net.UnixConn
	if socket != "" && o.Output == "" {
		if recorder, err = stdio.Dial(socket); err != nil {
			o.unrecorded(e, err)
		}
	}
	if err := run(e, o, path, args, recorder, above); err != nil {
		return fmt.Errorf("stdio %s: %w", args[0], program.Cause(err))
	}
	return nil
}

// nameOf returns a name for a command's tool: that of the program, or of the script or package that an interpreter or a
// package runner runs.
func nameOf(args []string) string {
	name := args[0]
	for i, arg := range args {
		word := strings.TrimSuffix(filepath.Base(arg), ".exe")
		switch {
		case i > 0 && strings.HasPrefix(arg, "-"):
			continue
		case slices.Contains(runners, strings.TrimRight(word, "0123456789.")):
			continue
		}
		name = arg
		break
	}
	name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	if at := strings.LastIndexByte(name, '@'); at > 0 { // the version of a package
		name = name[:at]
	}
	return recording.ToName(name)
}

// runners are programs, and their subcommands, whose argument is the tool.
var runners = []string{"npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "python", "uv", "npm", "pnpm", "yarn", "run", "exec", "dlx", "x"}
