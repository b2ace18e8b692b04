// Package merge makes one capture of several that recorded parts of the same traffic, such as those of the recorders of
// several machines. Each recording keeps its own order of steps. Steps of different recordings are ordered by time,
// corrected for clocks that differ, and by cause: the steps that a recorder nearer to the agent saw of an exchange come
// after the recorder nearer to the client opened it, and before the latter saw the answer.
//
// An exchange that two recorders saw, one behind the other, becomes one: the view nearer to the client, with the agent
// as the recorder nearer to the agent names it, and a note about what was seen there (capture.SeenAlso). Exchanges are
// merged only if the match is certain. The outer recorder must have sent the request to the address at which the inner
// one received it, and the requests must be equal. One of three more conditions must hold: the request carries an id
// that nothing before it carried; such a request has shown that their connections are the same; or it is the only
// request whose time fits. Where the answers differ, both views stay, with a note. Where a recording has gaps, its
// order proves nothing, and connections count only where the times prove the same.
//
// Only such pairs are used to compare clocks: a request cannot arrive before it was sent, and an answer cannot arrive
// before it went out. If these bounds permit no difference, a2atap assumes none.
//
// # Caveats
//
// Requests are compared by bytes. Placeholders of secrets that were hidden with different keys prove nothing: they
// count as equal if everything else is equal. With the same key, the first 16 placeholders of a body are compared. URLs
// that a recorder has replaced count as equal, too.
//
// A summary of each exchange, about 500 bytes, is held in memory. So are the bodies of exchanges that are open while
// their recording is read, up to 1 MiB each.
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

// Options say how to merge. The zero value is good.
type Options struct {
	// Window is how long Follow holds a step for earlier steps of other recorders, or their views of the same exchange;
	// 0 means one second.
	Window time.Duration

	// OnNotice is called with messages for the user: once for each clock, and again when more is known about it. It may
	// be nil. It is called by the goroutine that merges.
	OnNotice func(string)
}

// A Merger merges recordings into a Sink. Add and Summary may be called at any time and by any goroutine. Only one call
// of Run or Follow may be in progress at a time.
type Merger struct {
	options Options

	mu    sync.Mutex
	added []*recorder   // that are not among the recorders yet
	more  chan struct{} // has an element when there are

	recorders recorders // in order of host, name and id of the capture
	scanner   scanner
	clocks    clocks
	matcher   matcher
	out       writer
	told      map[string]string // host: the last message about its clock
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

// Add adds a recording. It may be called while Follow runs.
func (m *Merger) Add(r Recording) {
	m.mu.Lock()
	m.added = append(m.added, newRecorder(r))
	m.mu.Unlock()
	select {
	case m.more <- struct{}{}:
	default:
	}
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
		r.all = &m.recorders
		r.info, _ = r.Source.Info(context.Background()) // an error of the source comes again when it is read
	}
	m.recorders = append(m.recorders, added...)
	slices.SortStableFunc(m.recorders, func(a, b *recorder) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Name, b.Name),
			slices.Compare(a.info.ID[:], b.info.ID[:]))
	})
}

// hosts returns the recorders' hosts, in order.
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

// GapsOf returns the gaps that the merged capture of these recordings must declare, except for lost exchanges, which
// the Merger records.
func GapsOf(ctx context.Context, recordings ...Recording) (capture.Gaps, error) {
	var gaps capture.Gaps
	for _, r := range recordings {
		info, err := r.Source.Info(ctx)
		if err != nil {
			return gaps, fmt.Errorf("merge %s: %w", r.Name, err)
		}
		gaps.Add(capture.GapsOf(&info))
	}
	gaps.Exchanges = 0
	return gaps, nil
}

// tellLosses reports the losses of the recordings that are not in their steps.
func (m *Merger) tellLosses() error {
	for _, r := range m.recorders {
		if err := m.out.tellLossesOf(r); err != nil {
			return err
		}
	}
	return nil
}

// Summary returns the counts so far.
func (m *Merger) Summary() Summary {
	m.out.mu.Lock()
	defer m.out.mu.Unlock()
	return m.out.summary
}

// tellClocks reports the results about the clocks; at the end, also the hosts without a result.
func (m *Merger) tellClocks(end bool) {
	hosts := m.hosts()
	var list []Clock
	for _, host := range hosts {
		list = append(list, m.clocks.of(host))
	}
	m.out.mu.Lock()
	m.out.summary.Clocks = list
	m.out.mu.Unlock()
	for _, c := range list {
		said := c.String()
		if c.With == "" && (c.Exchanges > 0 || len(hosts) == 1 || !end) {
			continue // others are compared with it, or may be yet
		}
		key := fmt.Sprintf("%s %s %d", c.With, c.Ahead.Round(time.Millisecond), c.Changes)
		if m.told[c.Host] != key {
			m.told[c.Host] = key
			m.notice("%s", said)
		}
	}
}

// name gives agents their names in the merged capture: their own, followed by the host if different agents have the
// same name.
func (m *Merger) name() {
	for _, x := range m.matcher.pending {
		if y := x.down; y != nil && !y.apart && !y.notified {
			if x.agent.behind == nil {
				x.agent.behind = y.agent
			}
			x.agent.split = x.agent.split || x.agent.behind != y.agent
		}
	}
	m.recorders.nameReceivers()
	named := make(map[string][]*agent)
	for _, r := range m.recorders {
		for _, a := range r.agents {
			if in := a.innermost(); !slices.Contains(named[in.name], in) {
				named[in.name] = append(named[in.name], in)
			}
		}
	}
	for _, list := range named {
		slices.SortFunc(list, func(a, b *agent) int {
			return cmp.Or(cmp.Compare(a.r.Host, b.r.Host), cmp.Compare(a.r.Name, b.r.Name), cmp.Compare(a.url, b.url))
		})
		nameAlike(list)
	}
}
