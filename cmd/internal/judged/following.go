package judged

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
)

// How a capture is looked at that grows.
const (
	lookPause     = 250 * time.Millisecond // between two looks at a reading that somebody makes
	theirPatience = 10 * time.Second       // for which the reading of a recorder may stand still while it records
	endPatience   = 2 * time.Second        // the same when it has ended
	retryPause    = time.Second
)

// A Following is a capture, finished or growing, with its reading as far as that has come. The reading is that which is
// kept, or which the recorder of the capture makes; where there is none it is made here. When a recording that has ended
// is resumed, the whole capture is read anew. It may be used by several goroutines at once.
type Following struct {
	e             cli.Env
	command, name string
	src           capture.Source

	mu      sync.Mutex
	state   Followed
	changed chan struct{} // closed with the next change

	end      context.CancelFunc
	working  sync.WaitGroup
	readings []*Capture // that hold files, or are made
}

// Followed is what a Following knows at one moment.
type Followed struct {
	Version uint64   // one more with each change
	Capture *Capture // nil as long as there is no reading
	Info    capture.Info
	Whole   bool  // all that is in the capture was judged
	Err     error // why it cannot be read, or judged, now
}

// Follow begins to follow a capture. Command and name are what is said if it has to be judged. Close ends it.
func Follow(e cli.Env, command, name string, src capture.Source) *Following {
	ctx, cancel := context.WithCancel(context.Background())
	f := &Following{e: e, command: command, name: name, src: src, changed: make(chan struct{}), end: cancel}
	f.working.Go(func() { f.run(ctx) })
	return f
}

// Close ends following, when nobody uses what Now has returned. The capture stays open.
func (f *Following) Close() {
	f.end()
	f.working.Wait()
	for _, j := range f.readings {
		j.Close() //nolint:errcheck // it was only read
	}
}

// Now returns what is known now, and a channel that is closed when something else is.
func (f *Following) Now() (Followed, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.changed
}

