package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
	"a2atap/proxy/safetext"
)

// ReadOptions say what is read of a stream. The zero value reads all of it.
type ReadOptions struct {
	// Hosts are those whose recorders are read; none means all.
	Hosts []string

	// Since leaves out the exchanges that began earlier, by the clock of their recorder; zero leaves out none.
	Since time.Time

	// Folder is where what is read is kept until Close. It has to be there, and nobody else may read it.
	Folder string

	// OnNotice is called with what the user should know: gaps, messages of others, recorders that are silent, trouble
	// with the server. It may be nil. It is called once at a time.
	OnNotice func(string)

	// OnProgress is called with how many messages were read, and how many there are. It may be nil.
	OnProgress func(read, all uint64)
}

// sinceRoom is how long before Since reading begins: clocks of machines differ, and blocks hold what came before them.
const sinceRoom = 5 * time.Minute

// A Recorded is the capture of one recorder, as far as it was read.
type Recorded struct {
	Host   string
	Name   string         // of the capture's file
	Source capture.Source // released by the Reader's Close
}

// A Reader takes a stream apart again, into the captures of its recorders. Read, Follow and End are for one goroutine,
// and Lives for another; what they have read may be used by any number.
type Reader struct {
	conn    *Conn
	options ReadOptions
	spool   *spool

	stream    string    // of whose name subjects are; empty if of any
	made      time.Time // when the stream was
	seq       uint64    // of the last message that was read
	until     uint64    // of the last that was there when Read began
	read, all uint64
	removed   uint64                // how many messages the stream has lost that may have been asked for
	unsaid    string                // what the first recorder that is found has to say of that; empty for nothing
	runs      map[string]*assembler // by subject
	parts     int                   // bytes that they have

	awaited int // recorders that Ask has found

	telling sync.Mutex
	said    map[string]bool
	strange int // notices of messages that are none of recorders

	mu      sync.Mutex
	mirrors map[uuid.UUID]*mirror
	order   []*mirror
	unread  map[string]*mirror // by subject, of whose messages none could be read when the first came
	held    atomic.Bool        // recordings that have ended may go on
	caught  atomic.Bool        // all that is in the stream was taken, while it is followed
}

// NewReader returns a reader of the stream to which a connection leads. The connection stays the caller's.
func NewReader(c *Conn, o ReadOptions) (*Reader, error) {
	if o.OnNotice == nil {
		o.OnNotice = func(string) {}
	}
	if o.OnProgress == nil {
		o.OnProgress = func(_, _ uint64) {}
	}
	s, err := newSpool(filepath.Join(o.Folder, "spool"))
	if err != nil {
		return nil, err
	}
	r := &Reader{
		conn: c, options: o, spool: s, stream: c.address.stream, unread: make(map[string]*mirror),
		runs: make(map[string]*assembler), said: make(map[string]bool),
		mirrors: make(map[uuid.UUID]*mirror),
	}
	r.held.Store(true)
	return r, nil
}

// Close releases what was read.
func (r *Reader) Close() error { return r.spool.close() }

// Recorded returns the captures that have been found so far, in the order in which they were.
func (r *Reader) Recorded() []Recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Recorded, len(r.order))
	for i, m := range r.order {
		all[i] = m.recorded()
	}
	return all
}

func (m *mirror) recorded() Recorded {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return Recorded{Host: m.recorder.Host, Name: m.recorder.Name, Source: mirrored{m}}
}

// Read reads what is in the stream when it begins. A recorder whose form is a later one is an error that names it and
// wraps capture.ErrFuture. What is found is to be used when Read has returned.
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

// Follow goes on with what comes after what was read, until the context ends, and tells of each recorder that is new.
func (r *Reader) Follow(ctx context.Context, found func(Recorded)) error {
	return r.consume(ctx, 0, found)
}

