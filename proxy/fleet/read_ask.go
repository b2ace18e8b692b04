package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"a2atap/proxy/safetext"
)

// Time for recorders to answer: for the first, and for each after another's answer. If no recorder is connected, the
// server reports it.
const (
	firstPatience = 2 * time.Second
	askPatience   = 500 * time.Millisecond
)

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 16 << 10

// ask asks the stream's recorders for their state, and calls each with every answer and the times of question and
// answer, until each returns false or no more answers arrive. The error wraps nats.ErrPermissionViolation if the server
// does not permit this user to ask.
func (c *Conn) ask(ctx context.Context, each func(a *Answer, asked, came time.Time) bool) error {
	bounded, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	inbox := c.nats.NewInbox()
	sub, err := c.nats.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe() //nolint:errcheck // then the connection is gone
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
			continue // anyone can answer
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

// denied returns the connection's newest error if it is a permission violation other than before, otherwise nil.
func (c *Conn) denied(before error) error {
	now := c.nats.LastError()
	if now != before && errors.Is(now, nats.ErrPermissionViolation) { //nolint:errorlint // compares identity
		return now
	}
	return nil
}
