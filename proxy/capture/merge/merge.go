// Package merge makes one capture of several that recorded parts of the same traffic, such as those of the recorders of
// several machines. Each recording keeps its own order of steps; between them the order is that of time, corrected for
// clocks that differ, and of cause: what a recorder nearer to the agent saw of an exchange comes after the recorder
// nearer to the client opened it, and before that one saw the answer.
//
// An exchange that two recorders saw, one behind the other, becomes one: the view nearer to the client, with the agent
// as the recorder nearer to it names it, and a note that says what was seen there (capture.SeenAlso). That is done only
// where it is certain: the outer recorder sent the request to the address at which the inner one received it, the
// requests are equal, and either carries an id that nothing before it carried, or stands on connections that such a
// request has shown to be one, or is the only one whose time fits. Where the answers differ, both stay, and say so.
// Where something is missing in a recording, its order says nothing, and connections count only where the times prove
// the same.
//
// Clocks are compared by such pairs alone: a request cannot come in before it was sent, and an answer cannot come back
// before it went out. What that leaves open is resolved in favour of no difference.
//
// # Caveats
//
// Requests are compared by bytes. Placeholders of secrets that were hidden with different keys say nothing: they count
// as equal where all else is. The first 16 of a body are compared where both have the same key. URLs that a recorder
// has replaced count as equal too.
//
// A summary of each exchange is held in memory, of some 500 bytes, and the bodies of those that are open while their
// recording is read, up to 1 MiB each.
package merge

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// A Recording is one of the captures that are merged.
type Recording struct {
	Host   string         // the machine whose clock it has; recordings of one host share a clock
	Name   string         // what the capture is called in notes and messages, such as its file
	Source capture.Source // read by Info, Steps and StepsOf; closed by the caller
}

// Options say how to merge. The zero value is good.
type Options struct {
	// Window is how long Follow holds a step for what other recorders saw before or of the same; 0 means one second.
	Window time.Duration

	// OnNotice is called with what the user should know: once for each clock, and again when more is known of it. It
	// may be nil. It is called by the goroutine that merges.
	OnNotice func(string)
}

// A Merger merges recordings into a Sink. Add and Summary may be called at any time and by any goroutine; of Run and
// Follow one call goes on at a time.
type Merger struct {
	options Options

	mu    sync.Mutex
	added []*recorder   // that are not among the recorders yet
	more  chan struct{} // has an element when there are

	recorders []*recorder // in order of host, name and id of the capture
	scanner   scanner
	clocks    clocks
	matcher   matcher
	out       writer
	told      map[string]string // host: what was said of its clock
}

// New returns a Merger that appends to a Sink, which it does not close.
func New(sink capture.Sink, o Options) *Merger {
	if o.Window <= 0 {
		o.Window = time.Second
	}
	m := &Merger{options: o, more: make(chan struct{}, 1), told: make(map[string]string)}
	m.clocks.edges = make(map[hostPair]*edge)
	m.matcher = matcher{
		clocks: &m.clocks, below: make(map[connection][]connection), above: make(map[connection][]connection),
	}
	m.scanner = scanner{
		seed: maphash.MakeSeed(), ids: make(map[uuid.UUID]*recorder),
		opened: func(x *exchange) { m.matcher.pending = append(m.matcher.pending, x) },
	}
	m.out.sink, m.out.clocks = sink, &m.clocks
	return m
}

// Add adds a recording. It may be added while Follow goes on.
func (m *Merger) Add(r Recording) {
	m.mu.Lock()
	m.added = append(m.added, newRecorder(r))
	m.mu.Unlock()
	select {
	case m.more <- struct{}{}:
	default:
	}
}

// Run merges what is in the recordings now. What it writes depends on nothing but them: not on the order in which they
// were added, nor on the time. Two recordings of the same capture are a [SameError]. Nothing may be run or
// followed after it.
func (m *Merger) Run(ctx context.Context) error {
	if err := m.history(ctx, false); err != nil {
		return err
	}
	return m.finish()
}

// history merges what is there at the beginning; with more to come, all but what others may still say more of.
func (m *Merger) history(ctx context.Context, more bool) error {
	if err := m.scan(ctx); err != nil {
		return err
	}
	for _, r := range m.recorders {
		r.out.limit = r.scanned
		if more && r.info.Live {
			r.out.limit = r.settled
		}
	}
	m.matcher.match(m.hosts(), false)
	m.name()
	if err := m.tellLosses(); err != nil {
		return err
	}
	return m.emit(ctx, more)
}

// finish says what is still to be said.
func (m *Merger) finish() error {
	for _, x := range m.matcher.found {
		if err := m.out.note(x); err != nil {
			return err
		}
	}
	m.matcher.found = nil
	for _, r := range m.recorders {
		if err := m.out.tellHeadless(r); err != nil {
			return err
		}
	}
	m.tellClocks(true)
	return nil
}

// scan reads what is new in all recordings.
func (m *Merger) scan(ctx context.Context) error {
	m.admit()
	window := m.options.Window
	if m.out.late {
		window = 0
	}
	for _, r := range m.recorders {
		if err := m.scanner.scan(ctx, r, window); err != nil {
			return fmt.Errorf("merge %s: %w", r.Name, err)
		}
	}
	return nil
}

// admit takes up the recordings that were added.
func (m *Merger) admit() {
	m.mu.Lock()
	added := m.added
	m.added = nil
	m.mu.Unlock()
	for _, r := range added {
		r.info, _ = r.Source.Info(context.Background()) // an error of the source comes again when it is read
	}
	m.recorders = append(m.recorders, added...)
	slices.SortStableFunc(m.recorders, func(a, b *recorder) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Name, b.Name),
			slices.Compare(a.info.ID[:], b.info.ID[:]))
	})
}

// hosts returns those of the recorders, in their order.
func (m *Merger) hosts() []string {
	var hosts []string
	for _, r := range m.recorders {
		if len(hosts) == 0 || hosts[len(hosts)-1] != r.Host {
			hosts = append(hosts, r.Host)
		}
	}
	return hosts
}

func (m *Merger) notice(format string, args ...any) {
	if m.options.OnNotice != nil {
		m.options.OnNotice(fmt.Sprintf(format, args...))
	}
}

// Marks are what a capture says of itself forever, and must say if it is made of others that do.
type Marks struct {
	SecretsKept bool // by one of them at least
	Insecure    bool // the same
}

// MarksOf returns the marks that the merged capture of these recordings must be opened with.
func MarksOf(ctx context.Context, recordings ...Recording) (Marks, error) {
	var marks Marks
	for _, r := range recordings {
		info, err := r.Source.Info(ctx)
		if err != nil {
			return marks, fmt.Errorf("merge %s: %w", r.Name, err)
		}
		marks.SecretsKept = marks.SecretsKept || info.SecretsKept
		marks.Insecure = marks.Insecure || info.Insecure
	}
	return marks, nil
}
