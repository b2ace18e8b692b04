package player

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/replay/playback"
)

// goLive lets requests reach real services once everything recorded before --live-from was requested.
func (r *run) goLive(ctx context.Context, src capture.Source, options *playback.Options) error {
	o := r.flags
	if o.liveFrom == 0 {
		if len(o.set) > 0 {
			return cli.Usage("--set changes live requests; add --live-from N")
		}
		return nil
	}
	if _, err := src.Exchange(ctx, o.liveFrom); errors.Is(err, capture.ErrNotFound) {
		return cli.Usage("--live-from %d: the capture has no exchange %d", o.liveFrom, o.liveFrom)
	} else if err != nil {
		return err
	}
	members, err := parseMembers(o.set)
	if err != nil {
		return err
	}
	options.Forward = playback.NewForward(nil, r.dialer)
	options.Forward.After, options.OnRequest = true, r.notes.request
	if len(o.set) > 0 {
		options.Forward.Note = "asked with --set " + strings.Join(o.set, ", ") + ", where the request has that member"
	}
	r.change = &change{next: options.Forward.Transport, own: r.own, members: members}
	options.Forward.Transport = r.change
	return nil
}

// name remembers the name of a recorded service, so that a new recording has it, too.
func (r *run) name(x *capture.Exchange) {
	if u, err := url.Parse(x.Agent.URL); err == nil && u.Host != "" && u.Scheme != "stdio" {
		r.names[hostname.OriginOf(u)] = x.Agent.Name
	}
}

// A member is a value that replaces one in JSON requests.
type member struct {
	flag  string
	path  []string
	value []byte
	used  atomic.Bool
}

// parseMembers parses the values of --set. A value that is not JSON is a string.
func parseMembers(flags []string) (list []*member, err error) {
	for _, flag := range flags {
		name, text, found := strings.Cut(flag, "=")
		if !found || strings.Trim(name, "/") == "" {
			return nil, cli.Usage("--set %s: write MEMBER=VALUE, such as model=gpt-x or /options/seed=7", flag)
		}
		value := []byte(text)
		if !json.Valid(value) {
			value, _ = json.Marshal(text) // a string
		}
		list = append(list, &member{flag: flag, path: strings.Split(strings.TrimPrefix(name, "/"), "/"), value: value})
	}
	return list, nil
}

// A change sends live requests to their services, with their members replaced.
type change struct {
	next    http.RoundTripper
	own     map[hostname.Origin]bool // addresses at which this run plays services
	members []*member
}

// RoundTrip implements [http.RoundTripper].
func (c *change) RoundTrip(q *http.Request) (*http.Response, error) {
	if c.own[hostname.OriginOf(q.URL)] {
		return nil, errors.New("playback itself listens there, since no real service does")
	}
	if len(c.members) == 0 || q.Body == nil || !strings.Contains(q.Header.Get("Content-Type"), "json") {
		return c.next.RoundTrip(q)
	}
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	for _, m := range c.members {
		body = m.replace(body)
	}
	q = q.Clone(q.Context())
	q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	q.Header.Del("Content-Length")
	return c.next.RoundTrip(q)
}

// replace returns a body with the value, where the body has the member.
func (m *member) replace(body []byte) []byte {
	v := a2a.Parse(body).Root
	for _, name := range m.path {
		v = v.Get(name)
	}
	raw := v.Raw()
	if len(raw) == 0 {
		return body
	}
	m.used.Store(true)
	at := v.Offset()
	return bytes.Join([][]byte{body[:at], m.value, body[at+len(raw):]}, nil)
}

// tellUnused reports the members that no live request had.
func (c *change) tellUnused(e cli.Env) {
	for _, m := range c.members {
		if !m.used.Load() {
			e.Notice(fmt.Sprintf("playback: --set %s changed nothing: no live request has that member", m.flag))
		}
	}
}

// CloseIdleConnections closes the connections that no request uses any more.
func (c *change) CloseIdleConnections() {
	if t, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
