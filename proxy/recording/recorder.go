package recording

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
)

// Defaults of RecorderOptions.
const (
	DefaultQueueBytes = 24 << 20
	DefaultMaxBody    = 16 << 20
	DefaultMaxEvent   = capture.DefaultBlockLimit
)

// A Policy says what happens to traffic that the capture cannot take in time.
type Policy uint8

// The policies.
const (
	Pass Policy = iota // traffic passes unrecorded, and that is counted
	Wait               // traffic waits until there is room: the proxy slows it down
	Stop               // recording ends; RecorderOptions.OnStop is called
)

// ErrBehind is the cause given to RecorderOptions.OnLoss and OnStop when the queue was full.
var ErrBehind = errors.New("the capture cannot keep up with the traffic")

// Options say where and how a Recorder records. Only Sink is required.
type Options struct {
	Sink capture.Sink // appended to by one goroutine; the recorder never closes it

	// Seq and Conn are the last numbers that the capture has used already; numbering goes on after them.
	Seq, Conn uint64

	QueueBytes int64 // bytes that may wait to be recorded; 0 is DefaultQueueBytes
	MaxBody    int64 // bytes recorded of one body that is no event stream; 0 is DefaultMaxBody
	MaxEvent   int   // bytes recorded of one event; 0 is DefaultMaxEvent

	IfFull Policy

	Clients []ClientPattern // names that the user gives to clients; the first that fits counts

	// Urgency is set while so much waits to be recorded that it cannot give way to traffic any more. It may be nil.
	Urgency *background.Urgency

	// OnLoss is called once for each cause that something could not be recorded: ErrBehind, or the Sink's first error.
	// OnStop is called once, with the same, when recording has ended for that reason (policy Stop); the caller then ends
	// the whole. Both are called in a goroutine of their own and may be nil.
	OnLoss func(error)
	OnStop func(error)
}

// A Recorder makes steps of what the relays tell it and appends them to a Sink. It has one queue and one goroutine for
// all connections, so that the capture has one order, that of arrival.
type Recorder struct {
	opts  Options
	q     *queue
	conns atomic.Uint64
	done  chan struct{} // closed when everything was handed to the sink

	reported [2]sync.Once // OnLoss: behind, sink
	stopOnce sync.Once
	calls    sync.WaitGroup

	// The rest belongs to the recording goroutine, but for stats.
	seq        uint64
	open       map[uint64]*exchange // by seq: opened in the capture and not closed
	agents     knownAgents
	unreported lossCount      // what no Lost step says yet
	reason     error          // why
	retry      []capture.Step // ends whose batch the sink refused
	batch      []stepLoss     // of the batch at hand
	work       background.Work

	mu    sync.Mutex
	stats Stats
	err   error // the sink's first
}

// Stats count what a Recorder has recorded.
type Stats struct {
	Exchanges     uint64 // opened in the capture
	Open          int    // of those, not yet closed
	Bytes         int64  // of heads, bodies and events that were recorded
	Unrelated     uint64 // of those, without a sign of A2A, so that their bodies were not recorded
	LostExchanges int64  // exchanges of which nothing was recorded
	LostBytes     int64  // bytes that passed unrecorded since the capture failed or was behind; limits are not counted

	// Of those, what the sink has not taken as a Lost step: known after Close.
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
		agents: make(knownAgents),
	}
	r.conns.Store(opts.Conn)
	go r.run()
	return r
}

// Stats returns what was recorded until now. After Close it is final.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stats
}

// Close ends the recording: what is in the queue is recorded, and exchanges that are still open are marked as
// interrupted. What connections tell afterwards is ignored. It does not close the Sink.
//
// It returns the Sink's first error, or that of the context if the Sink has not taken everything until it ends.
func (r *Recorder) Close(ctx context.Context) error {
	r.q.close()
	select {
	case <-r.done:
	case <-ctx.Done():
		return fmt.Errorf("end the recording: the capture has not taken what was left: %w", ctx.Err())
	}
	r.calls.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

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
			steps = r.record(steps, &s.pieces[i])
			r.work.GiveWay()
		}
		r.append(steps)
		r.q.release(s)
	}
	r.interrupt()
}

// interrupt closes what is still open when the recording ends: nobody saw the rest of it.
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
	r.append(nil) // what the sink has just refused gets a last chance
	r.count(func(s *Stats) { s.UnreportedExchanges, s.UnreportedBytes = r.unreported.exchanges, r.unreported.bytes })
}

// StopWaiting makes traffic that waits for room under the policy Wait go on, unrecorded, from now on.
func (r *Recorder) StopWaiting() { r.q.stopWaiting() }

// AsksForCertificates reports whether a client's name may depend on its certificate, which it shows only if it is asked.
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

// Waiting returns how many bytes wait to be recorded, those included that are being recorded now, and how many may. The
// first is small while recording keeps up with the traffic. It may be called at any time, by several goroutines.
func (r *Recorder) Waiting() (bytes, limit int64) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	return r.q.used, r.q.limit
}

// Behind returns how long the oldest of what waits to be recorded has waited: what passed before is with the sink. It
// may be called at any time, by several goroutines.
func (r *Recorder) Behind() time.Duration {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	return r.q.behind()
}
