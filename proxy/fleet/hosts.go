package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
)

// A Fleet describes a stream and its recorders, as they report themselves.
type Fleet struct {
	Stream StreamState `json:"stream"`
	Hosts  []HostState `json:"recorders"`
}

// A StreamState describes a stream. A limit of zero means no limit.
type StreamState struct {
	Address  string        `json:"address"`
	Messages uint64        `json:"messages"`
	Bytes    uint64        `json:"bytes"`
	First    time.Time     `json:"first,omitzero"` // when its first message was stored
	Last     time.Time     `json:"last,omitzero"`
	MaxAge   time.Duration `json:"maxAgeNs"`
	MaxBytes int64         `json:"maxBytes"`
	Replicas int           `json:"replicas"`
	Leader   string        `json:"leader,omitempty"`  // of a cluster
	Current  int           `json:"current,omitempty"` // how many of the other replicas are up to date
}

// A HostState is the state of one recorder.
type HostState struct {
	Host      string    `json:"host"`
	Capture   string    `json:"capture"` // the id
	Name      string    `json:"name"`    // of the file
	Tool      string    `json:"tool"`
	Format    int       `json:"format"`
	Committed uint64    `json:"committed"` // steps known to be in its file
	Shipped   uint64    `json:"shipped"`   // how many of them are or were in the stream
	Missing   uint64    `json:"missing"`   // how many of those retention has removed at the beginning
	Lost      int64     `json:"lostExchanges"`
	Crashes   uint64    `json:"crashes"`
	State     string    `json:"state"`           // "live", "ended", or "silent": has not ended and does not answer
	Heard     time.Time `json:"heard"`           // when it last published or answered
	Behind    float64   `json:"behindSeconds"`   // age of the oldest unshipped commit, 0 if all are shipped
	Error     string    `json:"error,omitempty"` // the recorder's own reason for not shipping
	Future    string    `json:"future,omitempty"`

	// ClockOffset is the minimum by which the recorder's clock is ahead of this machine's, in seconds; since an answer
	// takes time, the real offset may be larger. It is 0 if the clocks may be equal, and nil if the recorder does not
	// answer.
	ClockOffset *float64 `json:"clockOffsetSeconds,omitempty"`
}

// The states of a recorder.
const (
	StateLive   = "live"
	StateEnded  = "ended"
	StateSilent = "silent"
)

// Hosts lists the recorders of the stream, sorted by host, name and capture. It reads the last message of each, and
// asks those that answer.
func (c *Conn) Hosts(ctx context.Context) (*Fleet, error) {
	stream, err := c.stream(ctx)
	if err != nil {
		return nil, err
	}
	info := stream.CachedInfo()
	f := &Fleet{Stream: c.state(info)}
	subjects := make(map[string]*HostState)
	if info.State.Msgs > 0 {
		if subjects, err = c.lastMessages(ctx); err != nil {
			return nil, err
		}
	}
	byCapture := make(map[string]*HostState)
	for subject, h := range subjects {
		if err := c.firstMessage(ctx, stream, subject, h); err != nil {
			return nil, err
		}
		if known := byCapture[h.Capture]; known == nil || known.Heard.Before(h.Heard) {
			byCapture[h.Capture] = h
		}
	}
	err = c.ask(ctx, func(a *Answer, asked, came time.Time) bool {
		key := a.Recorder.Capture.String()
		if byCapture[key] == nil {
			byCapture[key] = &HostState{}
		}
		byCapture[key].answered(a, asked, came)
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("ask the recorders of %s: %w", c.address, err)
	}
	for _, h := range byCapture {
		f.Hosts = append(f.Hosts, *h)
	}
	slices.SortFunc(f.Hosts, func(a, b HostState) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Capture, b.Capture))
	})
	return f, nil
}

func (c *Conn) state(info *jetstream.StreamInfo) StreamState {
	s := StreamState{
		Address: c.address.String(), Messages: info.State.Msgs, Bytes: info.State.Bytes,
		MaxAge: info.Config.MaxAge, MaxBytes: max(info.Config.MaxBytes, 0), Replicas: info.Config.Replicas,
	}
	if s.Messages > 0 {
		s.First, s.Last = info.State.FirstTime, info.State.LastTime
	}
	if info.Cluster != nil {
		s.Leader = info.Cluster.Leader
		for _, peer := range info.Cluster.Replicas {
			if peer.Current && !peer.Offline {
				s.Current++
			}
		}
	}
	return s
}

