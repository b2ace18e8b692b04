package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
)

// errBehind means that the consumer failed to deliver a message.
var errBehind = errors.New("messages were lost in transit, and are read again")

// consume takes the messages after the last one, up to number until (0: forever). After an outage of server or
// connection it continues at the right message, by the stream's numbers.
func (r *Reader) consume(ctx context.Context, until uint64, found func(Recorded)) error {
	pause, since := readPause, time.Now()
	for {
		before := r.seq
		err := r.session(ctx, until, found)
		var fatal *fatalError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &fatal):
			return fatal.err
		}
		if r.seq > before {
			pause, since = readPause, time.Now()
		}
		if until == 0 && pause == readPauseMost {
			r.once("trouble "+err.Error(), fmt.Sprintf("the stream cannot be read further; trying again: %v", err))
		}
		if until > 0 && time.Since(since) > awayAtMost {
			return fmt.Errorf("read %s: %w", r.conn.address, explain(err))
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(2*pause, readPauseMost)
	}
}

// A fatalError does not go away on retry.
type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }

// session takes messages from a new consumer.
func (r *Reader) session(ctx context.Context, until uint64, found func(Recorded)) error {
	stream, err := r.conn.stream(ctx)
	if err != nil {
		return err
	}
	if isCopied(stream.CachedInfo()) {
		r.stream = "" // its messages keep the subjects of the original stream
	}
	r.restart(stream.CachedInfo())
	r.missed(stream.CachedInfo())
	consumer, err := r.consumer(ctx, stream)
	if err != nil {
		return err
	}
	state := consumer.CachedInfo()
	r.caught.Store(state.NumPending == 0)
	defer r.forget(state.Name)
	if r.all == 0 || r.seq == 0 {
		r.all = r.read + state.NumPending
	}
	if until > 0 && state.NumPending == 0 {
		return nil
	}
	messages, err := consumer.Messages(
		jetstream.PullMaxBytes(max(fetchBytes, 2*int(r.conn.nats.MaxPayload()))), jetstream.PullExpiry(idleExpiry),
		jetstream.PullHeartbeat(idleBeat))
	if err != nil {
		return err
	}
	defer messages.Stop()
	for delivered := uint64(1); ; delivered++ {
		var msg jetstream.Msg
		if until == 0 {
			msg, err = messages.Next(jetstream.NextContext(ctx))
		} else {
			msg, err = r.conn.next(ctx, consumer, messages, delivered-1)
		}
		if err != nil || msg == nil {
			return err
		}
		meta, err := msg.Metadata()
		if err != nil {
			return err
		}
		if meta.Sequence.Consumer != delivered {
			return errBehind
		}
		if err := r.one(msg, meta, found); err != nil {
			return &fatalError{err}
		}
		r.caught.Store(meta.NumPending == 0)
		if until > 0 && (meta.Sequence.Stream >= until || meta.NumPending == 0) {
			return nil
		}
	}
}

// restart starts again at the first message if the stream was replaced by another.
func (r *Reader) restart(info *jetstream.StreamInfo) {
	if !r.made.IsZero() && !r.made.Equal(info.Created) || info.State.LastSeq < r.seq {
		r.seq = 0
		r.tell("the stream was recreated while it was read; it is read again from its beginning")
	}
	r.made = info.Created
}

// next returns the next message of a consumer that has delivered some, or nil if none is left, since waiting messages
// can be removed before delivery.
func (c *Conn) next(
	ctx context.Context, consumer jetstream.Consumer, messages jetstream.MessagesContext, delivered uint64,
) (jetstream.Msg, error) {
	for waited := time.Duration(0); waited < awayAtMost; waited += c.idle {
		bounded, cancel := context.WithTimeout(ctx, c.idle)
		msg, err := messages.Next(jetstream.NextContext(bounded))
		cancel()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return msg, err
		}
		bounded, cancel = context.WithTimeout(ctx, c.patience)
		info, err := consumer.Info(bounded)
		cancel()
		if err != nil || info.NumPending == 0 && info.Delivered.Consumer <= delivered {
			return nil, err
		}
	}
	return nil, errBehind
}

