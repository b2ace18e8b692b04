package h2

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Sizes of tables of header fields: RFC 7541 section 4.2.
const (
	initialTable = 4 << 10  // of each end, and the most that we use
	maxTable     = 64 << 10 // that an end may have us remember
)

// An end is one of the two ends of a relayed connection: its connection and its announced settings.
type end struct {
	net.Conn        // nil for an agent that could not be dialled
	side     string // relay.SideClient or relay.SideAgent

	maxFrame atomic.Uint32 // the largest SETTINGS_MAX_FRAME_SIZE that it has announced

	// The newest SETTINGS_HEADER_TABLE_SIZE of this end, up to the relay's limit, and the smallest one since the last
	// header block for this end.
	table, smallest atomic.Uint32

	out outlet
}

func newEnd(c net.Conn, side string) *end {
	e := &end{Conn: c, side: side}
	e.maxFrame.Store(minFrameSize)
	e.table.Store(initialTable)
	e.smallest.Store(initialTable)
	e.out.to = e
	e.out.free.L = &e.out.mu
	e.out.enc = hpack.NewEncoder(&e.out.block)
	return e
}

// announce notes the maximum table size that the end allows for header blocks sent to it.
func (e *end) announce(table uint32) {
	e.table.Store(table)
	e.smallest.Store(min(e.smallest.Load(), table))
}

// An outlet is the data to send to one end. The goroutine that has the turn writes; a frame is never interrupted. The
// reader of the other end takes the turn for the data it forwards. All other goroutines post their frames, and never
// wait.
type outlet struct {
	to *end

	// Belongs to the goroutine that has the turn.
	bytes   []byte // to be written
	room    *[]byte
	enc     *hpack.Encoder
	resized bool // the block at hand changes the size of the table at its end
	block   bytes.Buffer
	failed  error // why the end accepts no more data; nil if it does

	mu     sync.Mutex
	free   sync.Cond
	busy   bool // the turn is taken
	speaks bool // this end has received the first SETTINGS; before them it accepts nothing else (RFC 9113 section 3.4)
	closed bool
	posted []func(*outlet)
	drains sync.WaitGroup
}

// maxPosted bounds the posted messages that wait to be written. Only an end that causes replies without reading them
// reaches it.
const maxPosted = 10_000

var rooms = sync.Pool{New: func() any { b := make([]byte, 0, 16<<10); return &b }}

// take waits for the turn.
func (o *outlet) take() {
	o.mu.Lock()
	for o.busy {
		o.free.Wait()
	}
	o.busy = true
	o.mu.Unlock()
	o.room = rooms.Get().(*[]byte)
	o.bytes = (*o.room)[:0]
}

// await returns when the turn is free, or after a time: a frame that is not complete may keep the turn.
func (o *outlet) await(most time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	late := false
	timer := time.AfterFunc(most, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		late = true
		o.free.Broadcast()
	})
	defer timer.Stop()
	for o.busy && !late {
		o.free.Wait()
	}
}

// give writes the pending data, including messages posted in the meantime, and ends the turn. It returns why the end
// accepts no more data, or nil.
func (o *outlet) give() error {
	for {
		o.write()
		o.mu.Lock()
		if len(o.posted) == 0 || !o.speaks {
			break
		}
		o.mu.Unlock()
		o.sayPosted()
	}
	if cap(o.bytes) <= 64<<10 {
		*o.room = o.bytes[:0]
		rooms.Put(o.room)
	}
	err := o.failed
	o.bytes, o.room, o.busy = nil, nil, false
	o.free.Broadcast()
	o.mu.Unlock()
	return err
}

// sayPosted adds what was posted, between two frames. The caller has the turn.
func (o *outlet) sayPosted() {
	o.mu.Lock()
	var posted []func(*outlet)
	if o.speaks {
		posted, o.posted = o.posted, nil
	}
	o.mu.Unlock()
	for _, say := range posted {
		say(o)
	}
}

// write writes the pending data. The caller has the turn.
func (o *outlet) write() {
	if len(o.bytes) > 0 && o.failed == nil && o.to.Conn != nil {
		_, o.failed = o.to.Write(o.bytes)
	}
	o.bytes = o.bytes[:0]
}

