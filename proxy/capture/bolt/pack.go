package bolt

import (
	"sync"
	"time"

	"a2atap/proxy/background"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// A packed is a run of steps on its way into the file, packed while the one before it waits for the disk. It says
// nothing of its place there: that follows from what is stored before it, which may still fail.
type packed struct {
	steps   []capture.Step // in pieces, each of which is stored as a step
	blocks  []packedBlock
	refused []unstorable
	room    []byte // for the values of the blocks

	count, bytes int       // of the steps as they were appended, as the queue counts them
	since        time.Time // when the first of them came
	whole        time.Time // what came before is stored with them
}

// A packedBlock is the value of a block, and where its steps end.
type packedBlock struct {
	value []byte
	end   int
}

// reset empties it, to be used again. What was made for an uncommonly large one is given up.
func (p *packed) reset() {
	if cap(p.steps) > spareSteps {
		p.steps = nil
	}
	if cap(p.room) > 2*layout.RoomSize {
		p.room = nil
	}
	clear(p.steps)
	clear(p.blocks)
	*p = packed{steps: p.steps[:0], blocks: p.blocks[:0], room: p.room[:0]}
}

// A packer packs steps. One goroutine uses it. The zero packer is ready to use.
type packer struct {
	raw  []byte // the encoded steps of the block under way
	work background.Work

	// short reports whether there is no time to compress a block. It may be nil, for never.
	short func() bool
}

// pack packs steps.
func (k *packer) pack(p *packed, steps []capture.Step) {
	for i := range steps {
		layout.Cut(steps[i], func(s capture.Step) { k.add(p, s) })
		k.work.GiveWay()
	}
	k.endBlock(p)
}

// add encodes a step, or a piece of one.
func (k *packer) add(p *packed, s capture.Step) {
	before := len(k.raw)
	raw, err := layout.AppendStep(k.raw, &s)
	if err != nil {
		p.refused = append(p.refused, unstorable{s, err})
		return
	}
	k.raw = raw
	if before > 0 && len(raw) > layout.BlockTarget {
		k.raw = raw[:before]
		k.endBlock(p)
		k.raw = append(k.raw, raw[before:]...)
	}
	p.steps = append(p.steps, s)
}

// endBlock packs the block under way.
func (k *packer) endBlock(p *packed) {
	if len(k.raw) == 0 {
		return
	}
	var value []byte
	value, p.room = layout.Seal(p.room, k.raw, k.short == nil || !k.short())
	p.blocks = append(p.blocks, packedBlock{value, len(p.steps)})
	if cap(k.raw) > 2*layout.BlockTarget {
		k.raw = nil
	}
	k.raw = k.raw[:0]
}

// run packs what the queue gets until it is closed and empty, and hands it over. It waits a moment after the first step,
// so that steps share commits. told returns the time before which all that passed has been appended.
func (k *packer) run(q *queue, to *handover, flush time.Duration, told func() time.Time) {
	defer to.close()
	k.short = func() bool { return to.waits() && q.waiting() > q.budget/behindPart }
	timer := time.NewTimer(flush)
	defer timer.Stop()
	var spare []capture.Step
	for !q.drained() {
		<-q.wake
		timer.Reset(flush)
		select {
		case <-timer.C:
		case <-q.flushNow:
		}
		whole := told()
		steps, left, since := q.take(spare)
		k.work.Begin()
		for rest := steps; len(rest) > 0; {
			p := to.empty()
			p.since, p.whole = since, whole
			p.count, p.bytes = portion(rest, left)
			k.pack(p, rest[:p.count])
			rest, left = rest[p.count:], left-p.bytes
			to.put(p)
		}
		clear(steps)
		if spare = steps; cap(spare) > max(spareSteps, 4*len(steps)) {
			spare = nil // it was made for a backlog
		}
	}
}

// portion returns how many of steps, which have so many bytes together, are enough for a commit, and the bytes of those.
func portion(steps []capture.Step, all int) (n, bytes int) {
	for n < len(steps) && bytes < commitBytes {
		bytes += weight(&steps[n])
		n++
	}
	if all-bytes < commitBytes { // too few for another
		return len(steps), all
	}
	return n, bytes
}

// spareSteps is how many steps a queue has room for that is used again, however few there are: some more than wait under
// load.
const spareSteps = 4096

// behindPart is which part of the queue waits when storing is behind. Blocks are then stored as they are while the disk
// would wait for one to be compressed: the file becomes larger, and nothing is lost for want of time.
const behindPart = 4

// A handover holds what is packed until it is committed. How much there is of it is bounded by the queue, in which its
// steps count until then.
type handover struct {
	wake chan struct{} // there is something to do; capacity 1

	mu     sync.Mutex
	ready  []*packed
	spare  []*packed // empty ones
	busy   bool      // what take handed out is not done
	closed bool
}

// maxSpare is how many are kept to be used again: one that is packed, and one that is stored.
const maxSpare = 2

func newHandover() *handover { return &handover{wake: make(chan struct{}, 1)} }

// empty returns one to pack into.
func (h *handover) empty() *packed {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.spare)
	if n == 0 {
		return &packed{}
	}
	p := h.spare[n-1]
	h.spare = h.spare[:n-1]
	return p
}

func (h *handover) put(p *packed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ready = append(h.ready, p)
	notify(h.wake)
}

// take hands out all that is packed. done must follow before the next take.
func (h *handover) take() []*packed {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := h.ready
	h.ready, h.busy = nil, len(taken) > 0
	return taken
}

// done takes back what was handed out. Its memory is used again.
func (h *handover) done(taken []*packed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.busy = false
	for _, p := range taken[:min(len(taken), maxSpare-len(h.spare))] {
		p.reset()
		h.spare = append(h.spare, p)
	}
}

// waits reports whether there is nothing to commit, and nothing being committed.
func (h *handover) waits() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.busy && len(h.ready) == 0
}

func (h *handover) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	notify(h.wake)
}

func (h *handover) drained() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed && len(h.ready) == 0
}
