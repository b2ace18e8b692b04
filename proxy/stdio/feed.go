package stdio

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// A Side is the end of the relay that sent something.
type Side byte

// The sides.
const (
	Client Side = iota
	Server
)

// chunk is the size of the relay's buffers: the capacity of a pipe on Linux.
const chunk = 64 << 10

// feedLimit is how many bytes may wait for the recorder. More pass unrecorded, and are counted.
const feedLimit = 16 << 20

// A Hello is the first frame of a feed: facts about the tool.
type Hello struct {
	Name      string `json:"name"`                // of the server
	ByCommand bool   `json:"byCommand,omitempty"` // the name is made of the command
	Ancestors []int  `json:"ancestors,omitempty"` // the processes above the server's, its parent first
}

// The kinds of frames. A frame is its kind, the length of its content in four bytes (big endian), and the content. That
// begins, except for frameHello, with a side and the time in nanoseconds since 1970, in eight bytes.
const (
	frameHello = iota // JSON of Hello
	frameBytes        // bytes that the side sent
	frameLost         // how many of its bytes are missing here, in eight bytes
	frameEnded        // the side has closed its end, or ended
)

// frameHead is the length of a frame before its content, and frameStart that of the content's side and time.
const frameHead, frameStart = 5, 9

// A Conn is a connection to a recorder.
type Conn interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// A Feed sends copies of what passes to a recorder, without ever making the traffic wait. All methods of a nil Feed do
// nothing.
type Feed struct {
	mu     sync.Mutex
	ready  sync.Cond // something waits, or the feed was closed
	waits  []byte    // frames
	lost   [2]int64  // bytes of each side that found no room
	closed bool
	failed bool
	done   chan struct{}
}

// NewFeed starts a feed. It connects to the recorder in the background; before that, frames wait. If connecting or
// sending fails, the feed calls onFail, once, and from then on ignores what passes.
func NewFeed(hello Hello, connect func() (Conn, error), onFail func(error)) *Feed {
	f := &Feed{done: make(chan struct{})}
	f.ready.L = &f.mu
	text, _ := json.Marshal(hello) // strings and numbers
	f.add(frameHello, text, nil)
	go func() {
		defer close(f.done)
		if err := f.send(connect); err != nil {
			f.mu.Lock()
			f.failed, f.waits = true, nil
			f.mu.Unlock()
			onFail(err)
		}
	}()
	return f
}

func (f *Feed) send(connect func() (Conn, error)) error {
	to, err := connect()
	if err != nil {
		return err
	}
	defer to.Close()
	var sent []byte
	for {
		f.mu.Lock()
		for len(f.waits) == 0 && !f.closed {
			f.ready.Wait()
		}
		if len(f.waits) == 0 {
			f.mu.Unlock()
			if err := to.CloseWrite(); err != nil {
				return err
			}
			_, err := io.Copy(io.Discard, to) // the recorder closes it when it has read everything
			return err
		}
		f.waits, sent = sent[:0], f.waits
		f.countLost(Client)
		f.countLost(Server)
		f.mu.Unlock()
		if _, err := to.Write(sent); err != nil {
			return err
		}
		if cap(sent) > 16*chunk { // a burst should not keep its memory
			sent = nil
		}
	}
}

// Close waits until the recorder has received everything, but not longer than patience. It reports whether sending has
// ended.
func (f *Feed) Close(patience time.Duration) bool {
	if f == nil {
		return true
	}
	f.mu.Lock()
	f.closed = true
	f.ready.Signal()
	f.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-f.done:
		return true
	case <-timer.C:
		return false
	}
}

// add queues a frame with two parts of content.
func (f *Feed) add(kind byte, first, second []byte) {
	f.waits = binary.BigEndian.AppendUint32(append(f.waits, kind), uint32(len(first)+len(second))) //nolint:gosec // at most chunk and a few
	f.waits = append(append(f.waits, first...), second...)
	f.ready.Signal()
}

// addOf queues a frame of a side.
func (f *Feed) addOf(side Side, kind byte, content []byte) {
	start := [frameStart]byte{byte(side)}
	binary.BigEndian.PutUint64(start[1:], uint64(time.Now().UnixNano())) //nolint:gosec // after 1970
	f.add(kind, start[:], content)
}

// Passed queues a copy of bytes that a side sent.
func (f *Feed) Passed(side Side, p []byte) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.failed:
	case f.lost[side] > 0 || len(f.waits)+len(p) > feedLimit:
		f.lost[side] += int64(len(p))
	default:
		f.addOf(side, frameBytes, p)
	}
}

// ended queues that a side has closed its end of a pipe, which may come once for each pipe. It always has room.
func (f *Feed) ended(side Side) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.failed {
		f.countLost(side)
		f.addOf(side, frameEnded, nil)
	}
}

// countLost queues the number of lost bytes of a side, at the place of the gap. The caller holds the lock.
func (f *Feed) countLost(side Side) {
	if n := f.lost[side]; n > 0 {
		f.lost[side] = 0
		f.addOf(side, frameLost, binary.BigEndian.AppendUint64(nil, uint64(n))) //nolint:gosec // positive
	}
}