// post queues say, in the order of posting. It runs as soon as the turn is free and the end listens.
func (o *outlet) post(say func(*outlet)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return
	case len(o.posted) >= maxPosted:
		if o.to.Conn != nil {
			o.to.Close()
		}
		return
	}
	o.posted = append(o.posted, say)
	o.drain()
}

// drain begins to run the posted functions if the turn is free. The lock is held.
func (o *outlet) drain() {
	if o.busy || !o.speaks || len(o.posted) == 0 {
		return
	}
	o.busy = true
	o.room = rooms.Get().(*[]byte)
	o.bytes = (*o.room)[:0]
	o.drains.Go(func() { o.give() })
}

// sayFinally tells the end that the connection is over, even before the first SETTINGS.
func (o *outlet) sayFinally(last uint32, code http2.ErrCode, why string) {
	o.mu.Lock()
	greeted := o.speaks
	o.mu.Unlock()
	o.post(func(o *outlet) {
		if !greeted {
			o.bytes = appendFrame(o.bytes, http2.FrameSettings, 0, 0, nil)
		}
		o.bytes = appendGoAway(o.bytes, last, code, why)
	})
	o.speak()
}

// speak records that the end has received the first SETTINGS, or is about to, so that other frames may follow.
func (o *outlet) speak() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.speaks = true
	o.drain()
}

// close rejects further posts, and waits until the posted frames are written.
func (o *outlet) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.drains.Wait()
}

// fields adds a header block for a stream: a HEADERS frame with these flags, and CONTINUATION frames if it is long.
// before precedes the block in the first frame: a priority, or the number of the promised stream. The caller has the
// turn.
func (o *outlet) fields(kind http2.FrameType, flags http2.Flags, stream uint32, before []byte, padding int,
	fields []hpack.HeaderField,
) {
	o.heedTable()
	o.block.Reset()
	for _, f := range fields {
		o.enc.WriteField(f) //nolint:errcheck // of a bytes.Buffer
	}
	encoded := o.block.Bytes()
	if o.resized { // to the current size, so that a receiver that accepts it also accepts the next block
		encoded = appendResize(encoded, o.enc.MaxDynamicTableSize())
	}
	o.fragments(kind, flags, stream, before, padding, encoded)
	if o.block.Cap() > 64<<10 {
		o.block = bytes.Buffer{}
	}
}

// heedTable sets the encoder's table to the size that the end allows, after the smallest size that it has allowed in
// the meantime: RFC 7541 section 4.2.
func (o *outlet) heedTable() {
	now := min(o.to.table.Load(), initialTable)
	for _, size := range []uint32{o.to.smallest.Swap(now), now} {
		if size = min(size, initialTable); size != o.enc.MaxDynamicTableSize() {
			o.enc.SetMaxDynamicTableSize(size)
		}
	}
}

// fragments adds an encoded header block.
func (o *outlet) fragments(kind http2.FrameType, flags http2.Flags, stream uint32, before []byte, padding int,
	block []byte,
) {
	flags &^= http2.FlagHeadersPadded | http2.FlagHeadersEndHeaders
	head := len(before)
	if padding > 0 && head+len(block)+padding < minFrameSize {
		flags |= http2.FlagHeadersPadded
		head += 1 + padding
	}
	first := block[:min(len(block), minFrameSize-head)]
	rest := block[len(first):]
	if len(rest) == 0 {
		flags |= http2.FlagHeadersEndHeaders
	}
	o.bytes = appendHead(o.bytes, kind, flags, stream, head+len(first))
	if flags&http2.FlagHeadersPadded != 0 {
		o.bytes = append(o.bytes, byte(padding))
	}
	o.bytes = append(append(o.bytes, before...), first...)
	if flags&http2.FlagHeadersPadded != 0 {
		o.bytes = append(o.bytes, make([]byte, padding)...)
	}
	for len(rest) > 0 {
		piece := rest[:min(len(rest), minFrameSize)]
		if rest = rest[len(piece):]; len(rest) == 0 {
			flags = http2.FlagContinuationEndHeaders
		} else {
			flags = 0
		}
		o.bytes = appendFrame(o.bytes, http2.FrameContinuation, flags, stream, piece)
	}
}
