package recording

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
)

// Defaults of Options.
const (
	DefaultQueueBytes = 24 << 20
	DefaultMaxBody    = 16 << 20
	DefaultMaxEvent   = capture.DefaultBlockLimit
)

// A Policy decides about traffic that the capture cannot store in time.
type Policy uint8

// The policies.
const (
	Pass Policy = iota // traffic passes unrecorded, and that is counted
	Wait               // traffic waits until there is room: the proxy slows it down
	Stop               // recording ends; Options.OnStop is called
)

// ErrBehind is the cause given to Options.OnLoss and OnStop when the queue was full.
var ErrBehind = errors.New("the capture cannot keep up with the traffic")

// Options configure where and how a Recorder records. Only Sink is required.
type Options struct {
	Sink capture.Sink // appended to by one goroutine; the recorder never closes it

	// Seq and Conn are the last numbers that the capture has used; numbering continues after them.
	Seq, Conn uint64

	QueueBytes int64 // bytes that may wait to be recorded; 0 is DefaultQueueBytes
	MaxBody    int64 // maximum recorded bytes of a body that is not an event stream; 0 is DefaultMaxBody
	MaxEvent   int   // bytes recorded of one event; 0 is DefaultMaxEvent

	IfFull Policy

	Clients []ClientPattern // names that the user gives to clients; the first that fits counts

	// OutOfTime reports whether there is no time left for streams that are compressed, or have very many events,
	// because the recording ends. It may be nil.
	OutOfTime func() bool

	// Urgency is set while so much waits to be recorded that recording cannot yield to traffic any more. It may be nil.
	Urgency *background.Urgency

	// OnLoss is called once for each cause of a loss: ErrBehind, or the Sink's first error. OnStop is called once, with
	// the same error, when recording has ended for that reason (policy Stop); the caller should then shut down. Both
	// are called in separate goroutines and may be nil.
	OnLoss func(error)
	OnStop func(error)
}

// A Recorder converts the relays' reports to steps and appends them to a Sink. It has one queue and one goroutine for
// all connections, so that the capture has one order, the order of arrival.
type Recorder struct {
	opts  Options
	q     *queue
	conns atomic.Uint64
	done  chan struct{} // closed when everything was handed to the sink

	reported [2]sync.Once // OnLoss: behind, sink
	stopOnce sync.Once
	calls    sync.WaitGroup

	// The rest belongs to the recording goroutine, except for stats.
	seq        uint64
	open       map[uint64]*exchange // by seq: opened in the capture and not closed
	agents     knownAgents
	products   products
	programs   programs
	unreported lossCount      // losses without a Lost step yet
	reason     error          // why
	retry      []capture.Step // ends whose batch the sink refused
	batch      []stepLoss     // of the current batch
	random     *bufio.Reader  // what ids are made of
	work       background.Work

	mu    sync.Mutex
	stats Stats
	err   error // the sink's first
}

// Stats count the data that a Recorder has recorded.
type Stats struct {
	Exchanges     uint64 // opened in the capture
	Open          int    // of those, not yet closed
	Bytes         int64  // of heads, bodies and events that were recorded
	Unrelated     uint64 // of those, exchanges without a sign of A2A, whose bodies were not recorded
	LostExchanges int64  // exchanges of which nothing was recorded
	LostBytes     int64  // bytes that passed unrecorded since the capture failed or was behind; limits are not counted

	// Of those, the number that the sink has not accepted as a Lost step: known after Close.
	UnreportedExchanges, UnreportedBytes int64
}

// New starts a recorder. Close ends it.
func New(opts Options) *Recorder {
	if opts.QueueBytes <= 0 {
		opts.QueueBytes = DefaultQueueBytes
	}
	if opts.MaxBody <= 0 {
		opts.MaxBody = DefaultMaxBody
	}
	if opts.MaxEvent <= 0 {
		opts.MaxEvent = DefaultMaxEvent
	}
	r := &Recorder{
		opts:   opts,
		q:      newQueue(opts.QueueBytes, opts.IfFull == Wait),
		done:   make(chan struct{}),
		work:   background.Work{Urgency: opts.Urgency},
		seq:    opts.Seq,
		open:   make(map[uint64]*exchange),
		agents: make(knownAgents), products: make(products), programs: make(programs),
		random: bufio.NewReaderSize(rand.Reader, 1<<10),
	}
	r.conns.Store(opts.Conn)
	go r.run()
	return r
}

// Stats returns the counts until now. After Close, they are final.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