// take takes a message, which was stored at a time. An error ends the reading.
func (r *Reader) take(subject string, header nats.Header, data []byte, at time.Time) (*mirror, error) {
	m, err := decodeMessage(header, data)
	host, own := sender(r.stream, subject, m)
	switch {
	case !r.wants(host):
		return nil, nil
	case !own:
		err = errMessage
	case errors.Is(err, capture.ErrFuture):
		return nil, fmt.Errorf("read %s: %w; --host NAME reads other hosts alone", r.conn.address, err)
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

func (r *Reader) wants(host string) bool {
	return len(r.options.Hosts) == 0 || slices.ContainsFunc(r.options.Hosts, func(wanted string) bool {
		return wanted == host || hostToken(wanted) == host
	})
}

// mirror returns the mirror of the capture that a message is of, and if it is new that too.
func (r *Reader) mirror(msg *Message) (m, found *mirror) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m = r.mirrors[msg.Recorder.Capture]; m != nil {
		return m, nil
	}
	m = newMirror(r.spool, r.options.Since, r.tell, &r.held)
	m.recorder, m.headless = msg.Recorder, r.removed > 0
	if r.unsaid != "" {
		m.precede(capture.Lost{Reason: r.unsaid})
		r.unsaid = ""
	}
	r.mirrors[msg.Recorder.Capture] = m
	r.order = append(r.order, m)
	return m, m
}

// stream returns the stream, with what is known of it now, or an error that names the streams that are there.
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

// ours returns an error if a stream cannot be that of recorders.
func (c *Conn) ours(info *jetstream.StreamInfo) error {
	if isCopied(info) || slices.ContainsFunc(info.Config.Subjects, func(pattern string) bool {
		return covers(pattern, AllSubjects(c.address.stream))
	}) {
		return nil
	}
	return fmt.Errorf("read %s: the stream is there, but not for recorders: its subjects are %q, and those of "+
		"recorders %s; name another stream", c.address, info.Config.Subjects, AllSubjects(c.address.stream))
}

// isCopied reports whether a stream has its messages, and their subjects, from others.
func isCopied(info *jetstream.StreamInfo) bool {
	return info.Config.Mirror != nil || len(info.Config.Sources) > 0
}

func (c *Conn) absent(ctx context.Context) error {
	var names []string
	for name := range c.js.StreamNames(ctx, jetstream.WithStreamListSubject("a2atap.>")).Name() {
		names = append(names, name)
	}
	if len(names) == 0 {
		return fmt.Errorf("read %s: there is no stream of that name, and no other that holds captures; the first "+
			"recorder makes it: a2atap record … --ship %[1]s", c.address)
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

// tell says something to the user.
func (r *Reader) tell(notice string) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.options.OnNotice(safetext.Plain(notice))
}

// once says something unless that was said before.
func (r *Reader) once(key, notice string) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if !r.said[key] {
		r.said[key] = true
		r.options.OnNotice(safetext.Plain(notice))
	}
}

// strangeNotices is how many subjects are named that have messages of others.
const strangeNotices = 20

// foreign says that a message on a subject is none of its recorder.
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

// maxRun bounds the bytes that the parts of one block may have together.
const maxRun = 64 << 20

// An assembler puts the messages of one subject together that are parts of a block. A run of parts that does not end is
// dropped: its publisher begins it again, or what comes after it shows the gap.
type assembler struct {
	first, last uint64
	parts       int
	next        int // the part that is expected; 0 if no run has begun
	data        []byte
}

// add takes the next message and returns the data of whole blocks, if it completes any.
func (a *assembler) add(m *Message) (data []byte, complete bool) {
	if m.Parts == 1 {
		a.drop()
		return m.Data, true
	}
	if m.Part == 1 {
		*a = assembler{first: m.First, last: m.Last, parts: m.Parts, next: 1}
	}
	if m.Part != a.next || m.First != a.first || m.Last != a.last || m.Parts != a.parts ||
		len(a.data)+len(m.Data) > maxRun {
		a.drop()
		return nil, false
	}
	a.data = append(a.data, m.Data...)
	if a.next++; a.next <= a.parts {
		return nil, false
	}
	data = a.data
	a.drop()
	return data, true
}

func (a *assembler) drop() { *a = assembler{} }

// maxRuns bounds the bytes of all runs of parts that have not ended, of recorders and of whoever else publishes.
const maxRuns = 256 << 20

// add takes the next message of a run, and sees to it that all runs together stay within bounds: those of others are
// dropped then, which their next blocks show as a gap.
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
	r.once("parts", "more blocks are begun, and not ended, than can be held; those of others than the last are left out")
	return data, complete
}

// sender returns the host that a subject is of, and whether a message may stand there: on the subject of its
// recorder and nowhere below or beside it, since a server can be told who may publish to which. A stream of no name
// may be a copy of any. The host of a message that cannot be read is a token of the subject.
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

// ofCapture returns the host, as a token, and the capture whose messages are on a subject; false for one of others.
func ofCapture(subject string) (host string, id uuid.UUID, ok bool) {
	tokens := strings.Split(subject, ".")
	if len(tokens) != 4 {
		return "", id, false
	}
	id, err := uuid.Parse(tokens[3])
	return tokens[2], id, err == nil && subject == subjectOf(tokens[1], tokens[2], id)
}
