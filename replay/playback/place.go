package playback

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/hostname"
)

// Place says where other agents are played, so that cards lead there: their addresses today, such as
// "http://127.0.0.1:9002", by the URLs at which they were recorded. It is called before requests are served.
func (p *Player) Place(places map[string]string) {
	p.places = map[string]string{}
	for recorded, today := range places {
		if u, err := url.Parse(recorded); err == nil && u.Host != "" {
			p.places[origin(u)] = today
		}
	}
}

// Recorded returns the URLs at which the agent was recorded.
func (p *Player) Recorded() []string {
	var list []string
	seen := map[string]bool{}
	for _, a := range p.recording.exchanges {
		if u := a.x.Agent.URL; u != "" && !seen[u] {
			seen[u] = true
			list = append(list, u)
		}
	}
	return list
}

// origin returns the origin of a URL in the form in which origins are compared.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme) + "://" + net.JoinHostPort(hostname.Normal(u.Hostname()), port)
}

// cardURLs returns, for the URLs of interfaces in a recorded card, those of today: at the agent that is played there,
// or else at the origin that the client asked.
func (p *Player) cardURLs(a *exchange, r *http.Request) map[string]string {
	if a.call.Operation != a2a.GetCard && a.call.Operation != a2a.GetExtendedCard {
		return nil
	}
	urls := map[string]string{}
	for payload := range a.payloads() {
		if payload.Kind != a2a.CardPayload {
			continue
		}
		for _, i := range a2a.DecodeCard(payload.Value).Interfaces {
			u, err := url.Parse(i.URL)
			if err != nil || u.Host == "" {
				continue
			}
			u.Scheme, u.Host = p.today(origin(u), r)
			urls[i.URL] = u.String()
		}
	}
	return urls
}

// today returns scheme and host at which the agent of a recorded origin is played.
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
