package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/proxy"
	"a2atap/replay/client/setup"
)

type recordOptions struct {
	agents        []string
	aliases       []string
	clients       []string
	forward       string
	tunnel        []string
	allTraffic    bool
	proxyAuth     string
	output        string
	duration      time.Duration
	exchanges     int64
	failOn        string
	readyFile     string
	noRewrite     bool
	diversion     diversion
	keepSecrets   bool
	redact        []string
	redactKey     string
	maxBody       string
	segmentSize   string
	ifFails       string
	allowRemote   bool
	allowHosts    []string
	timeoutHead   time.Duration
	timeoutTunnel time.Duration
	jwks          []string
	faults        []string
	reach         setup.ReachFlags
	format        string
	allowEmpty    bool
	events        bool
	tui           bool
	otlp          otlpFlags
	nats          cli.NATSFlags
	ship          shipment.Flags
}

func newRecord(e cli.Env) *cobra.Command {
	o := recordOptions{}
	cmd := &cobra.Command{
		Use:   "record [--agent [NAME=]URL[@[HOST:]PORT]]... [--forward [HOST:]PORT]",
		Short: "Record the traffic between clients and agents, and check it live",
		Long: `Record opens a tap in front of each agent: point the client at the tap's URL instead of the agent's. Traffic is
forwarded at once and byte for byte, recorded into a capture, and checked. A line is printed for each exchange when it
ends (number, time, link, operation, HTTP status, duration, task and state or error), and one for each finding. Only
URLs in the agent card are changed, so that clients that follow it come back through the tap, and those of webhooks
(--no-rewrite turns both off).

A tap lets in requests that name a loopback name or address, the address it listens on, or the agent itself, so that no
page of the web gets to the agent through it. Clients that reach it by another name, such as those in containers, get
421 until that name is given with --allow-host.

A client is called what --client names it, else what it is: a client on this machine whose process listens where exactly
one of the tapped agents lives is that agent (Linux and macOS). Any other is called after its User-Agent; --client tells
clients apart that have the same one. Clients of the forward proxy can name themselves (http://NAME@HOST:PORT).

It runs until it is interrupted, or until --duration or --exchanges is reached. Credentials are replaced by placeholders
in the capture (--keep-secrets keeps them), which are equal where the credentials are; the key for that is the user's
own, and is never in the capture. A second interrupt, at least one second after the first, ends it at once.

Judging yields to the traffic: on a machine that is full it falls behind, says so, and catches up when there is time, at
the end at the latest.

` + forwardHelp + `

` + diversionHelp + `

` + reachHelp + `

` + faultHelp() + `

` + shipment.Help + `

` + cli.NATSHelp + `

Exit status: 0 a normal end, 2 wrong usage, 3 failed to listen, or to store all that was recorded; with --fail-on also 1
findings at or above it, 4 inconclusive: nothing was judged, no call of a client to an agent succeeded, or traffic was
lost.`,
		Example: `  a2atap record --agent booker=http://127.0.0.1:9001@7001 -o c.a2atap
  a2atap record --agent planner=http://127.0.0.1:9001 --agent booker=https://booker.example/a2a
  a2atap record --agent booker=http://127.0.0.1:9001 --client '*httpx*=planner' --client addr:10.1.0.0/16=tests
  a2atap record --forward 7080 --tunnel idp.example
  a2atap record --agent booker=http://127.0.0.1:9001 --fault booker:cut-stream=2@SendStreamingMessage#1
  a2atap record --agent http://127.0.0.1:9001 --otlp http://127.0.0.1:4318
  a2atap record --agent http://127.0.0.1:9001 --ship nats://127.0.0.1:4222/traffic
  a2atap record --agent http://127.0.0.1:9001 --exchanges 5 --fail-on error --ready-file ready`,
		RunE: func(cmd *cobra.Command, _ []string) error { return record(cmd.Context(), e, o) },
	}
	f := cmd.Flags()
	o.shared(f, "")
	f.DurationVar(&o.duration, "duration", 0, "end after `D`, such as 30s")
	f.Int64Var(&o.exchanges, "exchanges", 0, "end when `N` exchanges have ended; open ones then get 5 s more")
	f.StringVar(&o.readyFile, "ready-file", "",
		"write a line NAME URL for each tap, and forward URL, to `FILE` once all are listening")
	f.StringVar(&o.format, "format", "text", "print what passes, findings and the verdict as `FORMAT`: text, or json "+
		"(JSON Lines, in which type is tap, forward, ship, exchange, event, finding, webhook or verdict)")
	f.BoolVar(&o.tui, "tui", false, "show the recording in the inspector; findings are printed when it ends")
	return withArgs(cmd, 0, 0)
}

