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
	"a2atap/replay/probe/scenarios/scenario"
)

// lateness is how long a webhook that should hear nothing is listened at, once another has heard it.
const lateness = 250 * time.Millisecond

// An inbox is a webhook of a case, and what came there.
type inbox struct {
	receiver *webhook.Receiver
	chosen   bool   // its address was
	secret   string // that the agent is to authenticate by; empty for none

	mu      sync.Mutex
	all     []delivery
	tls     bool // somebody connected who does not trust the certificate
	changed chan struct{}
}

// A delivery is a notification that can be read.
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

// withInbox gives what is asked a webhook of its own.
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

// origin returns where the webhook is, without what makes it a secret.
func (in *inbox) origin() string {
	u, err := url.Parse(in.receiver.URL())
	if err != nil {
		return "the webhook"
	}
	return u.Scheme + "://" + u.Host
}

// take notes what came. The receiver does not read what comes without the token.
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

// about returns the deliveries about a task, of a state if that is not empty, and a channel that is closed when another
// comes.
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

// await returns the deliveries about a task when there is one, or none when the time is over or the agent has shown
// that it does not trust the webhook.
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

// patience is how long a notification may take after what it tells of.
func patience(s *probe.Session) time.Duration { return min(scenario.Patience, s.Timeout) }

// reaches reports whether the agent can be expected to reach a webhook: its address was chosen for that, or it is on
// this machine, as the agent is.
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
