package fleet

import (
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	maxMessage = 1 << 20  // bytes of a message, even if the server allows more; NATS recommends it
	minPart    = 1 << 10  // bytes of data for which every message must have room
	maxKept    = 4 << 20  // bytes of a buffer that is reused for the next message
	maxBlock   = 64 << 20 // bytes of a block; such a long block has one step
)

// headerRoom returns the maximum size of a message's headers in bytes.
func headerRoom(r *Recorder, stream string) int {
	const most = 1<<63 - 1
	m := Message{Recorder: *r, First: most, Last: most - 1, Part: maxParts, Parts: maxParts}
	msg, err := m.encode(stream)
	if err != nil {
		return maxMessage
	}
	// Room for what nats.go adds, for the message's id, and for values that grow.
	return msg.Size() + len(messageID(&m, most)) + 256
}

// messageID returns the id by which the server recognizes duplicates: the capture, the arrival numbers, and the
// sequence of the previous message.
func messageID(m *Message, last uint64) string {
	id := fmt.Sprintf("%s:%d-%d@%d", strings.ReplaceAll(m.Recorder.Capture.String(), "-", ""), m.First, m.Last, last)
	if m.Parts > 1 {
		id += fmt.Sprintf(":%d/%d", m.Part, m.Parts)
	}
	return id
}

// parts publishes a message, in parts if it is too long; it then has one block.
func (s *Shipper) parts(ctx context.Context, m *Message) error {
	n := (len(m.Data) + s.room - 1) / s.room
	if n <= 1 {
		return s.publish(ctx, m)
	}
	if n > maxParts {
		return fmt.Errorf("%w: the block with arrival numbers %d to %d has %d bytes, which needs %d messages; allow "+
			"messages of %d bytes or more", errSmall, m.First, m.Last, len(m.Data), n, maxBlock/maxParts+4096)
	}
	s.full = true
	for i := range n {
		part := *m
		part.Part, part.Parts = i+1, n
		part.Data = m.Data[len(m.Data)*i/n : len(m.Data)*(i+1)/n]
		if err := s.publish(ctx, &part); err != nil {
			return err
		}
		s.work.GiveWay()
	}
	return nil
}

// says keeps the recorder's state from the last message of the subject, without the message's data.
func (s *Shipper) says(m *Message) {
	s.state = new(m.Recorder)
}

// publish publishes a message after the last one of the subject, and records the server's acknowledgment.
func (s *Shipper) publish(ctx context.Context, m *Message) error {
	msg, err := m.encode(s.address.stream)
	if err != nil {
		return err
	}
	s.tried = messageID(m, s.last) + s.salt
	bounded, cancel := context.WithTimeout(ctx, s.conn.patience)
	defer cancel()
	ack, err := s.conn.js.PublishMsg(bounded, msg, jetstream.WithMsgID(s.tried),
		jetstream.WithExpectLastSequencePerSubject(s.last), jetstream.WithRetryAttempts(0))
	switch {
	case err != nil && isConflict(err):
		return errUncertain
	case err != nil:
		return fmt.Errorf("publish to %s: %w", s.address, explainStream(err))
	case ack.Stream != s.address.stream:
		return fmt.Errorf("%w: messages for %s go to the stream %s", errForeignStream, s.address.stream, ack.Stream)
	case ack.Duplicate:
		// The server has stored it before. The next question shows whether the server still has it; if not, the message
		// needs another id.
		s.salt = fmt.Sprintf("+%d", ack.Sequence)
		return errUncertain
	}
	s.last, s.own, s.salt = ack.Sequence, ack.Sequence, ""
	s.messages.Add(1)
	s.went = true
	s.failing.Store(nil)
	if m.Part == m.Parts {
		s.steps.Add(m.Last + 1 - m.First)
		s.next = m.Last + 1
		s.says(m)
		s.shipped.Store(m.Last)
	}
	return nil
}