// Close ends the recording: it records the rest of the queue, and marks open exchanges as interrupted. Later reports of
// connections are ignored. It does not close the Sink.
//
// It returns the Sink's first error, or the context's error if it ends before the Sink has accepted everything.
func (r *Recorder) Close(ctx context.Context) error {
	r.q.close()
	select {
	case <-r.done:
	case <-ctx.Done():
		return fmt.Errorf("end the recording: the capture did not accept the rest: %w", ctx.Err())
	}
	r.calls.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// This many small pieces take a few microseconds. Reading the clock after each would double that.
const few, smallPiece = 8, 512

// manySteps bounds the steps of a batch: if there are more, they are appended before more pieces are recorded. A few
// compressed pieces may have many events.
const manySteps = 4096

// run records until the queue is closed and empty.
func (r *Recorder) run() {
	defer close(r.done)
	for {
		s, loss, more := r.q.take()
		if !more {
			break
		}
		if loss != (lossCount{}) {
			r.countLoss(loss, ErrBehind)
		}
		if s == nil {
			r.append(nil)
			continue
		}
		r.opts.Urgency.Set(r.q.urgent())
		steps := make([]capture.Step, 0, len(s.pieces))
		for i := range s.pieces {
			if steps = r.record(steps, &s.pieces[i]); len(steps) > manySteps {
				r.append(steps)
				steps = nil
			}
			if i%few == few-1 || len(s.pieces[i].data) > few*smallPiece {
				r.work.GiveWay()
			}
		}
		r.append(steps)
		r.q.release(s)
	}
	r.interrupt()
}

// interrupt closes the exchanges that are open when the recording ends, since the rest of them was not seen.
func (r *Recorder) interrupt() {
	var steps []capture.Step
	for _, seq := range slices.Sorted(maps.Keys(r.open)) {
		x := r.open[seq]
		if x.relation == undecided {
			x.relation = unrelated
		}
		steps = r.endStream(r.withoutBodies(steps, x), x, x.last)
		r.q.mu.Lock()
		missing := x.lost
		r.q.mu.Unlock()
		r.count(func(s *Stats) { s.LostBytes += missing })
		steps = r.close(steps, x, x.last, capture.Closed{Interrupted: true, Dropped: missing})
	}
	r.append(steps)
	r.append(nil) // losses that the sink has just refused get a last chance
	r.count(func(s *Stats) { s.UnreportedExchanges, s.UnreportedBytes = r.unreported.exchanges, r.unreported.bytes })
}

// StopWaiting lets traffic that waits for room under the policy Wait continue, unrecorded, from now on.
func (r *Recorder) StopWaiting() { r.q.stopWaiting() }

// Hinder sets whether the sink is currently unable to store anything. While it is, and the policy is Wait, traffic
// waits at once instead of waiting until the queue is full.
func (r *Recorder) Hinder(stuck bool) { r.q.hinder(stuck) }

// AsksForCertificates reports whether a client's name may depend on its certificate, which it shows only on request.
func (r *Recorder) AsksForCertificates() bool {
	return slices.ContainsFunc(r.opts.Clients, func(p ClientPattern) bool { return p.kind == kindCert })
}

func (r *Recorder) count(change func(*Stats)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.stats)
}

// behind is called when a piece found the queue full.
func (r *Recorder) behind() {
	if r.opts.IfFull == Stop {
		r.stop(ErrBehind)
	}
	r.reportLoss(0, ErrBehind)
}

// reportLoss calls OnLoss, once for each cause.
func (r *Recorder) reportLoss(cause int, err error) {
	if r.opts.OnLoss != nil {
		r.reported[cause].Do(func() { r.calls.Go(func() { r.opts.OnLoss(err) }) })
	}
}

// stop ends the recording and calls OnStop, once.
func (r *Recorder) stop(err error) {
	r.stopOnce.Do(func() {
		r.calls.Go(func() {
			r.q.stop()
			if r.opts.OnStop != nil {
				r.opts.OnStop(err)
			}
		})
	})
}

// Waiting returns how many bytes are waiting to be recorded, including those being recorded now, and the limit. bytes
// stays small while recording keeps up with the traffic. Waiting may be called at any time, by several goroutines.
func (r *Recorder) Waiting() (bytes, limit int64) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	return r.q.used, r.q.limit
}

// Behind returns how long the oldest piece in the queue has waited. The sink has all earlier traffic. Behind may be
// called at any time, by several goroutines.
func (r *Recorder) Behind() time.Duration {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	return r.q.behind()
}

