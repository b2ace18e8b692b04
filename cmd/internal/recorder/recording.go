// Package recorder records traffic between clients and agents, checks it meanwhile, and reports events to a Listener.
// The commands record, run, demo and playback share it.
//
// Traffic takes the path of proxy/record: taps, redaction, and the store of the capture. This package works on the
// other side of the store. The rules follow the capture as any other reader does, and yield to the traffic (throttle).
// Their results are written into the capture (keeping), and sent to spans, the inspector and a NATS server. While no
// traffic passes, the recorder returns memory to the system.
//
// Stop ends a recording in order: taps, pending writes, the rules, and data that waits to be sent elsewhere. Flags
// declares the flags of recordings; no other package does.
package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/spans"
	"a2atap/proxy"
	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/notes"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/forward"
	"a2atap/proxy/hold"
	"a2atap/proxy/outbound"
	"a2atap/proxy/record"
	"a2atap/proxy/recording"
	"a2atap/tui"
)

// A Recording is a set of taps, the capture behind them, and the rules that follow the capture.
type Recording struct {
	taps     *record.Recording
	store    *bolt.Store
	hide     redacted.Options
	reach    *outbound.Dialer
	before   capture.Info // of the capture, at the start of this recording
	desk     *hold.Desk   // nil if messages cannot be held
	listener Listener
	rules    []*analysis.Rule
	keys     []engine.Option
	spans    *spans.Live        // nil without spans
	notices  chan string        // for the inspector; nil without one
	shipment *shipment.Shipment // nil if the recording is not shipped
	throttle *throttle
	hints    *hints        // nil without them
	patience time.Duration // how long the end waits for the rules before it prints why it waits
	letGo    func()        // ends the memoryKeeper, which also bounds memory while the end stores and checks the rest
	judged   chan judgement
}

type judgement struct {
	result *judgment.Result
	err    error
}

// Start opens the capture and the taps. When it returns, all addresses accept connections.
func Start(o Options) (*Recording, error) {
	r := &Recording{
		listener: o.Listener, keys: o.Keys, rules: o.Rules, hide: o.Hide, reach: o.Reach,
		desk: o.Proxy.Hold, patience: judgePatience, judged: make(chan judgement, 1),
	}
	if r.listener == nil {
		r.listener = Silent{}
	}
	if r.rules == nil {
		r.rules = rules.All
	}
	r.reach = cmp.Or(r.reach, &outbound.Dialer{})
	if r.hide.Key == nil {
		r.hide.Key = redact.NewKey()
	}
	r.hide.Names = &redact.Names{}
	_, statErr := os.Stat(o.Output)
	var urgency background.Urgency
	if err := r.open(&o, &urgency); err != nil {
		return nil, err
	}
	start := r.store.Position()
	o.Recorder.Seq, o.Recorder.Conn = start.Seq, start.Conn
	o.Recorder.OnLoss = func(err error) { r.lost(err, recording.Pass) }
	o.Proxy.RootCAs, o.Proxy.Insecure = r.reach.Roots, r.reach.Insecure
	o.Proxy.ClientCertificate, o.Proxy.Upstream = r.reach.Certificate, r.reach.Proxy
	o.Proxy.OnTap, o.Proxy.OnNotice = r.listener.Tap, r.listener.Notice
	r.taps = record.New(r.store, record.Options{
		Proxy: o.Proxy, Recorder: o.Recorder, Redact: r.hide.Hiding(), Around: o.Around, Urgency: &urgency,
	})
	keep := r.newKeeping(&o)
	keep.begin(r.store.Flush)
	if err := r.taps.Start(); err != nil {
		if os.IsNotExist(statErr) { // nothing was recorded into it
			err = errors.Join(err, os.Remove(o.Output))
		}
		return nil, err
	}
	if o.Inspected {
		r.notices = make(chan string, maxNotices)
	}
	if o.Collector != nil {
		r.spans = spans.Start(o.Collector, r.Source(), r.before.ID, r.listener.Notice, r.listener.Tell)
	}
	r.throttle = r.newThrottle()
	if o.Hints && !o.Inspected {
		r.hints = r.newHints(&o)
	}
	r.shipment = shipment.Start(o.Ship, o.Output, r.store, r.busy(), r.shipped)
	go r.judge(o, keep)
	r.letGo = r.keepMemory().begin()
	return r, nil
}

