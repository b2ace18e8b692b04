package fleet

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

// answerSubject is where recorders are asked how they are, beside the stream.
func answerSubject(stream string) string { return "a2atap-hosts." + stream }

// An Answer is what a recorder says of itself when it is asked.
type Answer struct {
	Recorder Recorder `json:"recorder"`
	Shipped  uint64   `json:"shipped"`         // the last arrival number that is in the stream for sure
	Error    string   `json:"error,omitempty"` // what keeps it from shipping
}

// answerPatience bounds how long the capture is asked for an answer.
const answerPatience = time.Second

// Anybody may ask, as often as they like, and must not burden who records. A question that waits is answered within the
// time that askers have.
const (
	answerPause     = 5 * time.Millisecond // after each answer
	maxAsking       = 64                   // questions that wait; more get no answer
	maxAskingLength = 64 << 10             // bytes of these, together
)

// answer says how this recorder is to whoever asks, until the connection is closed.
func (s *Shipper) answer(c *Conn) error {
	sub, err := c.nats.Subscribe(answerSubject(s.address.stream), func(m *nats.Msg) {
		s.answerOne(m)
		time.Sleep(answerPause)
	})
	if err != nil {
		return err
	}
	return sub.SetPendingLimits(maxAsking, maxAskingLength)
}

func (s *Shipper) answerOne(m *nats.Msg) {
	defer func() { _ = recover() }() // a mistake of ours costs this answer, and shipping goes on
	if m.Reply == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerPatience)
	defer cancel()
	info, err := s.spool.Info(ctx)
	if err != nil {
		return
	}
	status := s.Status()
	a := Answer{Recorder: s.recorder(&info), Shipped: status.Shipped}
	if status.Err != nil {
		a.Error = status.Err.Error()
	}
	if data, err := json.Marshal(a); err == nil {
		m.Respond(data) //nolint:errcheck // who asked is gone
	}
}
