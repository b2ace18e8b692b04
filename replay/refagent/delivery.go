package refagent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// A deliverer posts push notifications.
type deliverer struct {
	client *http.Client
	pause  time.Duration   // before the second attempt; it doubles
	edit   func(*delivery) // the fault's hook; nil for a faithful agent
	log    func(string)
}

// A delivery is one notification about to be posted.
type delivery struct {
	method string
	header http.Header
	body   any
}

const (
	deliveryRetries = 2
	deliveryTimeout = 10 * time.Second // A2A 1.0 §13.2 recommends 10 to 30 seconds
)

// newDeliverer returns a deliverer that pauses for half a step before it tries again.
func newDeliverer(opts engineOptions) *deliverer {
	return &deliverer{pause: opts.stepTime / 2, edit: opts.edit, log: opts.log, client: &http.Client{
		Timeout: deliveryTimeout,
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, TLSClientConfig: &tls.Config{RootCAs: opts.webhookRoots},
		},
		// A redirect is an answer like any other: the client asked for exactly this URL.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// follow posts what happens to a task, in order, until the task has ended. It reports false if it ended before that,
// since a delivery failed and the config says so.
func (d *deliverer) follow(ctx context.Context, c pushConfig, t task, events *feed) bool {
	t.history = nil // a receiver can ask for it
	for {
		e, next, err := events.wait(ctx)
		if err != nil {
			return true
		}
		events = next
		t.apply(e)
		t.history = nil
		if body, mediaType, ok := c.dialect.notification(e, t); ok && c.wants(e) {
			if !d.deliver(ctx, c, body, mediaType) && c.endsByFailure {
				return false
			}
		}
		if e.terminal() {
			return true
		}
	}
}

// deliver posts one notification, again if it fails, and reports whether the receiver has taken it. One that never
// does misses it.
func (d *deliverer) deliver(ctx context.Context, c pushConfig, body any, mediaType string) bool {
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
	pause := d.pause
	retries := cmp.Or(c.retries, deliveryRetries)
	for retry := 0; ; retry++ {
		again, err := d.post(ctx, c.url, n, text)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if !again || retry == retries {
			d.complain(c, retry+1, err)
			return false
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return false
		}
		pause *= 2
	}
}

// complain tells of a notification that nobody has taken. The rest of a webhook's URL may be a secret.
func (d *deliverer) complain(c pushConfig, attempts int, err error) {
	to := "a webhook"
	if u, e := url.Parse(c.url); e == nil {
		to = u.Scheme + "://" + u.Host
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	then := "it misses this notification"
	if c.endsByFailure {
		then = "it gets no more notifications of this task"
	}
	d.log(fmt.Sprintf("push notification of task %s to %s: %v (attempts: %d); %s", c.taskID, to, err, attempts, then))
}

// post returns an error if the receiver has not taken the notification, and whether to try again: a server error may
// pass, other refusals do not.
func (d *deliverer) post(ctx context.Context, url string, n *delivery, text []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, n.method, url, bytes.NewReader(text))
	if err != nil {
		return false, err
	}
	req.Header = n.header.Clone()
	resp, err := d.client.Do(req)
	if err != nil {
		return true, err
	}
	defer resp.Body.Close()
	// The content does not matter; reading it lets the connection be used again.
	io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // an error costs no more than the connection
	if resp.StatusCode/100 != 2 {
		return resp.StatusCode >= 500, errors.New("it answers " + resp.Status)
	}
	return false, nil
}