func (r *Reader) consumer(ctx context.Context, stream jetstream.Stream) (jetstream.Consumer, error) {
	config := jetstream.ConsumerConfig{
		AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: forgotten, MemoryStorage: true, Replicas: 1,
		FilterSubjects: r.subjects(stream.CachedInfo()),
	}
	switch since := r.options.Since; {
	case r.seq > 0:
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, r.seq+1
	case since.IsZero():
		config.DeliverPolicy = jetstream.DeliverAllPolicy
	default:
		since = r.from()
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &since
	}
	ctx, cancel := context.WithTimeout(ctx, r.conn.patience)
	defer cancel()
	before := r.conn.nats.LastError()
	consumer, err := stream.CreateConsumer(ctx, config)
	if err != nil {
		if denied := r.conn.denied(before); denied != nil { // the server does not answer such requests
			return nil, &fatalError{fmt.Errorf("read %s: %w; give this user access to the stream, or log in as another user", r.conn.address,
				denied)}
		}
	}
	return consumer, err
}

// subjects returns the subjects of the wanted hosts; with no hosts, all of the stream.
func (r *Reader) subjects(info *jetstream.StreamInfo) []string {
	var subjects []string
	if all := allSubjects(r.conn.address.stream); len(r.options.Hosts) == 0 && !isCopied(info) &&
		!slices.Contains(info.Config.Subjects, all) {
		return []string{all} // the stream accepts more than recorders' messages
	}
	seen := make(map[string]bool)
	for _, host := range r.options.Hosts {
		subject := Subjects(r.conn.address.stream, host) + "*"
		if !seen[subject] {
			seen[subject] = true
			subjects = append(subjects, subject)
		}
	}
	return subjects
}

// forget deletes a consumer. If the server is away, the consumer expires.
func (r *Reader) forget(name string) {
	if !r.conn.nats.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), goodbyeTime)
	defer cancel()
	_ = r.conn.js.DeleteConsumer(ctx, r.conn.address.stream, name)
}

func (r *Reader) one(msg jetstream.Msg, meta *jetstream.MsgMetadata, found func(Recorded)) error {
	m, err := r.take(msg.Subject(), msg.Headers(), msg.Data(), meta.Timestamp)
	if err != nil {
		return err
	}
	r.seq = meta.Sequence.Stream
	r.read++
	r.options.OnProgress(r.read, max(r.all, r.read))
	if m != nil && found != nil {
		found(m.recorded())
	}
	return nil
}

// from returns the storage time of the first messages to read, with Since.
func (r *Reader) from() time.Time { return r.options.Since.Add(-sinceRoom) }

// removedOf returns how many messages retention has removed at the beginning of a stream, or 0 if all of them were
// older than wanted. Messages of other hosts are included, since their hosts are no longer known.
func (r *Reader) removedOf(info *jetstream.StreamInfo) uint64 {
	state := &info.State
	oldest := state.FirstTime
	if state.Msgs == 0 {
		oldest = state.LastTime
	}
	first := max(info.Config.FirstSeq, 1)
	if state.FirstSeq <= first || !r.options.Since.IsZero() && !oldest.After(r.from()) {
		return 0
	}
	return state.FirstSeq - first
}

// tellRemoved reports removed messages if no recorder lacks its beginning: they then belonged to recorders with no
// message left.
func (r *Reader) tellRemoved() {
	mirrors := r.found()
	if r.removed == 0 || slices.ContainsFunc(mirrors, (*mirror).lacksHead) {
		return
	}
	what := fmt.Sprintf("the first %d messages of", r.removed)
	if r.removed == 1 {
		what = "the first message of"
	}
	why := fmt.Sprintf("%s the stream %s were removed; recorders without remaining messages are unknown", what,
		r.conn.address.stream)
	r.tell(why)
	if len(mirrors) == 0 {
		r.unsaid = why
		return
	}
	mirrors[0].precede(capture.Lost{Reason: why})
}

// missed reports messages that were removed before they were read. Only a reader of all subjects can know that.
func (r *Reader) missed(info *jetstream.StreamInfo) {
	first := info.State.FirstSeq
	if r.seq == 0 || first <= r.seq+1 || len(r.subjects(info)) > 0 {
		return
	}
	why := fmt.Sprintf("messages %d to %d of the stream %s were removed before they were read; their recorder is not "+
		"known", r.seq+1, first-1, r.conn.address.stream)
	r.seq = first - 1
	r.tell(why)
	if mirrors := r.found(); len(mirrors) > 0 {
		mirrors[0].miss(why)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unsaid = why
}
