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

// fleetFlush is how long steps of a stream wait to be written. Their file need not survive this process, so it is
// written only as often as a viewer needs.
const fleetFlush = 50 * time.Millisecond

// A Following is how much of a stream to read.
type Following int

const (
	Snapshot   Following = iota // its current contents
	UntilEnded                  // and new steps, until no recorder is running
	Forever                     // and new steps, without end
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

// A stream presents the stream of a fleet as a capture. It merges what the recorders have shipped into a temporary
// file, which Close removes.
type stream struct {
	Indexed // the merged capture; nil until it is open

	e       cli.Env
	address fleet.Address
	since   time.Time
	folder  string
	release func() // releases the folder
	conn    *fleet.Conn
	parted  atomic.Bool // this process closed the connection
	reader  *fleet.Reader
	merger  *merge.Merger
	first   chan struct{} // has an element once there is something to merge, while the stream is followed
	store   *bolt.Store   // the merged capture, while it grows
	sink    capture.Sink  // writes to store
	ending  sync.Once     // guards the end of sink
	ended   error         // result of ending sink

	working sync.WaitGroup
	broken  context.Context // ends when no more can be read, and with Close
	fail    context.CancelCauseFunc
	closing sync.Once
	err     error // of Close

	mu        sync.Mutex
	away      bool          // the server does not answer, and that was reported
	turned    chan struct{} // closed when away changes
	complaint string        // the last error from a server that answers
	screen    bool          // the inspector uses the whole screen
	untold    []string      // the last notices held back meanwhile
	dropped   int           // number of earlier notices that were dropped
	live      bool          // a recorder is running
	quietAt   time.Time     // time when the last recorder was found to have ended
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
	reading := true // progress stops when the caller starts to follow
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

// notice prints a message. While the inspector uses the screen, notice holds the message back until the inspector ends.
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

// mostUntold is the maximum number of notices held back.
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

// recordings returns the captures of all recorders found so far.
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

// begin opens the file into which recordings are merged. Their secrets are already placeholders. Readers of the file
// search it by the keys of exchanges while it is written.
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

// mergeAll merges everything read, to its end.
func (f *stream) mergeAll(ctx context.Context, o *Flags) error {
	recordings := f.recordings()
	for _, host := range o.hosts {
		if !slices.ContainsFunc(recordings, func(r merge.Recording) bool { return r.Host == host }) {
			f.notice(fmt.Sprintf("the stream has no recorder of the host %s; a2atap hosts %s lists the recorders", host,
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

// explained adds to an error which hosts can be read separately if two cannot be read together.
func (f *stream) explained(err error) error {
	if same, ok := errors.AsType[*merge.SameError](err); ok {
		return fmt.Errorf("read %s: the hosts %s and %s have shipped the same exchange; choose one with --host: %w",
			f.address, same.One.Host, same.Other.Host, err)
	}
	return fmt.Errorf("read %s: %w", f.address, err)
}

// tellLosses reports a recorder's own losses.
func (f *stream) tellLosses(r *merge.Recording, info *capture.Info) {
	if n := info.LostExchanges; n > 0 {
		f.notice(fmt.Sprintf("%s (%s) lacks %s that were forwarded", r.Host, r.Name, analysis.Plural(n, "exchange")))
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
	for _, r := range f.reader.Recorded() { // later recordings may have settings that the file lacked at its start
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

// Close implements capture.Source. It removes the data read.
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

// closeSink closes the sink of the merged capture.
func (f *stream) closeSink() error {
	f.ending.Do(func() { f.ended = f.sink.Close() })
	return f.ended
}

// removeWhenInterrupted removes the data read when an interrupt ends a command that does not handle interrupts itself.
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
