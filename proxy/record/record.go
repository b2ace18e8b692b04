// Package record records the traffic between clients and agents. It combines taps, a forward proxy, the recorder behind
// them, redaction and a sink, in the order that keeps secrets out of the sink. It closes them in the order that loses
// no traffic that has passed.
//
//	memory := capture.NewMemory(capture.Info{Name: "test"})
//	r := record.New(memory, record.Options{Proxy: proxy.Options{Taps: taps}})
//	err := r.Start()
//	…
//	err = r.Close(ctx) // memory has all traffic
//
// The sink may be anything that accepts steps: memory, a store, or a forwarder. This package does not judge traffic:
// for that, follow the source behind the sink, like any other reader. Traffic is not changed, except as set in
// proxy.Options, and does not wait, unless recording.Options.IfFull is set to wait.
package record

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/forward"
	"a2atap/proxy/recording"
)

// Options configure what is recorded, and how. The zero value of each field is its package's default.
type Options struct {
	Proxy    proxy.Options     // what is tapped; its Recorder is the recording's
	Recorder recording.Options // what may wait; its Sink is the recording's, and it stops the recording

	// Redact configures how secrets are hidden. A recording that ends searches the waiting data for half a second;
	// after that, it withholds large data.
	Redact redact.Options

	// Around returns a sink that is given all steps first, with their secrets, and hands them on to another. It may be
	// nil.
	Around func(capture.Sink) capture.Sink

	// Urgency is shared by all that work on the recording and could give way to traffic. It may be nil.
	Urgency *background.Urgency
}

// A Recording is taps, and what passes through them on its way to a sink. Its methods may be called by several
// goroutines.
type Recording struct {
	options  proxy.Options
	proxy    *proxy.Proxy // nil until Start
	recorder *recording.Recorder
	first    capture.Sink // the caller's sink
	sink     capture.Sink // with redaction before it
	passed   tally
	failed   chan error

	closing sync.Once
	ending  ending
	stop    context.CancelFunc
	served  sync.WaitGroup
}

// New returns a recording into a sink, which it owns from then on. Nothing is recorded before Start.
func New(sink capture.Sink, o Options) *Recording {
	r := &Recording{options: o.Proxy, first: sink, failed: make(chan error, 1)}
	r.passed.changed = make(chan struct{}, 1)
	o.Redact.Urgency, o.Redact.OutOfTime = o.Urgency, r.ending.over
	r.sink = NewSink(newNaming(sink), o.Redact)
	o.Recorder.Sink, o.Recorder.Urgency, o.Recorder.OnStop = counted{r.sink, &r.passed}, o.Urgency, r.Fail
	o.Recorder.OutOfTime = r.ending.over
	if o.Around != nil {
		o.Recorder.Sink = o.Around(o.Recorder.Sink)
	}
	r.recorder = recording.New(o.Recorder)
	r.options.Recorder = r.recorder
	return r
}

// NewSink returns the redacting sink that a recording has in front of its sink: it hides the secrets in steps from
// another source, such as another capture, and forwards the steps to next. It owns next.
func NewSink(next capture.Sink, o redact.Options) capture.Sink { return redact.New(next, o) }

// Recorder returns what makes steps of the pieces of connections. Connections that no tap accepts are begun there, also
// before Start.
func (r *Recording) Recorder() *recording.Recorder { return r.recorder }

// Start opens taps and forward proxy. When it returns, all addresses accept connections. After an error the recording is
// closed, and its sink too.
func (r *Recording) Start() (err error) {
	if r.proxy, err = proxy.New(r.options); err != nil {
		return errors.Join(err, r.recorder.Close(context.Background()), r.sink.Close())
	}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.served.Go(func() { r.proxy.Serve(ctx) }) //nolint:errcheck // it returns nil
	return nil
}

// Taps returns the taps that are open, in the order in which they were asked for, and then those that opened by
// themselves.
func (r *Recording) Taps() []*proxy.Tap { return r.proxy.Taps() }

// Forward returns the forward proxy, or nil.
func (r *Recording) Forward() *forward.Proxy { return r.proxy.Forward() }

// Tools returns the path of the socket at which tools join the recording; empty if they cannot.
func (r *Recording) Tools() string { return r.proxy.Tools() }

