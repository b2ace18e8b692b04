package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/track/push"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/source"
	"a2atap/proxy"
	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/injection"
	"a2atap/proxy/outbound"
	"a2atap/tui"
)

// recordingOptions say what a recording taps, and how it stores the traffic.
type recordingOptions struct {
	output                     string
	taps                       []proxy.TapSpec
	aliases                    []proxy.Alias
	faults                     []injection.Spec // made in answers
	clients                    []proxy.ClientPattern
	forward                    *proxy.ForwardSpec // nil for none
	noRewrite                  bool
	webhooks                   *proxy.WebhookSpec // nil if they are not changed
	allowRemote                bool
	allowHosts                 []proxy.HostPattern
	timeoutHead, timeoutTunnel time.Duration // as proxy.Options has them
	keepSecrets                bool
	redact                     []redact.Place
	key                        []byte // of placeholders; nil is one for this recording only
	maxBody                    int64
	segment                    int64
	policy                     proxy.Policy
	grace                      time.Duration           // that exchanges in flight get when the recording ends
	keys                       []analyzer.EngineOption // that cards are signed with
	reach                      *outbound.Dialer        // how agents are connected to; nil is without any of its options

	collector *collector   // that gets spans; nil for none
	ship      *shipment.To // where it is shipped; nil for nowhere

	listener  Listener // is told what happens; nil for nobody: then the result has all findings
	exchanges bool     // the listener is told of each exchange
	events    bool     // and of each event of a stream

	rules []*analyzer.Rule // that judge it; nil is all there are

	onDial func(client, connection string)      // as proxy.Options has it
	around func(sink capture.Sink) capture.Sink // sees what is recorded first; nil

	fault func() error // makes commits fail, for tests; nil
	room  int          // bytes that may wait to be recorded, and to be stored; 0 stands for the defaults

	inspected bool // what the rules find is shown by the inspector, too; needs a listener
}

// A Listener is told what happens in a recording, by several goroutines. Silent tells nobody.
type Listener interface {
	Tap(*proxy.Tap)                            // a further tap opened by itself
	Notice(text string)                        // what the user should know at once
	Tell(text string)                          // what the user may do without: judging is behind, spans were sent
	Finding(analyzer.Finding)                  // as they occur
	Exchange(capture.Source, analyzer.Summary) // each, when it has ended and is judged, if that is wanted
	Event(analyzer.PassedEvent)                // each of a stream, the same
	Standing([]push.Standing)                  // the push notification configs that point at the recorder when it ends
	Ship(shipment.Event)                       // what becomes of shipping
}

// Silent is a Listener that does nothing, for others to stand on.
type Silent struct{}

func (Silent) Tap(*proxy.Tap)                            {}
func (Silent) Notice(string)                             {}
func (Silent) Tell(string)                               {}
func (Silent) Finding(analyzer.Finding)                  {}
func (Silent) Exchange(capture.Source, analyzer.Summary) {}
func (Silent) Event(analyzer.PassedEvent)                {}
func (Silent) Standing([]push.Standing)                  {}
func (Silent) Ship(shipment.Event)                       {}

// A recording is taps, the capture behind them, and the rules that follow it.
type recording struct {
	store    *bolt.Store
	sink     capture.Sink
	names    *redact.Names // under which agents are sent credentials, as their cards say
	key      []byte        // of placeholders
	keep     bool          // secrets are kept
	reach    *outbound.Dialer
	recorder *proxy.Recorder
	proxy    *proxy.Proxy
	before   capture.Info // of the capture, when this recording began
	listener Listener
	rules    []*analyzer.Rule
	keys     []analyzer.EngineOption
	spans    *spanning          // nil if they are not wanted
	verdicts *tui.Verdicts      // for the inspector; nil if there is none
	shipment *shipment.Shipment // nil if it is not shipped
	throttle *throttle
	patience time.Duration // that the end has with the rules before it says what it waits for

	failed chan error // the capture cannot go on, and the user chose to stop then
	passed tally

	ending    ending
	stopProxy context.CancelFunc
	letGo     func() // of memory: what is left to be stored and judged at the end is still kept within its bounds
	served    sync.WaitGroup
	judged    chan judgement
}

