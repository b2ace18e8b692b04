package recorder

import (
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/trust"
	"a2atap/proxy"
)

// ForwardHelp is the part of the help that describes the forward proxy.
const ForwardHelp = `With --forward it also opens an HTTP proxy: clients that are configured to use it reach any agent
through it, no URL has to change, and agent cards stay as they are. TLS is intercepted with certificates of the user's
own authority, created on first use; clients must trust it (see a2atap ca env). A user name in the proxy's URL names
the client in the capture: http://planner@127.0.0.1:7080. Many clients, among them all Go programs, use no proxy for
localhost and 127.0.0.1: use a tap for such an agent, or another name of this machine. Connections that use HTTP/2
only (gRPC) or that --tunnel names are passed on encrypted, and the capture says so. Of exchanges that show no sign of
A2A, such as what a program asks a language model, heads and sizes are recorded, and no bodies (--all-traffic).`

// ReachHelp is the part of the help that says how agents are reached.
const ReachHelp = `Agents on TLS are verified by the system's authorities and those of --agent-ca; --client-cert is
shown to those that ask for a certificate. --insecure verifies nobody: it is said at the start and the end, and the
capture says so for ever. With --upstream-proxy agents are reached through that proxy, by CONNECT or SOCKS, and those on
this machine directly. The variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY are not read, since they may lead back to this
very recorder, but for --upstream-proxy env. Where an agent cannot be reached, the answer to the client, which has the
status 502, and a message here say which of these flags helps.`

// forwardSpec turns flags into what a forward proxy takes, nil for none. It reads the secret of --proxy-auth from where
// that says.
func (o *Flags) forwardSpec(e cli.Env) (*proxy.ForwardSpec, error) {
	if o.Forward == "" {
		if len(o.tunnel) > 0 || o.ProxyAuth != "" {
			return nil, cli.Usage("--tunnel and --proxy-auth configure the forward proxy; add --forward [HOST:]PORT")
		}
		return nil, nil
	}
	spec := proxy.ForwardSpec{OnlyA2A: !o.allTraffic}
	var err error
	if spec.Listen, err = proxy.ParseForward(o.Forward); err != nil {
		return nil, cli.Usage("%w", err)
	}
	for _, flag := range o.tunnel {
		pattern, err := proxy.ParseHostPattern(flag)
		if err != nil {
			return nil, cli.Usage("%w", err)
		}
		spec.Tunnel = append(spec.Tunnel, pattern)
	}
	if o.ProxyAuth, err = e.Secret("--proxy-auth", o.ProxyAuth); err != nil {
		return nil, err
	}
	if o.ProxyAuth != "" {
		if spec.Auth, err = proxy.ParseCredentials(o.ProxyAuth); err != nil {
			return nil, cli.Usage("%w", err)
		}
	}
	authority, err := trust.Open(e)
	if err != nil {
		return nil, err
	}
	spec.Leaf = authority.Leaf
	return &spec, nil
}
