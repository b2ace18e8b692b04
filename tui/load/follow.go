package load

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/proxy/capture"
)

// A remote source is a capture that comes over a network.
type remote interface {
	// Away returns whether its server is away, as soon as that is not what it was, or else the context's error.
	Away(ctx context.Context, was bool) (bool, error)
}

// Reached is the message of watchServer: whether the server of the capture is away.
type Reached struct{ Away bool }

// WatchServer waits until the server of the capture is away, or is there again. It does nothing for a file.
func (l *Loader) WatchServer(was bool) tea.Cmd {
	src, ok := l.Source.(remote)
	if !ok {
		return nil
	}
	return func() tea.Msg {
		away, err := src.Away(l.Context, was)
		if err != nil {
			return nil
		}
		return Reached{away}
	}
}

// Intervals for following a growing capture: twelve updates a second are as many as a person can see, and a burst of
// traffic comes as one message.
const (
	BatchPause = 80 * time.Millisecond
	BatchTime  = 100 * time.Millisecond // how long a command works before it reports what it has
	retryPause = time.Second
)

// Grown is the message of open and watch: the capture as it is now.
type Grown struct {
	Info  capture.Info
	Seqs  []uint64 // exchanges that got steps, in order
	Next  uint64   // first arrival number that was not read yet
	Ended bool
	Err   error // it could not be read; watch is called again
}

// Open reads what the capture says about itself.
func (l *Loader) Open() tea.Cmd {
	return func() tea.Msg {
		info, err := l.Source.Info(l.Context)
		g := Grown{Info: info, Next: info.Arrivals + 1, Ended: !info.Live, Err: err}
		if r := l.Reading.Now(); r != nil && !r.Head().Ended { // what it does not know yet is new to it
			g.Next = min(g.Next, r.Head().Arrival+1)
		}
		return g
	}
}

// Watch waits for steps from an arrival number on, collects them for batchPause, and reports which exchanges they
// belong to. When the recording has ended it waits for another one.
func (l *Loader) Watch(next uint64, ended bool) tea.Cmd {
	return func() tea.Msg {
		g := Grown{Next: next}
		err := l.wait(next, ended)
		switch {
		case errors.Is(err, capture.ErrEnded):
			g.Ended = true
		case err == nil:
			l.Pause(BatchPause)
			err = l.readSteps(&g)
		}
		if err == nil || g.Ended {
			g.Info, err = l.Source.Info(l.Context)
		}
		if l.Context.Err() != nil {
			return nil
		}
		if err != nil {
			l.Pause(retryPause)
			return Grown{Next: next, Err: err} // read all of it again
		}
		return g
	}
}

func (l *Loader) readSteps(g *Grown) error {
	seqs := make(map[uint64]bool)
	changes := make(map[uint64]change)
	now := time.Now()
	for s, err := range l.Source.Steps(l.Context, g.Next) {
		if err != nil {
			return err
		}
		g.Next = s.Arrival + 1
		if s.Seq > 0 {
			seqs[s.Seq] = true
			_, closed := s.What.(capture.Closed)
			changes[s.Seq] = change{arrival: s.Arrival, closed: closed || changes[s.Seq].closed, since: now}
		}
	}
	l.Reading.changed(changes)
	g.Seqs = slices.Sorted(maps.Keys(seqs))
	return nil
}

// Pause waits, unless the inspector ends or there is nothing to wait for.
func (l *Loader) Pause(d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-l.Context.Done():
	}
}

// A resumable source is a capture to which another recorder may append when its recording has ended.
type resumable interface {
	// Resumed returns nil when the capture is recorded into again, or has a step with arrival number from or later, or
	// else the context's error.
	Resumed(ctx context.Context, from uint64) error
}

// Resumes reports whether a recording that has ended may be resumed.
func (l *Loader) Resumes() bool {
	_, ok := l.Source.(resumable)
	return ok
}

// wait waits for a step from an arrival number on, or, when the recording has ended, for another one.
func (l *Loader) wait(next uint64, ended bool) error {
	if src, ok := l.Source.(resumable); ok && ended {
		return src.Resumed(l.Context, next)
	}
	return l.Source.Wait(l.Context, next)
}