// steps appends the steps for one piece of an exchange that has been opened.
func (r *Recorder) steps(steps []capture.Step, p *piece) []capture.Step {
	x := p.x
	if x.unrecorded {
		if n := int64(len(p.data)) + p.lost; n > 0 {
			r.countLoss(lossCount{bytes: n}, r.reason)
		}
		return steps
	}
	at := p.at - x.started
	x.last = at
	add := func(what capture.What) {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: what})
	}
	switch p.kind {
	case pieceRequestBody:
		if data, dropped := r.limit(x, p.data, 0); data != nil || dropped > 0 {
			add(capture.RequestBody{Data: data, Dropped: dropped})
		}
	case pieceRequestEnd:
		if p.dropped > 0 {
			add(capture.RequestBody{Dropped: p.dropped})
		}
		add(capture.RequestEnd{Size: p.size, Trailer: owned(p.data)})
	case pieceInformational:
		add(capture.Informational{Head: owned(p.data)})
	case pieceAnswer:
		x.stream = openStream(p.data, r.opts.MaxEvent)
		add(capture.ResponseHead{Head: owned(p.data), Stream: x.stream != nil})
	case pieceAnswerBody:
		if x.taken.since == 0 {
			x.taken.since = at
		}
		steps = r.answerBody(steps, x, at, p.data)
	case pieceAnswerEnd:
		steps = r.endStream(steps, x, at)
		if p.dropped > 0 {
			add(capture.ResponseBody{Dropped: p.dropped})
		}
		add(capture.ResponseEnd{Size: p.size, Trailer: owned(p.data)})
	case pieceFact:
		add(*p.note.(*capture.Fact))
	case pieceNamed:
		to := *p.note.(*capture.Peer)
		if to.Name == "" && x.peer.How == byUnseen { // it is no agent
			to.Name, to.How = x.product.Name, x.product.How
		} else if to.Name == "" {
			to.Name, to.How = x.peer.Name, x.peer.How
		}
		if to.How == byUserAgent {
			to.Name = r.programs.name(to.Name, x.conn.caller.Load())
		}
		if !x.peer.Anonymous() || to.Name == "" || to.Name == x.agent.Name { // it was given a name that takes precedence
			to.Name, to.How = x.peer.Name, x.peer.How
		}
		if to != x.peer {
			add(capture.Fact{Client: to})
			x.peer = to
		}
	case pieceSideEnd:
		if end, isNew := x.sideEnded(*p.note.(*capture.SideEnd), at); isNew {
			add(capture.Fact{End: end})
		}
	case pieceFault:
		if x.fault == nil {
			x.fault = p.note.(*capture.TransportFault)
		}
	case pieceLateFault:
		if f := p.note.(*capture.TransportFault); x.fault != f { // otherwise its end has removed it
			add(capture.Fact{Note: "after the exchange was complete: " + f.Detail})
		}
	case pieceEnded:
		steps = r.ended(steps, x, p)
	}
	return steps
}

// begin opens an exchange: it assigns its number, its id and its client's name.
func (r *Recorder) begin(x *exchange, p *piece) capture.Step {
	r.seq++
	x.seq, x.started = r.seq, p.at
	r.open[x.seq] = x
	name, how := r.nameClient(x, p.data)
	x.peer = capture.Peer{Name: name, Addr: x.conn.client, URL: x.conn.home(), How: how}
	return capture.Step{Seq: x.seq, What: capture.Opened{
		ID:      uuid.Must(uuid.NewRandomFromReader(r.random)), // of which no reading fails
		Conn:    x.conn.number,
		Stream:  x.on,
		Started: r.q.base.Add(p.at).Round(0).UTC(),
		Client:  x.peer,
		Agent:   x.agent,
		Head:    owned(p.data),
	}}
}

// answerBody records a piece of an answer's body, cut into events if it is a stream.
func (r *Recorder) answerBody(steps []capture.Step, x *exchange, at time.Duration, p []byte) []capture.Step {
	if x.stream == nil {
		if data, dropped := r.limit(x, p, 1); data != nil || dropped > 0 {
			steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.ResponseBody{Data: data, Dropped: dropped}})
		}
		return steps
	}
	if x.truncated {
		x.missing += int64(len(p))
		return steps
	}
	if r.opts.OutOfTime != nil && r.opts.OutOfTime() {
		x.stream.hurry()
	}
	events, err := x.stream.write(p)
	steps = appendEvents(steps, x, at, events)
	if err != nil {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.Fact{
			Note: "the event stream could not be decoded, and its rest is not recorded: " + err.Error(),
		}})
	}
	if n := x.stream.undecoded(); n > 0 {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.ResponseBody{Dropped: n}})
	}
	return steps
}

