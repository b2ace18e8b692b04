package agents

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"reflect"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/hostname"
	"a2atap/replay/refagent/hostile"
)

// hostileAgent returns the agent whose behavior --fault names.
func (o *Options) hostileAgent() (*hostile.Agent, error) {
	only := Options{Listen: o.Listen, Fault: o.Fault, ReadyFile: o.ReadyFile, Remote: o.Remote, Hosts: o.Hosts, Step: o.Step}
	b, ok := hostile.Named(o.Fault)
	switch {
	case o.Fault == "":
		return nil, cli.Usage("agent %s needs --fault NAME; --fault list prints the names", hostile.Name)
	case !ok:
		return nil, cli.Usage("agent %s has no fault %q; --fault list prints its faults", hostile.Name, o.Fault)
	case !reflect.DeepEqual(*o, only):
		return nil, cli.Usage("agent %s accepts only --fault, --listen, --allow-remote, --allow-host and --ready-file", hostile.Name)
	}
	return hostile.New(b), nil
}

// serveHostile serves a hostile agent until the context ends.
func (o *Options) serveHostile(ctx context.Context, e cli.Env, l net.Listener, a *hostile.Agent, allowed []hostname.Pattern) error {
	checked := cli.CheckHosts(e, a, o.Listen, l, allowed)
	return cli.ServeProtocols(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PRI" { // HTTP/2, whose preface names no host; no page in a browser can write one
			a.ServeHTTP(w, r)
			return
		}
		checked.ServeHTTP(w, r)
	}), a.Protocols())
}

func listBehaviors(e cli.Env) error {
	for _, b := range hostile.Behaviors {
		if _, err := fmt.Fprintf(e.Out, "%-32s %s\n", b.Name, b.Description); err != nil {
			return err
		}
	}
	return nil
}
