package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/rules"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/tui"
)

// recordingOptions say what a recording taps, and how it stores the traffic.
type recordingOptions struct {
	output      string
	taps        []proxy.TapSpec
	aliases     []proxy.Alias
	forward     *proxy.ForwardSpec // nil for none
	noRewrite   bool
	allowRemote bool
	keepSecrets bool
	redact      []redact.Place
	maxBody     int64
	segment     int64
	policy      proxy.Policy
	grace       time.Duration           // that exchanges in flight get when the recording ends
	keys        []analyzer.EngineOption // that cards are signed with
	roots       *x509.CertPool          // that TLS agents are verified against; nil is the system's

	onTap     func(*proxy.Tap)       // a further tap opened by itself
	onNotice  func(string)           // what the user should know at once
	onFinding func(analyzer.Finding) // as they occur
	onBehind  func(text string)      // judging is far behind, or takes long at the end

	rules []*analyzer.Rule // that judge it; nil is all there are

	inspected bool // what the rules find is shown by inspect, too; onFinding must be given
}

// A recording is taps, the capture behind them, and the rules that follow it.
type recording struct {
	store    *bolt.Store
	sink     capture.Sink
	recorder *proxy.Recorder
	proxy    *proxy.Proxy
	before   capture.Info // of the capture, when this recording began
	onNotice func(string)
	onBehind func(string)
	rules    []*analyzer.Rule
	keys     []analyzer.EngineOption
	verdicts *tui.Verdicts // for the inspector; nil if there is none
	pace     *judgePace
	patience time.Duration // that the end has with the rules before it says what it waits for

	failed chan error // the capture cannot go on, and the user chose to stop then
	passed tally

	stopProxy context.CancelFunc
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
		onNotice: o.onNotice, onBehind: o.onBehind, keys: o.keys, patience: judgePatience,
		failed: make(chan error, 1), judged: make(chan judgement, 1),
	}
	r.passed.changed = make(chan struct{}, 1)
	_, statErr := os.Stat(o.output)
	var err error
	r.store, err = bolt.Open(o.output, bolt.Options{
		Tool: toolName(), SegmentSize: o.segment, SecretsKept: o.keepSecrets,
		OnError: func(err error) { r.lost(err, o.policy) },
	})
	if err != nil {
		return nil, err
	}
	r.sink = redact.New(r.store, redact.Options{
		Key: r.store.RedactionKey(), Describer: analyzer.NewDescriber(), Keep: o.keepSecrets, Extra: o.redact,
	})
	start := r.store.Position()
	if r.before, err = r.store.Info(context.Background()); err != nil {
		return nil, errors.Join(err, r.sink.Close())
	}
	r.recorder = proxy.NewRecorder(proxy.RecorderOptions{
		Sink: counted{r.sink, &r.passed}, Seq: start.Seq, Conn: start.Conn, MaxBody: o.maxBody, IfFull: o.policy,
		OnLoss: func(err error) { r.lost(err, proxy.Pass) },
		OnStop: r.fail,
	})
	r.proxy, err = proxy.New(proxy.Options{
		Taps: o.taps, Aliases: o.aliases, Forward: o.forward, Grace: o.grace, Recorder: r.recorder,
		NoRewrite: o.noRewrite, AllowRemote: o.allowRemote,
		RootCAs: o.roots, OnTap: o.onTap, OnNotice: o.onNotice,
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
	r.pace = r.newPace()
	go r.judge(o)
	ctx, stop := context.WithCancel(context.Background())
	r.stopProxy = stop
	r.served.Go(func() { r.proxy.Serve(ctx) }) //nolint:errcheck // it returns nil
	r.served.Go(func() { r.keepMemory().run(ctx) })
	return r, nil
}

// lost is called once for each cause for which something could not be recorded.
func (r *recording) lost(err error, policy proxy.Policy) {
	if r.onNotice != nil {
		r.onNotice(fmt.Sprintf("not everything is recorded: %v", err))
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
	r.stopProxy()
	r.served.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r.pace.hurry()
	err := errors.Join(r.recorder.Close(ctx), r.sink.Close())
	j := r.verdict()
	stats := r.recorder.Stats()
	if after, infoErr := r.store.Info(ctx); infoErr == nil { // what the store lost by itself, after it had taken it
		stats.LostExchanges = max(stats.LostExchanges, after.LostExchanges-r.before.LostExchanges)
		stats.LostBytes = max(stats.LostBytes, after.LostBytes-r.before.LostBytes)
	}
	if j.result != nil {
		j.result.Counts.Lost = max(j.result.Counts.Lost, stats.LostExchanges)
	}
	return j.result, stats, errors.Join(err, j.err)
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
