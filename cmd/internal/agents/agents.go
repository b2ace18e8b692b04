// Package agents runs reference agents: the flags of the command agent, and the server that they make.
package agents

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/outbound"
	"a2atap/replay/refagent"
	"a2atap/replay/refagent/hostile"
)

// Run runs reference agents of these names until it is interrupted.
func Run(ctx context.Context, e cli.Env, o Options, names []string) error {
	if err := o.check(names); err != nil {
		return err
	}
	if o.Fault == "list" {
		return listFaults(e, names[0])
	}
	if err := cli.LocalOnly(o.Listen, o.Remote); err != nil {
		return err
	}
	allowed, err := cli.ParseAllowedHosts(o.Hosts)
	if err != nil {
		return err
	}
	if slices.Contains(names, hostile.Name) {
		a, err := o.hostileAgent()
		if err != nil {
			return err
		}
		defer a.Close()
		return o.listen(ctx, e, names, func(ctx context.Context, l net.Listener) error {
			return o.serveHostile(ctx, e, l, a, allowed)
		}, "")
	}
	agents, closeAgents, err := o.start(e, names)
	if err != nil {
		return err
	}
	defer closeAgents()
	paths := make([]string, len(agents))
	for i, a := range agents {
		paths[i] = a.Path()
	}
	return o.listen(ctx, e, names, func(ctx context.Context, l net.Listener) error {
		return cli.Serve(ctx, l, cli.CheckHosts(e, refagent.Mux(agents...), o.Listen, l, allowed))
	}, paths...)
}

// listen prints the addresses of the agents with these names and paths, and serves them until it is interrupted.
func (o *Options) listen(
	ctx context.Context, e cli.Env, names []string, serve func(context.Context, net.Listener) error, paths ...string,
) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := cli.RemoveReady(o.ReadyFile); err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return fmt.Errorf("listen for agent %s on %s: %w; choose another port with --listen, or 0 for a free one",
			strings.Join(names, ", "), o.Listen, outbound.Cause(err))
	}
	var lines strings.Builder
	for i, name := range names {
		fmt.Fprintf(&lines, "%s http://%s%s\n", name, l.Addr(), paths[i])
	}
	io.WriteString(e.Out, lines.String()) // readers can also use the ready file
	if err := cli.WriteReady(o.ReadyFile, lines.String()); err != nil {
		l.Close()
		return err
	}
	return serve(ctx, l)
}

// check rejects flags that are invalid, alone or for these agents.
func (o *Options) check(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return cli.Usage("agent %s is given twice; name each agent once", name)
		}
	}
	switch {
	case len(names) > 1 && o.Fault != "":
		return cli.Usage("--fault is for one agent, and %s are %d; start the one with the fault separately",
			strings.Join(names, ", "), len(names))
	case len(names) > 1 && slices.Contains(names, hostile.Name):
		return cli.Usage("agent %s runs alone; start the others separately", hostile.Name)
	case len(names) > 1 && o.Card != "":
		return cli.Usage("--card is for one agent, and %s are %d; start the one with the card separately",
			strings.Join(names, ", "), len(names))
	case len(o.Skills) > 0 && o.Card == "":
		return cli.Usage("--skill needs --card, which has the skills")
	case o.WebhookCA != "" && !o.Push:
		return cli.Usage("--webhook-ca needs --push: without it the agent sends no notifications")
	case o.MaxTasks < 0:
		return cli.Usage("--max-tasks %d: use a number above 0", o.MaxTasks)
	case o.Delay < 0:
		return cli.Usage("--delay %v: use a time above 0", o.Delay)
	}
	return nil
}

func listFaults(e cli.Env, name string) error {
	if name == hostile.Name {
		return listBehaviors(e)
	}
	if _, err := refagent.New(name, refagent.Options{}); err != nil {
		return cli.Usage("%w", err)
	}
	for _, f := range refagent.Faults(name) {
		where := ""
		switch {
		case f.OnlyGRPC:
			where = " Needs --binding grpc."
		case !f.OverGRPC():
			where = " Not over gRPC."
		}
		if _, err := fmt.Fprintf(e.Out, "%-32s %s%s\n", f.Slug, f.Doc, where); err != nil {
			return err
		}
	}
	return nil
}
