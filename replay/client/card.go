package client

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/hostname"
)

// decodeCard reads a card leniently: it ignores members of a wrong type, since the rest may still be useful. Relative
// URLs in the card are relative to its address.
func decodeCard(body []byte, at string) (*Card, error) {
	doc := a2a.Parse(body)
	if doc.Err != nil {
		return nil, doc.Err
	}
	if kind := doc.Root.Kind(); kind != a2a.Object {
		return nil, fmt.Errorf("it is %s where an object belongs", kind)
	}
	from := a2a.DecodeCard(doc.Root)
	declares := func(v a2a.Value) bool { b, _ := v.Bool(); return b }
	can := from.Get("capabilities")
	c := &Card{
		URL: at, Name: from.Name(), Description: from.Get("description").Text(), Version: from.Version(), Raw: body,
		Streaming: declares(can.Get("streaming")), Push: declares(can.Get("pushNotifications")),
		Extended: declares(can.Get("extendedAgentCard")) || declares(from.Get("supportsAuthenticatedExtendedCard")),
	}
	stdjson.Unmarshal(from.Get("skills").Raw(), &c.Skills) //nolint:errcheck // see above
	version := from.LegacyVersion()
	switch authentication := from.Get("authentication"); {
	case version != "":
	case from.Early():
		version = Early.Version
	case authentication.Exists() && !authentication.IsNull() && !from.Has("securitySchemes"):
		version = "0.1"
	default:
		version = "0.3" // 0.2 has no such member and speaks the same JSON-RPC
	}
	for _, i := range from.Interfaces {
		switch {
		case strings.HasPrefix(i.Pointer, "/supportedInterfaces"):
			c.add(i.URL, i.Transport, i.Version, i.Tenant)
		case i.Main:
			main := c.add(i.URL, cmp.Or(i.Transport, "JSONRPC"), version, "") // the default of A2A 0.3 §5.5
			if from.LegacyVersion() == "" && i.Transport == "" && from.Get("additionalInterfaces").Len() == 0 {
				c.possible(main)
			}
		default:
			c.add(i.URL, i.Transport, version, "")
		}
	}
	return c, nil
}

// possible adds the other protocols that an interface's address may support.
func (c *Card) possible(said Interface) {
	for _, p := range []Protocol{JSONRPC03, Early, JSONRPC01} {
		if p != said.Protocol {
			c.Possible = append(c.Possible, Interface{URL: said.URL, Protocol: p})
		}
	}
}

// add notes an interface once, with a version of two parts, and returns it.
func (c *Card) add(at, binding, version, tenant string) Interface {
	if binding == bindingGRPC {
		at = GRPCURL(at, c.URL)
	} else if base, err := url.Parse(c.URL); err == nil {
		if u, err := base.Parse(at); err == nil {
			at = u.String()
		}
	}
	if parts := strings.Split(version, "."); len(parts) > 2 {
		version = parts[0] + "." + parts[1]
	}
	if version == "0.2" {
		version = "0.3" // one dialect on the JSON-RPC wire
	}
	i := Interface{URL: at, Protocol: Protocol{Version: version, Binding: binding}, Tenant: tenant}
	if !slices.Contains(c.Interfaces, i) {
		c.Interfaces = append(c.Interfaces, i)
	}
	return i
}

// Choose returns the interface to use: the first one of the first protocol in prefer that the card offers, or else that
// it may offer. Without preferences the card's own order decides, among the protocols of this package (A2A 1.0 §8.3.2).
func (c *Card) Choose(prefer ...Protocol) (Interface, error) {
	if len(prefer) == 0 {
		for _, i := range c.Interfaces {
			if slices.Contains(Protocols(), i.Protocol) {
				return i, nil
			}
		}
		prefer = Protocols()
	}
	for _, offered := range [][]Interface{c.Interfaces, c.Possible} {
		for _, p := range prefer {
			if n := slices.IndexFunc(offered, func(i Interface) bool { return i.Protocol == p }); n >= 0 {
				return offered[n], nil
			}
		}
	}
	return Interface{}, fmt.Errorf("agent %q offers %s, but not %s", c.Name, protocols(c.Interfaces), join(prefer))
}

// At returns the card as it applies to clients that use only the given address: without the interfaces at other
// addresses. Names of this machine are one address if the port is the same, and the given one is used. It fails if no
// interface remains.
func (c *Card) At(given string) (*Card, error) {
	u, err := url.Parse(given)
	if err != nil {
		return nil, err
	}
	here := *c
	left := func(list []Interface) (kept []Interface) {
		for _, i := range list {
			at, err := url.Parse(i.URL)
			if err != nil || !hostname.SameOrigin(at, u) {
				continue
			}
			at.Scheme, at.Host = u.Scheme, u.Host
			i.URL = at.String()
			kept = append(kept, i)
		}
		return kept
	}
	here.Interfaces, here.Possible = left(c.Interfaces), left(c.Possible)
	if len(here.Interfaces) == 0 && len(c.Interfaces) > 0 {
		return nil, fmt.Errorf("%w: the card has %s", ErrElsewhere, c.Interfaces[0].URL)
	}
	return &here, nil
}

// ErrElsewhere means that a card has no interface at the given address. [Card.At] returns it, wrapped.
var ErrElsewhere = errors.New("the card names another address")

func protocols(in []Interface) string {
	var out []Protocol
	for _, i := range in {
		out = append(out, i.Protocol)
	}
	return join(out)
}