type judgement struct {
	result *analyzer.Result
	err    error
}

// startRecording opens the capture and the taps. When it returns, all addresses accept connections.
func startRecording(o recordingOptions) (*recording, error) {
	r := &recording{
		listener: o.listener, keys: o.keys, patience: judgePatience,
		failed: make(chan error, 1), judged: make(chan judgement, 1),
	}
	if r.listener == nil {
		r.listener = Silent{}
	}
	r.passed.changed = make(chan struct{}, 1)
	if o.key == nil {
		o.key = redact.NewKey()
	}
	if o.reach == nil {
		o.reach = &outbound.Dialer{}
	}
	if err := cli.NotAStream(o.output); err != nil {
		return nil, err
	}
	_, statErr := os.Stat(o.output)
	var urgency background.Urgency
	var err error
	r.store, err = bolt.Open(o.output, redacted.Named(bolt.Options{
		Tool: cli.ToolName(), SegmentSize: o.segment, SecretsKept: o.keepSecrets, Insecure: o.reach.Insecure,
		Urgency: &urgency,
		Wait:    o.policy == proxy.Wait, Behind: r.behind, Fault: o.fault, Budget: o.room,
		OnError: func(err error) { r.lost(err, o.policy) },
	}, o.key))
	if err != nil {
		return nil, err
	}
	r.names = &redact.Names{}
	r.key, r.keep, r.reach = o.key, o.keepSecrets, o.reach
	r.sink = redact.New(r.store, redact.Options{
		Key: o.key, Describer: reading.NewDescriber(), Keep: o.keepSecrets, Extra: o.redact, Names: r.names,
		Urgency: &urgency, OutOfTime: r.ending.over,
	})
	start := r.store.Position()
	if r.before, err = r.store.Info(context.Background()); err != nil {
		return nil, errors.Join(err, r.sink.Close())
	}
	if err := shipment.May(o.ship, o.output, r.store); err != nil {
		return nil, errors.Join(err, r.sink.Close())
	}
	if _, err := source.LearnCards(context.Background(), r.store, r.names, 1); err != nil {
		r.listener.Notice(fmt.Sprintf("credentials that cards in %s name are hidden when the cards come again: %v", o.output, err))
	}
	if o.around == nil {
		o.around = func(sink capture.Sink) capture.Sink { return sink }
	}
	r.recorder = proxy.NewRecorder(proxy.RecorderOptions{
		Sink: o.around(counted{r.sink, &r.passed}), Seq: start.Seq, Conn: start.Conn, MaxBody: o.maxBody, IfFull: o.policy,
		QueueBytes: int64(o.room), Urgency: &urgency, Clients: o.clients,
		OnLoss: func(err error) { r.lost(err, proxy.Pass) },
		OnStop: r.fail,
	})
	r.proxy, err = proxy.New(proxy.Options{
		Taps: o.taps, Aliases: o.aliases, Faults: o.faults, Forward: o.forward, Grace: o.grace, Recorder: r.recorder,
		NoRewrite: o.noRewrite, Webhooks: o.webhooks, AllowRemote: o.allowRemote, AllowHosts: o.allowHosts,
		AnswerTimeout: o.timeoutHead, TunnelTimeout: o.timeoutTunnel,
		RootCAs: o.reach.Roots, Insecure: o.reach.Insecure, ClientCertificate: o.reach.Certificate,
		Upstream: o.reach.Proxy, OnTap: r.listener.Tap, OnNotice: r.listener.Notice, OnDial: o.onDial,
	})
	if err != nil {
		err = errors.Join(err, r.recorder.Close(context.Background()), r.sink.Close())
		if os.IsNotExist(statErr) { // nothing was recorded into it
			err = errors.Join(err, os.Remove(o.output))
		}
		return nil, err
	}
	if o.rules == nil {
		o.rules = rules.All
	}
	r.rules = o.rules
	if o.inspected {
		r.verdicts = tui.NewVerdicts(start.Arrival)
	}
	if o.collector != nil {
		r.spans = newSpanning(o.collector, r.shown(), r.before.ID, r.listener.Notice, r.listener.Tell)
	}
	r.throttle = r.newThrottle()
	r.shipment = shipment.Start(o.ship, o.output, r.store, r.busyForShipping(), r.shipped)
	go r.judge(o)
	ctx, stop := context.WithCancel(context.Background())
	r.stopProxy = stop
	r.served.Go(func() { r.proxy.Serve(ctx) }) //nolint:errcheck // it returns nil
	r.letGo = r.keepMemory().begin()
	return r, nil
}

