package playback

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
)

// A notification is one recorded delivery to a webhook.
type notification struct {
	x     *capture.Exchange
	body  []byte
	task  string
	after *exchange // it is due when this has been played
}

// A target is the webhook of the live client for a task.
type target struct {
	url         string
	token       string
	credentials string // as in an Authorization header, with the scheme
}

// readNotification reads a recorded delivery, or returns nil if it cannot be given again.
func readNotification(x *capture.Exchange, last map[string]*exchange) *notification {
	body, err := x.Request.Content()
	if err != nil || !x.Request.Body.Kept() {
		return nil
	}
	n := &notification{x: x, body: body}
	switch p := a2a.DecodeWebhook(body); p.Kind {
	case a2a.TaskPayload:
		n.task = a2a.Task{Value: p.Value}.ID()
	case a2a.StatusPayload:
		n.task = a2a.StatusUpdate{Value: p.Value}.TaskID()
	case a2a.ArtifactPayload:
		n.task = a2a.ArtifactUpdate{Value: p.Value}.TaskID()
	case a2a.MessagePayload:
		n.task = a2a.Message{Value: p.Value}.TaskID()
	}
	if n.after = last[n.task]; n.after == nil {
		return nil
	}
	return n
}

// hook records the webhook of the live client for the tasks of an exchange. The Player's lock is held.
func (p *Player) hook(a *exchange, call *a2a.Call) {
	config := call.PushConfig
	if config.URL() == "" {
		return
	}
	t := target{url: config.URL(), token: config.Token()}
	if schemes := config.Schemes(); config.Credentials() != "" && len(schemes) > 0 {
		t.credentials = schemes[0] + " " + config.Credentials()
	}
	for _, task := range a.tasks {
		p.targets[task] = t
	}
}

// notify delivers the notifications that follow an exchange, in the recorded order, in the background.
func (p *Player) notify(a *exchange, substitute compare.Substitute) {
	type post struct {
		*notification
		to target
	}
	var posts []post
	p.mu.Lock()
	for _, n := range p.recording.notifications {
		if to, ok := p.targets[n.task]; ok && n.after == a {
			posts = append(posts, post{n, to})
		}
	}
	p.mu.Unlock()
	if len(posts) == 0 {
		return
	}
	p.background.Go(func() {
		for _, n := range posts {
			delivered := p.ctx.Err() == nil && n.deliver(context.WithoutCancel(p.ctx), n.to, substitute)
			p.mu.Lock()
			if delivered {
				p.notified++
			} else {
				p.undelivered++
			}
			p.mu.Unlock()
		}
	})
}

// webhookTimeout bounds one delivery.
const webhookTimeout = 10 * time.Second

// deliver posts a notification and reports whether it was accepted.
func (n *notification) deliver(ctx context.Context, to target, substitute compare.Substitute) bool {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	body := compare.RewriteJSON(n.body, nil, substitute)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.url, bytes.NewReader(body))
	if err != nil {
		return false
	}
	for _, f := range capture.ParseRequestHead(n.x.Request.Head).Fields {
		switch strings.ToLower(f.Name) {
		case "host", "content-length", "content-encoding", "transfer-encoding", "connection", "accept-encoding",
			"authorization", "x-a2a-notification-token":
		default:
			r.Header.Add(f.Name, f.Value)
		}
	}
	if to.token != "" {
		r.Header.Set("X-A2A-Notification-Token", to.token) // 0.3 §9.5, and the examples of 1.0
	}
	if to.credentials != "" {
		r.Header.Set("Authorization", to.credentials)
	}
	transport := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20)) //nolint:errcheck // what a receiver says counts for nothing
	return res.StatusCode < 300
}