// open opens the capture. From then on, credentials that its cards name are known.
func (r *Recording) open(o *Options, urgency *background.Urgency) (err error) {
	own := r.hide
	own.Store.SecretsKept, own.Store.Insecure = own.Keep, r.reach.Insecure
	own.Store.Urgency, own.Store.Wait, own.Store.Behind = urgency, o.Recorder.IfFull == recording.Wait, r.behind
	own.Store.Waits = func(waits bool) { r.taps.Hinder(waits) }
	own.Notice = r.listener.Notice
	own.Store.OnError = func(err error) { r.lost(err, o.Recorder.IfFull) }
	if r.store, err = own.OpenStore(o.Output); err != nil {
		return err
	}
	if r.before, err = r.store.Info(context.Background()); err == nil {
		err = shipment.May(o.Ship, o.Output, r.store)
	}
	if err != nil {
		return errors.Join(err, r.store.Close())
	}
	if _, err := source.LearnCards(context.Background(), r.store, r.hide.Names, 1); err != nil {
		r.listener.Notice(fmt.Sprintf("credentials named by cards in %s are hidden only after the cards are fetched again: %v", o.Output, err))
	}
	return nil
}

// Taps returns the taps. Those that opened on their own come last.
func (r *Recording) Taps() []*proxy.Tap { return r.taps.Taps() }

// Forward returns the forward proxy, or nil.
func (r *Recording) Forward() *forward.Proxy { return r.taps.Forward() }

// Tools returns the path of the socket at which tools join the recording; empty if they cannot.
func (r *Recording) Tools() string { return r.taps.Tools() }

// Keys returns the keys that verify cards.
func (r *Recording) Keys() []engine.Option { return r.keys }

// Desk returns the desk that holds messages, or nil if messages cannot be held.
func (r *Recording) Desk() *hold.Desk { return r.desk }

// Hidden returns an exchange as the capture would store it: without its secrets, unless secrets are kept.
func (r *Recording) Hidden(x *capture.Exchange) (*capture.Exchange, error) {
	return r.hide.Hidden(x)
}

// Before returns the Info of the capture at the start of the recording.
func (r *Recording) Before() capture.Info { return r.before }

// Reach returns the dialer for agents.
func (r *Recording) Reach() *outbound.Dialer { return r.reach }

// Passed returns how many exchanges the recording has opened, and how many of them have ended.
func (r *Recording) Passed() (opened, ended int64) { return r.taps.Passed() }

// Changed yields a value if Passed has changed since the last value was read.
func (r *Recording) Changed() <-chan struct{} { return r.taps.Changed() }

// Failed yields the reason why the recording cannot continue, if the user chose to stop in that case.
func (r *Recording) Failed() <-chan error { return r.taps.Failed() }

// Wait returns when the recording should end: the context is done, the time is up, or enough exchanges have ended. If
// the capture failed and the user chose to stop in that case, Wait returns an error.
func (r *Recording) Wait(ctx context.Context, duration time.Duration, exchanges int64) error {
	return Failure(r.taps.Wait(ctx, duration, exchanges))
}

// Failure explains the error of a failed recording. It returns nil for nil.
func Failure(err error) error {
	if err != nil {
		err = fmt.Errorf("the capture failed and --if-capture-fails is stop: %w", err)
	}
	return err
}

// Source returns the capture with the credentials hidden that its cards have named.
func (r *Recording) Source() capture.Source {
	if r.before.SecretsKept || r.hide.Keep {
		return r.store
	}
	return source.HideIn(r.store, r.hide.Names, r.hide.Key)
}

// behind returns how long the next item to be stored has waited.
func (r *Recording) behind() time.Duration {
	if r.taps == nil {
		return 0 // the capture is being opened
	}
	return r.taps.Behind()
}

// outOfTime reports whether no time is left to check long texts because the recording is ending.
func (r *Recording) outOfTime() bool { return r.taps.OutOfTime() }

// lost is called once for each cause of lost records.
func (r *Recording) lost(err error, policy recording.Policy) {
	if policy == recording.Wait {
		r.listener.Notice(fmt.Sprintf("recording is blocked, and traffic waits: %v", err))
	} else {
		r.listener.Notice(fmt.Sprintf("recording is incomplete: %v", err))
	}
	if policy == recording.Stop {
		r.taps.Fail(err)
	}
}

