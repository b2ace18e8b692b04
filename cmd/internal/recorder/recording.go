// Package recorder records what passes between clients and agents, judges it while it does, and says what happens to a
// Listener. It is what record, run, demo and playback share.
//
// The way of the traffic is that of proxy/record: taps, redaction, and the store of the capture. Everything here looks on
// from the other side of the store: the rules follow the capture as any other reader does, and give way to the traffic
// (throttle); what they come to is written into the capture (keeping); spans, the inspector and a NATS server are told.
// While nothing passes, memory is given back.
//
// Stop ends it in order: taps, what is still to be stored, the rules, and what waits to be sent elsewhere. Flags are the
// flags of recordings; they are declared here alone.
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

// A Recording is taps, the capture behind them, and the rules that follow it.
type Recording struct {
	taps     *record.Recording
	store    *bolt.Store
	hide     redacted.Options
	reach    *outbound.Dialer
	before   capture.Info // of the capture, when this recording began
	desk     *hold.Desk   // nil if nothing is held
	listener Listener
	rules    []*analysis.Rule
	keys     []engine.Option
	spans    *spans.Live        // nil if they are not wanted
	verdicts *tui.Verdicts      // for the inspector; nil if there is none
	shipment *shipment.Shipment // nil if it is not shipped
	throttle *throttle
	patience time.Duration // that the end has with the rules before it says what it waits for
	letGo    func()        // of memory: what is left to be stored and judged at the end is still kept within its bounds
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
		r.verdicts = tui.NewVerdicts(start.Arrival)
	}
	if o.Collector != nil {
		r.spans = spans.Start(o.Collector, r.Source(), r.before.ID, r.listener.Notice, r.listener.Tell)
	}
	r.throttle = r.newThrottle()
	r.shipment = shipment.Start(o.Ship, o.Output, r.store, r.busy(), r.shipped)
	go r.judge(o, keep)
	r.letGo = r.keepMemory().begin()
	return r, nil
}

// open opens the capture. Credentials that its cards name are known from then on.
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
		r.listener.Notice(fmt.Sprintf("credentials that cards in %s name are hidden when the cards come again: %v", o.Output, err))
	}
	return nil
}

// Taps returns the taps, those that opened by themselves last.
func (r *Recording) Taps() []*proxy.Tap { return r.taps.Taps() }

// Forward returns the forward proxy; nil if there is none.
func (r *Recording) Forward() *forward.Proxy { return r.taps.Forward() }

// Desk returns where messages are held; nil if none can be.
func (r *Recording) Desk() *hold.Desk { return r.desk }

// Hidden returns an exchange as it would be recorded: without its secrets, unless they are kept.
func (r *Recording) Hidden(x *capture.Exchange) (*capture.Exchange, error) {
	whole := x.Copy()
	whole.Seq, whole.State, whole.Ended = 1, capture.StateClosed, 0
	memory := capture.NewMemory(capture.Info{})
	defer memory.Close()
	if err := r.hide.Sink(memory).Append(capture.Steps(whole)...); err != nil {
		return nil, err
	}
	return memory.Exchange(context.Background(), 1)
}

// Before returns what the capture said of itself when the recording began.
func (r *Recording) Before() capture.Info { return r.before }

// Reach returns how agents are connected to.
func (r *Recording) Reach() *outbound.Dialer { return r.reach }

// Passed returns how many exchanges were opened in the record, and how many of them have ended.
func (r *Recording) Passed() (opened, ended int64) { return r.taps.Passed() }

// Changed yields a value when Passed has changed since a value was read last.
func (r *Recording) Changed() <-chan struct{} { return r.taps.Changed() }

// Failed yields why the recording cannot go on, if the user chose to stop then.
func (r *Recording) Failed() <-chan error { return r.taps.Failed() }

