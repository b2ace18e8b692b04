package capture

import (
	"errors"
	"io"
	"iter"
)

// A StreamDecoder removes the content codings of a body as it arrives, such as a compressed event stream: each write
// emits what it completes.
//
// It starts no goroutines. Use it for one body, from one goroutine at a time, and call Close.
type StreamDecoder struct {
	in     []byte // unread bytes of the current write
	emit   func([]byte)
	ended  bool // no more input will come
	r      io.ReadCloser
	err    error
	resume func() (struct{}, bool) // runs the decoder until it wants input or is done
	stop   func()
}

// errStopped is what a decoder reads after Close.
var errStopped = errors.New("the decoder was closed")

// NewStreamDecoder returns a decoder for these codings (see Fields.Codings), or an error that wraps ErrUnknownCoding.
func NewStreamDecoder(codings []string) (*StreamDecoder, error) {
	// Decoders pull their input, but data from the wire is pushed: the decoder is a coroutine that yields when it needs
	// input.
	d := &StreamDecoder{}
	feed := &feed{d: d}
	r, err := decodingReader(feed, codings)
	if err != nil {
		return nil, err
	}
	d.r = r
	d.resume, d.stop = iter.Pull(func(yield func(struct{}) bool) {
		feed.more = func() bool { return yield(struct{}{}) }
		d.run()
	})
	return d, nil
}

// Write decodes the next bytes of the body and calls emit with the result, in pieces of at most 32 KiB that are valid
// during the call. After an error nothing more is emitted, and every call returns that error.
func (d *StreamDecoder) Write(p []byte, emit func(decoded []byte)) error {
	if d.err != nil || d.ended {
		return d.err
	}
	d.in, d.emit = p, emit
	d.resume()
	d.in, d.emit = nil, nil
	return d.err
}

// Flush ends the body: it calls emit with the rest, and returns an error that wraps io.ErrUnexpectedEOF if the coded
// data is incomplete. A body without bytes is complete.
func (d *StreamDecoder) Flush(emit func(decoded []byte)) error {
	if d.err != nil || d.ended {
		return d.err
	}
	d.ended, d.emit = true, emit
	d.resume()
	d.emit = nil
	return d.err
}

// Fail makes the current write end with this error. emit calls it to stop the output: a few bytes can decode to an
// endless amount.
func (d *StreamDecoder) Fail(err error) { d.err = err }

// Close releases the decoder. It may be called at any time and more than once.
func (d *StreamDecoder) Close() {
	d.ended = true
	d.stop()
	d.r.Close()
}

// run decodes until the input ends, breaks or is closed.
func (d *StreamDecoder) run() {
	buf := make([]byte, 32<<10)
	for {
		n, err := d.r.Read(buf)
		if n > 0 && d.emit != nil {
			d.emit(buf[:n])
		}
		if d.err != nil { // Fail was called
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, errStopped) {
				d.err = err
			}
			return
		}
	}
}

// feed is what the decoder of a StreamDecoder reads from.
type feed struct {
	d    *StreamDecoder
	more func() bool // returns when there may be input, false if the decoder was closed
	any  bool        // there has been input
}

func (f *feed) Read(p []byte) (int, error) {
	for len(f.d.in) == 0 {
		if f.d.ended && !f.any {
			return 0, errStopped
		}
		if f.d.ended {
			return 0, io.EOF
		}
		if !f.more() {
			return 0, errStopped
		}
	}
	f.any = true
	n := copy(p, f.d.in)
	f.d.in = f.d.in[n:]
	return n, nil
}