// Stats returns the recorded and lost amounts until now; after Close, the totals.
func (r *Recording) Stats() recording.Stats { return r.recorder.Stats() }

// Waiting returns how many bytes wait to be recorded.
func (r *Recording) Waiting() int64 {
	waiting, _ := r.recorder.Waiting()
	return waiting
}

// Behind returns how long the next piece has waited to be recorded.
func (r *Recording) Behind() time.Duration { return r.recorder.Behind() }

// Hinder tells whether the sink cannot store anything at the moment: see recording.Recorder.
func (r *Recording) Hinder(stuck bool) { r.recorder.Hinder(stuck) }

// OutOfTime reports whether the recording has been ending for so long that work is left out.
func (r *Recording) OutOfTime() bool { return r.ending.over() }

// Fail reports that the recording cannot continue. Only the first error counts until Failed has yielded it.
func (r *Recording) Fail(err error) {
	select {
	case r.failed <- err:
	default:
	}
}

// Failed yields the error that ends the recording.
func (r *Recording) Failed() <-chan error { return r.failed }

// Passed returns how many exchanges were opened in the record, and how many of them have ended.
func (r *Recording) Passed() (opened, ended int64) {
	return r.passed.opened.Load(), r.passed.ended.Load()
}

// Changed yields a value when Passed has changed since a value was read last.
func (r *Recording) Changed() <-chan struct{} { return r.passed.changed }

// grace is how long open exchanges get once enough have ended.
const grace = 5 * time.Second

// Wait returns when the recording is to end: the context is over, the time is up, enough exchanges have ended (0 is no
// limit of either), or it has failed, which is an error.
func (r *Recording) Wait(ctx context.Context, duration time.Duration, exchanges int64) error {
	var timeUp, graceUp <-chan time.Time
	if duration > 0 {
		timeUp = time.After(duration)
	}
	for {
		opened, ended := r.Passed()
		if exchanges > 0 && ended >= exchanges {
			if ended >= opened {
				return nil
			}
			if graceUp == nil {
				graceUp = time.After(grace)
			}
		}
		select {
		case <-r.Changed():
		case <-graceUp:
			return nil
		case <-timeUp:
			return nil
		case <-ctx.Done():
			return nil
		case err := <-r.failed:
			return err
		}
	}
}

// CloseTaps closes the taps and the forward proxy. Exchanges that are open get the time of proxy.Options.Grace. Traffic
// that has passed may still wait to be recorded.
func (r *Recording) CloseTaps() {
	r.closing.Do(func() {
		if s, ok := r.first.(interface{ StopWaiting() }); ok { // first: traffic that waits for the sink continues
			s.StopWaiting()
		}
		if r.stop != nil {
			r.stop()
		}
		r.served.Wait()
		r.ending.begin()
	})
}

// Close closes the taps, if they are not closed yet, waits until all traffic is recorded, at most until the context
// ends, and closes the sink.
func (r *Recording) Close(ctx context.Context) error {
	r.CloseTaps()
	return errors.Join(r.recorder.Close(ctx), r.sink.Close())
}

// endPatience is how long the end of a recording may take for work that can be left out.
const endPatience = 500 * time.Millisecond

// An ending knows whether a recording has been ending for so long that work is left out.
type ending struct{ began atomic.Pointer[time.Time] }

func (e *ending) begin() {
	e.began.Store(new(time.Now()))
}

func (e *ending) over() bool {
	began := e.began.Load()
	return began != nil && time.Since(*began) > endPatience
}

// A tally counts exchanges as they are recorded.
type tally struct {
	opened, ended atomic.Int64
	changed       chan struct{}
}

// counted is a sink that counts its input.
type counted struct {
	capture.Sink
	passed *tally
}

// Append implements capture.Sink.
func (c counted) Append(steps ...capture.Step) error {
	var opened, ended int64
	for i := range steps {
		switch steps[i].What.(type) {
		case capture.Opened:
			opened++
		case capture.Closed:
			ended++
		}
	}
	if err := c.Sink.Append(steps...); err != nil {
		return err
	}
	if opened+ended > 0 {
		c.passed.opened.Add(opened)
		c.passed.ended.Add(ended)
		select {
		case c.passed.changed <- struct{}{}:
		default:
		}
	}
	return nil
}
