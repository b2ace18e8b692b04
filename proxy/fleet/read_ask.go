package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"a2atap/proxy/safetext"
)

// How long recorders have to answer: the first, and each after another one has. Where none is there, the server says so.
const (
	firstPatience = 2 * time.Second
	askPatience   = 500 * time.Millisecond
)

// maxAnswer bounds what a recorder can have to say of itself, in bytes.
const maxAnswer = 16 << 10

// ask asks the recorders of the stream that are there how they are, and calls each with their answers, and when it was
// asked and when the answer came, until that returns false or nobody answers any more. An error wraps
// nats.ErrPermissionViolation where the server does not let this user ask.
func (c *Conn) ask(ctx context.Context, each func(a *Answer, asked, came time.Time) bool) error {
	bounded, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	inbox := c.nats.NewInbox()
	sub, err := c.nats.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection is gone, then
	before := c.nats.LastError()
	asked := time.Now()
	if err := c.nats.PublishRequest(answerSubject(c.address.stream), inbox, nil); err != nil {
		return err
	}
	if err := c.nats.FlushWithContext(bounded); err != nil {
		return err
	}
	if denied := c.denied(before); denied != nil {
		return denied
	}
	within := firstPatience
	for {
		msg, err := nextWithin(bounded, sub, within)
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrNoResponders):
			return nil
		case err != nil:
			return err
		}
		came := time.Now()
		var a Answer
		if len(msg.Data) > maxAnswer || json.Unmarshal(msg.Data, &a) != nil || !a.Recorder.plausible() {
			continue // anybody can answer
		}
		within, a.Error = askPatience, safetext.Plain(a.Error)
		if !each(&a, asked, came) {
			return nil
		}
	}
}

func nextWithin(ctx context.Context, sub *nats.Subscription, limit time.Duration) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return sub.NextMsgWithContext(ctx)
}

// denied returns what the server has refused this user since an error was the last of the connection; nil if nothing.
func (c *Conn) denied(before error) error {
	now := c.nats.LastError()
	if now != before && errors.Is(now, nats.ErrPermissionViolation) { //nolint:errorlint // is it another one
		return now
	}
	return nil
}