// behind returns how long what will be stored next has waited for it.
func (r *recording) behind() time.Duration {
	if r.recorder == nil {
		return 0 // the capture is being opened
	}
	return r.recorder.Behind()
}

// lost is called once for each cause for which something could not be recorded.
func (r *recording) lost(err error, policy proxy.Policy) {
	if policy == proxy.Wait {
		r.listener.Notice(fmt.Sprintf("nothing can be recorded now, and traffic waits: %v", err))
	} else {
		r.listener.Notice(fmt.Sprintf("not everything is recorded: %v", err))
	}
	if policy == proxy.Stop {
		r.fail(err)
	}
}

func (r *recording) fail(err error) {
	select {
	case r.failed <- err:
	default:
	}
}

// stop ends the recording: taps first, then what is still to be stored, then the rules. It returns what they found and
// what was recorded.
func (r *recording) stop() (*analyzer.Result, proxy.Stats, error) {
	defer r.letGo()
	r.store.StopWaiting() // first: traffic that waits for the capture goes on
	r.stopProxy()
	r.served.Wait()
	r.ending.begin()
	r.throttle.lift()
	// However long it takes: what is left is recorded, or counted. A second interrupt ends it at once.
	err := errors.Join(r.recorder.Close(context.Background()), r.sink.Close())
	j := r.verdict()
	r.spans.stop()
	r.shipment.Stop()
	stats := r.account()
	if j.result != nil {
		j.result.Counts.Lost = max(j.result.Counts.Lost, stats.LostExchanges)
	}
	return j.result, stats, errors.Join(err, j.err)
}

// account says what became of all that passed: what the store has, and what it or the recorder lost. Neither knows of
// the other's losses, but that the recorder has appended most of its own as lost.
func (r *recording) account() proxy.Stats {
	stats, stored := r.recorder.Stats(), r.store.Account()
	recorded := stats.LostBytes - stats.UnreportedBytes // of the lost bytes, those that the store knows of
	stats.Bytes -= min(stats.Bytes, max(0, stored.LostBytes-recorded))
	stats.Exchanges = uint64(stored.Exchanges)
	stats.LostExchanges = stored.LostExchanges + stats.UnreportedExchanges
	stats.LostBytes = stored.LostBytes + stats.UnreportedBytes
	return stats
}

// A tally counts exchanges as they are recorded. It may be read while it counts.
type tally struct {
	opened, closed atomic.Int64
	changed        chan struct{} // holds a value when a count has changed since it was last read
}

// counted is a sink that counts what it was given.
type counted struct {
	capture.Sink
	passed *tally
}

// Append implements capture.Sink.
func (c counted) Append(steps ...capture.Step) error {
	var opened, closed int64
	for i := range steps {
		switch steps[i].What.(type) {
		case capture.Opened:
			opened++
		case capture.Closed:
			closed++
		}
	}
	if err := c.Sink.Append(steps...); err != nil {
		return err
	}
	if opened+closed > 0 {
		c.passed.opened.Add(opened)
		c.passed.closed.Add(closed)
		select {
		case c.passed.changed <- struct{}{}:
		default:
		}
	}
	return nil
}

// busyForShipping is how shipping asks whether traffic needs the processor.
func (r *recording) busyForShipping() func() bool {
	cpu := newCPUMonitor()
	return func() bool {
		waiting, _ := r.recorder.Waiting()
		return waiting+int64(r.store.Waiting()) > judgeBacklog || cpu.saturated(r.recorder.Stats().Bytes)
	}
}

// shipped tells what becomes of shipping; the inspector, too, what keeps the recording from it.
func (r *recording) shipped(v shipment.Event) {
	r.listener.Ship(v)
	if r.verdicts != nil && (v.Urgent() || v.State == "recovered") {
		r.verdicts.Notice(v.Text)
	}
}