// Stop ends the recording: taps first, then pending writes, then the rules. It returns the findings and the recorder's
// statistics.
func (r *Recording) Stop() (*judgment.Result, recording.Stats, error) {
	defer r.letGo()
	r.taps.CloseTaps()
	r.throttle.lift()
	// However long this takes, the rest is recorded or counted. A second interrupt ends it at once.
	err := r.taps.Close(context.Background())
	j := r.verdict()
	if r.hints != nil && j.err == nil {
		r.hints.end()
	}
	r.spans.Stop()
	r.shipment.Stop()
	stats := r.account()
	if j.result != nil {
		j.result.Counts.Lost = max(j.result.Counts.Lost, stats.LostExchanges)
	}
	return j.result, stats, errors.Join(err, j.err)
}

// account returns how much was stored, and how much the store or the recorder lost. Neither knows the other's losses,
// except that the recorder has appended most of its own as lost.
func (r *Recording) account() recording.Stats {
	stats, stored := r.taps.Stats(), r.store.Account()
	recorded := stats.LostBytes - stats.UnreportedBytes // the lost bytes that the store knows about
	stats.Bytes -= min(stats.Bytes, max(0, stored.LostBytes-recorded))
	stats.Exchanges = uint64(stored.Exchanges)
	stats.LostExchanges = stored.LostExchanges + stats.UnreportedExchanges
	stats.LostBytes = stored.LostBytes + stats.UnreportedBytes
	return stats
}

// busy returns a function that reports whether traffic needs the processor. Each caller needs a separate one.
func (r *Recording) busy() func() bool {
	cpu := newCPUMonitor()
	return func() bool {
		return r.taps.Waiting()+int64(r.store.Waiting()) > judgeBacklog || cpu.saturated(r.taps.Stats().Bytes)
	}
}

// shipped reports the state of shipping. The inspector also receives the reasons why shipping is stuck.
func (r *Recording) shipped(v shipment.Event) {
	r.listener.Ship(v)
	if v.Urgent() || v.State == "recovered" {
		r.notice(v.Text)
	}
}

// maxNotices is the maximum number of lines that wait for the inspector.
const maxNotices = 16

// notice shows a line in the inspector, if one is open.
func (r *Recording) notice(text string) {
	select {
	case r.notices <- text:
	default: // the inspector has ended, or its queue is full
	}
}

// Screen returns the inspector's options for the recording: its rules, their findings, and where to send traffic.
func (r *Recording) Screen() tui.Options {
	var hints []string
	for _, t := range r.Taps() {
		hints = append(hints, fmt.Sprintf("%s is tapped at %s", t.Name(), t.URL()))
	}
	if f := r.Forward(); f != nil {
		hints = append(hints, "the forward proxy for any agent is "+f.URL())
	}
	if s := r.shipment; s != nil {
		hints = append(hints, fmt.Sprintf("shipped to %s as %s", s.To.Address, s.To.Options.Host))
	}
	return tui.Options{
		Rules: r.rules, Notices: r.notices, Hints: hints, QuitEnds: "Quitting ends the recording.",
		Notes: notes.Path(r.before.Name),
	}
}

// keepMemory returns the memoryKeeper of a recording.
func (r *Recording) keepMemory() *memoryKeeper {
	position := func() uint64 { return r.store.Committed().Arrival + r.throttle.arrival.Load() }
	return &memoryKeeper{
		position: position,
		trim: func() {
			recordingRuntime.adjust()
			r.store.DropPages() //nolint:errcheck // they stay then
		},
		busy:  func() bool { return r.store.Waiting() > 0 },
		free:  func() { runtime.GC(); debug.FreeOSMemory() },
		held:  heldMemory,
		now:   time.Now,
		given: position(),
	}
}

// newHints returns the hints of a recording.
func (r *Recording) newHints(o *Options) *hints {
	h := &hints{tell: r.listener.Tell, tapped: func() (names []string) {
		for _, t := range r.Taps() {
			names = append(names, t.AgentName())
		}
		return names
	}}
	if f := o.Proxy.Forward; f != nil {
		h.given = len(f.Names) > 0
	}
	if f := r.Forward(); f != nil && !o.Run {
		h.forward = f.Addr()
	}
	return h
}
