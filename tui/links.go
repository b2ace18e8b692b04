package tui

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
)

// links holds what caused what in a capture, as the engines that judge it tell: 16 bytes for each exchange. The zero
// links are ready for use, by several goroutines at once.
type links struct {
	index workflow.Index
	told  atomic.Uint64 // how often something was told
	last  atomic.Uint64 // the last exchange of which something was told

	mu      sync.Mutex // held while they are read from a reading
	wanted  bool       // somebody has asked for them
	version uint64     // of the reading that they were read from
	took    time.Duration
	read    time.Time // when they were read last
}

// linksPause is the least time between two times at which links are read anew from a reading that grows.
const linksPause = 2 * time.Second

// needLinks reads what caused what from the reading, if there is one and it was not done. What reads on its own account
// goes on without links where the reading turns out to be damaged: then an engine tells them.
func (l *loader) needLinks() {
	if err := l.readLinks(true); err != nil {
		l.kept.letGo(l.ctx, err)
	}
}

// readLinks reads what caused what from the reading, if that was asked for and is known better by now. What takes long is
// done less often.
func (l *loader) readLinks(asked bool) error {
	k := l.links
	k.mu.Lock()
	defer k.mu.Unlock()
	r := l.kept.reading()
	if k.wanted = k.wanted || asked && r != nil; r == nil || !k.wanted {
		return nil
	}
	head := r.Head()
	begin := time.Now()
	if !k.read.IsZero() && (k.version == head.Version ||
		!head.Ended && begin.Sub(k.read) < max(linksPause, 10*k.took)) {
		return nil
	}
	info, err := l.src.Info(l.ctx)
	if err != nil {
		return err
	}
	for row, err := range r.Rows(l.ctx, 1) {
		switch {
		case err != nil:
			return err
		case row.Seq > info.Exchanges && head.Ended || row.Parent > max(info.Exchanges, row.Seq):
			return fmt.Errorf("%w: exchange %d of %d, caused by %d", capture.ErrDamagedEntry, row.Seq, info.Exchanges, row.Parent)
		case row.Seq > info.Exchanges: // it came a moment ago
			continue
		}
		if known := k.index.Of(row.Seq); known.Parent != row.Parent || known.By != row.By {
			k.put(workflow.Link{Exchange: row.Seq, Parent: row.Parent, By: row.By})
		}
	}
	k.version, k.read, k.took = head.Version, time.Now(), time.Since(begin)
	return nil
}

// put takes a link.
func (l *links) put(link workflow.Link) {
	l.index.Put(link)
	for last := l.last.Load(); link.Exchange > last && !l.last.CompareAndSwap(last, link.Exchange); {
		last = l.last.Load()
	}
	l.told.Add(1)
}

// newEngine returns a new engine over the capture, which tells the links as it judges.
func (l *loader) newEngine() *analyzer.Engine {
	options := append(workflow.Into(l.links.put), analyzer.From(l.ctx, l.src), analyzer.Watched(&l.observed.own))
	return analyzer.NewEngine(l.rules, append(options, l.keys...)...)
}
