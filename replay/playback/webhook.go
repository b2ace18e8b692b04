package playback

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/replay/compare"
	"a2atap/replay/live"
)

// hook records the webhook of the live client for the tasks of an exchange. The Player's lock is held.
func (p *Player) hook(a *exchange, call *a2a.Call) {
	config := call.PushConfig
	if config.URL() == "" {
		return
	}
	was := a.push
	if was == nil {
		was = &pushed{}
	}
	t := target{recorded: was.url, url: config.URL(), token: config.Token()}
	if schemes := config.Schemes(); config.Credentials() != "" && len(schemes) > 0 {
		t.credentials = schemes[0] + " " + config.Credentials()
	}
	p.names.given(was, config)
	for _, task := range a.tasks {
		list := slices.DeleteFunc(p.targets[task], func(old target) bool { return old.recorded == t.recorded })
		p.targets[task] = append(list, t)
	}
}

// to returns the live client's webhook for a notification: the one that corresponds to its recorded address, or else
// the most recent one. The caller holds the Player's lock.
func (p *Player) to(n *notification) (target, bool) {
	list := p.targets[n.task]
	for _, t := range list {
		if a2a.SameURL(t.recorded, n.url) {
			return t, true
		}
	}
	if len(list) == 0 {
		return target{}, false
	}
	return list[len(list)-1], true
}

// A post is a notification on its way to a webhook.
type post struct {
	*notification
	to target
}

// notify delivers the notifications that follow an exchange, in the background: for each task in the recorded order and
// at the recorded pace from now on. Without pauses, they are sent when begin is called after the answer.
func (p *Player) notify(a *exchange, substitute compare.Substitute) (begin func()) {
	now := time.Now()
	p.mu.Lock()
	byTask := map[string][]post{}
	for _, n := range a.due {
		if to, ok := p.to(n); ok {
			byTask[n.task] = append(byTask[n.task], post{n, to})
		}
	}
	p.mu.Unlock()
	begin = func() {
		for task, posts := range byTask {
			p.deliverAll(task, posts, now, substitute)
		}
	}
	if p.opts.Speed > 0 {
		begin()
		return func() {}
	}
	return begin
}

// deliverAll delivers notifications of one task in the background, after earlier ones of the same task.
func (p *Player) deliverAll(task string, posts []post, start time.Time, substitute compare.Substitute) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		p.report.Undelivered += len(posts)
		return
	}
	before, done := p.behind[task], make(chan struct{})
	p.behind[task] = done
	p.background.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		for _, n := range posts {
			p.deliver(n, start, substitute)
		}
	})
}

// deliver gives one notification at its time.
func (p *Player) deliver(n post, start time.Time, substitute compare.Substitute) {
	if speed := p.opts.Speed; speed > 0 {
		live.Sleep(p.ctx, time.Until(start.Add(time.Duration(float64(n.delay)/speed))))
	}
	err := p.ctx.Err()
	if err == nil {
		if err = p.post(n, substitute); err != nil {
			p.notice("the notification of exchange %d was not delivered to %s: %v", n.seq, place(n.to.url), err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.report.Notified++
	} else {
		p.report.Undelivered++
	}
}

// place names a webhook without the possible secrets in its URL.
func place(webhook string) string {
	u, err := url.Parse(webhook)
	if err != nil || u.Host == "" {
		return "the webhook"
	}
	return u.Scheme + "://" + u.Host
}

// webhookTimeout bounds one delivery.
const webhookTimeout = 10 * time.Second

// post posts a notification with the ids, token and credentials of the live client. It returns an error if the webhook
// did not accept it.
func (p *Player) post(n post, substitute compare.Substitute) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), webhookTimeout)
	defer cancel()
	x, err := p.recording.src.Exchange(ctx, n.seq)
	if err != nil {
		return fmt.Errorf("read it again from the capture: %w", err)
	}
	body, err := x.Request.Content()
	if err != nil {
		return fmt.Errorf("read it again from the capture: %w", err)
	}
	body = compare.RewriteJSON(body, nil, substitute)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, n.to.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("its URL is invalid")
	}
	n.to.fields(r.Header, capture.ParseRequestHead(x.Request.Head).Fields)
	res, err := p.webhooks.RoundTrip(r)
	if err != nil {
		return outbound.Cause(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)) //nolint:errcheck // what a receiver says counts for nothing
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %s", res.Status)
	}
	return nil
}

// fields sets the header fields of a notification: exactly the recorded ones, with the live client's token and
// credentials. It omits hop-by-hop fields and those about the body's coding.
func (t *target) fields(to http.Header, recorded capture.Fields) {
	for _, f := range recorded {
		switch strings.ToLower(f.Name) {
		case "host", "content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive":
		case "authorization":
			if t.credentials != "" {
				to.Set(f.Name, t.credentials)
			}
		case "x-a2a-notification-token": // 0.3 §9.5, and the examples of 1.0
			if t.token != "" {
				to.Set(f.Name, t.token)
			}
		default:
			to.Add(f.Name, f.Value)
		}
	}
	if to.Get("User-Agent") == "" {
		to.Set("User-Agent", "") // net/http adds none then
	}
}

// errRemote explains why a notification is not sent.
var errRemote = errors.New("the webhook is on another machine; add --allow-remote to deliver notifications there")

// webhookTransport returns a transport for webhooks. Without Options.Remote it connects only to loopback addresses,
// after name resolution. It does not follow redirects.
func (o *Options) webhookTransport() *http.Transport {
	t := &http.Transport{
		MaxIdleConnsPerHost: -1, // connections are not reused, without a header field
		DisableCompression:  true,
		TLSClientConfig:     &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
	}
	if o.Remote {
		t.Proxy = http.ProxyFromEnvironment
		return t
	}
	dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !at.Addr().Unmap().IsLoopback() {
			return errRemote
		}
		return nil
	}}
	t.DialContext = dialer.DialContext
	return t
}
