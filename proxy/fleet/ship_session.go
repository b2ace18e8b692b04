package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// session ships until everything is shipped, and returns nil, or until an error occurs.
func (s *Shipper) session(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.interrupt.Store(&cancel) // called when the connection is lost, since pending requests will not be answered
	if err := s.connect(ctx); err != nil {
		return err
	}
	info, err := s.look(ctx)
	if err != nil {
		return s.reason(err)
	}
	if err := s.ask(ctx, &info); err != nil {
		return s.reason(err)
	}
	for {
		done, err := s.more(ctx, &info)
		if err != nil {
			return s.reason(err)
		}
		if done {
			return nil
		}
		if info, err = s.look(ctx); err != nil {
			return s.reason(err)
		}
		s.news.went(s.next-1, s.target(&info))
	}
}

// connect connects unless a connection exists.
func (s *Shipper) connect(ctx context.Context) error {
	if s.conn == nil || s.conn.nats.IsClosed() {
		if s.conn != nil {
			s.conn.Close()
		}
		c, err := Connect(ctx, s.address, s.options.Connect)
		if err != nil {
			s.conn = nil
			return err
		}
		s.conn = c
		s.open.Store(c)
		s.lost.Store(nil)
		if err = s.settle(ctx, c); err == nil {
			err = s.answer(c)
		}
		if err != nil {
			err = s.reason(err)
			s.conn = nil
			c.Close()
			return err
		}
	}
	if !s.conn.nats.IsConnected() {
		return s.reason(fmt.Errorf("%s is unreachable", s.address))
	}
	return nil
}

// look reads the capture's state.
func (s *Shipper) look(ctx context.Context) (capture.Info, error) {
	info, err := s.spool.Info(ctx)
	if err != nil {
		return info, spoolError(err)
	}
	if s.options.Once && s.until == 0 {
		s.until = info.Arrivals
	}
	s.committed.Store(info.Arrivals)
	return info, nil
}

// target returns the last step to ship, as far as it is known.
func (s *Shipper) target(info *capture.Info) uint64 {
	if s.options.Once {
		return s.until
	}
	return info.Arrivals
}

func (s *Shipper) recorder(info *capture.Info) Recorder {
	r := NewRecorder(*s.host.Load(), s.options.Tool, s.options.Name, info)
	r.Sent = time.Now().UTC()
	return r
}

// ask finds out how much of the capture is in the stream.
func (s *Shipper) ask(ctx context.Context, info *capture.Info) error {
	stream, err := s.conn.ensureStream(ctx, s.options.Limits)
	if err != nil {
		return err
	}
	recorder := s.recorder(info)
	s.capture = info.ID
	s.subject = recorder.Subject(s.address.stream)
	s.room = min(int(s.conn.nats.MaxPayload()), maxMessage)
	if limit := int(stream.Config.MaxMsgSize); limit > 0 {
		s.room = min(s.room, limit)
	}
	s.room -= headerRoom(&recorder, s.address.stream)
	if s.room < minPart {
		return fmt.Errorf("%w: max_payload, or the stream's maximum message size, is too small for steps; allow %d "+
			"bytes or more", errSmall, minPart+headerRoom(&recorder, s.address.stream))
	}
	last, err := s.conn.lastMessage(ctx, s.subject)
	if err != nil {
		return err
	}
	// If the stream does not show its contents, the steps that this process has shipped count, unless the stream is
	// another one or has lost its end.
	known := s.next
	if known == 0 || !s.made.Equal(stream.Created) || stream.State.LastSeq < s.own {
		known = 1
	}
	s.made, s.state = stream.Created, nil
	if last != nil && s.tried != "" && last.Header.Get(nats.MsgIdHdr) == s.tried {
		s.own = last.Sequence // its acknowledgement was lost
	}
	if last == nil {
		s.next, s.last = known, 0
	} else if err := s.goOn(last.Sequence, known, func() (*Message, error) {
		return decodeMessage(last.Header, last.Data)
	}); err != nil {
		return err
	}
	if s.next > info.Arrivals+1 { // another shipper may have shipped newer commits
		if *info, err = s.look(ctx); err != nil {
			return err
		}
	}
	if s.next > info.Arrivals+1 {
		return fmt.Errorf("%w: %d steps, but the file has %d; it may be an older copy, or truncated", errAhead, s.next-1,
			info.Arrivals)
	}
	s.shipped.Store(s.next - 1)
	s.asked.Store(true)
	s.failing.Store(nil)
	s.news.went(s.next-1, s.target(info))
	return nil
}

