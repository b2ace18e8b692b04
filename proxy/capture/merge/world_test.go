package merge

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// A world is a workflow over several hosts, what their recorders saw of it, and what was really so.
type world struct {
	random *rand.Rand
	hosts  []*worldHost
	begin  time.Time
	events []worldEvent
	views  map[uuid.UUID]view // by the id that the recorder gave it
	calls  int
	losses bool // recorders lose exchanges
	plain  bool // requests have no ids of their own
}

type worldHost struct {
	n     int
	ahead time.Duration // of the true time
	drift float64       // more of that, each second
	seq   uint64
	conn  uint64
	out   *capture.Memory
}

// A view is what one recorder saw of a call.
type view struct {
	call  int
	depth int // 0 is the client's recorder
	own   bool
}

type worldEvent struct {
	at   time.Duration // true time
	host *worldHost
	x    *worldExchange
	what capture.What
}

type worldExchange struct {
	seq     uint64
	started time.Duration
	own     time.Time
	opened  capture.Opened
	skip    bool
}

func newWorld(seed uint64, hosts int) *world {
	w := &world{
		random: rand.New(rand.NewPCG(seed, 1)), begin: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		views: make(map[uuid.UUID]view),
	}
	for n := range hosts {
		h := &worldHost{n: n}
		if n > 0 && w.random.IntN(3) > 0 {
			h.ahead = time.Duration(w.random.Int64N(int64(2*time.Hour))) - time.Hour
			h.drift = float64(w.random.IntN(200)-100) / 1e6
		}
		w.hosts = append(w.hosts, h)
	}
	return w
}

func (w *world) short() time.Duration { return time.Duration(w.random.IntN(400)+20) * time.Microsecond }

// clock is what the clock of a host shows at a time.
func (w *world) clock(h *worldHost, at time.Duration) time.Time {
	return w.begin.Add(at + h.ahead + time.Duration(h.drift*float64(at)))
}

// line is a connection of a client that leads through the recorders of some hosts.
type line struct {
	hosts []*worldHost
	conns []uint64
	n     int
}

func (w *world) line() *line {
	l := &line{}
	for _, n := range w.random.Perm(len(w.hosts))[:1+w.random.IntN(min(3, len(w.hosts)))] {
		l.hosts = append(l.hosts, w.hosts[n])
	}
	for _, h := range l.hosts {
		h.conn++
		l.conns = append(l.conns, h.conn)
	}
	return l
}

func (w *world) id() string {
	var id uuid.UUID
	for i := range id {
		id[i] = byte(w.random.Uint32())
	}
	return id.String()
}