const clientHelp = "name clients that fit: `PATTERN=NAME`, where PATTERN is user-agent:TEXT, header:FIELD=TEXT, " +
	"addr:ADDRESS (or a network), cert:CN=TEXT, or TEXT for user-agent:TEXT; * in TEXT stands for anything; the first " +
	"that fits counts; repeatable"

// shared adds the flags that record and run have in common; forward is the default address of the forward proxy.
func (o *recordOptions) shared(f *pflag.FlagSet, forward string) {
	f.StringArrayVar(&o.agents, "agent", nil,
		"tap the agent `[NAME=]URL[@[HOST:]PORT]`, listening on that port or a free one; "+
			"NAME identifies it in this and other captures; repeatable")
	f.StringArrayVar(&o.aliases, "alias", nil,
		"in agent cards, treat this other URL as the tapped agent NAME: `NAME=URL`; repeatable")
	f.StringArrayVar(&o.clients, "client", nil, clientHelp)
	f.StringVar(&o.forward, "forward", forward,
		"open an HTTP proxy at `[HOST:]PORT`, 0 for a free port, on 127.0.0.1 unless HOST says otherwise")
	f.StringArrayVar(&o.tunnel, "tunnel", nil,
		"with --forward: do not intercept TLS to `HOST` (or HOST:PORT, *.DOMAIN, *); repeatable")
	f.BoolVar(&o.allTraffic, "all-traffic", false,
		"with --forward: record the bodies of exchanges without a sign of A2A, too")
	f.StringVar(&o.proxyAuth, "proxy-auth", "", "with --forward: require these credentials of clients, `USER:PASS`; "+
		cli.SecretHelp)
	f.StringVarP(&o.output, "output", "o", "",
		"record into `FILE`; an existing capture is appended to (default a2a-DATE-TIME.a2atap)")
	f.StringVar(&o.failOn, "fail-on", "never",
		"exit with 1 for findings of this `SEVERITY` or worse: error, warning, note or never")
	f.BoolVar(&o.noRewrite, "no-rewrite", false, "do not change URLs in agent cards, nor those of webhooks")
	o.diversion.register(f)
	f.BoolVar(&o.keepSecrets, "keep-secrets", false, redacted.KeepSecretsHelp)
	f.StringArrayVar(&o.redact, "redact", nil, redacted.RedactHelp)
	f.StringVar(&o.redactKey, "redaction-key", "", redacted.KeyHelp)
	f.StringVar(&o.maxBody, "max-body", "16MiB",
		"record at most `SIZE` of a body; the rest is forwarded but not recorded")
	f.StringVar(&o.segmentSize, "segment-size", "", "start another file when the capture has reached `SIZE`")
	f.StringVar(&o.ifFails, "if-capture-fails", "pass", "what to do when the capture cannot keep up, the disk is "+
		"full or the file is taken away: `POLICY` is pass (traffic is not recorded), wait (until there is room), or stop")
	f.BoolVar(&o.allowRemote, "allow-remote", false,
		"allow taps and --forward to listen on addresses that other machines can reach")
	f.DurationVar(&o.timeoutHead, "timeout-head", 0, "answer with 504 for an agent that has not sent the head of its "+
		"answer `D` after the request; 0 waits for ever, as for calls that wait for a task")
	f.DurationVar(&o.timeoutTunnel, "timeout-tunnel", proxy.DefaultTunnelTimeout,
		"with --forward: close tunnels that are silent for `D`; 0 keeps them")
	f.StringArrayVar(&o.allowHosts, "allow-host", nil, cli.AllowHostHelp)
	o.reach.Register(f, "without it, none is used")
	f.StringArrayVar(&o.jwks, "jwks", nil, jwksHelp)
	f.StringArrayVar(&o.faults, "fault", nil, "make a fault in answers, to see how a client bears it: "+
		"`AGENT:WHAT[@WHEN]`, as above; repeatable")
	f.BoolVar(&o.events, "events", false, "print each event of a stream, too")
	o.otlp.register(f)
	o.ship.Register(f, &o.nats, "")
	o.nats.Register(f)
	f.BoolVar(&o.allowEmpty, "allow-empty", false,
		"exit with 0 also if nothing came through run, and with --fail-on if nothing was judged, no call succeeded or "+
			"traffic was lost")
}

