package load

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
)

// links holds what caused what in a capture, as the engines that judge it tell: 16 bytes for each exchange. The zero
// links are ready for use, by several goroutines at once.
type links struct {
	Index workflow.Index
	Told  atomic.Uint64 // how often something was told
	Last  atomic.Uint64 // the last exchange of which something was told

	mu      sync.Mutex // held while they are read from a reading
	wanted  bool       // somebody has asked for them
	version uint64     // of the reading that they were read from
	took    time.Duration
	read    time.Time // when they were read last
}

// linksPause is the least time between two times at which links are read anew from a reading that grows.
const linksPause = 2 * time.Second

// NeedLinks reads what caused what from the reading, if there is one and it was not done. What reads on its own account
// goes on without links where the reading turns out to be damaged: then an engine tells them.
func (l *Loader) NeedLinks() {
	if err := l.readLinks(true); err != nil {
		l.Reading.letGo(l.Context, err)
	}
}

// readLinks reads what caused what from the reading, if that was asked for and is known better by now. What takes long is
// done less often.
func (l *Loader) readLinks(asked bool) error {
	k := l.Links
	k.mu.Lock()
	defer k.mu.Unlock()
	r := l.Reading.Now()
	if k.wanted = k.wanted || asked && r != nil; r == nil {
		return nil
	}
	head := r.Head()
	begin := time.Now()
	if !k.due(&head, begin) {
		return nil
	}
	info, err := l.Source.Info(l.Context)
	if err != nil {
		return err
	}
	for row, err := range r.Rows(l.Context, 1) {
		switch {
		case err != nil:
			return err
		case max(row.Seq, row.Parent) > info.Exchanges && !head.Ended: // it came a moment ago
			continue
		case row.Seq > info.Exchanges || row.Parent > max(info.Exchanges, row.Seq):
			return fmt.Errorf("%w: exchange %d of %d, caused by %d", capture.ErrDamagedEntry, row.Seq, info.Exchanges, row.Parent)
		}
		if known := k.Index.Of(row.Seq); known.Parent != row.Parent || known.By != row.By {
			k.put(workflow.Link{Exchange: row.Seq, Parent: row.Parent, By: row.By, Maybe: row.Maybe})
		}
	}
	k.version, k.read, k.took = head.Version, time.Now(), time.Since(begin)
	return nil
}

// due reports whether links are to be read from a reading that is as it is now.
func (l *links) due(head *kept.Head, now time.Time) bool {
	return l.wanted && (l.read.IsZero() ||
		l.version != head.Version && (head.Ended || now.Sub(l.read) >= max(linksPause, 10*l.took)))
}

// put takes a link.
func (l *links) put(link workflow.Link) {
	l.Index.Put(link)
	for last := l.Last.Load(); link.Exchange > last && !l.Last.CompareAndSwap(last, link.Exchange); {
		last = l.Last.Load()
	}
	l.Told.Add(1)
}

// newEngine returns a new engine over the capture, which tells the links as it judges.
func (l *Loader) newEngine() *engine.Engine {
	options := append(workflow.Into(l.Links.put), engine.From(l.Context, l.Source), engine.Watched(&l.Observed.own))
	return engine.New(l.Rules, append(options, l.Keys...)...)
}

// Linked is which exchange began the workflow of each, by number less one, as it was known at a moment.
type Linked struct {
	Begins []uint64
	Told   uint64 // how many links were told before
}

// Now returns the links as they are known now.
func (l *links) Now(exchanges uint64) Linked {
	answer := Linked{Told: l.Told.Load(), Begins: make([]uint64, exchanges)}
	for i := range answer.Begins {
		answer.Begins[i] = l.Index.Of(uint64(i) + 1).Workflow
	}
	return answer
}

// Began returns which exchange began the workflow of another one, by number less one; itself as long as nothing is
// known.
func (k *Linked) Began(i int) uint64 {
	if i < len(k.Begins) {
		return k.Begins[i]
	}
	return uint64(i) + 1
}
