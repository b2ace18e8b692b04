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

// ReadOptions select what to read from a stream. The zero value reads everything.
type ReadOptions struct {
	// Hosts selects recorders by host; empty means all.
	Hosts []string

	// Since omits exchanges that began earlier, by their recorder's clock; zero omits none.
	Since time.Time

	// Folder holds what was read until Close. It must exist and be private to the user.
	Folder string

	// OnNotice receives notices for the user: gaps, foreign messages, silent recorders, trouble with the server. It may
	// be nil. Calls do not overlap.
	OnNotice func(string)

	// OnProgress receives the number of messages read, and of all messages. It may be nil.
	OnProgress func(read, all uint64)
}

// sinceRoom is how long before Since reading starts: clocks differ, and blocks contain earlier steps.
const sinceRoom = 5 * time.Minute

// A Recorded is the capture of one recorder as read so far.
type Recorded struct {
	Host   string
	Name   string         // of the capture file
	Source capture.Source // released by the Reader's Close
}

// A Reader splits a stream into the captures of its recorders. Call Read, Follow and End from one goroutine, and Lives
// from another; the captures are safe for concurrent use.
type Reader struct {
	conn    *Conn
	options ReadOptions
	spool   *spool

	stream    string    // name in the subjects; empty if any
	made      time.Time // when the stream was created
	seq       uint64    // of the last message that was read
	until     uint64    // of the last message when Read started
	read, all uint64
	removed   uint64                // wanted messages that the stream may have lost
	unsaid    string                // a notice about them for the first recorder that is found, or empty
	runs      map[string]*assembler // by subject
	parts     int                   // bytes in runs

	awaited int // recorders found by Ask

	telling sync.Mutex
	said    map[string]bool
	strange int // notices about foreign messages

	mu      sync.Mutex
	mirrors map[uuid.UUID]*mirror
	order   []*mirror
	unread  map[string]*mirror // by subject, if its first message could not be read
	held    atomic.Bool        // ended recordings may continue
	caught  atomic.Bool        // Follow has taken everything that is in the stream
}

// NewReader returns a reader of a connection's stream. The caller still owns the connection.
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

// Close releases all captures.
func (r *Reader) Close() error { return r.spool.close() }

// Recorded returns the captures found so far, in that order.
func (r *Reader) Recorded() []Recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]Recorded, len(r.order))
	for i, m := range r.order {
		all[i] = m.recorded()
	}
	return all
}

// found returns the mirrors found so far.
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

// mirror returns the mirror of a message's capture; found is the same mirror if it is new.
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

// tell gives the user a notice.
func (r *Reader) tell(notice string) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.options.OnNotice(safetext.Plain(notice))
}

// once gives a notice once per key.
func (r *Reader) once(key, notice string) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if !r.said[key] {
		r.said[key] = true
		r.options.OnNotice(safetext.Plain(notice))
	}
}

// An assembler joins a subject's messages that are parts of a block. It drops an unfinished run of parts: the publisher
// starts it again, or the next block shows the gap.
type assembler struct {
	first, last uint64
	parts       int
	next        int // next expected part; 0 outside a run
	data        []byte
}

// add takes the next message and returns the data of whole blocks if they are complete.
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

// maxRun bounds the bytes of one block's parts.
const maxRun = 64 << 20