// lastMessages reads the headers of the last message of each subject.
func (c *Conn) lastMessages(ctx context.Context) (map[string]*HostState, error) {
	bounded, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	consumer, err := c.js.CreateConsumer(bounded, c.address.stream, jetstream.ConsumerConfig{
		AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: forgotten, MemoryStorage: true, Replicas: 1,
		DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true,
		FilterSubject: allSubjects(c.address.stream),
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.address, explain(err))
	}
	state := consumer.CachedInfo()
	defer c.js.DeleteConsumer(context.WithoutCancel(ctx), c.address.stream, state.Name) //nolint:errcheck // the server removes it by itself
	found := make(map[string]*HostState)
	if state.NumPending == 0 {
		return found, nil
	}
	messages, err := consumer.Messages(jetstream.PullExpiry(idleExpiry), jetstream.PullHeartbeat(idleBeat))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.address, explain(err))
	}
	defer messages.Stop()
	for delivered := uint64(0); ; delivered++ {
		if delivered == c.subjects { // publishers or the server can invent any number
			return nil, fmt.Errorf("read %s: it has more than %d subjects, which is more than are listed", c.address, c.subjects)
		}
		msg, err := c.next(ctx, consumer, messages, delivered)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", c.address, explain(err))
		}
		if msg == nil {
			return found, nil
		}
		meta, err := msg.Metadata()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", c.address, err)
		}
		m, err := decodeMessage(msg.Headers(), nil)
		if _, own := sender(c.address.stream, msg.Subject(), m); own && (err == nil || errors.Is(err, capture.ErrFuture)) {
			found[msg.Subject()] = published(m, err, meta.Timestamp)
		}
		if meta.NumPending == 0 {
			return found, nil
		}
	}
}

// published returns a recorder's state according to its last message.
func published(m *Message, future error, at time.Time) *HostState {
	h := &HostState{Heard: at, Shipped: m.Last}
	if m.Parts > 1 && m.Part < m.Parts {
		h.Shipped = m.First - 1
	}
	if future != nil {
		h.Future = future.Error()
	}
	h.describe(&m.Recorder)
	if h.State = StateEnded; m.Recorder.Live {
		h.State = StateSilent
	}
	if h.Committed > h.Shipped {
		h.Behind = max(time.Since(at).Seconds(), 0)
	}
	return h
}

func (h *HostState) describe(r *Recorder) {
	h.Host, h.Capture, h.Name, h.Tool = nameOf(r.Host), r.Capture.String(), nameOf(r.Name), nameOf(r.Tool)
	h.Format = r.Format
	h.Committed, h.Lost, h.Crashes = r.Committed, r.LostExchanges, r.Crashes
}

// answered adds a recorder's answer.
func (h *HostState) answered(a *Answer, asked, came time.Time) {
	last := h.Heard
	if last.IsZero() {
		last = a.Recorder.Created
	}
	h.describe(&a.Recorder)
	h.Shipped, h.Error, h.Heard = max(h.Shipped, a.Shipped), a.Error, came
	if h.State = StateEnded; a.Recorder.Live {
		h.State = StateLive
	}
	if h.Behind = 0; h.Committed > h.Shipped {
		h.Behind = max(came.Sub(last).Seconds(), 0)
	}
	offset := 0.0
	switch sent := a.Recorder.Sent; {
	case sent.After(came):
		offset = sent.Sub(came).Seconds()
	case sent.Before(asked):
		offset = sent.Sub(asked).Seconds()
	}
	h.ClockOffset = &offset
}

// firstMessage finds out how much of a recorder's beginning retention has removed.
func (c *Conn) firstMessage(ctx context.Context, stream jetstream.Stream, subject string, h *HostState) error {
	info := stream.CachedInfo()
	if h.Future != "" || info.State.FirstSeq <= 1 && info.State.NumDeleted == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	msg, err := stream.GetMsg(ctx, info.State.FirstSeq, jetstream.WithGetMsgSubject(subject))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", c.address, explain(err))
	}
	if m, err := decodeMessage(msg.Header, msg.Data); err == nil && m.First > 1 {
		h.Missing = m.First - 1
	}
	return nil
}
