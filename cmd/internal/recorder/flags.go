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
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/spans"
	"a2atap/cmd/internal/trust"
	"a2atap/proxy"
	"a2atap/proxy/forward"
	"a2atap/proxy/hostname"
	"a2atap/proxy/injection"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
	"a2atap/replay/client/setup"
)

// Flags are the flags of record and run, and what a recording is made of.
type Flags struct {
	Agents        []string
	aliases       []string
	clients       []string
	Forward       string
	tunnel        []string
	allTraffic    bool
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

const clientHelp = "name clients that fit: `PATTERN=NAME`, where PATTERN is user-agent:TEXT, header:FIELD=TEXT, " +
	"addr:ADDRESS (or a network), cert:CN=TEXT, or TEXT for user-agent:TEXT; * in TEXT stands for anything; the first " +
	"that fits counts; repeatable"

// Register adds the flags that record and run have in common; forward is the default address of the forward proxy.
func (o *Flags) Register(f *pflag.FlagSet, forward string) {
	f.StringArrayVar(&o.Agents, "agent", nil,
		"tap the agent `[NAME=]URL[@[HOST:]PORT]`, listening on that port or a free one; "+
			"NAME identifies it in this and other captures; repeatable")
	f.StringArrayVar(&o.aliases, "alias", nil,
		"in agent cards, treat this other URL as the tapped agent NAME: `NAME=URL`; repeatable")
	f.StringArrayVar(&o.clients, "client", nil, clientHelp)
	f.StringVar(&o.Forward, "forward", forward,
		"open an HTTP proxy at `[HOST:]PORT`, 0 for a free port, on 127.0.0.1 unless HOST says otherwise")
	f.StringArrayVar(&o.tunnel, "tunnel", nil,
		"with --forward: do not intercept TLS to `HOST` (or HOST:PORT, *.DOMAIN, *); repeatable")
	f.BoolVar(&o.allTraffic, "all-traffic", false,
		"with --forward: record the bodies of exchanges without a sign of A2A, too")
	f.StringVar(&o.ProxyAuth, "proxy-auth", "", "with --forward: require these credentials of clients, `USER:PASS`; "+
		cli.SecretHelp)
	f.StringVarP(&o.Output, "output", "o", "",
		"record into `FILE`; an existing capture is appended to (default a2a-DATE-TIME.a2atap)")
	f.StringVar(&o.FailOn, "fail-on", "never",
		"exit with 1 for findings of this `SEVERITY` or worse: error, warning or note; for any failed call or task: calls; or never")
	f.BoolVar(&o.noRewrite, "no-rewrite", false, "do not change URLs in agent cards, nor those of webhooks")
	o.webhooks.register(f)
	o.Hide.Register(f)
	f.StringVar(&o.MaxBody, "max-body", "16MiB",
		"record at most `SIZE` of a body; the rest is forwarded but not recorded")
	f.StringVar(&o.segmentSize, "segment-size", "", "start another file when the capture has reached `SIZE`")
	f.StringVar(&o.IfFails, "if-capture-fails", "pass", "what to do when the capture cannot keep up, the disk is "+
		"full or the file is taken away: `POLICY` is pass (traffic is not recorded), wait (until it can be), or stop")
	f.BoolVar(&o.AllowRemote, "allow-remote", false,
		"allow taps and --forward to listen on addresses that other machines can reach")
	f.DurationVar(&o.timeoutHead, "timeout-head", 0, "answer with 504 for an agent that has not sent the head of its "+
		"answer `D` after the request; 0 waits without a limit, as calls that wait for a task need")
	f.DurationVar(&o.timeoutTunnel, "timeout-tunnel", proxy.DefaultTunnelTimeout,
		"with --forward: close tunnels that are silent for `D`; 0 keeps them")
	f.StringArrayVar(&o.AllowHosts, "allow-host", nil, cli.AllowHostHelp)
	o.Reach.Register(f, "without it, none is used")
	f.StringArrayVar(&o.jwks, "jwks", nil, judged.KeysHelp)
	f.StringArrayVar(&o.faults, "fault", nil, "make a fault in answers, to see how a client bears it: "+
		"`AGENT:WHAT[@WHEN]`; a2atap help faults has what and when; repeatable")
	f.BoolVar(&o.events, "events", false, "print each event of a stream, too")
	o.otlp.Register(f)
	o.ship.Register(f, &o.nats, "")
	o.nats.Register(f)
	f.BoolVar(&o.AllowEmpty, "allow-empty", false,
		"exit with 0 also if nothing came through run, and with --fail-on if nothing was judged, or more was not seen than "+
			"was judged")
}

// Options turns flags into what Start takes. The listener may be asked for what is printed, unless --quiet is
// given.
func (o *Flags) Options(e cli.Env, l Listener) (Options, error) {
	r := Options{
		Output: o.Output, Proxy: proxy.Options{NoRewrite: o.noRewrite, AllowRemote: o.AllowRemote},
		Listener: l, Exchanges: !e.Quiet(), Events: o.events && !e.Quiet(),
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
		return r, cli.Usage("--exchanges %d, --duration %v: write how many, or how long, or 0 for no end", o.Exchanges, o.Duration)
	}
	if o.timeoutHead < 0 || o.timeoutTunnel < 0 {
		return r, cli.Usage("--timeout-head and --timeout-tunnel take a time such as 30s, or 0 for no limit")
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
	if r.Keys, err = judged.ReadKeys(o.jwks); err != nil {
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

// FaultHelp says what --fault takes.
func FaultHelp() string {
	var b strings.Builder
	b.WriteString(`With --fault AGENT:WHAT[@WHEN] the tap makes a fault in the answers of the agent of that name, or of all (*), to show
how a client bears it; without it nothing is changed. WHEN is OPERATION, #N (the Nth such call), #N..M, or both
(SendStreamingMessage#2); without it all calls get the fault. The capture has what the client saw and what was done, and
the agent is not blamed for it (docs/faults.md). WHAT is one of:
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
		return nil, cli.Usage("--fault needs a tap: give the agent with --agent NAME=URL; what comes through --forward alone " +
			"gets no faults")
	case len(unknown) > 0:
		return nil, cli.Usage("--fault: no agent %q; there are %s, and * for all (--agent names them)", unknown[0],
			strings.Join(names, ", "))
	}
	return specs, nil
}

// WebhookHelp is the part of the help that says how push notifications are observed.
const WebhookHelp = `Push notifications are observed too where agent and webhook are on this machine and the webhook is on
plain HTTP: the agent is given an address of its tap in the place of the webhook's URL, and what it sends there is
forwarded to the webhook. In answers the client finds its own URL again. Elsewhere the URL passes as it came, and the
link says "webhooks not observed"; --webhook-url names an address under which agents reach a tap, such as that of a
tunnel, and leads all webhooks there. A message that comes in pieces is held until it shows whether it names a webhook,
for half a second at most. The addresses hold only as long as a recorder with the same redaction key listens there: what
still points at it is listed at the end. With --no-webhooks or --no-rewrite every
webhook keeps its URL, and the link says "webhooks not observed".`

// webhookFlags say whether and how push notifications are led through the taps.
type webhookFlags struct {
	url string
	off bool
}

func (o *webhookFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.url, "webhook-url", "", "lead all push notifications through the taps: agents reach one of them under "+
		"`URL`, such as https://tunnel.example")
	f.BoolVar(&o.off, "no-webhooks", false, "do not change the URLs of webhooks: push notifications go past the taps")
}

// spec returns what a proxy takes, nil if webhooks are not to be changed.
func (o *webhookFlags) spec(noRewrite bool, key func() ([]byte, error)) (*webhook.Spec, error) {
	if o.off || noRewrite {
		if o.url != "" {
			return nil, cli.Usage("--webhook-url leads webhooks through the taps, which needs an --agent, and neither --no-webhooks " +
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
			return nil, cli.Usage("--webhook-url is to be http://HOST[:PORT] or https://HOST[:PORT], without anything behind it; " +
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
agent through it, no URL has to change, and agent cards stay as they are. TLS is intercepted with certificates of the
user's own authority, which is created on first use; clients must trust it (see a2atap ca env). A user name in the
proxy's URL names the client in the capture: http://planner@127.0.0.1:7080. Many clients, among them all Go programs,
use no proxy for localhost and 127.0.0.1: use a tap for such an agent, or another name of this machine. Connections that
--tunnel names are passed on encrypted, and the capture says so. Of exchanges that show no sign of A2A, such as requests
to a language model, only heads and sizes are recorded, unless --all-traffic is given.`

// ReachHelp is the part of the help that says how agents are reached.
const ReachHelp = `Agents on TLS are verified by the system's authorities and those of --agent-ca; --client-cert is
shown to those that ask for a certificate. --insecure verifies no agent; this is said at the start and at the end, and
recorded in the capture. With --upstream-proxy agents are reached through that proxy, by CONNECT or SOCKS, and those on
this machine directly. The variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read only with --upstream-proxy env, since
they may lead back to this recorder. If an agent cannot be reached, the answer to the client (502) and a message here
say which of these flags helps.`

// forwardSpec turns flags into what a forward proxy takes, nil for none. It reads the secret of --proxy-auth from where
// that says.
func (o *Flags) forwardSpec(e cli.Env) (*forward.Spec, error) {
	if o.Forward == "" {
		if len(o.tunnel) > 0 || o.ProxyAuth != "" {
			return nil, cli.Usage("--tunnel and --proxy-auth configure the forward proxy; add --forward [HOST:]PORT")
		}
		return nil, nil
	}
	spec := forward.Spec{OnlyA2A: !o.allTraffic}
	var err error
	if spec.Listen, err = forward.ParseListen(o.Forward); err != nil {
		return nil, cli.Usage("%w", err)
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