// Wait returns when the recording is to end: the context is over, the time is up, enough exchanges have ended, or the
// capture failed and the user chose to stop then, which is an error.
func (r *Recording) Wait(ctx context.Context, duration time.Duration, exchanges int64) error {
	return Failure(r.taps.Wait(ctx, duration, exchanges))
}

// Failure says why a recording ends that has failed; nil for nil.
func Failure(err error) error {
	if err != nil {
		err = fmt.Errorf("the capture failed and --if-capture-fails is stop: %w", err)
	}
	return err
}

// Source is the capture as it may be shown, with what its cards have named hidden.
func (r *Recording) Source() capture.Source {
	if r.before.SecretsKept || r.hide.Keep {
		return r.store
	}
	return source.HideIn(r.store, r.hide.Names, r.hide.Key)
}

// behind returns how long what will be stored next has waited for it.
func (r *Recording) behind() time.Duration {
	if r.taps == nil {
		return 0 // the capture is being opened
	}
	return r.taps.Behind()
}

// outOfTime reports whether there is no time any more to judge long texts: the recording ends.
func (r *Recording) outOfTime() bool { return r.taps.OutOfTime() }

// lost is called once for each cause for which something could not be recorded.
func (r *Recording) lost(err error, policy recording.Policy) {
	if policy == recording.Wait {
		r.listener.Notice(fmt.Sprintf("nothing can be recorded now, and traffic waits: %v", err))
	} else {
		r.listener.Notice(fmt.Sprintf("not everything is recorded: %v", err))
	}
	if policy == recording.Stop {
		r.taps.Fail(err)
	}
}

// Stop ends the recording: taps first, then what is still to be stored, then the rules. It returns what they found and
// what was recorded.
func (r *Recording) Stop() (*judgment.Result, recording.Stats, error) {
	defer r.letGo()
	r.taps.CloseTaps()
	r.throttle.lift()
	// However long it takes: what is left is recorded, or counted. A second interrupt ends it at once.
	err := r.taps.Close(context.Background())
	j := r.verdict()
	r.spans.Stop()
	r.shipment.Stop()
	stats := r.account()
	if j.result != nil {
		j.result.Counts.Lost = max(j.result.Counts.Lost, stats.LostExchanges)
	}
	return j.result, stats, errors.Join(err, j.err)
}

// account says what became of all that passed: what the store has, and what it or the recorder lost. Neither knows of
// the other's losses, but that the recorder has appended most of its own as lost.
func (r *Recording) account() recording.Stats {
	stats, stored := r.taps.Stats(), r.store.Account()
	recorded := stats.LostBytes - stats.UnreportedBytes // of the lost bytes, those that the store knows of
	stats.Bytes -= min(stats.Bytes, max(0, stored.LostBytes-recorded))
	stats.Exchanges = uint64(stored.Exchanges)
	stats.LostExchanges = stored.LostExchanges + stats.UnreportedExchanges
	stats.LostBytes = stored.LostBytes + stats.UnreportedBytes
	return stats
}

// busy returns how work that can wait asks whether traffic needs the processor, one of them for each that asks.
func (r *Recording) busy() func() bool {
	cpu := newCPUMonitor()
	return func() bool {
		return r.taps.Waiting()+int64(r.store.Waiting()) > judgeBacklog || cpu.saturated(r.taps.Stats().Bytes)
	}
}

// shipped tells what becomes of shipping; the inspector, too, what keeps the recording from it.
func (r *Recording) shipped(v shipment.Event) {
	r.listener.Ship(v)
	if r.verdicts != nil && (v.Urgent() || v.State == "recovered") {
		r.verdicts.Notice(v.Text)
	}
}

// Screen is what the inspector shows of the recording: its rules, what they find, and where to send traffic.
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
		Rules: r.rules, Keys: r.keys, Verdicts: r.verdicts, Hints: hints, QuitEnds: "Quitting ends the recording.",
		Notes: notes.Path(r.before.Name),
	}
}

// keepMemory returns a memoryKeeper of a recording.
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
