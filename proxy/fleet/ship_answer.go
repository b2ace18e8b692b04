package fleet

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"
)

// answerSubject returns the subject, outside the stream, on which readers request the state of recorders.
func answerSubject(stream string) string { return "a2atap-hosts." + stream }

// An Answer is a recorder's answer about its state.
type Answer struct {
	Recorder Recorder `json:"recorder"`
	Shipped  uint64   `json:"shipped"`         // last arrival number known to be in the stream
	Error    string   `json:"error,omitempty"` // what prevents shipping
}

// answerPatience bounds the time for reading the capture's state for an answer.
const answerPatience = time.Second

// Anyone may ask, as often as they like, and must not burden the recorder. A waiting question is answered before the
// asker gives up.
const (
	answerPause     = 5 * time.Millisecond // after each answer
	maxAsking       = 64                   // waiting questions; others get no answer
	maxAskingLength = 64 << 10             // bytes of waiting questions
)

// answer answers questions about this recorder's state until the connection is closed.
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
	defer func() { _ = recover() }() // a bug costs this answer, and shipping continues
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
