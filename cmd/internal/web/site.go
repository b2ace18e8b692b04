package web

import (
	"context"
	"slices"
	"sync"

	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/proxy/capture"
)

// A site is what the page asks for.
type site struct {
	e         cli.Env
	src       capture.Source
	following *judged.Following
	drawing   chan struct{} // holds a value while something large is made: one at a time
	streams   chan struct{} // holds a value for each page that waits for events
	sending   chan struct{} // holds a value for each message that waits for its answer
	taps      []Reached     // of the recording that the page is of; nil where it is of a capture
	total     latest[total]
	trees     latest[trees]
	reader    *reading.Reader // of exchanges, for who draws; nil before it is needed
	readerOf  knownCards

	mu    sync.Mutex
	lists []*list // the one used last at the end
}

// Bounds of what pages may ask for at once.
const (
	maxStreams = 32
	maxSending = 4 // messages that wait for their answers
	maxLists   = 8
)

func newSite(e cli.Env, name string, src capture.Source) *site {
	return &site{
		e: e, src: src, following: judged.Follow(e, "web", name, src),
		drawing: make(chan struct{}, 1), streams: make(chan struct{}, maxStreams),
		sending: make(chan struct{}, maxSending),
	}
}

// close ends what goes on beside requests. No request is being answered any more.
func (s *site) close() { s.following.Close() }

// now returns the capture as far as it was judged, for one request.
func (s *site) now() (judged.Followed, error) {
	state, _ := s.following.Now()
	switch {
	case state.Capture != nil:
		state.Capture = judged.Growing(state.Capture.Reading, s.src)
		return state, nil
	case state.Err != nil:
		return state, state.Err
	}
	return state, errNoReading
}

// draws waits until nothing else large is made. What it returns ends that.
func (s *site) draws(ctx context.Context) (func(), error) {
	select {
	case s.drawing <- struct{}{}:
		return func() { <-s.drawing }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// know lets the capture of a request know the cards that were read before, and what caused what. It is for who draws.
func (s *site) know(ctx context.Context, state judged.Followed) error {
	t, err := s.workflows(ctx, state)
	if err != nil {
		return err
	}
	head := state.Capture.Head()
	of := knownCards{state.Capture.Reading, len(head.Cards), head.MoreCards}
	if head.MoreCards || s.reader == nil || s.readerOf != of {
		if s.reader, err = state.Capture.Reader(ctx); err != nil {
			return err
		}
		s.readerOf = of
	}
	state.Capture.Know(t.links, s.reader)
	return nil
}

// knownCards says which cards a reader of exchanges has read.
type knownCards struct {
	in    *kept.Reading
	cards int
	more  bool
}

// workflows returns what caused what, as far as that is known.
func (s *site) workflows(ctx context.Context, state judged.Followed) (*trees, error) {
	return s.trees.of(ctx, state.Version, state.Whole, func(ctx context.Context) (*trees, error) {
		return newTrees(ctx, state.Capture)
	})
}

// sum returns what judging the capture has come to so far.
func (s *site) sum(ctx context.Context, state judged.Followed) (*total, error) {
	return s.total.of(ctx, state.Version, state.Whole, func(ctx context.Context) (*total, error) {
		t, err := s.workflows(ctx, state)
		if err != nil {
			return nil, err
		}
		return newTotal(ctx, state, t, s.e.Now())
	})
}

// listOf returns the list of a filter: the one that was used before, if it is remembered.
func (s *site) listOf(expr string) (*list, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.lists, func(l *list) bool { return l.expr == expr }); i >= 0 {
		l := s.lists[i]
		s.lists = append(slices.Delete(s.lists, i, i+1), l)
		return l, nil
	}
	keep, err := judged.ParseSelection(expr, "")
	if err != nil {
		return nil, err
	}
	l := &list{expr: expr, keep: keep}
	if s.lists = append(s.lists, l); len(s.lists) > maxLists {
		s.lists = slices.Delete(s.lists, 0, 1)
	}
	return l, nil
}