func record(ctx context.Context, e cli.Env, o recordOptions) error {
	gate, err := present.ParseGate(o.failOn)
	if err != nil {
		return err
	}
	out := &present.Recorded{Env: e, JSON: o.format == "json"}
	options, err := o.recording(e, out)
	if err != nil {
		return err
	}
	options.inspected = o.tui
	if o.tui {
		options.exchanges, options.events = false, false // they are on the screen
		if err := needTerminal(e, "record without --tui"); err != nil {
			return err
		}
	}
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	if err := cli.RemoveReady(o.readyFile); err != nil {
		return err
	}
	r, err := startRecording(options)
	if err != nil {
		return err
	}
	var ready strings.Builder
	out.Faults(options.faults)
	for _, t := range r.proxy.Taps() {
		out.Tap(t)
		fmt.Fprintf(&ready, "%s %s\n", t.Name(), t.URL())
	}
	if f := r.proxy.Forward(); f != nil {
		out.Forward(f)
		fmt.Fprintf(&ready, "forward %s\n", f.URL())
	}
	if r.before.Crashes > 0 {
		e.Tell("the recording goes on in %s: %s", options.output, r.before.Crash)
	}
	e.Tell("recording into %s; interrupt to stop", options.output)
	if err = cli.WriteReady(o.readyFile, ready.String()); err == nil && o.tui {
		err = out.Behind(func() error { return r.inspect(ctx, e, o.duration, o.exchanges) })
	} else if err == nil {
		err = r.wait(ctx, o.duration, o.exchanges)
	}
	result, stats, stopErr := r.stop()
	if err == nil {
		err = stopErr
	}
	return out.End(gate, o.allowEmpty, options.output, result, stats, err)
}