// limit returns the part of a piece to record, as an owned copy, and how many bytes after it are not recorded.
func (r *Recorder) limit(x *exchange, p []byte, side int) (data []byte, dropped int64) {
	if x.truncated {
		x.missing += int64(len(p))
		return nil, int64(len(p))
	}
	n := min(int64(len(p)), r.opts.MaxBody-x.kept[side])
	x.kept[side] += n
	if x.kept[side] == r.opts.MaxBody {
		[]*flow{&x.request, &x.answer}[side].full.Store(true)
	}
	return owned(p[:n]), int64(len(p)) - n
}

// endStream ends the stream of an answer: the rest that no blank line has ended is its last event.
func (r *Recorder) endStream(steps []capture.Step, x *exchange, at time.Duration) []capture.Step {
	if x.stream == nil {
		return steps
	}
	if !x.truncated {
		steps = appendEvents(steps, x, at, x.stream.flush())
	}
	x.stream.close()
	x.stream = nil
	return steps
}

// ended closes an exchange that the relay has finished with.
func (r *Recorder) ended(steps []capture.Step, x *exchange, p *piece) []capture.Step {
	at := p.at - x.started
	steps = r.endStream(steps, x, at)
	if p.size > 0 {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.RequestBody{Dropped: p.size}})
	}
	if p.dropped > 0 {
		steps = append(steps, capture.Step{Seq: x.seq, Offset: at, What: capture.ResponseBody{Dropped: p.dropped}})
	}
	if x.fault == nil {
		x.fault = x.late.Load()
	}
	r.count(func(s *Stats) { s.LostBytes += p.lost })
	return r.close(steps, x, at, capture.Closed{Fault: x.timedFault(), Dropped: p.lost})
}

func (r *Recorder) close(steps []capture.Step, x *exchange, at time.Duration, c capture.Closed) []capture.Step {
	c.Dropped += x.missing
	delete(r.open, x.seq)
	return append(steps, capture.Step{Seq: x.seq, Offset: at, What: c})
}

func appendEvents(steps []capture.Step, x *exchange, at time.Duration, events []event) []capture.Step {
	for _, e := range events {
		e.At = at
		steps = append(steps, capture.Step{
			Seq: x.seq, Offset: at, What: capture.ResponseEvent{Event: e.Event}, Parsed: &capture.Parsed{Fields: e.fields},
		})
	}
	return steps
}

// owned returns a copy that the sink may keep, nil for nothing.
func owned(p []byte) []byte {
	if len(p) == 0 {
		return nil
	}
	return bytes.Clone(p)
}

// nameClient returns the name of an exchange's client, and how it was found out. The client's process may depend on a
// running search: the record waits for it, the traffic does not.
func (r *Recorder) nameClient(x *exchange, head []byte) (name, how string) {
	switch {
	case x.delivers:
		return x.client, byWebhook
	case x.client != "":
		return x.client, byProxyUser
	}
	for i := range r.opts.Clients {
		if p := &r.opts.Clients[i]; p.fits(head, x.conn.client, x.conn.Certificate) {
			return p.Name, p.how()
		}
	}
	caller := x.conn.caller.Load()
	if caller != nil {
		r.q.hold(caller.Done, caller.Until)
	}
	product, by := ClientName(head)
	name, how, unseen := caller.name(x.agent.Name)
	if by == byUserAgent {
		r.products.note(product, caller)
		product = r.programs.name(product, caller)
	}
	switch {
	case name != "":
		return name, how
	case unseen && (by != byUserAgent || r.products[product]):
		x.product = capture.Peer{Name: product, How: by}
		return unnamed, byUnseen
	}
	return product, by
}

// record appends the steps for one piece, as far as the piece is to be recorded.
func (r *Recorder) record(steps []capture.Step, p *piece) []capture.Step {
	x := p.x
	if p.kind == pieceOpened {
		steps = append(steps, r.begin(x, p))
		if r.opts.Seq > 0 && x.seq == r.opts.Seq+1 {
			steps = append(steps, capture.Step{Seq: x.seq, What: capture.Fact{Note: capture.Resumed}})
		}
		if x.conn.Bodies != Everything && !r.agents.has(x.agent) {
			x.relation = x.relationOf(p.data, x.conn.Bodies)
		}
		if x.conn.Bodies != Everything && x.relation == related {
			r.agents.add(x.agent)
		}
		return steps
	}
	if x.relation <= adjacent || x.unrecorded {
		return r.steps(steps, p)
	}
	if x.relation == undecided {
		if x.relation = x.decide(p); x.relation <= adjacent {
			if x.relation == related {
				r.agents.add(x.agent)
			}
			steps = append(steps, x.held...)
			x.seeker = seeker{}
			return r.steps(steps, p)
		}
	}
	x.held = r.steps(x.held, p)
	if x.relation == undecided {
		return steps
	}
	return r.withoutBodies(steps, x)
}
