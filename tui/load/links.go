package load

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
)

// links holds the causes of exchanges in a capture, as the engines that check it report them: 16 bytes for each
// exchange. The zero value is ready for use. It is safe for concurrent use.
type links struct {
	Index workflow.Index
	Told  atomic.Uint64 // number of links received
	Last  atomic.Uint64 // the last exchange with a received link

	mu      sync.Mutex        // held while links are read from a reading
	wanted  bool              // the links were requested
	from    *snapshot.Results // the results from which links were read
	version uint64            // of from
	took    time.Duration
	read    time.Time // time of the last read
}

// linksPause is the minimum time between two reads of links from a growing reading.
const linksPause = 2 * time.Second

// NeedLinks reads the links from the reading, if there is one, once. Callers continue without links if the reading is
// damaged; an engine then provides them.
func (l *Loader) NeedLinks() {
	if err := l.readLinks(true); err != nil {
		l.Reading.doubt(l.Context, l.Reading.Now(), err)
	}
}

// readLinks reads the causes from the reading, if they are wanted and the reading has newer ones. Slow reads are less
// frequent.
func (l *Loader) readLinks(asked bool) error {
	k := l.Links
	k.mu.Lock()
	defer k.mu.Unlock()
	r := l.Reading.Now()
	if k.wanted = k.wanted || asked; r == nil {
		return nil
	}
	head := r.Head()
	begin := time.Now()
	if pause, due := k.due(r, begin); !due || pause > 0 {
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
		case max(row.Seq, row.Parent) > info.Exchanges && !head.Ended: // its exchange has just arrived
			continue
		case row.Seq > info.Exchanges || row.Parent > max(info.Exchanges, row.Seq):
			return fmt.Errorf("%w: exchange %d of %d, caused by %d", capture.ErrDamagedEntry, row.Seq, info.Exchanges, row.Parent)
		}
		if known := k.Index.Of(row.Seq); known.Parent != row.Parent || known.By != row.By {
			k.put(workflow.Link{Exchange: row.Seq, Parent: row.Parent, By: row.By, Maybe: row.Maybe})
		}
	}
	k.from, k.version, k.read, k.took = r, head.Version, time.Now(), time.Since(begin)
	return nil
}

// due reports whether links should be read from the current results, and after which pause.
func (l *links) due(r *snapshot.Results, now time.Time) (pause time.Duration, due bool) {
	head := r.Head()
	switch {
	case !l.wanted || l.from == r && l.version == head.Version:
		return 0, false
	case l.from != r || head.Ended:
		return 0, true
	}
	return max(0, max(linksPause, 10*l.took)-now.Sub(l.read)), true
}

// put stores a link.
func (l *links) put(link workflow.Link) {
	l.Index.Put(link)
	for last := l.Last.Load(); link.Exchange > last && !l.Last.CompareAndSwap(last, link.Exchange); {
		last = l.Last.Load()
	}
	l.Told.Add(1)
}

// Linked holds, for each exchange, the exchange that began its workflow, as number minus one. It is a snapshot.
type Linked struct {
	Begins []uint64
	Told   uint64 // number of links in the snapshot
}

// Now returns a snapshot of the links.
func (l *links) Now(exchanges uint64) Linked {
	answer := Linked{Told: l.Told.Load(), Begins: make([]uint64, exchanges)}
	for i := range answer.Begins {
		answer.Begins[i] = l.Index.Of(uint64(i) + 1).Workflow
	}
	return answer
}

// Began returns the exchange that began the workflow of exchange i, both as number minus one; i itself while unknown.
func (k *Linked) Began(i int) uint64 {
	if i < len(k.Begins) {
		return k.Begins[i]
	}
	return uint64(i) + 1
}
