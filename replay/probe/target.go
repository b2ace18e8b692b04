package probe

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
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
	proto     bool // 0.3 over HTTP+JSON is spoken in its proto JSON
	opts      *Options
	tape      *tape
	transport *live.Transport
	webhooks  *webhooks

	shut map[client.Interface]string       // why nobody is let in
	base map[client.Interface]*baseFailure // how the first case failed
}

// An endpoint is an interface to ask on.
type endpoint struct {
	client.Interface
	version string // in two parts, as the card has it
}

// options returns what a client of a session is made with.
func (t *target) options(s *Session) client.Options {
	o := t.opts.Client
	o.Transport = sessionTransport{t.transport, s}
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

// discover reads the card, for as long as the agent may take to start, and chooses the interfaces.
func (t *target) discover(ctx context.Context) error {
	var err error
	deadline := time.Now().Add(t.opts.Wait)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		t.card, err = t.readCard(ctx)
		if err == nil || answered(err) || ctx.Err() != nil {
			break
		}
		if !time.Now().Before(deadline) || !live.Sleep(ctx, pause) {
			return fmt.Errorf("probe %s: %w; start the agent, or give it time with --wait", t.url, err)
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.card, t.noCard = nil, err
	}
	t.choose()
	if len(t.endpoints) == 0 && !t.opts.NoCard && t.lacking() != nil {
		t.guess(ctx)
	}
	t.warm(ctx)
	return ctx.Err()
}

// readCard reads the card. Where none is to be read, it only finds out whether somebody listens.
func (t *target) readCard(ctx context.Context) (*client.Card, error) {
	if !t.opts.NoCard {
		return client.Discover(ctx, t.url, t.options(nil))
	}
	at, err := url.Parse(t.url)
	if err != nil {
		return nil, err
	}
	host := at.Host
	if at.Port() == "" {
		host = net.JoinHostPort(at.Hostname(), map[string]string{"http": "80", "https": "443"}[at.Scheme])
	}
	conn, err := live.Dial(ctx, t.opts.Dialer, host, false, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", host, outbound.Cause(err))
	}
	conn.Close()
	return nil, errNotRead
}

// errNotRead is why there is no card where none is to be read.
var errNotRead = errors.New("no card was read")

// answered reports whether an error of readCard means that somebody answered, if not with a card.
func answered(err error) bool {
	var refused *client.Error
	return errors.Is(err, errNotRead) || errors.As(err, &refused) || errors.Is(err, client.ErrNotACard)
}

// choose takes one interface of each protocol that is wanted, the card's first.
func (t *target) choose() {
	if lacking := t.lacking(); lacking != nil {
		if t.opts.Fallback != (client.Protocol{}) {
			t.endpoints = []endpoint{{client.Interface{URL: t.url, Protocol: t.opts.Fallback}, t.opts.Fallback.Version}}
			t.notes = append(t.notes, fmt.Sprintf("%v: %s at %s is asked on its own", lacking, t.opts.Fallback, t.url))
		}
		return
	}
	declared := a2a.DecodeCard(a2a.Parse(t.card.Raw).Root)
	for _, i := range t.card.Interfaces {
		switch {
		case prefixes[i.Protocol] == "":
			t.notes = append(t.notes, fmt.Sprintf("%s at %s was not asked: probe does not speak it", i.Protocol, i.URL))
		case !t.opts.wants(endpoint{i, versionOf(i, &declared)}):
			t.notes = append(t.notes, fmt.Sprintf("%s at %s was not asked: another is wanted", i.Protocol, i.URL))
		case t.has(i.Protocol):
			t.notes = append(t.notes, fmt.Sprintf("%s at %s was not asked: the card has it twice, and the first was",
				i.Protocol, i.URL))
		default:
			t.endpoints = append(t.endpoints, endpoint{i, versionOf(i, &declared)})
			if t.private() && !t.here(i.URL) {
				t.notes = append(t.notes, fmt.Sprintf("%s at %s is elsewhere than the given URL, and is asked without your "+
					"credentials; give that URL, or --credentials-to, to ask there with them", i.Protocol, i.URL))
			}
		}
	}
	if len(t.endpoints) > 0 || len(t.opts.Protocols)+len(t.opts.Versions) == 0 {
		return
	}
	for _, i := range t.card.Possible { // the card does not say its version: what was asked for may be it
		if e := (endpoint{i, i.Protocol.Version}); t.opts.wants(e) && !t.has(i.Protocol) {
			t.endpoints = append(t.endpoints, e)
		}
	}
}

// private reports whether the run has what is for the agent alone: credentials, or header fields that may be some.
func (t *target) private() bool {
	o := &t.opts.Client
	return o.Token != "" || o.Authorize != nil || len(o.Header) > 0 || t.opts.Second != nil
}

// here reports whether a URL is at the address that was given, or another one where credentials go, wherever a card
// says that the agent is.
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

// healthy reports whether the agent still answers, whatever it answers. It is given two seconds.
func (t *target) healthy(ctx context.Context) bool {
	deadline := time.Now().Add(2 * time.Second)
	for pause := 20 * time.Millisecond; ; pause *= 2 {
		_, err := t.readCard(ctx)
		if err == nil || answered(err) || ctx.Err() != nil {
			return true
		}
		if !time.Now().Before(deadline) || !live.Sleep(ctx, pause) {
			return false
		}
	}
}

// peer names the agent of a request in the record: the one under test, which may live at several addresses, or another
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

// agentURL returns the URL of the agent at a path below the one under test. Where that is the URL of one of the agents
// that the scenarios are for, or of its card, the path is below its parent.
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

// warm asks each interface once before the first case, so that an agent that starts slowly has started, and finds out
// which JSON is spoken over HTTP+JSON of 0.3, and whether anybody is let in. Else what comes back is of no account: if
// something is wrong, cases tell.
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

// speaksProto reports whether an agent of 0.3 over HTTP+JSON wants its messages as the proto definition has them. It is
// told something about a task that nobody made, in either form: only the one that it can read tells it so.
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
