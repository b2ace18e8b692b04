package recorder

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
	"a2atap/cmd/internal/spans"
	"a2atap/proxy"
	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/injection"
	"a2atap/proxy/outbound"
	"a2atap/tui"
)

// endPatience is how long the end of a recording may take for work that can be left out.
const endPatience = 500 * time.Millisecond

// An ending knows whether a recording has been ending for so long that work is left out. It may be used by several
// goroutines.
type ending struct{ began atomic.Pointer[time.Time] }

// begin says that the recording ends.
func (e *ending) begin() {
	now := time.Now()
	e.began.Store(&now)
}

// over reports whether there is no time left.
func (e *ending) over() bool {
	began := e.began.Load()
	return began != nil && time.Since(*began) > endPatience
}

// grace is how long open exchanges get once enough have ended.
const grace = 5 * time.Second

// Wait returns when the recording is to end: the context is over, the time is up, enough exchanges have ended, or the
// capture failed and the user chose to stop then, which is an error.
func (r *Recording) Wait(ctx context.Context, duration time.Duration, exchanges int64) error {
	var timeUp <-chan time.Time
	if duration > 0 {
		timeUp = time.After(duration)
	}
	var graceUp <-chan time.Time
	for {
		closed, opened := r.Passed.closed.Load(), r.Passed.Opened.Load()
		if exchanges > 0 && closed >= exchanges {
			if closed >= opened {
				return nil
			}
			if graceUp == nil {
				graceUp = time.After(grace)
			}
		}
		select {
		case <-r.Passed.Changed:
		case <-graceUp:
			return nil
		case <-timeUp:
			return nil
		case <-ctx.Done():
			return nil
		case err := <-r.Failed:
			return fmt.Errorf("the capture failed and --if-capture-fails is stop: %w", err)
		}
	}
}

