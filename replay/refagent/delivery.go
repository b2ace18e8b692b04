package refagent

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// A deliverer posts push notifications.
type deliverer struct {
	client *http.Client
	edit   func(*delivery) // the fault's hook; nil for a faithful agent
}

// A delivery is one notification about to be posted.
type delivery struct {
	method string
	header http.Header
	body   any
}

const (
	deliveryAttempts = 3
	deliveryPause    = 250 * time.Millisecond // before the second attempt; it doubles
	deliveryTimeout  = 10 * time.Second       // A2A 1.0 §13.2 recommends 10 to 30 seconds
)

func newDeliverer() *deliverer {
	return &deliverer{client: &http.Client{
		Timeout:   deliveryTimeout,
		Transport: &http.Transport{MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute},
		// A redirect is an answer like any other: the client asked for exactly this URL.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// follow posts what happens to a task, in order, until the task has ended.
func (d *deliverer) follow(ctx context.Context, c pushConfig, t task, events *feed) {
	t.history = nil // a receiver can ask for it
	for {
		e, next, err := events.wait(ctx)
		if err != nil {
			return
		}
		events = next
		t.apply(e)
		t.history = nil
		if body, mediaType, ok := c.dialect.notification(e, t); ok {
			d.deliver(ctx, c, body, mediaType)
		}
		if e.terminal() {
			return
		}
	}
}

// deliver posts one notification, at most three times. A receiver that never takes it misses it.
func (d *deliverer) deliver(ctx context.Context, c pushConfig, body any, mediaType string) {
	n := &delivery{method: http.MethodPost, header: http.Header{"Content-Type": {mediaType}}, body: body}
	if a := c.dialect.authorization(c); a != "" {
		n.header.Set("Authorization", a)
	}
	if c.token != "" {
		n.header.Set("X-A2A-Notification-Token", c.token)
	}
	if d.edit != nil {
		d.edit(n)
	}
	text := appendJSON(nil, n.body)
	pause := deliveryPause
	for attempt := 1; ; attempt++ {
		if d.post(ctx, c.url, n, text) || attempt == deliveryAttempts || ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause *= 2
	}
}

// post says whether the receiver has answered for good: a server error may pass, other refusals do not.
func (d *deliverer) post(ctx context.Context, url string, n *delivery, text []byte) bool {
	req, err := http.NewRequestWithContext(ctx, n.method, url, bytes.NewReader(text))
	if err != nil {
		return true
	}
	req.Header = n.header.Clone()
	resp, err := d.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	// The content does not matter; reading it lets the connection be used again.
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // an error costs no more than the connection
	return resp.StatusCode < 500
}
