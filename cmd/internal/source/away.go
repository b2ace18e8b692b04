package source

import (
	"context"
	"errors"
	"fmt"

	"a2atap/proxy/fleet"
)

// trouble tells what becomes of the connection, and what the server complains of, once as long as it is the same.
func (f *stream) trouble(err error) {
	switch {
	case f.parted.Load(): // on purpose
	case err != nil && !errors.Is(err, fleet.ErrAway):
		if f.complain(err.Error()) {
			f.notice(fmt.Sprintf("%s: %v", f.address, err))
		}
	case !f.turn(err != nil): // said before, or nobody missed it
	case err == nil:
		f.notice(fmt.Sprintf("%s: the server is there again", f.address))
	default:
		f.notice(fmt.Sprintf("%s: the server is away, and tried again: %v", f.address, err))
	}
}

// complain notes what the server complains of, and reports whether that is new.
func (f *stream) complain(text string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.complaint
	f.complaint = text
	return was != text
}

// turn notes whether the server is away, and reports whether that is new.
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

// Away returns whether the server is away, as soon as that is not what it was, or else the context's error.
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
