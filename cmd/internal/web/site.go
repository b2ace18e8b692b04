package web

import (
	"context"
	"slices"
	"sync"

	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/view"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
)

// A site serves the requests of the page.
type site struct {
	e        cli.Env
	src      capture.Source
	view     *view.View
	drawing  chan struct{} // holds a value while something large is computed: one at a time
	streams  chan struct{} // holds a value for each page that waits for events
	sending  chan struct{} // holds a value for each message without an answer yet
	taps     []Reached     // of the recording that the page shows; nil for a capture
	total    latest[total]
	trees    latest[trees]
	reader   *reading.Reader // of exchanges, for drawing; nil until needed
	readerOf knownCards

	mu    sync.Mutex
	lists []*list // the last used one at the end
}

// These constants bound concurrent requests of pages.
const (
	maxStreams = 32
	maxSending = 4 // messages that wait for their answers
	maxLists   = 8
)

func newSite(e cli.Env, name string, src capture.Source) *site {
	return &site{
		e: e, src: src, view: verdict.View(name, src, rules.All),
		drawing: make(chan struct{}, 1), streams: make(chan struct{}, maxStreams),
		sending: make(chan struct{}, maxSending),
	}
}

// close ends background work. All requests must have been answered.
func (s *site) close() error { return s.view.Close() }

// A known is a snapshot of the View's results, for one request.
type known struct {
	view.State
	Capture *verdict.Capture // nil before the first results
}

// knownNow returns the current results, and a channel that is closed when they change.
func (s *site) knownNow() (known, <-chan struct{}) {
	state, changed := s.view.Now()
	k := known{State: state}
	if state.Results != nil {
		k.Capture = verdict.With(state.Results, s.src)
	}
	return k, changed
}

// now returns the current results, or an error before the first ones.
func (s *site) now() (known, error) {
	state, _ := s.knownNow()
	switch {
	case state.Capture != nil:
		return state, nil
	case state.Err != nil:
		return state, state.Err
	}
	return state, errNoReading
}

// draws waits until no other large computation is running. The returned function ends this one.
func (s *site) draws(ctx context.Context) (func(), error) {
	select {
	case s.drawing <- struct{}{}:
		return func() { <-s.drawing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// know adds the cards read before, and the causes, to the capture of a request. Only the goroutine that draws may call
// it.
func (s *site) know(ctx context.Context, state known) error {
	t, err := s.workflows(ctx, state)
	if err != nil {
		return err
	}
	head := state.Capture.Head()
	of := knownCards{state.Capture.Results, len(head.Cards), head.MoreCards}
	if head.MoreCards || s.reader == nil || s.readerOf != of {
		if s.reader, err = state.Capture.Reader(ctx); err != nil {
			return err
		}
		s.readerOf = of
	}
	state.Capture.Know(t.links, s.reader)
	return nil
}

// knownCards returns the cards that a reader of exchanges has read.
type knownCards struct {
	in    *snapshot.Results
	cards int
	more  bool
}

// workflows returns the causes known so far.
func (s *site) workflows(ctx context.Context, state known) (*trees, error) {
	return s.trees.of(ctx, state.Version, state.Whole, func(ctx context.Context) (*trees, error) {
		return newTrees(ctx, state.Capture)
	})
}

// sum returns the totals of the capture so far.
func (s *site) sum(ctx context.Context, state known) (*total, error) {
	return s.total.of(ctx, state.Version, state.Whole, func(ctx context.Context) (*total, error) {
		t, err := s.workflows(ctx, state)
		if err != nil {
			return nil, err
		}
		return newTotal(ctx, state, t, s.e.Now())
	})
}

// listOf returns the list of a filter. It reuses a cached one.
func (s *site) listOf(expr string) (*list, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.lists, func(l *list) bool { return l.expr == expr }); i >= 0 {
		l := s.lists[i]
		s.lists = append(slices.Delete(s.lists, i, i+1), l)
		return l, nil
	}
	keep, err := verdict.ParseSelection(expr, "")
	if err != nil {
		return nil, err
	}
	l := &list{expr: expr, keep: keep}
	if s.lists = append(s.lists, l); len(s.lists) > maxLists {
		s.lists = slices.Delete(s.lists, 0, 1)
	}
	return l, nil
}
