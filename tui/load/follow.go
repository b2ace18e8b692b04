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

// A remote source is a capture that is read over a network.
type remote interface {
	// Away waits until the server's state differs from was, and returns the new state: true if the server is away. It
	// returns the context's error if the context ends first.
	Away(ctx context.Context, was bool) (bool, error)
}

// Reached is the message of WatchServer: whether the server of the capture is away.
type Reached struct{ Away bool }

// WatchServer waits until the server of the capture goes away or is back. It does nothing for a file.
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

// These intervals limit updates while following a growing capture. Twelve updates a second are as many as a person can
// see. A burst of traffic becomes one message.
const (
	BatchPause = 80 * time.Millisecond
	BatchTime  = 100 * time.Millisecond // how long a command works before it reports its results
	retryPause = time.Second
)

// Grown is the message of Open and Watch: the current capture.
type Grown struct {
	Info  capture.Info
	Seqs  []uint64 // exchanges with new steps, in order
	Next  uint64   // first arrival number that has not been read
	Ended bool
	Err   error // a read error; Watch is called again
}

// Open reads the capture's own Info.
func (l *Loader) Open() tea.Cmd {
	return func() tea.Msg {
		info, err := l.Source.Info(l.Context)
		g := Grown{Info: info, Next: info.Arrivals + 1, Ended: !info.Live, Err: err}
		if r := l.Reading.Now(); r != nil && !r.Head().Ended { // steps that the reading lacks are new to it
			g.Next = min(g.Next, r.Head().Arrival+1)
		}
		return g
	}
}

// Watch waits for steps from an arrival number on, collects them for batchPause, and reports which exchanges they
// belong to. After the recording has ended, it waits until the recording is resumed.
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
			return Grown{Next: next, Err: err} // read everything again
		}
		return g
	}
}

func (l *Loader) readSteps(g *Grown) error {
	last := make(map[uint64]uint64)
	for s, err := range l.Source.Steps(l.Context, g.Next) {
		if err != nil {
			return err
		}
		g.Next = s.Arrival + 1
		if s.Seq > 0 {
			last[s.Seq] = s.Arrival
		}
	}
	l.Reading.changed(last)
	g.Seqs = slices.Sorted(maps.Keys(last))
	return nil
}

// Pause waits, unless the inspector ends or d is not positive.
func (l *Loader) Pause(d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-l.Context.Done():
	}
}

// A resumable source is a capture to which another recorder may append after its recording has ended.
type resumable interface {
	// Resumed returns nil once the capture is recorded into again, or has a step with arrival number from or later. It
	// returns the context's error if the context ends first.
	Resumed(ctx context.Context, from uint64) error
}

// Resumes reports whether a recording that has ended may be resumed.
func (l *Loader) Resumes() bool {
	_, ok := l.Source.(resumable)
	return ok
}

// wait waits for a step from an arrival number on. After the recording has ended, it waits until the recording is
// resumed.
func (l *Loader) wait(next uint64, ended bool) error {
	if src, ok := l.Source.(resumable); ok && ended {
		return src.Resumed(l.Context, next)
	}
	return l.Source.Wait(l.Context, next)
}
