package engine

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

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// A deliverer posts push notifications.
type deliverer struct {
	client *http.Client
	pause  time.Duration   // before the second attempt; it doubles
	edit   func(*Delivery) // the fault's hook; nil for a faithful agent
	log    func(string)
}

// A Delivery is one notification about to be posted.
type Delivery struct {
	Method string
	Header http.Header
	Body   any
}

const (
	deliveryRetries = 2
	deliveryTimeout = 10 * time.Second // A2A 1.0 §13.2 recommends 10 to 30 seconds
)

// newDeliverer returns a deliverer that pauses for half a step before it tries again.
func newDeliverer(opts Options) *deliverer {
	return &deliverer{pause: opts.StepTime / 2, edit: opts.Edit, log: opts.Log, client: &http.Client{
		Timeout: deliveryTimeout,
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, TLSClientConfig: &tls.Config{RootCAs: opts.WebhookRoots},
		},
		// A redirect is an answer like any other: the client asked for exactly this URL.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// follow posts the events of a task, in order, until the task has ended. It returns false if it stopped earlier, since
// a delivery failed and the config requires to stop then.
func (d *deliverer) follow(ctx context.Context, c model.PushConfig, t model.Task, events *model.Feed) bool {
	t.History = nil // a receiver can ask for it
	for {
		e, next, err := events.Wait(ctx)
		if err != nil {
			return true
		}
		events = next
		t.Apply(e)
		t.History = nil
		if body, mediaType, ok := c.Dialect.Notification(e, t); ok && c.Wants(e) {
			if !d.deliver(ctx, c, body, mediaType) && c.EndsByFailure {
				return false
			}
		}
		if e.Terminal() {
			return true
		}
	}
}

// deliver posts one notification, again if it fails, and reports whether the receiver has taken it. One that never
// does misses it.
func (d *deliverer) deliver(ctx context.Context, c model.PushConfig, body any, mediaType string) bool {
	n := &Delivery{Method: http.MethodPost, Header: http.Header{"Content-Type": {mediaType}}, Body: body}
	if a := c.Dialect.Authorization(c); a != "" {
		n.Header.Set("Authorization", a)
	}
	if c.Token != "" {
		n.Header.Set("X-A2A-Notification-Token", c.Token)
	}
	if d.edit != nil {
		d.edit(n)
	}
	text := jsonvalue.Append(nil, n.Body)
	pause := d.pause
	retries := cmp.Or(c.Retries, deliveryRetries)
	for retry := 0; ; retry++ {
		again, err := d.post(ctx, c.URL, n, text)
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

// complain logs a notification that could not be delivered. The rest of a webhook's URL may be a secret.
func (d *deliverer) complain(c model.PushConfig, attempts int, err error) {
	to := "a webhook"
	if u, e := url.Parse(c.URL); e == nil {
		to = u.Scheme + "://" + u.Host
	}
	if at, ok := errors.AsType[*url.Error](err); ok {
		err = at.Err
	}
	then := "it misses this notification"
	if c.EndsByFailure {
		then = "it gets no more notifications of this task"
	}
	d.log(fmt.Sprintf("push notification of task %s to %s: %v (attempts: %d); %s", c.TaskID, to, err, attempts, then))
}

// post returns an error if the receiver has not taken the notification, and whether to try again: a server error may
// pass, other refusals do not.
func (d *deliverer) post(ctx context.Context, url string, n *Delivery, text []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, n.Method, url, bytes.NewReader(text))
	if err != nil {
		return false, err
	}
	req.Header = n.Header.Clone()
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
