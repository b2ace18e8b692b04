package source

import (
	"context"
	"errors"
	"fmt"

	"a2atap/proxy/fleet"
)

// trouble reports changes of the connection and errors of the server, each once while it lasts.
func (f *stream) trouble(err error) {
	switch {
	case f.parted.Load(): // closed on purpose
	case err != nil && !errors.Is(err, fleet.ErrAway):
		if f.complain(err.Error()) {
			f.notice(fmt.Sprintf("%s: %v", f.address, err))
		}
	case !f.turn(err != nil): // reported before, or not noticeable
	case err == nil:
		f.notice(fmt.Sprintf("%s: the server is reachable again", f.address))
	default:
		f.notice(fmt.Sprintf("%s: trying again: %v", f.address, err))
	}
}

// complain records an error of the server, and reports whether it is new.
func (f *stream) complain(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.complaint
	f.complaint = text
	return was != text
}

// turn records whether the server is away, and reports whether that has changed.
func (f *stream) turn(away bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away == away {
		return false
	}
	f.away = away
	close(f.turned)
	f.turned = make(chan struct{})
	return true
}

// Away waits until the server's state differs from was, and returns the new state: true if the server is away. It
// returns the context's error if the context ends first.
func (f *stream) Away(ctx context.Context, was bool) (bool, error) {
	for {
		f.mu.Lock()
		away, turned := f.away, f.turned
		f.mu.Unlock()
		if away != was {
			return away, nil
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return was, ctx.Err()
		}
	}
}
