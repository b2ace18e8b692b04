package process

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"
)

// lsof is where macOS has it.
const lsof = "/usr/sbin/lsof"

// A Finder examines processes and their sockets. The zero Finder is ready. It must not be used by two goroutines at
// once.
type Finder struct{}

// Find finds the processes that listen at the addresses of agents, each of which may have several, and which of those
// processes and of their parents and children have made connections. It stops when the context ends, and returns the
// context's error; other errors mean that the system lists no sockets.
func (f *Finder) Find(ctx context.Context, agents [][]netip.AddrPort, connections []Pair) (Survey, error) {
	// -b and -w keep it from asking file systems that do not answer.
	cmd := exec.CommandContext(ctx, lsof, "-nPbw", "-iTCP", "-FpRcfnT")
	text, err := cmd.Output()
	if ctx.Err() != nil {
		return Survey{}, ctx.Err()
	}
	if err != nil && len(text) == 0 { // with some output, the error only means that something was not found
		return Survey{}, fmt.Errorf("list the sockets of processes with %s: %w", lsof, err)
	}
	sockets, processes := parseLsof(text)
	return surveyOf(sockets, processes, agents, connections, os.Getpid()), nil
}

// parentOf returns the parent of a process, or 0.
func parentOf(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}
