package main

import (
	"debug/buildinfo"
	"path/filepath"
	"strings"
)

// nothingCame says why nothing of a program's traffic may have come through, what is most likely first.
func (p *recordPrinter) nothingCame(program string, taps int) {
	through := "the proxy"
	if taps > 0 {
		through = "the proxy or a tap"
	}
	p.tell("nothing came through " + through + ": " + strings.Join(whyNothing(program, taps), "; or "))
}

// whyNothing returns reasons why a program goes round the proxy, and what to do about each. What a program is made with
// is seen from its file; a script or a shell may start anything.
func whyNothing(program string, taps int) []string {
	local := "the program uses no proxy for localhost and 127.0.0.1"
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if _, err := buildinfo.ReadFile(program); err == nil {
		local = "it is a Go program, and Go never uses a proxy for localhost and 127.0.0.1"
	}
	tap := ": put a tap in front of the agent with --agent NAME=URL@PORT, and give the program http://127.0.0.1:PORT"
	if taps > 0 {
		tap = ": give it the URL of the tap"
	}
	ignores := "it does not read HTTP_PROXY and HTTPS_PROXY, or sets a proxy or NO_PROXY itself" + tap
	node := "Node.js before 22.21 and 24 ignores the variables" + tap + ", or set undici's EnvHttpProxyAgent in the program"
	reasons := []string{local + tap, ignores, node}
	switch {
	case name == "node" || name == "npm" || name == "npx" || name == "yarn" || name == "pnpm" || name == "tsx":
		reasons = []string{node, local + tap, ignores}
	case strings.HasPrefix(local, "it is a Go"):
		reasons = []string{local + tap, ignores}
	}
	return append(reasons, "it called no agent, or not over HTTP/1.1: gRPC and HTTP/2 without TLS are not recorded")
}