// goOn continues after a message.
func (s *Shipper) goOn(sequence, known uint64, decode func() (*Message, error)) error {
	s.last = sequence
	m, err := decode()
	switch {
	case errors.Is(err, capture.ErrFuture):
		return fmt.Errorf("another program ships this capture: %w", err)
	case err != nil || m.Recorder.Capture != s.capture:
		s.next = known // a foreign message: readers discard their unfinished parts
	case m.Part < m.Parts && sequence != s.own && sequence != s.partial:
		// Another shipper may be about to send the rest. If it has not done so by the next attempt, it never will.
		s.partial = sequence
		if s.next == 0 {
			s.next = known
		}
		return errPartial
	case m.Part < m.Parts:
		s.next = m.First
	default:
		s.next = m.Last + 1
		s.says(m)
	}
	s.partial = 0
	return nil
}

// errPartial is an unfinished block at the end of the subject, which another shipper may be about to finish.
var errPartial = fmt.Errorf("%w: a part of a block", errUncertain)

// more ships one message, if any data is waiting, and reports whether everything is shipped.
func (s *Shipper) more(ctx context.Context, info *capture.Info) (done bool, err error) {
	if s.next > s.target(info) {
		if err := s.note(ctx, info); err != nil || s.options.Once {
			return err == nil, err
		}
		s.went = true
		switch err := s.spool.Wait(ctx, s.next); {
		case errors.Is(err, capture.ErrEnded):
			return s.end(ctx)
		case err != nil:
			return false, spoolError(err)
		}
	}
	if err := s.giveWay(ctx); err != nil {
		return false, err
	}
	s.begun = time.Now()
	return false, s.blocks(ctx)
}

// end publishes the end of the recording if it has ended and everything is shipped.
func (s *Shipper) end(ctx context.Context) (done bool, err error) {
	info, err := s.look(ctx)
	if err != nil {
		return false, err
	}
	if s.next <= info.Arrivals {
		return false, nil
	}
	return true, s.note(ctx, &info)
}

// note publishes the recorder's state unless the last message of the subject has the same.
func (s *Shipper) note(ctx context.Context, info *capture.Info) error {
	r := s.recorder(info)
	if s.state != nil {
		was, is := *s.state, r
		was.Sent, is.Sent = time.Time{}, time.Time{}
		was.CrashAfter, is.CrashAfter = was.CrashAfter.UTC(), is.CrashAfter.UTC()
		was.Created, is.Created = was.Created.UTC(), is.Created.UTC()
		if was == is {
			return nil
		}
	}
	return s.publish(ctx, &Message{Recorder: r, First: s.next, Last: s.next - 1, Part: 1, Parts: 1})
}

// blocks ships waiting blocks: as many as fit into one message, or one block in parts.
func (s *Shipper) blocks(ctx context.Context) error {
	info, err := s.look(ctx)
	if err != nil {
		return err
	}
	r := s.recorder(&info)
	r.Live = true // more may follow; the end is a separate message
	m := Message{Recorder: r, First: s.next, Part: 1, Parts: 1, Data: s.data[:0]}
	s.full = false
	for b, err := range s.spool.Blocks(ctx, s.next) {
		if err != nil {
			return spoolError(err)
		}
		if m.Last != 0 && len(m.Data)+blockPrefix+len(b.Packed) > s.room {
			s.full = true
			break
		}
		if m.Data = appendBlock(m.Data, &b); m.Last == 0 {
			m.First = b.First
		}
		if m.Last = b.Last; len(m.Data) > s.room || s.until > 0 && m.Last >= s.until {
			break
		}
		s.work.GiveWay()
	}
	if m.Last == 0 {
		return spoolError(fmt.Errorf("there is no block with arrival number %d", s.next))
	}
	if s.data = m.Data; cap(s.data) > maxKept {
		s.data = nil
	}
	return s.parts(ctx, &m)
}

// Pauses between messages.
const (
	interval  = 100 * time.Millisecond // between messages that are not full
	busyPause = 10 * time.Millisecond  // while traffic needs the processor
	busyMost  = 20                     // pauses at most before one message
)

// giveWay waits until it is time for the next message.
func (s *Shipper) giveWay(ctx context.Context) error {
	if !s.full && !s.options.Once {
		if !s.sleep(ctx, interval-time.Since(s.begun)) {
			return ctx.Err()
		}
	}
	for n := 0; n < busyMost && s.options.Busy != nil && s.options.Busy(); n++ {
		if !s.sleep(ctx, busyPause) {
			return ctx.Err()
		}
	}
	return nil
}

func (s *Shipper) sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

var _ Spool = (*bolt.Reader)(nil)