func join(in []Protocol) string {
	if len(in) == 0 {
		return "no interface"
	}
	var names []string
	for _, p := range in {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

// cardURLs returns the possible URLs of an agent's card. If the URL names a card it is the only one; otherwise they are
// below it, under the current name and the one up to 0.2. The old name comes first if all preferred protocols use it.
// The origin's URLs are separate: a card there may belong to another agent.
func cardURLs(agent string, prefer []Protocol) (own, origin []string, err error) {
	u, err := url.Parse(agent)
	if err != nil {
		return nil, nil, err
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, errors.New("it must begin with http:// or https://")
	}
	if strings.HasSuffix(u.Path, ".json") {
		return []string{agent}, nil, nil
	}
	names := []string{"agent-card.json", "agent.json"}
	if len(prefer) > 0 && !slices.ContainsFunc(prefer, func(p Protocol) bool { return !p.clientNamesTasks() }) {
		slices.Reverse(names)
	}
	below := func(base *url.URL) (urls []string) {
		for _, name := range names {
			urls = append(urls, base.JoinPath(".well-known", name).String())
		}
		return urls
	}
	u.RawQuery, u.Fragment = "", ""
	if strings.Trim(u.Path, "/") == "" {
		return below(u), nil, nil
	}
	return below(u), below(&url.URL{Scheme: u.Scheme, Host: u.Host}), nil
}

// ErrNoCard means that an agent responds but has no card at its address. Discover and Connect return it, wrapped.
var ErrNoCard = errors.New("no agent card")

// ErrNotACard means that something other than a card was served at the card's address. Discover and Connect return it,
// wrapped.
var ErrNotACard = errors.New("it is not a card")

// Discover finds and reads the public card of the agent at a URL, which may be the card's own. A card at the origin of
// the URL is the agent's only if the URL has none and the card names the URL as an interface; any other card there is
// a suggestion in the error.
func Discover(ctx context.Context, agent string, o Options) (*Card, error) {
	card, _, err := discover(ctx, agent, o)
	return card, err
}

// discover also reports whether the card is the origin's.
func discover(ctx context.Context, agent string, o Options) (card *Card, fromOrigin bool, err error) {
	fail := func(err error) (*Card, bool, error) {
		return nil, false, fmt.Errorf("find the card of %s: %w", agent, err)
	}
	own, origin, err := cardURLs(agent, o.Prefer)
	if err != nil {
		return fail(err)
	}
	h := newHTTP(o, false)
	defer h.client.CloseIdleConnections()
	if card, err = h.firstCard(ctx, own); err == nil {
		return card, false, nil
	}
	var refused *Error
	if len(origin) == 0 || !errors.As(err, &refused) && !errors.Is(err, ErrNotACard) {
		return fail(err)
	}
	other, otherErr := h.firstCard(ctx, origin)
	switch {
	case otherErr != nil:
		return fail(err)
	case errors.Is(err, ErrNoCard) && len(other.interfacesAt(agent)) > 0:
		return other, true, nil
	}
	root, _, _ := strings.Cut(origin[0], "/.well-known/")
	return fail(fmt.Errorf("%w; the card at %s is for another address: to use that agent, give %s", err, other.URL, root))
}

// firstCard reads the first card that is served at one of the URLs. It fails with the first error, and with ErrNoCard
// if every response reports a missing card.
func (h *httpClient) firstCard(ctx context.Context, urls []string) (*Card, error) {
	var first error
	missing := 0
	for _, at := range urls {
		card, err := h.card(ctx, at)
		if err == nil {
			return card, nil
		}
		first = cmp.Or(first, err)
		var refused *Error
		if !errors.As(err, &refused) {
			break // no server, or no card: trying other paths would hide that
		}
		if refused.HTTPStatus == http.StatusNotFound || refused.HTTPStatus == http.StatusMethodNotAllowed ||
			refused.HTTPStatus == http.StatusGone {
			missing++
		}
	}
	if missing == len(urls) {
		return nil, fmt.Errorf("%w: %w", ErrNoCard, first)
	}
	return nil, first
}

// interfacesAt returns the interfaces whose URL is the given one.
func (c *Card) interfacesAt(given string) []Interface {
	return slices.DeleteFunc(slices.Clone(c.Interfaces), func(i Interface) bool { return !sameURL(i.URL, given) })
}

// sameURL reports whether two URLs lead to one path at one address.
func sameURL(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	return err == nil && err2 == nil && hostname.SameOrigin(u, v) && strings.TrimRight(u.Path, "/") == strings.TrimRight(v.Path, "/")
}

// card reads the card at one URL.
func (h *httpClient) card(ctx context.Context, at string) (*Card, error) {
	header := http.Header{"Accept": {"application/json"}}
	// One URL may serve a card of either shape; a request without a version is one of 0.3 (A2A 1.0 §3.6.2).
	if len(h.opts.Prefer) == 0 || h.opts.Prefer[0].Version == "1.0" {
		header.Set("A2A-Version", "1.0")
	}
	out := &Outgoing{Operation: a2a.GetCard, Method: http.MethodGet, URL: at, Header: header}
	resp, body, err := h.complete(ctx, out)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, &Error{HTTPStatus: resp.StatusCode, Message: "no card at " + at, Raw: body}
	}
	card, err := decodeCard(body, at)
	if err == nil && len(card.Skills) > h.opts.Limits.Skills {
		err = h.opts.Limits.TooManySkills()
	}
	if err != nil {
		return nil, fmt.Errorf("read the card at %s: %w: %w", at, ErrNotACard, err)
	}
	return card, nil
}
