package playback

import (
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// Place sets the current addresses of other played agents, such as "http://127.0.0.1:9002", by their recorded URLs, so
// that cards lead there. Call it before serving requests.
func (p *Player) Place(places map[string]string) {
	p.places = map[string]string{}
	for recorded, today := range places {
		if u, err := url.Parse(recorded); err == nil && u.Host != "" {
			p.places[origin(u)] = today
		}
	}
}

// Recorded returns the agent's recorded URLs.
func (p *Player) Recorded() []string {
	var list []string
	seen := map[string]bool{}
	for _, a := range p.recording.exchanges {
		if u := a.agent.URL; u != "" && !seen[u] {
			seen[u] = true
			list = append(list, u)
		}
	}
	return list
}

// Knows reports whether the recording has calls to an address that are played.
func (p *Player) Knows(address string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.recording.upstreams.of(address)
	return known
}

// Addresses returns the addresses of everything that is played, each once.
func (p *Player) Addresses() []string {
	seen := map[string]bool{}
	for _, a := range p.recording.exchanges {
		seen[a.form.upstream] = true
	}
	for _, c := range p.recording.neighbors.calls {
		seen[c.upstream] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// AddressOf returns the recorded URL of an agent or a service; "" if no played call went there.
func (p *Player) AddressOf(name string) string {
	for _, a := range p.recording.exchanges {
		if Is(a.agent.Name, name) {
			return a.agent.URL
		}
	}
	for _, c := range p.recording.neighbors.calls {
		if Is(c.agent, name) {
			return c.upstream
		}
	}
	return ""
}

// cardURLs maps the interface URLs of a recorded card to current URLs: of the agent played there, or else at the origin
// that the client used.
func (p *Player) cardURLs(a *recorded, r *http.Request) map[string]string {
	if a.form.op != a2a.GetCard && a.form.op != a2a.GetExtendedCard {
		return nil
	}
	urls := map[string]string{}
	for payload := range a.payloads() {
		if payload.Kind != a2a.CardPayload {
			continue
		}
		for _, i := range a2a.DecodeCard(payload.Value).Interfaces {
			stays := false
			now, ok := led(i, func(u *url.URL) (string, string) {
				stays = p.opts.Upstream != nil && p.places[origin(u)] == ""
				return p.today(origin(u), r)
			})
			if ok && !stays {
				urls[i.URL] = now
			}
		}
	}
	return urls
}

// led returns the address of an interface with another scheme and host, in the card's form, of which gRPC has several.
// It returns false for an invalid address.
func led(i a2a.Interface, to func(was *url.URL) (scheme, host string)) (string, bool) {
	if i.Binding != a2a.GRPC {
		u, err := url.Parse(i.URL)
		if err != nil || u.Host == "" {
			return "", false
		}
		u.Scheme, u.Host = to(u)
		return u.String(), true
	}
	u, err := url.Parse(client.GRPCURL(i.URL, ""))
	if err != nil || u.Host == "" {
		return "", false
	}
	was := u.Host
	scheme, host := to(u)
	text := strings.Replace(i.URL, was, host, 1)
	if written, rest, isURL := strings.Cut(text, "://"); isURL && scheme == "http" {
		text = strings.TrimSuffix(written, "s") + "://" + rest
		if strings.EqualFold(written, "dns") {
			text = written + "://" + rest
		}
	}
	return text, true
}

// offering returns the body of an answer. If it is a card, the card offers only the binding of the options, at the
// origin that the client used.
func (p *Player) offering(a *recorded, answer *a2a.Answer, body []byte, r *http.Request) []byte {
	if p.opts.Binding == a2a.NoBinding || answer.Payload.Kind != a2a.CardPayload {
		return body
	}
	list := answer.Payload.Value.Get("supportedInterfaces")
	var chosen []byte
	for n, i := range a2a.DecodeCard(answer.Payload.Value).Interfaces {
		if i.Binding == p.opts.Binding && n < list.Len() {
			chosen = list.Elem(n).Raw()
			break
		}
	}
	if chosen == nil {
		_, host := p.today("", r)
		at := host
		if p.opts.Binding != a2a.GRPC {
			at = "http://" + host + p.Path()
		}
		chosen = marshal(map[string]string{
			"url": at, "protocolBinding": strings.ToUpper(p.opts.Binding.String()), "protocolVersion": a2a.V1_0.String(),
		})
	}
	if list.Kind() != a2a.Array {
		return body
	}
	at := list.Offset()
	return slices.Concat(body[:at], []byte("["), chosen, []byte("]"), body[at+len(list.Raw()):])
}

// today returns the scheme and host at which the agent of a recorded origin is played.
func (p *Player) today(recorded string, r *http.Request) (scheme, host string) {
	if u, err := url.Parse(p.places[recorded]); err == nil && u.Host != "" {
		if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
			asked := (&url.URL{Host: r.Host}).Hostname()
			return u.Scheme, net.JoinHostPort(asked, u.Port())
		}
		return u.Scheme, u.Host
	}
	if r.TLS != nil {
		return "https", r.Host
	}
	return "http", r.Host
}
