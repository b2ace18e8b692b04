package recorder

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/spans"
	"a2atap/cmd/internal/trust"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy"
	"a2atap/proxy/forward"
	"a2atap/proxy/hostname"
	"a2atap/proxy/injection"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
	"a2atap/replay/client/setup"
)

// Flags are the flags of record and run, and the settings of a recording.
type Flags struct {
	Agents        []string
	aliases       []string
	clients       []string
	Forward       string
	tunnel        []string
	allTraffic    bool
	onlyA2A       bool
	names         []string
	ProxyAuth     string
	Output        string
	Duration      time.Duration
	Exchanges     int64
	FailOn        string
	ReadyFile     string
	noRewrite     bool
	webhooks      webhookFlags
	Hide          redacted.Flags
	MaxBody       string
	segmentSize   string
	IfFails       string
	AllowRemote   bool
	AllowHosts    []string
	timeoutHead   time.Duration
	timeoutTunnel time.Duration
	jwks          []string
	faults        []string
	Reach         setup.ReachFlags
	Format        string
	AllowEmpty    bool
	events        bool
	TUI           bool
	otlp          spans.Flags
	nats          cli.NATSFlags
	ship          shipment.Flags
}

const clientHelp = "name matching clients: `PATTERN=NAME`, where PATTERN is user-agent:TEXT, header:FIELD=TEXT, " +
	"addr:ADDRESS (or a network), cert:CN=TEXT, or TEXT for user-agent:TEXT; * in TEXT matches anything; the first " +
	"match counts; repeatable"

// Register adds the flags that record and run share; forward is the default address of the forward proxy.
func (o *Flags) Register(f *pflag.FlagSet, forward string) {
	f.StringArrayVar(&o.Agents, "agent", nil,
		"open a tap for the agent `[NAME=]URL[@[HOST:]PORT]`, on that port or a free one; "+
			"NAME identifies it in this and other captures; repeatable")
	f.StringArrayVar(&o.aliases, "alias", nil,
		"in agent cards, treat this other URL as the tapped agent NAME: `NAME=URL`; repeatable")
	f.StringArrayVar(&o.clients, "client", nil, clientHelp)
	f.StringVar(&o.Forward, "forward", forward,
		"open an HTTP proxy at `[HOST:]PORT`, 0 for a free port, on 127.0.0.1 unless HOST is given")
	f.StringArrayVar(&o.tunnel, "tunnel", nil,
		"with --forward: do not intercept TLS to `HOST` (or HOST:PORT, *.DOMAIN, *); repeatable")
	f.BoolVar(&o.allTraffic, "all-traffic", false,
		"with --forward: also record the bodies of exchanges that are neither A2A nor a call of a model or tool")
	f.BoolVar(&o.onlyA2A, "only-a2a", false,
		"with --forward: record the bodies of A2A alone, and of calls of models and tools only heads and sizes")
	f.StringArrayVar(&o.names, "name", nil,
		"with --forward: name the server at HOST:PORT, such as a model: `HOST:PORT=NAME`; repeatable")
	f.StringVar(&o.ProxyAuth, "proxy-auth", "", "with --forward: require these credentials of clients, `USER:PASS`; "+
		cli.SecretHelp)
	f.StringVarP(&o.Output, "output", "o", "",
		"record into `FILE`; an existing capture is appended to (default a2a-DATE-TIME.a2atap)")
	f.StringVar(&o.FailOn, "fail-on", "never",
		"exit with 1 for findings of this `SEVERITY` or worse: error, warning or note; for any failed call or task: calls; or never")
	f.BoolVar(&o.noRewrite, "no-rewrite", false, "do not change URLs in agent cards and of webhooks")
	o.webhooks.register(f)
	o.Hide.Register(f)
	f.StringVar(&o.MaxBody, "max-body", "16MiB",
		"record at most `SIZE` of a body; the rest is forwarded but not recorded")
	f.StringVar(&o.segmentSize, "segment-size", "", "start another file when the capture has reached `SIZE`")
	f.StringVar(&o.IfFails, "if-capture-fails", "pass", "what to do if recording cannot keep up, the disk is "+
		"full or the file is removed: `POLICY` is pass (forward without recording), wait (hold the traffic), or stop")
	f.BoolVar(&o.AllowRemote, "allow-remote", false,
		"allow taps and --forward to listen on addresses that other machines can reach")
	f.DurationVar(&o.timeoutHead, "timeout-head", 0, "answer with 504 if an agent has not sent the head of its "+
		"answer `D` after the request; 0 waits without a limit, as blocking calls may need")
	f.DurationVar(&o.timeoutTunnel, "timeout-tunnel", proxy.DefaultTunnelTimeout,
		"with --forward: close tunnels that are silent for `D`; 0 keeps them")
	f.StringArrayVar(&o.AllowHosts, "allow-host", nil, cli.AllowHostHelp)
	o.Reach.Register(f, "without it, none is used")
	f.StringArrayVar(&o.jwks, "jwks", nil, verdict.KeysHelp)
	f.StringArrayVar(&o.faults, "fault", nil, "inject a fault into answers, to test how a client handles it: "+
		"`AGENT:WHAT[@WHEN]`; a2atap help faults explains the syntax; repeatable")
	f.BoolVar(&o.events, "events", false, "also print each event of a stream")
	o.otlp.Register(f)
	o.ship.Register(f, &o.nats, "")
	o.nats.Register(f)
	f.BoolVar(&o.AllowEmpty, "allow-empty", false,
		"exit with 0 even if no traffic passed through run, and with --fail-on if nothing was checked, or more was not seen than "+
			"was checked")
}

