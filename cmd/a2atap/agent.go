package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/net/http/httpguts"

	"a2atap/replay/refagent"
)

type agentOptions struct {
	listen    string
	fault     string
	push      bool
	step      time.Duration
	auth      string
	maxTasks  int
	delay     time.Duration
	readyFile string
	remote    bool
	hosts     []string
}

func newAgent(e env) *cobra.Command {
	o := agentOptions{}
	cmd := &cobra.Command{
		Use:   "agent NAME",
		Short: "Run a reference agent, correct or with a chosen fault",
		Long: `Agent runs a reference agent. NAME is one of
` + strings.Join(refagent.Names(), ", ") + `.

Reference agents are written from the specification, for testing clients and this tool. With --fault the agent breaks
the rule of that name on purpose; --fault list prints the faults that it supports. It runs until it is interrupted.

echo and spec speak A2A 1.0, spec03… 0.3, spec02 0.2, spec01 0.1; legacy speaks the dialect before that, at the root of
its address, with streams at /subscribe and push notifications to https only.`,
		Example: `  a2atap agent spec --listen 127.0.0.1:9001
  a2atap agent spec --auth env:AGENT_TOKEN --max-tasks 100
  a2atap agent spec --fault stream-closed-on-terminal --listen 127.0.0.1:9001
  a2atap agent spec --fault list`,
		RunE: func(cmd *cobra.Command, args []string) error { return agent(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "listen on `ADDR`; port 0 is a free one")
	f.StringVar(&o.fault, "fault", "", "break the rule `SLUG` on purpose; list prints those that can be broken")
	f.BoolVar(&o.push, "push", false, "offer push notifications")
	f.DurationVar(&o.step, "step", 500*time.Millisecond, "wait `D` between two chunks of a stream")
	f.StringVar(&o.auth, "auth", "", "ask clients for `bearer:TOKEN`, basic:USER:PASSWORD or header:NAME=KEY; "+
		secretHelp+", of the whole or of what follows the first part")
	f.IntVar(&o.maxTasks, "max-tasks", 0, "refuse to make more than `N` tasks")
	f.DurationVar(&o.delay, "delay", 0, "wait `D` before each answer but the card")
	f.StringVar(&o.readyFile, "ready-file", "", "write NAME URL to `FILE` once the agent is listening")
	f.BoolVar(&o.remote, "allow-remote", false, "allow a listening address that other machines can reach")
	f.StringArrayVar(&o.hosts, "allow-host", nil, allowHostHelp)
	return withArgs(cmd, 1, 1)
}

func agent(ctx context.Context, e env, o agentOptions, name string) error {
	if o.fault == "list" {
		return listFaults(e, name)
	}
	auth, err := e.agentAuth(o.auth)
	if err != nil {
		return err
	}
	if o.maxTasks < 0 {
		return usage("--max-tasks %d: use a number above 0", o.maxTasks)
	}
	if o.delay < 0 {
		return usage("--delay %v: use a time above 0", o.delay)
	}
	a, err := refagent.New(name, refagent.Options{
		Fault: o.fault, Push: o.push, StepTime: o.step, Auth: auth, MaxTasks: o.maxTasks, Delay: o.delay,
	})
	if err != nil {
		return usage("%w", err)
	}
	defer a.Close()
	if err := localOnly(o.listen, o.remote); err != nil {
		return err
	}
	allowed, err := parseAllowedHosts(o.hosts)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := removeReady(o.readyFile); err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listen for agent %s on %s: %w; choose another port with --listen, or 0 for a free one",
			name, o.listen, netCause(err))
	}
	url := "http://" + l.Addr().String() + a.Path()
	fmt.Fprintf(e.Out, "%s %s\n", name, url)
	if err := writeReady(o.readyFile, name+" "+url+"\n"); err != nil {
		l.Close()
		return err
	}
	return serve(ctx, l, checkHosts(e, a, o.listen, l, allowed))
}

// serve serves HTTP until the context ends, then closes open connections, streams included.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	server.Close()
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// agentAuth returns the credentials that --auth of an agent asks for; nil if it is empty.
func (e env) agentAuth(value string) (*refagent.Credentials, error) {
	if value == "" {
		return nil, nil
	}
	text, err := e.credentials("--auth", value)
	if err != nil {
		return nil, err
	}
	kind, rest, _ := strings.Cut(text, ":")
	switch strings.ToLower(kind) {
	case "bearer":
		if rest != "" {
			return &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: rest}, nil
		}
	case "basic":
		if strings.Contains(rest, ":") {
			return &refagent.Credentials{Scheme: refagent.BasicAuth, Secret: rest}, nil
		}
	case "header":
		name, key, _ := strings.Cut(rest, "=")
		if httpguts.ValidHeaderFieldName(name) && key != "" {
			return &refagent.Credentials{Scheme: refagent.APIKeyAuth, Header: name, Secret: key}, nil
		}
	}
	return nil, usage("--auth: use bearer:TOKEN, basic:USER:PASSWORD or header:NAME=KEY")
}

func listFaults(e env, name string) error {
	if _, err := refagent.New(name, refagent.Options{}); err != nil {
		return usage("%w", err)
	}
	for _, f := range refagent.Faults(name) {
		if _, err := fmt.Fprintf(e.Out, "%-32s %s\n", f.Slug, f.Doc); err != nil {
			return err
		}
	}
	return nil
}

// netCause strips the prefix that package net adds to an error: the caller's message says it already.
func netCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var sys *os.SyscallError
	if errors.As(err, &sys) {
		err = sys.Err
	}
	return err
}
