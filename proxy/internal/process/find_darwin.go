package process

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
)

// lsof is where macOS has it.
const lsof = "/usr/sbin/lsof"

// A Finder looks at processes and their sockets. The zero Finder is ready. It must not be used by two goroutines at
// once.
type Finder struct{}

// Find looks who listens at the addresses of agents, each of which may have several, and which of those processes and
// of their parents and children have made connections. It looks at nothing more when the context ends, and returns its
// error; other errors say that the system lists no sockets.
func (f *Finder) Find(ctx context.Context, agents [][]netip.AddrPort, connections []Pair) (Survey, error) {
	// -b and -w keep it from asking file systems that do not answer.
	cmd := exec.CommandContext(ctx, lsof, "-nPbw", "-iTCP", "-FpRcfnT")
	text, err := cmd.Output()
	if ctx.Err() != nil {
		return Survey{}, ctx.Err()
	}
	if err != nil && len(text) == 0 { // with some output it only says that something was not found
		return Survey{}, fmt.Errorf("list the sockets of processes with %s: %w", lsof, err)
	}
	sockets, processes := parseLsof(text)
	return surveyOf(sockets, processes, agents, connections, os.Getpid()), nil
}
