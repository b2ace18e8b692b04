package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/replay/client"
	"a2atap/replay/live"
)

// A target is one agent under test.
type target struct {
	url       string
	card      *client.Card
	noCard    error
	endpoints []endpoint
	notes     []string
	spoke     bool // an answer to guess was in a protocol of A2A, or asked for credentials
	proto     bool // 0.3 over HTTP+JSON uses its proto JSON
	opts      *Options
	transport *live.Transport
	// unrecorded sends the requests that only check whether the agent responds, and which protocol it uses.
	unrecorded *live.Transport
	webhooks   *webhooks

	shut map[client.Interface]string       // why the agent rejects the credentials
	base map[client.Interface]*baseFailure // how the first case failed
}

// An endpoint is an interface to test.
type endpoint struct {
	client.Interface
	version string // in two parts, as the card has it
}

// options returns the options of a session's clients. Without a session, the client only detects the agent's
// properties: its requests are not recorded, so that no answer to a guess counts as the agent's fault.
func (t *target) options(s *Session) client.Options {
	o := t.opts.Client
	o.Transport = t.unrecorded
	if s != nil {
		o.Transport = sessionTransport{t.transport, s}
	}
	o.ProtoJSON = o.ProtoJSON || t.proto
	return o
}

func (t *target) userAgent() string {
	if t.opts.Client.UserAgent != "" {
		return t.opts.Client.UserAgent
	}
	return strings.TrimSuffix("a2atap/"+t.opts.Client.Version, "/")
}

// client returns a client for an interface that discover has accepted. Away from the given URL it has no credentials.
func (t *target) client(at client.Interface, o client.Options) *client.Client {
	if t.private() && !t.here(at.URL) {
		o.Token, o.Authorize, o.Header = "", nil, nil
	}
	c, err := client.New(at, o)
	if err != nil {
		panic(fmt.Sprintf("probe: %v", err)) // discover keeps interfaces that clients speak, and no options have a fault
	}
	return c
}

// discover reads the card, within the time that the agent may take to start, and chooses the interfaces.
func (t *target) discover(ctx context.Context) error {
	var err error
	deadline := time.Now().Add(t.opts.Wait)
	recorded := t.options(nil)
	recorded.Transport = t.transport
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		t.card, err = t.readCard(ctx, recorded)
		if err == nil || answered(err) || ctx.Err() != nil {
			break
		}
		if !time.Now().Before(deadline) || !live.Sleep(ctx, pause) {
			if at, parseErr := url.Parse(t.url); parseErr == nil {
				err = t.opts.Dialer.ExplainSilence(ctx, err, at)
			}
			if outbound.AdviceIn(err) != "" {
				return fmt.Errorf("probe %s: %w", t.url, err)
			}
			return fmt.Errorf("probe %s: %w; start the agent, or wait for it with --wait", t.url, err)
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var refused *client.Error
		t.card, t.noCard, t.spoke = nil, err, errors.As(err, &refused) && refused.Unauthorized()
	}
	t.choose()
	t.reconsider(ctx)
	if len(t.endpoints) == 0 && !t.opts.NoCard && t.lacking() != nil {
		t.guess(ctx)
		if t.card == nil && len(t.endpoints) == 0 && !t.spoke && ctx.Err() == nil {
			return fmt.Errorf("%w: %s: %w, and no request of A2A was answered there; give the URL of an agent", ErrNoAgent, t.url, t.noCard)
		}
	}
	t.warm(ctx)
	return ctx.Err()
}

// readCard reads the card. If the options skip the card, it only checks whether a server listens.
func (t *target) readCard(ctx context.Context, o client.Options) (*client.Card, error) {
	if !t.opts.NoCard {
		return client.Discover(ctx, t.url, o)
	}
	at, err := url.Parse(t.url)
	if err != nil {
		return nil, err
	}
	host := hostname.HostPort(at)
	conn, err := live.Dial(ctx, t.opts.Dialer, host, false, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", host, outbound.Cause(err))
	}
	conn.Close()
	return nil, errNotRead
}

// ErrNoAgent means that a server has no agent card, and answers no request of any version of A2A.
var ErrNoAgent = errors.New("not an A2A agent")

// errNotRead is the reason for a missing card if the options skip it.
var errNotRead = errors.New("no card was read")

// answered reports whether an error of readCard means that a server answered, but not with a card.
func answered(err error) bool {
	var refused *client.Error
	return errors.Is(err, errNotRead) || errors.As(err, &refused) || errors.Is(err, client.ErrNotACard)
}