// Options turns flags into the options of Start. The listener may receive what is printed, unless --quiet is set.
func (o *Flags) Options(e cli.Env, l Listener) (Options, error) {
	r := Options{
		Output: o.Output, Proxy: proxy.Options{Tools: true, NoRewrite: o.noRewrite, AllowRemote: o.AllowRemote},
		Listener: l, Exchanges: !e.Quiet(), Events: o.events && !e.Quiet(), Hints: !e.Quiet(),
	}
	if len(o.Agents) == 0 && o.Forward == "" {
		return r, cli.Usage("record needs --agent [NAME=]URL[@[HOST:]PORT] or --forward [HOST:]PORT; see a2atap record --help")
	}
	if err := cli.Choose("format", o.Format, "text", "json"); err != nil {
		return r, err
	}
	var err error
	if r.Proxy.Taps, err = cli.ParseAll(o.Agents, proxy.ParseTap); err != nil {
		return r, err
	}
	if r.Proxy.Aliases, err = cli.ParseAll(o.aliases, proxy.ParseAlias); err != nil {
		return r, err
	}
	if r.Recorder.Clients, err = cli.ParseAll(o.clients, recording.ParseClient); err != nil {
		return r, err
	}
	if o.Exchanges < 0 || o.Duration < 0 {
		return r, cli.Usage("--exchanges %d, --duration %v: write a number or a time, or 0 for no limit", o.Exchanges, o.Duration)
	}
	if o.timeoutHead < 0 || o.timeoutTunnel < 0 {
		return r, cli.Usage("--timeout-head and --timeout-tunnel expect a time such as 30s, or 0 for no limit")
	}
	if r.Proxy.Faults, err = parseFaults(o.faults, r.Proxy.Taps); err != nil {
		return r, err
	}
	r.Proxy.AnswerTimeout, r.Proxy.TunnelTimeout = o.timeoutHead, o.timeoutTunnel
	if o.timeoutTunnel == 0 {
		r.Proxy.TunnelTimeout = -1
	}
	if r.Proxy.AllowHosts, err = cli.ParseAllowedHosts(o.AllowHosts); err != nil {
		return r, err
	}
	if r.Hide, err = o.Hide.Options(); err != nil {
		return r, err
	}
	if r.Recorder.MaxBody, err = cli.ParseSize("--max-body", o.MaxBody); err != nil {
		return r, err
	}
	if r.Hide.Store.SegmentSize, err = cli.ParseSize("--segment-size", o.segmentSize); err != nil {
		return r, err
	}
	switch o.IfFails {
	case "pass":
	case "wait":
		r.Recorder.IfFull = recording.Wait
	case "stop":
		r.Recorder.IfFull = recording.Stop
	default:
		return r, cli.Choose("policy for --if-capture-fails", o.IfFails, "pass", "wait", "stop")
	}
	if r.Collector, err = o.otlp.Collector(e, o.Hide.Keep); err != nil {
		return r, err
	}
	if r.Ship, err = o.ship.To(e, o.Hide.Keep); err != nil {
		return r, err
	}
	if r.Keys, err = verdict.ReadKeys(o.jwks); err != nil {
		return r, err
	}
	if r.Reach, err = e.Dialer(&o.Reach); err != nil {
		return r, err
	}
	if r.Proxy.Forward, err = o.forwardSpec(e); err != nil {
		return r, err
	}
	key := sync.OnceValues(func() ([]byte, error) { return o.Hide.Key(e) })
	if !o.Hide.Keep {
		if r.Hide.Key, err = key(); err != nil {
			return r, err
		}
	}
	if r.Proxy.Webhooks, err = o.webhooks.spec(o.noRewrite || len(o.Agents) == 0, key); err != nil {
		return r, err
	}
	r.Output = cmp.Or(r.Output, "a2a-"+e.Now().Format("20060102-150405")+".a2atap")
	return r, nil
}

