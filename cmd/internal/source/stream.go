package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/merge"
	"a2atap/proxy/fleet"
)

// fleetFlush is how long steps of a stream wait for others: their file need not survive this process, so it is not
// synced more often than somebody who looks on needs it.
const fleetFlush = 50 * time.Millisecond

// A Following says how much of a stream is read.
type Following int

const (
	Snapshot   Following = iota // what is in it now
	UntilEnded                  // and what comes, until no recorder goes on
	Forever                     // and what comes
)

// OpenStream opens the stream of a fleet as one capture.
func (o *Flags) OpenStream(ctx context.Context, e cli.Env, name string, follow Following) (capture.Source, error) {
	if o == nil {
		o = &Flags{nats: &cli.NATSFlags{}}
	}
	address, err := fleet.ParseAddress(name)
	if err != nil {
		return nil, cli.Usage("%s: %w", cli.ShownName(name), err)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	connect, err := o.nats.Options(e, address)
	if err != nil {
		return nil, err
	}
	since, err := o.begin(e.Now())
	if err != nil {
		return nil, err
	}
	f := &stream{e: e, address: address, since: since, screen: follow == Forever, turned: make(chan struct{})}
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	if err := f.open(ctx, o, connect, follow); err != nil {
		err = errors.Join(err, f.Close())
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil, &cli.Exit{Code: cli.ExitInterrupted}
		}
		return nil, err
	}
	if follow == Snapshot && !o.Interrupts {
		f.removeWhenInterrupted()
	}
	return f, nil
}

// A stream is the stream of a fleet as a capture: what its recorders have shipped, merged into a file that is
// removed with it.
type stream struct {
	Indexed // the merged capture; nil until it is open

	e       cli.Env
	address fleet.Address
	since   time.Time
	folder  string
	release func() // of the folder
	conn    *fleet.Conn
	parted  atomic.Bool // the connection was closed
	reader  *fleet.Reader
	merger  *merge.Merger
	first   chan struct{} // has an element when there is something to merge, while it is followed
	store   *bolt.Store   // of what is merged, while it grows
	sink    capture.Sink  // which leads there
	ending  sync.Once     // of the sink
	ended   error         // of that

	working sync.WaitGroup
	broken  context.Context // ends when no more can be read, and with Close
	fail    context.CancelCauseFunc
	closing sync.Once
	err     error // of Close

	mu        sync.Mutex
	away      bool          // the server does not answer, which was said
	turned    chan struct{} // is closed when that is no longer so, or is so
	complaint string        // of a server that is there, the last one
	screen    bool          // something has the whole screen
	untold    []string      // meanwhile, the last of it
	dropped   int           // what came before these
	live      bool          // a recorder goes on
	quietAt   time.Time     // when the last one was found to have ended
}

var errClosed = errors.New("the capture is closed")

func (f *stream) open(ctx context.Context, o *Flags, connect fleet.Options, follow Following) (err error) {
	f.broken, f.fail = context.WithCancelCause(context.Background())
	connect.Client = "a2atap reading"
	connect.OnTrouble = f.trouble
	if f.conn, err = fleet.Connect(ctx, f.address, connect); err != nil {
		return err
	}
	removeLeftFolders()
	if f.folder, err = os.MkdirTemp("", fleetFolders); err != nil {
		return fmt.Errorf("keep what is read of %s: %w; set TMPDIR to a folder that can be written", f.address, err)
	}
	if f.release, err = holdFolder(f.folder); err != nil {
		return fmt.Errorf("keep what is read of %s: %w", f.address, err)
	}
	p := &cli.Progress{W: f.e.Err, What: "read " + f.address.String(), Began: time.Now()}
	options := fleet.ReadOptions{Hosts: o.hosts, Since: f.since, Folder: f.folder, OnNotice: f.notice}
	reading := true // what comes later is shown by who follows it
	if f.e.ShowsProgress() {
		options.OnProgress = func(read, all uint64) {
			if reading {
				p.Count("message", read, all)
			}
		}
	}
	if f.reader, err = fleet.NewReader(f.conn, options); err != nil {
		return err
	}
	err = f.reader.Read(ctx)
	p.Clear()
	reading = false
	if err != nil {
		return err
	}
	if follow != Snapshot {
		return f.follow(ctx, follow == Forever)
	}
	if err := f.reader.End(ctx); err != nil {
		return err
	}
	f.part()
	return f.mergeAll(ctx, o)
}

// notice tells the user something, where the inspector has the screen when that is closed.
func (f *stream) notice(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.screen {
		if f.untold = append(f.untold, text); len(f.untold) > mostUntold {
			f.untold = slices.Delete(f.untold, 0, 1)
			f.dropped++
		}
		return
	}
	f.e.Tell("%s", analysis.Clean(text))
}

// mostUntold bounds what is told at the end.
const mostUntold = 20

func (f *stream) tellRest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dropped > 0 {
		f.e.Tell("… and before, %s", analysis.Plural(f.dropped, "notice"))
	}
	for _, text := range f.untold {
		f.e.Tell("%s", analysis.Clean(text))
	}
	f.untold, f.dropped = nil, 0
}

// part closes the connection.
func (f *stream) part() {
	f.parted.Store(true)
	f.conn.Close()
}

// recordings are the captures of the recorders that have been found.
func (f *stream) recordings() []merge.Recording {
	var all []merge.Recording
	for _, r := range f.reader.Recorded() {
		all = append(all, recordingOf(r))
	}
	return all
}

