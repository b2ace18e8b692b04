// Package inflow reads connections into memory that they have only while there is something to read.
package inflow

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

// A Buffer holds what was read and not yet dealt with. It is used by one goroutine. While it waits for a connection
// that is silent it has no memory.
type Buffer struct {
	b    []byte
	r, w int // unread bytes are b[r:w]
	last int // how many bytes the last read gave
	size int // of b when it last gave up its memory to wait

	wait *readiness // of the connection that it reads; nil if that can only be read by waiting in a read

	small *[smallBuffer]byte // what b lies in, to be given back
	large *[largeBuffer]byte
}

// Unread returns what is there. It is valid until the next Fill.
func (b *Buffer) Unread() []byte { return b.b[b.r:b.w] }

// Consume drops n bytes from the beginning of what is there.
func (b *Buffer) Consume(n int) { b.r += n }

// Watch says which connection a Buffer will be filled from, so that it can wait without memory. It comes before the
// first Fill, and may be left out.
func (b *Buffer) Watch(c net.Conn) { b.wait = readinessOf(c) }

// Add puts p behind what is there.
func (b *Buffer) Add(p []byte) {
	if n := len(b.Unread()) + len(p); n > len(b.b)-b.r {
		b.resize(roomFor(n))
	}
	b.w += copy(b.b[b.w:], p)
}

// Fill reads once. It returns an error only when it read nothing.
func (b *Buffer) Fill(from io.Reader) error {
	if b.wait != nil && b.r == b.w {
		n, err := b.wait.read(b)
		b.last = n
		return err
	}
	n, err := from.Read(b.makeRoom())
	b.took(n)
	b.last = n
	if n > 0 {
		return nil // the next read returns the error again
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// makeRoom sees to it that there is room to read into, in a buffer of fitting size, and returns it.
func (b *Buffer) makeRoom() []byte {
	size := len(b.b)
	switch {
	case b.r == b.w:
		b.startAnew(size)
	case b.w < size:
	case b.r > 0:
		b.w = copy(b.b, b.Unread())
		b.r = 0
	case size < largeBuffer:
		b.resize(largeBuffer)
	default:
		b.resize(2 * size)
	}
	return b.b[b.w:]
}

// startAnew makes room where nothing is unread.
func (b *Buffer) startAnew(size int) {
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
}

// took notes that n bytes were read into the room that there was.
func (b *Buffer) took(n int) { b.w += n }

// resize moves what is there into a buffer of that size.
func (b *Buffer) resize(size int) {
	if size == len(b.b) {
		return
	}
	old := *b
	*b = Buffer{last: b.last, wait: b.wait}
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
	b.w = copy(b.b, old.Unread())
	old.Release()
}

// releaseToWait gives the memory of an empty buffer back until there is something to read.
func (b *Buffer) releaseToWait() {
	size, last, wait := len(b.b), b.last, b.wait
	b.Release()
	b.size, b.last, b.wait = size, last, wait
}

// Release gives the memory back. The Buffer is empty then.
func (b *Buffer) Release() {
	if b.small != nil {
		smallBuffers.Put(b.small)
	}
	if b.large != nil {
		largeBuffers.Put(b.large)
	}
	*b = Buffer{}
}

// Room returns all memory that a Buffer has.
func (b *Buffer) Room() []byte { return b.b }

// Scratch returns a Buffer with room for at least size bytes, to be released.
func Scratch(size int) (b Buffer) {
	b.resize(roomFor(size))
	return b
}

// roomFor returns the size of a buffer with room for at least size bytes.
func roomFor(size int) int {
	switch {
	case size <= smallBuffer:
		return smallBuffer
	case size <= largeBuffer:
		return largeBuffer
	}
	return size
}
