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

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/a2a"
	"a2atap/proxy/hostname"
)

// wireCard holds the field sets of 0.3 and 1.0; a hybrid card uses both.
type wireCard struct {
	Name         string `json:"name"`
	Description  string `json:"description"`
	Version      string `json:"version"`
	Capabilities struct {
		Streaming bool `json:"streaming"`
		Push      bool `json:"pushNotifications"`
		Extended  bool `json:"extendedAgentCard"`
	} `json:"capabilities"`
	Skills     []Skill `json:"skills"`
	Interfaces []struct {
		URL     string `json:"url"`
		Binding string `json:"protocolBinding"`
		Version string `json:"protocolVersion"`
		Tenant  string `json:"tenant"`
	} `json:"supportedInterfaces"`

	URL             string `json:"url"`
	ProtocolVersion string `json:"protocolVersion"`
	Preferred       string `json:"preferredTransport"`
	Additional      []struct {
		URL       string `json:"url"`
		Transport string `json:"transport"`
	} `json:"additionalInterfaces"`
	Extended        bool           `json:"supportsAuthenticatedExtendedCard"`
	SecuritySchemes jsontext.Value `json:"securitySchemes"`
	Authentication  jsontext.Value `json:"authentication"` // up to 0.1
}

// readCard reads a card as it stands. A member of a wrong type is as good as none: the rest may still be of use.
func readCard(body []byte) (wireCard, error) {
	var w wireCard
	err := unmarshal(body, &w)
	if err == nil || jsontext.Value(body).Kind() != '{' {
		return w, err
	}
	w = wireCard{}
	var mistyped *stdjson.UnmarshalTypeError
	if most := stdjson.Unmarshal(body, &w); most != nil && !errors.As(most, &mistyped) {
		return w, err
	}
	return w, nil
}

// decodeCard reads a card; relative URLs in it are relative to where it was found.
func decodeCard(body []byte, at string) (*Card, error) {
	w, err := readCard(body)
	if err != nil {
		return nil, err
	}
	c := &Card{
		URL: at, Name: w.Name, Description: w.Description, Version: w.Version, Skills: w.Skills, Raw: body,
		Streaming: w.Capabilities.Streaming, Push: w.Capabilities.Push, Extended: w.Capabilities.Extended || w.Extended,
	}
	for _, i := range w.Interfaces {
		c.add(i.URL, i.Binding, i.Version, i.Tenant)
	}
	if w.URL != "" {
		unsaid := w.ProtocolVersion == "" && w.Preferred == ""
		switch {
		case w.ProtocolVersion != "":
		case a2a.DecodeCard(a2a.Parse(body).Root).Early():
			w.ProtocolVersion = Early.Version
		case present(w.Authentication) && !present(w.SecuritySchemes):
			w.ProtocolVersion = "0.1"
		default:
			w.ProtocolVersion = "0.3" // 0.2 has no such member and speaks the same JSON-RPC
		}
		w.Preferred = cmp.Or(w.Preferred, "JSONRPC") // the default of A2A 0.3 §5.5
		main := c.add(w.URL, w.Preferred, w.ProtocolVersion, "")
		for _, i := range w.Additional {
			c.add(i.URL, i.Transport, w.ProtocolVersion, "")
		}
		if unsaid && len(w.Additional) == 0 {
			c.possible(main)
		}
	}
	return c, nil
}

// possible notes what else may be spoken at the address of an interface.
func (c *Card) possible(said Interface) {
	for _, p := range []Protocol{JSONRPC03, JSONRPC01, Early} {
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

// Choose returns the interface to use: the first one of the first protocol in prefer that the card offers, else that it
// may offer. Without preferences the card's own order decides, among those that this package speaks (A2A 1.0 §8.3.2).
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
	return Interface{}, fmt.Errorf("agent %q offers %s; none of it is %s", c.Name, protocols(c.Interfaces), join(prefer))
}

// At returns the card as it is for those who speak only with the address at which they were pointed: without the
// interfaces that are elsewhere. Names of this machine are one address if the port is the same, and the given one is
// used. It fails if nothing is left.
func (c *Card) At(given string) (*Card, error) {
	u, err := url.Parse(given)
	if err != nil {
		return nil, err
	}
	here := *c
	left := func(list []Interface) (kept []Interface) {
		for _, i := range list {
			at, err := url.Parse(i.URL)
			if err != nil || !sameAddress(at, u) {
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

// ErrElsewhere says that a card has interfaces only at other addresses than the given one. [Card.At] returns it,
// wrapped.
var ErrElsewhere = errors.New("the agent is elsewhere")

// sameAddress reports whether two URLs lead to one address.
func sameAddress(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)])
	}
	local := func(u *url.URL) bool { return hostname.IsLoopbackSpelling(hostname.Normal(u.Hostname())) }
	return strings.EqualFold(a.Scheme, b.Scheme) && port(a) == port(b) &&
		(strings.EqualFold(a.Hostname(), b.Hostname()) || local(a) && local(b))
}

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

// cardURLs returns where the card of an agent may be: at the URL itself if it names a card, else beneath it, under the
// present name and the one up to 0.2, which comes first if only what has that is wanted. The origin's are separate: a
// card there may be another agent's.
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

// ErrNoCard says that an agent answers and has no card at its address. Discover and Connect return it, wrapped.
var ErrNoCard = errors.New("there is none")

// ErrNotACard says that something other than a card was served where a card belongs. Discover and Connect return it,
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
			break // nobody there, or no card: looking elsewhere would hide it
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
	return err == nil && err2 == nil && sameAddress(u, v) && strings.TrimRight(u.Path, "/") == strings.TrimRight(v.Path, "/")
}

// card reads the card at one URL.
func (h *httpClient) card(ctx context.Context, at string) (*Card, error) {
	header := http.Header{"Accept": {"application/json"}}
	// One URL may hold a card of either shape; a request without a version is one of 0.3 (A2A 1.0 §3.6.2).
	if len(h.opts.Prefer) == 0 || h.opts.Prefer[0].Version == "1.0" {
		header.Set("A2A-Version", "1.0")
	}
	out := &Outgoing{Operation: GetCard, Method: http.MethodGet, URL: at, Header: header}
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