func recordingOf(r fleet.Recorded) merge.Recording {
	return merge.Recording{Host: r.Host, Name: r.Name, Source: r.Source}
}

// begin opens the file into which recordings are merged. Secrets in it are placeholders already; what reads it as it is
// written looks for the keys by which exchanges are found.
func (f *stream) begin(ctx context.Context, recordings []merge.Recording) error {
	gaps, err := merge.GapsOf(ctx, recordings...)
	if err != nil {
		return err
	}
	to, err := redacted.Open(filepath.Join(f.folder, "merged.a2atap"), redacted.Options{
		Key: redacted.KeyForReading(), Keep: gaps.Secrets,
		Store: bolt.Options{
			SecretsKept: gaps.Secrets, Insecure: gaps.Insecure, Copied: capture.Gaps{Crashes: gaps.Crashes, Crash: gaps.Crash},
			Flush:   fleetFlush,
			OnError: func(err error) { f.fail(fmt.Errorf("keep what is read of %s: %w", f.address, err)) },
		},
	})
	if err != nil {
		return err
	}
	f.store, f.sink = to.Store, to
	f.merger = merge.New(f.sink, merge.Options{OnNotice: f.notice})
	for _, r := range recordings {
		f.merger.Add(r)
	}
	return nil
}

// mergeAll merges what was read, to its end.
func (f *stream) mergeAll(ctx context.Context, o *Flags) error {
	recordings := f.recordings()
	for _, host := range o.hosts {
		if !slices.ContainsFunc(recordings, func(r merge.Recording) bool { return r.Host == host }) {
			f.notice(fmt.Sprintf("no recorder of the host %s is in the stream; a2atap hosts %s lists those that are", host,
				f.address))
		}
	}
	if err := f.begin(ctx, recordings); err != nil {
		return err
	}
	for _, r := range recordings {
		info, err := r.Source.Info(ctx)
		if err != nil {
			return err
		}
		f.live = f.live || info.Live
		f.tellLosses(&r, &info)
	}
	err := errors.Join(f.merger.Run(ctx), f.closeSink(), f.store.Reader.Close(), context.Cause(f.broken))
	f.store = nil
	if err != nil {
		return f.explained(err)
	}
	src, err := bolt.Read(filepath.Join(f.folder, "merged.a2atap"))
	if err != nil {
		return err
	}
	f.Indexed = Hide(ctx, src).(Indexed)
	return nil
}

// explained says which hosts can be read where two cannot be together.
func (f *stream) explained(err error) error {
	if same, ok := errors.AsType[*merge.SameError](err); ok {
		return fmt.Errorf("read %s: the hosts %s and %s have shipped the same exchange; --host reads one of them: %w",
			f.address, same.One.Host, same.Other.Host, err)
	}
	return fmt.Errorf("read %s: %w", f.address, err)
}

// tellLosses says what a recorder says that it has not recorded.
func (f *stream) tellLosses(r *merge.Recording, info *capture.Info) {
	if n := info.LostExchanges; n > 0 {
		f.notice(fmt.Sprintf("%s (%s) lacks %s that passed", r.Host, r.Name, analysis.Plural(n, "exchange")))
	}
	if info.Crashes > 0 {
		f.notice(fmt.Sprintf("%s (%s): %s", r.Host, r.Name, info.Crash))
	}
}

// Info implements capture.Source.
func (f *stream) Info(ctx context.Context) (capture.Info, error) {
	info, err := f.Indexed.Info(ctx)
	info.Name = f.address.String()
	info.Live = f.goesOn()
	if f.store == nil {
		return info, err
	}
	for _, r := range f.reader.Recorded() { // one that came later may say what the file could not say from the beginning
		if one, err := r.Source.Info(ctx); err == nil {
			info.Insecure = info.Insecure || one.Insecure
			info.SecretsKept = info.SecretsKept || one.SecretsKept
		}
	}
	return info, err
}

func (f *stream) goesOn() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live
}

// Close implements capture.Source. It removes what was read.
func (f *stream) Close() error {
	f.closing.Do(func() { f.err = f.close() })
	return f.err
}

func (f *stream) close() error {
	var errs []error
	f.fail(errClosed)
	f.working.Wait()
	f.tellRest()
	if f.conn != nil {
		f.part()
	}
	if f.store != nil {
		errs = append(errs, f.closeSink(), f.store.Reader.Close())
	} else if f.Indexed != nil {
		errs = append(errs, f.Indexed.Close())
	}
	if f.reader != nil {
		errs = append(errs, f.reader.Close())
	}
	if f.folder != "" {
		errs = append(errs, os.RemoveAll(f.folder))
	}
	if f.release != nil {
		f.release()
	}
	return errors.Join(errs...)
}

// closeSink ends the merged capture.
func (f *stream) closeSink() error {
	f.ending.Do(func() { f.ended = f.sink.Close() })
	return f.ended
}

// removeWhenInterrupted removes what was read when an interrupt ends a command that does not take it itself.
func (f *stream) removeWhenInterrupted() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, cli.Endings()...)
	f.working.Add(1)
	go func() {
		defer f.working.Done()
		defer signal.Stop(signals)
		select {
		case <-signals:
			os.RemoveAll(f.folder)
			os.Exit(cli.ExitInterrupted)
		case <-f.broken.Done():
		}
	}()
}
