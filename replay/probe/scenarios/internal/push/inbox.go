package push

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"time"

	"a2atap/proxy/hostname"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// lateness is the time to wait for a wrong notification at one webhook after another webhook got its own.
const lateness = 250 * time.Millisecond

// An inbox is a webhook of a case, with its deliveries.
type inbox struct {
	receiver *webhook.Receiver
	chosen   bool   // the user chose its address
	secret   string // credentials that the agent must send; empty for none

	mu      sync.Mutex
	all     []delivery
	tls     bool // a sender did not trust the certificate
	changed chan struct{}
}

// A delivery is a readable notification.
type delivery struct {
	webhook.Delivery
	stranger bool // it came without the token
}

// listen opens a webhook.
func listen(s *probe.Session) (*inbox, error) {
	server, chosen, err := s.Webhook()
	if err != nil {
		return nil, probe.Unclear("no webhook could be opened: %v", err)
	}
	in := &inbox{chosen: chosen, changed: make(chan struct{})}
	in.receiver = server.Receive(webhook.Options{On: in.take, Record: s.Notified})
	return in, nil
}

func (in *inbox) close() { in.receiver.Close() }

// withInbox runs the scenario with a separate webhook.
func withInbox(
	ask func(context.Context, *probe.Session, *inbox) error,
) func(context.Context, *probe.Session) error {
	return func(ctx context.Context, s *probe.Session) error {
		in, err := listen(s)
		if err != nil {
			return err
		}
		defer in.close()
		return ask(ctx, s, in)
	}
}

// origin returns the origin of the webhook, without the secret path.
func (in *inbox) origin() string {
	u, err := url.Parse(in.receiver.URL())
	if err != nil {
		return "the webhook"
	}
	return u.Scheme + "://" + u.Host
}

// take notes a delivery. The receiver does not read deliveries without the token.
func (in *inbox) take(d webhook.Delivery) {
	in.mu.Lock()
	defer in.mu.Unlock()
	defer func() {
		close(in.changed)
		in.changed = make(chan struct{})
	}()
	if errors.Is(d.Err, webhook.ErrTLS) {
		in.tls = true
		return
	}
	x := delivery{Delivery: d}
	if errors.Is(d.Err, webhook.ErrToken) {
		x.stranger = true
		x.Event, x.Err = client.ReadNotification(d.Body)
	}
	in.all = append(in.all, x)
}

func (in *inbox) distrusted() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.tls
}

// about returns the deliveries about a task, in a state unless that is empty, and a channel that is closed on the
// next one.
func (in *inbox) about(task string, state client.State) (found []delivery, changed <-chan struct{}) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, d := range in.all {
		if d.Err == nil && d.Event.TaskID() == task && (state == "" || d.Event.State() == state) {
			found = append(found, d)
		}
	}
	return found, in.changed
}

// await returns the deliveries about a task as soon as one exists. It returns none after the timeout, or if the agent
// does not trust the webhook.
func (in *inbox) await(ctx context.Context, d time.Duration, task string, state client.State) []delivery {
	over := time.NewTimer(d)
	defer over.Stop()
	for {
		found, changed := in.about(task, state)
		if len(found) > 0 || in.distrusted() {
			return found
		}
		select {
		case <-changed:
		case <-over.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// patience bounds the time between an event and its notification.
func patience(s *probe.Session) time.Duration { return min(scenario.Patience, s.Timeout) }

// reaches reports whether the agent should be able to reach a webhook: the user chose its address for that, or the
// agent is on this machine.
func reaches(s *probe.Session, in *inbox) bool {
	if in.chosen {
		return true
	}
	hook, err := url.Parse(in.receiver.URL())
	if err != nil {
		return false
	}
	agent, err := url.Parse(s.Endpoint().URL)
	isLocal := func(u *url.URL) bool { return hostname.IsLoopback(hostname.Normal(u.Hostname())) }
	return err == nil && (isLocal(agent) || !isLocal(hook))
}
