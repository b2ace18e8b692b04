package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
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

// client returns a client for an interface that discover has accepted.
func (t *target) client(at client.Interface, o client.Options) *client.Client {
	c, err := client.New(at, o)
	if err != nil {
		panic(fmt.Sprintf("probe: %v", err)) // discover keeps interfaces that clients speak, and no options have a fault
	}
	return c
}

// discover reads the card, for as long as the agent may take to start, and chooses the interfaces.
func (t *target) discover(ctx context.Context) error {
	o := t.options(nil)
	var err error
	deadline := time.Now().Add(t.opts.Wait)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		t.card, err = client.Discover(ctx, t.url, o)
		if err == nil || answered(err) || ctx.Err() != nil {
			break
		}
		if !time.Now().Before(deadline) || !sleep(ctx, pause) {
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
	t.warm(ctx)
	return ctx.Err()
}

// answered reports whether an error of Discover means that somebody answered, if not with a card.
func answered(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) || strings.Contains(err.Error(), "read the card at")
}

// choose takes one interface of each protocol that is wanted, the card's first.
func (t *target) choose() {
	if t.card == nil {
		if t.opts.Fallback != (client.Protocol{}) {
			t.endpoints = []endpoint{{client.Interface{URL: t.url, Protocol: t.opts.Fallback}, t.opts.Fallback.Version}}
			t.notes = append(t.notes, fmt.Sprintf("no card could be read: %s at %s is asked on its own", t.opts.Fallback, t.url))
		}
		return
	}
	declared := a2a.DecodeCard(a2a.Parse(t.card.Raw).Root)
	for _, i := range t.card.Interfaces {
		switch {
		case prefixes[i.Protocol] == "":
			t.notes = append(t.notes, fmt.Sprintf("%s at %s was not asked: this program does not speak it", i.Protocol, i.URL))
		case !t.opts.wants(i.Protocol):
		case t.has(i.Protocol):
			t.notes = append(t.notes, fmt.Sprintf("%s at %s was not asked: the card has it twice, and the first was",
				i.Protocol, i.URL))
		default:
			t.endpoints = append(t.endpoints, endpoint{i, versionOf(i, &declared)})
		}
	}
}

func (t *target) has(p client.Protocol) bool {
	for _, e := range t.endpoints {
		if e.Protocol == p {
			return true
		}
	}
	return false
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
		_, err := client.Discover(ctx, t.url, t.options(nil))
		if err == nil || answered(err) || ctx.Err() != nil {
			return true
		}
		if !time.Now().Before(deadline) || !sleep(ctx, pause) {
			return false
		}
	}
}

// peer names an agent in the record: the one under test by its address, others by theirs.
func peer(at *url.URL) capture.Peer {
	return capture.Peer{Name: at.Host, URL: at.Scheme + "://" + at.Host, Addr: at.Host}
}

func bodyReader(body []byte) io.Reader {
	if body == nil {
		return nil
	}
	return bytes.NewReader(body)
}