// call makes one exchange at a time, and returns when it is over.
func (w *world) call(l *line, at time.Duration, depth int) time.Duration {
	w.calls++
	l.n++
	call := w.calls
	kind := w.random.IntN(4)
	own := false
	method, body := "POST", ""
	answers := []string{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"state":"working"}}`, l.n)}
	switch kind {
	case 0:
		method, answers = "GET", []string{`{"name":"agent"}`}
	case 1:
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tasks/get","params":{"id":"task"}}`, l.n)
	default:
		text := fmt.Sprintf("m-%d", l.n)
		if own = !w.plain; own {
			text = w.id()
		}
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"message/send","params":{"messageId":%q}}`, l.n, text)
		for range w.random.IntN(4) * (kind - 2) {
			answers = append(answers, fmt.Sprintf("data: {\"n\":%d}\n\n", w.random.IntN(3)))
		}
	}
	var views []*worldExchange
	for i, h := range l.hosts {
		h.seq++
		x := &worldExchange{seq: h.seq, started: at, own: w.clock(h, at)}
		host := fmt.Sprintf("host%d.example:9001", h.n)
		to := "http://127.0.0.1:8000"
		if i+1 < len(l.hosts) {
			to = fmt.Sprintf("http://host%d.example:9001", l.hosts[i+1].n)
		}
		x.opened = capture.Opened{
			ID: uuid.UUID([]byte(fmt.Sprintf("%08d%08d", call, i))), Conn: l.conns[i], Started: x.own,
			Client: capture.Peer{Name: "client"}, Agent: capture.Peer{Name: "agent", URL: to},
			Head: []byte(method + " /rpc HTTP/1.1\r\nHost: " + host + "\r\n\r\n"),
		}
		x.skip = w.losses && w.random.IntN(12) == 0
		w.views[x.opened.ID] = view{call, i, own}
		w.event(at, h, x, x.opened)
		if x.skip {
			w.events = append(w.events, worldEvent{at, h, &worldExchange{own: x.own}, capture.Lost{
				Exchanges: 1, Reason: "full",
			}})
		}
		if body != "" {
			at += w.short() / 10
			w.event(at, h, x, capture.RequestBody{Data: []byte(body)})
		}
		w.event(at, h, x, capture.RequestEnd{Size: int64(len(body))})
		views = append(views, x)
		at += w.short()
	}
	at += w.short()
	for depth > 0 && w.random.IntN(3) == 0 { // the agent asks others, from its own host
		inner := w.line()
		inner.hosts[0] = l.hosts[len(l.hosts)-1]
		if slices.Contains(inner.hosts[1:], inner.hosts[0]) {
			inner.hosts = inner.hosts[:1]
		}
		inner.hosts[0].conn++
		inner.conns[0] = inner.hosts[0].conn
		at = w.call(inner, at, depth-1) + w.short()
	}
	last := make([]time.Duration, len(l.hosts)) // when each host sent something on
	back := func(what func() capture.What) {
		t := at
		for i := len(l.hosts) - 1; i >= 0; i-- {
			t = max(t, last[i]+time.Microsecond)
			w.event(t, l.hosts[i], views[i], what())
			last[i] = t
			t += w.short()
		}
	}
	stream := len(answers) > 1
	back(func() capture.What {
		return capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\n\r\n"), Stream: stream}
	})
	size := 0
	for i, a := range answers {
		at += 3 * w.short()
		size += len(a)
		back(func() capture.What {
			if stream {
				return capture.ResponseEvent{Event: capture.Event{K: i + 1, Raw: []byte(a)}}
			}
			return capture.ResponseBody{Data: []byte(a)}
		})
	}
	at += 3 * w.short()
	back(func() capture.What { return capture.ResponseEnd{Size: int64(size)} })
	at += 3 * w.short()
	back(func() capture.What { return capture.Closed{} })
	return at + 3*w.short()
}

func (w *world) event(at time.Duration, h *worldHost, x *worldExchange, what capture.What) {
	if !x.skip {
		w.events = append(w.events, worldEvent{at, h, x, what})
	}
}

// play lets some clients work at the same time, and writes the recordings.
func (w *world) play(t testing.TB, lines, calls int) []Recording {
	for range lines {
		l := w.line()
		at := time.Duration(w.random.IntN(20_000)) * time.Microsecond
		for range 1 + w.random.IntN(calls) {
			at = w.call(l, at, 2) + time.Duration(w.random.IntN(3))*w.short()
			if w.random.IntN(20) == 0 {
				at += 10 * time.Second
			}
		}
	}
	slices.SortStableFunc(w.events, func(a, b worldEvent) int { return cmp.Compare(a.at, b.at) })
	var out []Recording
	for _, h := range w.hosts {
		name := fmt.Sprintf("host%d", h.n)
		h.out = capture.NewMemory(capture.Info{ID: uuid.UUID([]byte(fmt.Sprintf("%16d", h.n))), Name: name})
		out = append(out, Recording{Host: name, Name: name + ".a2atap", Source: h.out})
	}
	for _, e := range w.events {
		offset := w.clock(e.host, e.at).Sub(e.x.own)
		must.Do(t, e.host.out.Append(capture.Step{Seq: e.x.seq, Offset: offset, What: e.what}))
	}
	for _, h := range w.hosts {
		must.Do(t, h.out.Close())
	}
	return out
}

// pairs counts the pairs that were found, and those that were to be found.
type pairs struct{ found, wrong, missed, possible int }

// compare compares what a merger did with what was so.
func (w *world) compare(t *testing.T, m *Merger, merged *capture.Memory) pairs {
	t.Helper()
	p := w.pairs(t, m)
	w.checkOrder(t, m, merged)
	return p
}

// pairs compares the pairs that a merger found with what was so.
func (w *world) pairs(t *testing.T, m *Merger) pairs {
	t.Helper()
	var p pairs
	outer := make(map[int]map[int]*exchange) // call, depth
	ids := make(map[*exchange]view)
	for _, h := range w.hosts {
		for s, err := range h.out.Steps(context.Background(), 1) {
			must.Do(t, err)
			opened, is := s.What.(capture.Opened)
			if !is {
				continue
			}
			x, v := m.scanner.ids[opened.ID].exchanges[s.Seq], w.views[opened.ID]
			ids[x] = v
			if outer[v.call] == nil {
				outer[v.call] = make(map[int]*exchange)
			}
			outer[v.call][v.depth] = x
		}
	}
	for x, v := range ids {
		y := x.down
		next := outer[v.call][v.depth+1]
		switch {
		case y == nil && next != nil:
			p.possible++
			if v.own {
				p.missed++
				t.Logf("call %d was not recognised at depth %d", v.call, v.depth)
			}
		case y == nil:
		case y == next:
			p.possible++
			p.found++
		default:
			p.wrong++
			t.Errorf("call %d at depth %d was taken for call %d at depth %d", v.call, v.depth, ids[y].call, ids[y].depth)
		}
	}
	return p
}

// checkOrder checks that no step comes before what caused it: the steps of one recorder have their order, and those of
// an exchange at one recorder lie between those at the recorder before.
func (w *world) checkOrder(t *testing.T, m *Merger, merged *capture.Memory) {
	t.Helper()
	type place struct{ opened, head, end uint64 }
	at := make(map[uint64]*place)
	first := make(map[uint64]uint64) // exchange: the arrival number of its first step
	for s, err := range merged.Steps(context.Background(), 1) {
		must.Do(t, err)
		if s.Seq == 0 {
			continue
		}
		p := at[s.Seq]
		if p == nil {
			p = &place{}
			at[s.Seq] = p
			first[s.Seq] = s.Arrival
		}
		switch s.What.(type) {
		case capture.Opened:
			p.opened = s.Arrival
		case capture.ResponseHead:
			p.head = s.Arrival
		case capture.ResponseEnd:
			p.end = s.Arrival
		}
	}
	for _, r := range m.recorders {
		for _, x := range r.exchanges {
			y := x.down
			if y == nil || y.apart {
				continue
			}
			p := at[x.root().out]
			// What the inner recorder saw between its opening and its answer.
			for _, z := range y.r.exchanges {
				q := at[z.out]
				if z == y || z.out == 0 || z.root() != z {
					continue
				}
				if z.started > y.started && q.opened < p.opened {
					t.Errorf("exchange %d comes before %d, which was there before", z.out, x.root().out)
				}
				if y.answerEnd != unknown && z.answerEnd != unknown && z.answerEnd < y.answerEnd && q.end > p.end {
					t.Errorf("the answer of exchange %d ends after that of %d, which was there first", z.out, x.root().out)
				}
			}
		}
	}
}
