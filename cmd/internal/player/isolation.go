package player

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"a2atap/proxy"
	"a2atap/replay/playback"
)

// isolation is what was seen of a program's connections that did not come to this process.
type isolation struct {
	shown bool // the system shows connections
	seen  []netip.AddrPort
}

// watchPause is the pause between two looks at the sockets of the program, unless a look takes so long that it would be
// more than a tenth of the time.
const watchPause = 10 * time.Millisecond

// watch looks for connections of the program until stop is called.
func (r *run) watch(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		for ctx.Err() == nil {
			begun := time.Now()
			if r.look(); !r.isolated.shown {
				return
			}
			select {
			case <-time.After(max(watchPause, 9*time.Since(begun))):
			case <-ctx.Done():
			}
		}
	})
	return func() {
		cancel()
		watching.Wait()
	}
}

// look notes connections of the program that are open.
func (r *run) look() {
	list, shown := proxy.Elsewhere()
	r.isolated.shown = shown
	for _, at := range list {
		if !r.isLive(at) && !slices.Contains(r.isolated.seen, at) {
			r.isolated.seen = append(r.isolated.seen, at)
		}
	}
}

// isLive reports whether an address belongs to a service that the program reaches itself.
func (r *run) isLive(at netip.AddrPort) bool {
	return r.live[playback.Upstream("http://"+at.String())] || r.live[playback.Upstream("https://"+at.String())]
}

// proved reports whether the system shows connections, and none was seen.
func (i *isolation) proved() bool { return i.shown && len(i.seen) == 0 }

// addresses returns where the program connected; nil if the system does not show that.
func (i *isolation) addresses() []string {
	if !i.shown {
		return nil
	}
	list := []string{}
	for _, at := range i.seen {
		list = append(list, at.String())
	}
	return list
}

// String describes the connections.
func (i *isolation) String() string {
	switch {
	case !i.shown:
		return "this system does not show whether the program connected elsewhere"
	case len(i.seen) == 0:
		return "isolated: no connection past a2atap was seen"
	}
	return "not isolated: the program connected past a2atap to " + strings.Join(i.addresses(), ", ")
}
