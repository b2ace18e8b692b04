package relay

import (
	"io"
	"net"
	"sync"
)

// Buffers are small while little passes, so that a thousand quiet streams cost little, and large while much does.
const (
	smallBuffer = 4 << 10
	largeBuffer = 32 << 10
)

var (
	smallBuffers = sync.Pool{New: func() any { return new([smallBuffer]byte) }}
	largeBuffers = sync.Pool{New: func() any { return new([largeBuffer]byte) }}
)

// A buffer holds what was read and not yet dealt with. It is used by one goroutine. While it waits for a connection
// that is silent it has no memory.
type buffer struct {
	b    []byte
	r, w int // unread bytes are b[r:w]
	last int // how many bytes the last read gave
	size int // of b when it last gave up its memory to wait

	wait *readiness // of the connection that it reads; nil if that can only be read by waiting in a read

	small *[smallBuffer]byte // what b lies in, to be given back
	large *[largeBuffer]byte
}

// unread returns what is there. It is valid until the next fill.
func (b *buffer) unread() []byte { return b.b[b.r:b.w] }

// consume drops n bytes from the beginning of what is there.
func (b *buffer) consume(n int) { b.r += n }

// bufferOf returns a buffer that is to be filled from a connection.
func bufferOf(c net.Conn) buffer { return buffer{wait: readinessOf(c)} }

// fill reads once. It returns an error only when it read nothing.
func (b *buffer) fill(from io.Reader) error {
	if b.wait != nil && b.r == b.w {
		n, err := b.wait.read(b)
		b.last = n
		return err
	}
	b.makeRoom()
	n, err := from.Read(b.b[b.w:])
	b.w += n
	b.last = n
	if n > 0 {
		return nil // the next read returns the error again
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// makeRoom sees to it that there is room to read into, in a buffer of fitting size.
func (b *buffer) makeRoom() {
	size := len(b.b)
	if b.r == b.w {
		if b.r, b.w = 0, 0; size == 0 {
			size = b.size
		}
		switch {
		case size == 0 || b.last <= smallBuffer/2:
			b.resize(smallBuffer)
		case size > largeBuffer || b.last == size:
			b.resize(largeBuffer)
		default:
			b.resize(size)
		}
		return
	}
	switch {
	case b.w < size:
	case b.r > 0:
		b.w = copy(b.b, b.unread())
		b.r = 0
	case size < largeBuffer:
		b.resize(largeBuffer)
	default:
		b.resize(2 * size)
	}
}

// resize moves what is there into a buffer of that size.
func (b *buffer) resize(size int) {
	if size == len(b.b) {
		return
	}
	old := *b
	*b = buffer{last: b.last, wait: b.wait}
	switch size {
	case smallBuffer:
		b.small = smallBuffers.Get().(*[smallBuffer]byte)
		b.b = b.small[:]
	case largeBuffer:
		b.large = largeBuffers.Get().(*[largeBuffer]byte)
		b.b = b.large[:]
	default:
		b.b = make([]byte, size)
	}
	b.w = copy(b.b, old.unread())
	old.release()
}

// releaseToWait gives the memory of an empty buffer back until there is something to read.
func (b *buffer) releaseToWait() {
	size, last, wait := len(b.b), b.last, b.wait
	b.release()
	b.size, b.last, b.wait = size, last, wait
}

// release gives the memory back. The buffer is empty then.
func (b *buffer) release() {
	if b.small != nil {
		smallBuffers.Put(b.small)
	}
	if b.large != nil {
		largeBuffers.Put(b.large)
	}
	*b = buffer{}
}

// scratch returns a buffer of at least size bytes, to be released.
func scratch(size int) (b buffer) {
	switch {
	case size <= smallBuffer:
		b.resize(smallBuffer)
	case size <= largeBuffer:
		b.resize(largeBuffer)
	default:
		b.resize(size)
	}
	return b
}