// recording turns flags into what startRecording takes. The listener may be asked for what is printed, unless --quiet is
// given.
func (o *recordOptions) recording(e cli.Env, l Listener) (recordingOptions, error) {
	r := recordingOptions{
		output: o.output, noRewrite: o.noRewrite, allowRemote: o.allowRemote, keepSecrets: o.keepSecrets,
		listener: l, exchanges: !e.Quiet(), events: o.events && !e.Quiet(),
	}
	if len(o.agents) == 0 && o.forward == "" {
		return r, cli.Usage("record needs --agent [NAME=]URL[@[HOST:]PORT] or --forward [HOST:]PORT; see a2atap record --help")
	}
	if err := cli.Choose("format", o.format, "text", "json"); err != nil {
		return r, err
	}
	for _, flag := range o.agents {
		spec, err := proxy.ParseTap(flag)
		if err != nil {
			return r, cli.Usage("%w", err)
		}
		r.taps = append(r.taps, spec)
	}
	for _, flag := range o.aliases {
		alias, err := proxy.ParseAlias(flag)
		if err != nil {
			return r, cli.Usage("%w", err)
		}
		r.aliases = append(r.aliases, alias)
	}
	for _, flag := range o.clients {
		pattern, err := proxy.ParseClient(flag)
		if err != nil {
			return r, cli.Usage("%w", err)
		}
		r.clients = append(r.clients, pattern)
	}
	if o.exchanges < 0 || o.duration < 0 {
		return r, cli.Usage("--exchanges %d, --duration %v: write how many, or how long, or 0 for no end", o.exchanges, o.duration)
	}
	if o.timeoutHead < 0 || o.timeoutTunnel < 0 {
		return r, cli.Usage("--timeout-head and --timeout-tunnel take a time such as 30s, or 0 for no limit")
	}
	var err error
	if r.faults, err = parseFaults(o.faults, r.taps); err != nil {
		return r, err
	}
	r.timeoutHead, r.timeoutTunnel = o.timeoutHead, o.timeoutTunnel
	if o.timeoutTunnel == 0 {
		r.timeoutTunnel = -1
	}
	if r.allowHosts, err = cli.ParseAllowedHosts(o.allowHosts); err != nil {
		return r, err
	}
	if r.redact, err = redacted.ParsePlaces(o.redact); err != nil {
		return r, err
	}
	if r.maxBody, err = cli.ParseSize("--max-body", o.maxBody); err != nil {
		return r, err
	}
	if r.segment, err = cli.ParseSize("--segment-size", o.segmentSize); err != nil {
		return r, err
	}
	switch o.ifFails {
	case "pass":
	case "wait":
		r.policy = proxy.Wait
	case "stop":
		r.policy = proxy.Stop
	default:
		return r, cli.Choose("policy for --if-capture-fails", o.ifFails, "pass", "wait", "stop")
	}
	if r.collector, err = o.otlp.collector(e, o.keepSecrets); err != nil {
		return r, err
	}
	if r.ship, err = o.ship.To(e, o.keepSecrets); err != nil {
		return r, err
	}
	if r.keys, err = readKeys(o.jwks); err != nil {
		return r, err
	}
	if r.reach, err = e.Dialer(&o.reach); err != nil {
		return r, err
	}
	if r.forward, err = o.forwardSpec(e); err != nil {
		return r, err
	}
	key := sync.OnceValues(func() ([]byte, error) { return redacted.Key(e, o.redactKey) })
	if !o.keepSecrets {
		if r.key, err = key(); err != nil {
			return r, err
		}
	}
	if r.webhooks, err = o.diversion.spec(o.noRewrite || len(o.agents) == 0, key); err != nil {
		return r, err
	}
	if r.output == "" {
		r.output = "a2a-" + e.Now().Format("20060102-150405") + ".a2atap"
	}
	return r, nil
}

// grace is how long open exchanges get once enough have ended.
const grace = 5 * time.Second

// wait returns when the recording is to end: the context is over, the time is up, enough exchanges have ended, or the
// capture failed and the user chose to stop then, which is an error.
func (r *recording) wait(ctx context.Context, duration time.Duration, exchanges int64) error {
	var timeUp <-chan time.Time
	if duration > 0 {
		timeUp = time.After(duration)
	}
	var graceUp <-chan time.Time
	for {
		closed, opened := r.passed.closed.Load(), r.passed.opened.Load()
		if exchanges > 0 && closed >= exchanges {
			if closed >= opened {
				return nil
			}
			if graceUp == nil {
				graceUp = time.After(grace)
			}
		}
		select {
		case <-r.passed.changed:
		case <-graceUp:
			return nil
		case <-timeUp:
			return nil
		case <-ctx.Done():
			return nil
		case err := <-r.failed:
			return fmt.Errorf("the capture failed and --if-capture-fails is stop: %w", err)
		}
	}
}