// FaultHelp describes the values of --fault.
func FaultHelp() string {
	var b strings.Builder
	b.WriteString(`With --fault AGENT:WHAT[@WHEN] the tap injects a fault into the answers of the named agent, or of all
(*), to test how a client handles it. WHEN is OPERATION, #N (the Nth such call), #N..M, or both
(SendStreamingMessage#2); without it all calls get the fault. The capture shows what the client received and which fault
caused it, and the agent is not blamed (docs/faults.md). WHAT is one of:
`)
	for _, d := range injection.Kinds() {
		fmt.Fprintf(&b, "\n  %-18s %s", d.Words(), d.Does)
	}
	return b.String()
}

// parseFaults reads the values of --fault.
func parseFaults(flags []string, taps []proxy.TapSpec) ([]injection.Spec, error) {
	specs, err := cli.ParseAll(flags, injection.Parse)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(taps))
	for i, t := range taps {
		names[i] = t.Name
	}
	switch unknown := injection.Unknown(specs, names); {
	case len(specs) > 0 && len(taps) == 0:
		return nil, cli.Usage("--fault needs a tap: give the agent with --agent NAME=URL; traffic through --forward alone " +
			"gets no faults")
	case len(unknown) > 0:
		return nil, cli.Usage("--fault: no agent %q; there are %s, and * for all (--agent names them)", unknown[0],
			strings.Join(names, ", "))
	}
	return specs, nil
}

// WebhookHelp is the part of the help about observing push notifications.
const WebhookHelp = `Push notifications are also observed if agent and webhook are on this machine and the webhook uses
plain HTTP: the agent gets an address of its tap instead of the webhook's URL, and notifications to that address are
forwarded to the webhook. In answers the client sees its own URL. In all other cases the URL is not changed, and the
link is marked "webhooks not observed"; --webhook-url sets an address at which agents can reach a tap, for example
through a tunnel, and all webhooks then lead there. A message that arrives in pieces is held until it shows whether it
names a webhook, for half a second at most. The addresses are valid only while a recorder with the same redaction key
listens there: configs that still point to it are listed at the end. With --no-webhooks or --no-rewrite webhook URLs are
not changed.`

// webhookFlags control whether and how push notifications pass through the taps.
type webhookFlags struct {
	url string
	off bool
}

func (o *webhookFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.url, "webhook-url", "", "route all push notifications through the taps: agents reach one of them at "+
		"`URL`, such as https://tunnel.example")
	f.BoolVar(&o.off, "no-webhooks", false, "do not change webhook URLs: push notifications bypass the taps")
}

