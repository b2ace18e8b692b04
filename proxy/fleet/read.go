package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
)

// Read reads the messages that the stream has when Read starts. If a recorder has a later version, the error names it
// and wraps capture.ErrFuture. Use the captures after Read has returned.
func (r *Reader) Read(ctx context.Context) error {
	stream, err := r.conn.stream(ctx)
	if err != nil {
		return err
	}
	info := stream.CachedInfo()
	r.removed, r.until = r.removedOf(info), info.State.LastSeq
	if r.all = info.State.Msgs; r.all > 0 {
		if err := r.consume(ctx, info.State.LastSeq, nil); err != nil {
			return err
		}
	}
	r.tellRemoved()
	r.caught.Store(false)
	return nil
}

// Follow reads the messages that arrive after Read, until the context ends, and calls found with each new recorder.
func (r *Reader) Follow(ctx context.Context, found func(Recorded)) error {
	return r.consume(ctx, 0, found)
}

// take takes a message; at is when the server stored it. An error ends the reading.
func (r *Reader) take(subject string, header nats.Header, data []byte, at time.Time) (*mirror, error) {
	m, err := decodeMessage(header, data)
	host, own := sender(r.stream, subject, m)
	switch {
	case !r.wants(host):
		return nil, nil
	case !own:
		err = errMessage
	case errors.Is(err, capture.ErrFuture):
		return nil, fmt.Errorf("read %s: %w; --host NAME reads only other hosts", r.conn.address, err)
	}
	if err != nil {
		r.foreign(subject, err)
		return r.spoil(subject), nil
	}
	run := r.runs[subject]
	if run == nil {
		run = &assembler{}
		r.runs[subject] = run
	}
	whole, complete := r.add(run, m)
	var mirror *mirror
	mirror, found := r.mirror(m)
	if !complete || mirror.isCopy(m) {
		return found, nil
	}
	blocks, err := splitBlocks(whole)
	if err == nil {
		err = mirror.take(m, blocks, at)
	}
	switch {
	case errors.Is(err, errMessage):
		r.foreign(subject, err)
		r.spoil(subject)
		return found, nil
	case err == nil && r.unread[subject] != nil:
		r.unread[subject].mend()
	}
	return found, err
}

// stream returns the stream with its current state, or an error that lists the existing streams.
func (c *Conn) stream(ctx context.Context) (jetstream.Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	stream, err := c.js.Stream(ctx, c.address.stream)
	switch {
	case err == nil:
		return stream, c.ours(stream.CachedInfo())
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, c.absent(ctx)
	}
	return nil, fmt.Errorf("read %s: %w", c.address, explain(err))
}

// ours returns an error unless recorders can publish to the stream.
func (c *Conn) ours(info *jetstream.StreamInfo) error {
	if isCopied(info) || slices.ContainsFunc(info.Config.Subjects, func(pattern string) bool {
		return covers(pattern, allSubjects(c.address.stream))
	}) {
		return nil
	}
	return fmt.Errorf("read %s: the stream exists, but not for recorders: its subjects are %q, and those of "+
		"recorders %s; name another stream", c.address, info.Config.Subjects, allSubjects(c.address.stream))
}

func (c *Conn) absent(ctx context.Context) error {
	var names []string
	for name := range c.js.StreamNames(ctx, jetstream.WithStreamListSubject("a2atap.>")).Name() {
		names = append(names, name)
	}
	if len(names) == 0 {
		return fmt.Errorf("read %s: there is no stream of that name, and no other one with captures; the first "+
			"recorder creates it: a2atap record … --ship %[1]s", c.address)
	}
	slices.Sort(names)
	const most = 20
	more := ""
	if len(names) > most {
		names, more = names[:most], " …"
	}
	return fmt.Errorf("read %s: there is no stream of that name; those with captures are: %s%s", c.address,
		joined(names), more)
}

func joined(names []string) string {
	text := ""
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}

// strangeNotices bounds the notices about subjects with foreign messages.
const strangeNotices = 20

// foreign reports a message on a subject that does not come from the subject's recorder.
func (r *Reader) foreign(subject string, err error) {
	r.telling.Lock()
	named := r.said["foreign "+subject]
	if !named {
		r.strange++
	}
	more := r.strange > strangeNotices
	r.telling.Unlock()
	switch {
	case named:
	case more:
		r.once("foreign", "messages on other subjects are not from recorders either, and are left out")
	default:
		r.once("foreign "+subject, fmt.Sprintf("on %s: %v; it is left out", nameOf(subject), err))
	}
}

// maxRuns bounds the bytes of all unfinished runs of parts, from recorders and from other publishers.
const maxRuns = 256 << 20

// add adds the next message of a run. If all runs together exceed their bound, it drops the other runs; their next
// blocks show the gap.
func (r *Reader) add(run *assembler, m *Message) (data []byte, complete bool) {
	before := len(run.data)
	data, complete = run.add(m)
	r.parts += len(run.data) - before
	if r.parts <= maxRuns {
		return data, complete
	}
	for _, other := range r.runs {
		if other != run {
			other.drop()
		}
	}
	r.parts = len(run.data)
	r.once("parts", "there are too many incomplete blocks; only the latest are kept")
	return data, complete
}

// sender returns a subject's host, and whether the message belongs there. A message belongs on exactly the subject of
// its recorder, since a server can restrict who publishes where. If stream is empty, the stream may be a copy of any
// other. For an unreadable message, the host is the subject's token.
func sender(stream, subject string, m *Message) (host string, own bool) {
	tokens := strings.Split(subject, ".")
	if len(tokens) < 3 {
		return subject, false
	}
	if host = tokens[2]; m == nil || m.Recorder.Host == "" {
		return host, true
	}
	if stream == "" {
		stream = tokens[1]
	}
	if m.Recorder.Subject(stream) != subject {
		return host, false
	}
	return m.Recorder.Host, true
}

// ofCapture returns the host token and the capture of a subject; false if the subject is not a recorder's.
func ofCapture(subject string) (host string, id uuid.UUID, ok bool) {
	tokens := strings.Split(subject, ".")
	if len(tokens) != 4 {
		return "", id, false
	}
	id, err := uuid.Parse(tokens[3])
	return tokens[2], id, err == nil && subject == subjectOf(tokens[1], tokens[2], id)
}
