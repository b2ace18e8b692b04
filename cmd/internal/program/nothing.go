package program

import (
	"debug/buildinfo"
	"path/filepath"
	"strings"

	"a2atap/cmd/internal/present"
)

// NothingCame says why nothing of a program's traffic may have come through, what is most likely first, and what to do.
func NothingCame(p *present.Recorded, program string, taps int) {
	through, remedy := "the proxy", "put a tap in front of each agent with --agent NAME=URL@PORT, and give the program "+
		"http://127.0.0.1:PORT in place of the agent's URL"
	if taps > 0 {
		through, remedy = "the proxy or a tap", "give the program the URL of the tap in place of the agent's"
	}
	p.Tell("nothing came through " + through + ": " + strings.Join(whyNothing(program), "; or ") + ". What to do: " +
		remedy)
}

// whyNothing returns reasons why a program goes round the proxy. What a program is made with is seen from its file; a
// script or a shell may start anything.
func whyNothing(program string) []string {
	const (
		goes    = "it is a Go program, and Go uses no proxy for localhost and 127.0.0.1"
		local   = "the program uses no proxy for localhost and 127.0.0.1, as those in Go never do"
		ignores = "it does not read HTTP_PROXY and HTTPS_PROXY, or sets a proxy or NO_PROXY itself"
		node    = "Node.js before 22.21 and 24 ignores HTTPS_PROXY (EnvHttpProxyAgent of undici reads it)"
		silent  = "it called no agent, or not over HTTP/1.1: gRPC and HTTP/2 without TLS are not recorded"
	)
	if _, err := buildinfo.ReadFile(program); err == nil {
		return []string{goes, ignores, silent}
	}
	switch strings.TrimSuffix(filepath.Base(program), ".exe") {
	case "node", "npm", "npx", "yarn", "pnpm", "tsx":
		return []string{node, local, ignores, silent}
	}
	return []string{local, ignores, node, silent}
}