// choose takes one interface of each selected protocol, the card's first.
func (t *target) choose() {
	if lacking := t.lacking(); lacking != nil {
		if t.opts.Fallback != (client.Protocol{}) {
			t.endpoints = []endpoint{{client.Interface{URL: t.url, Protocol: t.opts.Fallback}, t.opts.Fallback.Version}}
			t.notes = append(t.notes, fmt.Sprintf("%v: %s at %s is tested separately", lacking, t.opts.Fallback, t.url))
		}
		return
	}
	declared := a2a.DecodeCard(a2a.Parse(t.card.Raw).Root)
	for _, i := range t.card.Interfaces {
		switch {
		case prefixes[i.Protocol] == "":
			t.notes = append(t.notes, fmt.Sprintf("%s at %s was not tested: probe does not support it", i.Protocol, i.URL))
		case !t.opts.wants(endpoint{i, versionOf(i, &declared)}):
			t.notes = append(t.notes, fmt.Sprintf("%s at %s was not tested: it was not selected", i.Protocol, i.URL))
		case t.has(i.Protocol):
			t.notes = append(t.notes, fmt.Sprintf("%s at %s was not tested: the card has it twice, and the first one was tested",
				i.Protocol, i.URL))
		default:
			t.endpoints = append(t.endpoints, endpoint{i, versionOf(i, &declared)})
			if t.private() && !t.here(i.URL) {
				t.notes = append(t.notes, fmt.Sprintf("%s at %s is not at the given URL, and is tested without your "+
					"credentials; give that URL, or --credentials-to, to send them there", i.Protocol, i.URL))
			}
		}
	}
	if len(t.endpoints) > 0 || len(t.opts.Protocols)+len(t.opts.Versions) == 0 {
		return
	}
	for _, i := range t.card.Possible { // the card has no version: this may be the requested one
		if e := (endpoint{i, i.Protocol.Version}); t.opts.wants(e) && !t.has(i.Protocol) {
			t.endpoints = append(t.endpoints, e)
		}
	}
}

// private reports whether the run has secrets for the agent: credentials, or header fields that may contain some.
func (t *target) private() bool {
	o := &t.opts.Client
	return o.Token != "" || o.Authorize != nil || len(o.Header) > 0 || t.opts.Second != nil
}

// here reports whether a URL is at the given address, or at another one to which credentials may go, wherever the
// card locates the agent.
func (t *target) here(at string) bool { return t.opts.Client.Trusts(t.url, at) }

func (t *target) has(p client.Protocol) bool {
	return slices.ContainsFunc(t.endpoints, func(e endpoint) bool { return e.Protocol == p })
}

// versionOf returns the version of an interface as the card has it, in two parts.
func versionOf(i client.Interface, card *a2a.Card) string {
	text := card.LegacyVersion()
	if i.Protocol.Version != "0.3" || text == "" {
		return i.Protocol.Version
	}
	parts := strings.SplitN(text, ".", 3)
	if len(parts) < 2 {
		return i.Protocol.Version
	}
	return parts[0] + "." + parts[1]
}

// peer names the agent of a request in the record: the one under test, which may have several addresses, or another
// one by its address.
func (t *target) peer(at *url.URL) capture.Peer {
	p := capture.Peer{Name: at.Host, URL: at.Scheme + "://" + at.Host, Addr: at.Host}
	own, err := url.Parse(t.url)
	if err != nil {
		return p
	}
	isOwn := func(e endpoint) bool {
		u, err := url.Parse(e.URL)
		return err == nil && u.Host == at.Host
	}
	if at.Host == own.Host || slices.ContainsFunc(t.endpoints, isOwn) {
		p.Name = cmp.Or(t.opts.Name, own.Host)
	}
	return p
}

// authority returns the host and port of the URL under test.
func (t *target) authority() string {
	u, err := url.Parse(t.url)
	if err != nil {
		return "" // Run has refused it
	}
	return u.Host
}

func bodyReader(body []byte) io.Reader {
	if body == nil {
		return nil
	}
	return bytes.NewReader(body)
}

// agentURL returns the URL of the agent at a path below the URL under test. If that is the URL of one of the
// scenarios' agents, or of its card, the path is below its parent.
func agentURL(given, path string, scenarios []*Scenario) string {
	u, err := url.Parse(given)
	if err != nil {
		return given // Run has refused it
	}
	base := u.EscapedPath()
	for _, card := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json"} {
		base = strings.TrimSuffix(base, card)
	}
	base = strings.TrimRight(base, "/")
	at := strings.LastIndexByte(base, '/')
	if at >= 0 && slices.ContainsFunc(scenarios, func(s *Scenario) bool { return s.Agent == base[at+1:] }) {
		base = base[:at]
	}
	origin := url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}
	return origin.String() + base + "/" + path
}

// warm sends each interface one request before the first case, so that a slow agent has started. It also detects
// which JSON 0.3 over HTTP+JSON uses, and whether the agent accepts the credentials. It ignores all other results:
// the cases report problems.
func (t *target) warm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, t.opts.Timeout)
	defer cancel()
	for _, at := range t.endpoints {
		o := t.options(nil)
		if at.Protocol == client.REST03 && !o.ProtoJSON {
			t.proto = t.speaksProto(ctx, at)
		}
		c := t.client(at.Interface, t.options(nil))
		t.shuts(ctx, at, c)
		c.Close()
	}
}

// speaksProto reports whether an agent of 0.3 over HTTP+JSON expects messages in the form of the proto definition. It
// sends a request for an unknown task in both forms: only the form that the agent can read gets the expected error.
func (t *target) speaksProto(ctx context.Context, at endpoint) bool {
	reads := func(proto bool) bool {
		o := t.options(nil)
		o.ProtoJSON = proto
		c := t.client(at.Interface, o)
		defer c.Close()
		m := client.Text("hello")
		m.TaskID = uuid.NewString()
		_, err := c.Send(ctx, m, client.SendOptions{})
		var refused *client.Error
		return err == nil ||
			errors.As(err, &refused) && (refused.Reason == "TASK_NOT_FOUND" || refused.HTTPStatus == http.StatusNotFound)
	}
	return !reads(false) && reads(true)
}