// tell notes what is known by now. r is nil where there is no reading.
func (f *Following) tell(ctx context.Context, r *kept.Reading, whole bool, err error) {
	info, infoErr := f.src.Info(ctx)
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.Version++
	f.state.Whole, f.state.Err = whole, errors.Join(err, infoErr)
	if infoErr == nil {
		f.state.Info = info
	}
	if r != nil {
		f.state.Capture = Growing(r, f.src)
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// run follows the capture through all its recordings.
func (f *Following) run(ctx context.Context) {
	for ctx.Err() == nil {
		if !f.readTheirs(ctx) {
			f.judge(ctx)
		}
		if err := f.resumed(ctx); err != nil {
			return
		}
	}
}

// resumed waits until the capture is recorded into again; it returns an error where that cannot be, or the context ends.
func (f *Following) resumed(ctx context.Context) error {
	src, is := f.src.(interface {
		Resumed(ctx context.Context, from uint64) error
	})
	if !is {
		<-ctx.Done()
		return ctx.Err()
	}
	state, _ := f.Now()
	return src.Resumed(ctx, state.Info.Arrivals+1)
}

// readTheirs follows the reading that is kept, or that the recorder of the capture makes, to the end. It returns false
// where there is none, or none that goes on.
func (f *Following) readTheirs(ctx context.Context) bool {
	k := KeeperOf(ctx, f.e, f.command, f.name, f.src)
	k.Quiet = true
	if j := k.Read(ctx); j != nil {
		f.readings = append(f.readings, j)
		f.tell(ctx, j.Reading, true, nil)
		return true
	}
	if k.Mark != nil {
		return f.readMade(ctx, k)
	}
	j := k.OfRecorder(ctx)
	return j != nil && f.readRecorders(ctx, j.Reading)
}

// readMade judges a finished capture beside those who read what that comes to, and keeps it.
func (f *Following) readMade(ctx context.Context, k *Keeper) bool {
	j, ended := k.WhileRead(ctx)
	if j == nil {
		return false
	}
	f.readings = append(f.readings, j)
	f.tell(ctx, j.Reading, false, nil)
	look := time.NewTicker(lookPause)
	defer look.Stop()
	for {
		over := false
		select {
		case <-look.C:
		case <-ended:
			over = true
		case <-ctx.Done():
			return true
		}
		grown, err := j.Refresh(ctx)
		if err != nil {
			return false
		}
		whole := j.Head().Ended
		if grown || over {
			f.tell(ctx, j.Reading, whole, nil)
		}
		if over {
			return whole
		}
	}
}

// readRecorders follows what the recorder of the capture makes.
func (f *Following) readRecorders(ctx context.Context, r *kept.Reading) bool {
	f.tell(ctx, r, false, nil)
	state, _ := f.Now()
	look := time.NewTicker(lookPause)
	defer look.Stop()
	for last := time.Now(); ; { // when the reading was not behind, or was seen to grow
		select {
		case <-look.C:
		case <-ctx.Done():
			return true
		}
		grown, err := r.Refresh(ctx)
		if err != nil {
			return false
		}
		if src, is := f.src.(interface{ Hides(context.Context) bool }); is && src.Hides(ctx) {
			return false // what it says may have something in it that is to be hidden
		}
		info, err := f.src.Info(ctx)
		if err != nil {
			return false
		}
		head := r.Head()
		if grown || info.Arrivals != state.Info.Arrivals || info.Live != state.Info.Live {
			f.tell(ctx, r, head.Ended, nil)
			state, _ = f.Now()
		}
		if head.Ended {
			return true
		}
		patience := theirPatience
		if !info.Live {
			patience = endPatience
		}
		switch now := time.Now(); {
		case grown, info.Live && info.Arrivals <= head.Arrival:
			last = now
		case !info.Live && info.Crashes > 0, now.Sub(last) > patience:
			return false
		}
	}
}

// judge judges the capture here, as it grows, until its recording or the context ends.
func (f *Following) judge(ctx context.Context) {
	for ctx.Err() == nil {
		err := f.judgeOnce(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		f.tell(ctx, nil, false, err)
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
		}
	}
}

func (f *Following) judgeOnce(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil { // a rule that panics must not end who shows the rest
			err = fmt.Errorf("judging has ended: a rule panicked: %v; a2atap check shows where, please report it", v)
		}
	}()
	shelf := &capture.MemoryShelf{}
	w := kept.NewWriter(rules.All, shelf.Put)
	w.Flush()
	r, err := kept.Open(ctx, shelf, rules.All)
	if err != nil {
		return err
	}
	f.tell(ctx, r, false, nil)
	g := &growingHere{Source: f.src, w: w, written: func() error {
		grown, err := r.Refresh(ctx)
		if grown {
			f.tell(ctx, r, false, nil)
		}
		return err
	}}
	result, err := engine.Follow(ctx, rules.All, g, w.Found, w.Options()...)
	if err == nil {
		err = g.err
	}
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := w.Finish(result, nil); err != nil {
		return err
	}
	_, err = r.Refresh(ctx)
	f.tell(ctx, r, r.Head().Ended, err)
	return err
}

// A growingHere is a source whose reading is written while it is judged. It is for the goroutine that judges.
type growingHere struct {
	capture.Source
	w       *kept.Writer
	written func() error // is called when something may have been
	err     error
	looked  time.Time
}

// Steps implements capture.Source.
func (g *growingHere) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for s, err := range g.Source.Steps(ctx, from) {
			if !yield(s, err) {
				return
			}
			g.w.Judged(s.Arrival)
			if now := time.Now(); now.Sub(g.looked) > lookPause {
				g.looked = now
				g.note()
			}
		}
	}
}

// Wait implements capture.Source. What was judged is soon seen, also if nothing passes any more.
func (g *growingHere) Wait(ctx context.Context, from uint64) error {
	write := func() {
		g.w.Flush()
		g.note()
	}
	write()
	return kept.Wait(ctx, g.Source, from, g.w.Due, write)
}

// note tells that something may have been written.
func (g *growingHere) note() { g.err = cmp.Or(g.err, g.written()) }
