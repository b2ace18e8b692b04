package fleet

import (
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/safetext"

	"github.com/google/uuid"
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

// found returns the mirrors that have been found so far.
func (r *Reader) found() []*mirror {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.order)
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

// maxRun bounds the bytes that the parts of one block may have together.
const maxRun = 64 << 20