// Options say what a recording taps, and how it stores the traffic.
type Options struct {
	Output                     string
	Taps                       []proxy.TapSpec
	aliases                    []proxy.Alias
	Faults                     []injection.Spec // made in answers
	clients                    []proxy.ClientPattern
	Forward                    *proxy.ForwardSpec // nil for none
	noRewrite                  bool
	Webhooks                   *proxy.WebhookSpec // nil if they are not changed
	AllowRemote                bool
	AllowHosts                 []proxy.HostPattern
	timeoutHead, timeoutTunnel time.Duration // as proxy.Options has them
	keepSecrets                bool
	redact                     []redact.Place
	Key                        []byte // of placeholders; nil is one for this recording only
	maxBody                    int64
	segment                    int64
	policy                     proxy.Policy
	Grace                      time.Duration           // that exchanges in flight get when the recording ends
	Keys                       []analyzer.EngineOption // that cards are signed with
	Reach                      *outbound.Dialer        // how agents are connected to; nil is without any of its options

	collector *spans.Collector // that gets spans; nil for none
	Ship      *shipment.To     // where it is shipped; nil for nowhere

	Listener  Listener // is told what happens; nil for nobody: then the result has all findings
	Exchanges bool     // the listener is told of each exchange
	Events    bool     // and of each event of a stream

	Rules []*analyzer.Rule // that judge it; nil is all there are

	OnDial func(client, connection string)      // as proxy.Options has it
	Around func(sink capture.Sink) capture.Sink // sees what is recorded first; nil

	fault func() error // makes commits fail, for tests; nil
	room  int          // bytes that may wait to be recorded, and to be stored; 0 stands for the defaults

	Inspected bool // what the rules find is shown by the inspector, too; needs a listener
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

// A Recording is taps, the capture behind them, and the rules that follow it.
type Recording struct {
	Store    *bolt.Store
	sink     capture.Sink
	names    *redact.Names // under which agents are sent credentials, as their cards say
	key      []byte        // of placeholders
	keep     bool          // secrets are kept
	Reach    *outbound.Dialer
	recorder *proxy.Recorder
	Proxy    *proxy.Proxy
	Before   capture.Info // of the capture, when this recording began
	listener Listener
	rules    []*analyzer.Rule
	keys     []analyzer.EngineOption
	spans    *spans.Live        // nil if they are not wanted
	verdicts *tui.Verdicts      // for the inspector; nil if there is none
	Shipment *shipment.Shipment // nil if it is not shipped
	throttle *throttle
	patience time.Duration // that the end has with the rules before it says what it waits for

	Failed chan error // the capture cannot go on, and the user chose to stop then
	Passed tally

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

// Start opens the capture and the taps. When it returns, all addresses accept connections.
func Start(o Options) (*Recording, error) {
	r := &Recording{
		listener: o.Listener, keys: o.Keys, patience: judgePatience,
		Failed: make(chan error, 1), judged: make(chan judgement, 1),
	}
	if r.listener == nil {
		r.listener = Silent{}
	}
	r.Passed.Changed = make(chan struct{}, 1)
	if o.Key == nil {
		o.Key = redact.NewKey()
	}
	if o.Reach == nil {
		o.Reach = &outbound.Dialer{}
	}
	if err := cli.NotAStream(o.Output); err != nil {
		return nil, err
	}
	_, statErr := os.Stat(o.Output)
	var urgency background.Urgency
	var err error
	r.Store, err = bolt.Open(o.Output, redacted.Named(bolt.Options{
		Tool: cli.ToolName(), SegmentSize: o.segment, SecretsKept: o.keepSecrets, Insecure: o.Reach.Insecure,
		Urgency: &urgency,
		Wait:    o.policy == proxy.Wait, Behind: r.behind, Fault: o.fault, Budget: o.room,
		OnError: func(err error) { r.lost(err, o.policy) },
	}, o.Key))
	if err != nil {
		return nil, err
	}
	r.names = &redact.Names{}
	r.key, r.keep, r.Reach = o.Key, o.keepSecrets, o.Reach
	r.sink = redact.New(r.Store, redact.Options{
		Key: o.Key, Describer: reading.NewDescriber(), Keep: o.keepSecrets, Extra: o.redact, Names: r.names,
		Urgency: &urgency, OutOfTime: r.ending.over,
	})
	start := r.Store.Position()
	if r.Before, err = r.Store.Info(context.Background()); err != nil {
		return nil, errors.Join(err, r.sink.Close())
	}
	if err := shipment.May(o.Ship, o.Output, r.Store); err != nil {
		return nil, errors.Join(err, r.sink.Close())
	}
	if _, err := source.LearnCards(context.Background(), r.Store, r.names, 1); err != nil {
		r.listener.Notice(fmt.Sprintf("credentials that cards in %s name are hidden when the cards come again: %v", o.Output, err))
	}
	if o.Around == nil {
		o.Around = func(sink capture.Sink) capture.Sink { return sink }
	}
	r.recorder = proxy.NewRecorder(proxy.RecorderOptions{
		Sink: o.Around(counted{r.sink, &r.Passed}), Seq: start.Seq, Conn: start.Conn, MaxBody: o.maxBody, IfFull: o.policy,
		QueueBytes: int64(o.room), Urgency: &urgency, Clients: o.clients,
		OnLoss: func(err error) { r.lost(err, proxy.Pass) },
		OnStop: r.fail,
	})
	r.Proxy, err = proxy.New(proxy.Options{
		Taps: o.Taps, Aliases: o.aliases, Faults: o.Faults, Forward: o.Forward, Grace: o.Grace, Recorder: r.recorder,
		NoRewrite: o.noRewrite, Webhooks: o.Webhooks, AllowRemote: o.AllowRemote, AllowHosts: o.AllowHosts,
		AnswerTimeout: o.timeoutHead, TunnelTimeout: o.timeoutTunnel,
		RootCAs: o.Reach.Roots, Insecure: o.Reach.Insecure, ClientCertificate: o.Reach.Certificate,
		Upstream: o.Reach.Proxy, OnTap: r.listener.Tap, OnNotice: r.listener.Notice, OnDial: o.OnDial,
	})
	if err != nil {
		err = errors.Join(err, r.recorder.Close(context.Background()), r.sink.Close())
		if os.IsNotExist(statErr) { // nothing was recorded into it
			err = errors.Join(err, os.Remove(o.Output))
		}
		return nil, err
	}
	if o.Rules == nil {
		o.Rules = rules.All
	}
	r.rules = o.Rules
	if o.Inspected {
		r.verdicts = tui.NewVerdicts(start.Arrival)
	}
	if o.collector != nil {
		r.spans = spans.Start(o.collector, r.Shown(), r.Before.ID, r.listener.Notice, r.listener.Tell)
	}
	r.throttle = r.newThrottle()
	r.Shipment = shipment.Start(o.Ship, o.Output, r.Store, r.busyForShipping(), r.shipped)
	go r.judge(o)
	ctx, stop := context.WithCancel(context.Background())
	r.stopProxy = stop
	r.served.Go(func() { r.Proxy.Serve(ctx) }) //nolint:errcheck // it returns nil
	r.letGo = r.keepMemory().begin()
	return r, nil
}

// behind returns how long what will be stored next has waited for it.
func (r *Recording) behind() time.Duration {
	if r.recorder == nil {
		return 0 // the capture is being opened
	}
	return r.recorder.Behind()
}

// lost is called once for each cause for which something could not be recorded.
func (r *Recording) lost(err error, policy proxy.Policy) {
	if policy == proxy.Wait {
		r.listener.Notice(fmt.Sprintf("nothing can be recorded now, and traffic waits: %v", err))
	} else {
		r.listener.Notice(fmt.Sprintf("not everything is recorded: %v", err))
	}
	if policy == proxy.Stop {
		r.fail(err)
	}
}

func (r *Recording) fail(err error) {
	select {
	case r.Failed <- err:
	default:
	}
}

// Stop ends the recording: taps first, then what is still to be stored, then the rules. It returns what they found and
// what was recorded.
func (r *Recording) Stop() (*analyzer.Result, proxy.Stats, error) {
	defer r.letGo()
	r.Store.StopWaiting() // first: traffic that waits for the capture goes on
	r.stopProxy()
	r.served.Wait()
	r.ending.begin()
	r.throttle.lift()
	// However long it takes: what is left is recorded, or counted. A second interrupt ends it at once.
	err := errors.Join(r.recorder.Close(context.Background()), r.sink.Close())
	j := r.verdict()
	r.spans.Stop()
	r.Shipment.Stop()
	stats := r.account()
	if j.result != nil {
		j.result.Counts.Lost = max(j.result.Counts.Lost, stats.LostExchanges)
	}
	return j.result, stats, errors.Join(err, j.err)
}

// account says what became of all that passed: what the store has, and what it or the recorder lost. Neither knows of
// the other's losses, but that the recorder has appended most of its own as lost.
func (r *Recording) account() proxy.Stats {
	stats, stored := r.recorder.Stats(), r.Store.Account()
	recorded := stats.LostBytes - stats.UnreportedBytes // of the lost bytes, those that the store knows of
	stats.Bytes -= min(stats.Bytes, max(0, stored.LostBytes-recorded))
	stats.Exchanges = uint64(stored.Exchanges)
	stats.LostExchanges = stored.LostExchanges + stats.UnreportedExchanges
	stats.LostBytes = stored.LostBytes + stats.UnreportedBytes
	return stats
}

// A tally counts exchanges as they are recorded. It may be read while it counts.
type tally struct {
	Opened, closed atomic.Int64
	Changed        chan struct{} // holds a value when a count has changed since it was last read
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
		c.passed.Opened.Add(opened)
		c.passed.closed.Add(closed)
		select {
		case c.passed.Changed <- struct{}{}:
		default:
		}
	}
	return nil
}

// busyForShipping is how shipping asks whether traffic needs the processor.
func (r *Recording) busyForShipping() func() bool {
	cpu := newCPUMonitor()
	return func() bool {
		waiting, _ := r.recorder.Waiting()
		return waiting+int64(r.Store.Waiting()) > judgeBacklog || cpu.saturated(r.recorder.Stats().Bytes)
	}
}

// shipped tells what becomes of shipping; the inspector, too, what keeps the recording from it.
func (r *Recording) shipped(v shipment.Event) {
	r.listener.Ship(v)
	if r.verdicts != nil && (v.Urgent() || v.State == "recovered") {
		r.verdicts.Notice(v.Text)
	}
}