// spec returns the options of a proxy, or nil if webhooks are not to be changed.
func (o *webhookFlags) spec(noRewrite bool, key func() ([]byte, error)) (*webhook.Spec, error) {
	if o.off || noRewrite {
		if o.url != "" {
			return nil, cli.Usage("--webhook-url routes webhooks through the taps, which needs --agent, and neither --no-webhooks " +
				"nor --no-rewrite")
		}
		leave := "--no-rewrite leaves its URL as it is"
		if o.off {
			leave = "--no-webhooks leaves its URL as it is"
		}
		return &webhook.Spec{Leave: leave}, nil
	}
	var spec webhook.Spec
	if o.url != "" {
		u, err := url.Parse(o.url)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
			strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, cli.Usage("--webhook-url must be http://HOST[:PORT] or https://HOST[:PORT], without a path; " +
				"the path is the tap's")
		}
		spec.URL = u
	}
	var err error
	spec.Key, err = key()
	return &spec, err
}

// ForwardHelp is the part of the help that describes the forward proxy.
const ForwardHelp = `With --forward, record also opens an HTTP proxy: clients that are configured to use it reach any
agent through it, without changes to URLs or agent cards. TLS is intercepted with certificates of the user's own
authority, which is created on first use; clients must trust it (see a2atap ca env). A user name in the proxy's URL
names the client in the capture: http://planner@127.0.0.1:7080. Many clients, including all Go programs, use no proxy
for localhost and 127.0.0.1: use a tap for such an agent, or another name of this machine. Connections to --tunnel hosts
are passed on encrypted, with a note in the capture. Calls of models and MCP servers are recorded with their prompts,
answers and tool arguments (with --only-a2a, only their heads and sizes). All other traffic is recorded without bodies,
unless --all-traffic is given.`

// ReachHelp is the part of the help about connecting to agents.
const ReachHelp = `Agents on TLS are verified with the system's authorities and those of --agent-ca; --client-cert is
presented to agents that ask for a certificate. --insecure verifies no agent; a warning is printed at the start and the
end, and the capture records it. With --upstream-proxy agents are reached through that proxy, by CONNECT or SOCKS,
except those on this machine. The variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read only with --upstream-proxy
env, since they may lead back to this recorder. If an agent cannot be reached, the answer to the client (502) and a
message here name the flag that helps.`

// forwardSpec turns flags into the options of a forward proxy, or nil for no proxy. It reads the secret of --proxy-auth
// from the source that the flag names.
func (o *Flags) forwardSpec(e cli.Env) (*forward.Spec, error) {
	if o.Forward == "" {
		if len(o.tunnel)+len(o.names) > 0 || o.ProxyAuth != "" {
			return nil, cli.Usage("--tunnel, --name and --proxy-auth configure the forward proxy; add --forward [HOST:]PORT")
		}
		return nil, nil
	}
	spec := forward.Spec{Bodies: recording.Recognized}
	switch {
	case o.allTraffic && o.onlyA2A:
		return nil, cli.Usage("--all-traffic records the bodies that --only-a2a leaves out; give one of them")
	case o.allTraffic:
		spec.Bodies = recording.Everything
	case o.onlyA2A:
		spec.Bodies = recording.OnlyA2A
	}
	var err error
	if spec.Listen, err = forward.ParseListen(o.Forward); err != nil {
		return nil, cli.Usage("%w", err)
	}
	names, err := cli.ParseAll(o.names, forward.ParseName)
	if err != nil {
		return nil, err
	}
	spec.Names = make(map[hostname.Origin]string)
	for _, n := range names {
		spec.Names[n.Agent] = n.Name
	}
	if spec.Tunnel, err = cli.ParseAll(o.tunnel, hostname.ParsePattern); err != nil {
		return nil, err
	}
	if o.ProxyAuth, err = e.Secret("--proxy-auth", o.ProxyAuth); err != nil {
		return nil, err
	}
	if o.ProxyAuth != "" {
		if spec.Auth, err = forward.ParseCredentials(o.ProxyAuth); err != nil {
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
