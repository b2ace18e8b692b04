package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"a2atap/proxy/budget"
)

// DefaultDecodeLimit is the maximum number of bytes from decoding a body: 16 MiB, the same as the limit for an uncoded
// body. A few kilobytes can expand to gigabytes.
const DefaultDecodeLimit = budget.ReadBytes

// Decoding errors that callers check for. Decode and its callers return them.
var (
	ErrUnknownCoding = errors.New("unknown content coding")  // nothing was decoded
	ErrTooLong       = errors.New("too long after decoding") // the limit was reached
)

// Codings returns the content codings of a body in the order in which they were applied, in lower case and without
// those that change nothing.
//
// Source: RFC 9110 sections 8.4 and 8.4.1.3 (x-gzip).
func (f Fields) Codings() []string {
	var codings []string
	for _, value := range f.Values("Content-Encoding") {
		for coding := range strings.SplitSeq(value, ",") {
			switch coding = strings.ToLower(strings.Trim(coding, " \t")); coding {
			case "", "identity":
			case "x-gzip":
				codings = append(codings, "gzip")
			default:
				codings = append(codings, coding)
			}
		}
	}
	return codings
}

// Decode removes content codings, the last one first, and returns at most limit bytes. With an error it returns the
// bytes decoded so far: for a truncated body, its beginning and an error that wraps io.ErrUnexpectedEOF. Empty data
// decodes to empty data in any coding. Without codings the result is data itself, of any length.
//
// It supports gzip, deflate (with or without the required zlib wrapper), br and zstd.
func Decode(data []byte, codings []string, limit int64) ([]byte, error) {
	if len(codings) == 0 || len(data) == 0 {
		return data, nil
	}
	r, err := decodingReader(bytes.NewReader(data), codings)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out chunks
	err = out.readFrom(io.LimitReader(r, min(limit, maxChunks)))
	size := int64(out.size)
	if err == nil && size == maxChunks {
		var more int64
		more, err = io.Copy(io.Discard, io.LimitReader(r, limit-size))
		size += more
	}
	if err == nil && size == limit {
		if n, _ := io.ReadFull(r, make([]byte, 1)); n > 0 {
			err = fmt.Errorf("%w: more than %d bytes", ErrTooLong, limit)
		}
	}
	if err != nil {
		err = fmt.Errorf("decode %s: %w", strings.Join(codings, ", "), err)
	}
	whole := out.join()
	if size > int64(len(whole)) {
		whole = decodeAgain(data, codings, size)
	}
	return whole, err
}

// maxChunks is the length in bytes above which a body is decoded twice, first to learn its decoded length: holding it
// in memory twice would cost more than the time.
const maxChunks = 1 << 20

// decodeAgain decodes a body a second time, up to the length found the first time.
func decodeAgain(data []byte, codings []string, size int64) []byte {
	r, err := decodingReader(bytes.NewReader(data), codings)
	if err != nil {
		return nil // not reached: it was read before
	}
	defer r.Close()
	whole := make([]byte, size)
	n, _ := io.ReadFull(r, whole) // the first pass reported any error
	return whole[:n]
}

// A chunk is room for what is being decoded.
type chunk [64 << 10]byte

var chunkPool = sync.Pool{New: func() any { return new(chunk) }}

// Chunks hold decoded data until its length is known. A growing buffer would allocate three times as much memory.
type chunks struct {
	list []*chunk
	size int
}

// readFrom reads to the end.
func (c *chunks) readFrom(r io.Reader) error {
	for {
		at := c.size % len(chunk{})
		if at == 0 && c.size == len(c.list)*len(chunk{}) {
			c.list = append(c.list, chunkPool.Get().(*chunk))
		}
		n, err := r.Read(c.list[len(c.list)-1][at:])
		c.size += n
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// join returns the data in one piece, nil without data, and releases the chunks.
func (c *chunks) join() []byte {
	var whole []byte
	if c.size > 0 {
		whole = make([]byte, 0, c.size)
	}
	for _, one := range c.list {
		whole = append(whole, one[:min(len(one), c.size-len(whole))]...)
		chunkPool.Put(one)
	}
	return whole
}

// Decode returns the body before content codings, or as much as can be decoded (see Decode). It is nil if the body was
// not kept. h is the head of the body's message. A gRPC message is decoded to JSON; if that is impossible, it is
// returned unchanged with an error.
func (b *Body) Decode(h *Head) ([]byte, error) {
	text, err := b.DecodeUpTo(DefaultDecodeLimit, h)
	if text == nil || err != nil {
		return text, err
	}
	if as := h.GRPCMessage(); as != nil {
		message := as.Read(text)
		if message.Err != nil {
			return text, fmt.Errorf("read the gRPC message: %w", message.Err)
		}
		return message.Text, nil
	}
	return text, nil
}

// DecodeUpTo removes the content codings of a body, as Decode does, up to a limit in bytes. For gRPC it returns the
// frames.
func (b *Body) DecodeUpTo(limit int64, h *Head) ([]byte, error) {
	if b.Data == nil || b.Decoded {
		return b.Data, nil
	}
	return Decode(b.Data, h.Fields.Codings(), limit)
}

// Content returns the request's body without its content codings (see Body.Decode).
func (r *Request) Content() ([]byte, error) {
	return r.Body.Decode(new(ParseRequestHead(r.Head)))
}

// Content returns the response's body without its content codings (see Body.Decode); of a stream, the bytes of all its
// events.
func (r *Response) Content() ([]byte, error) {
	if r.Stream {
		return r.StreamBytes(), nil
	}
	return r.Body.Decode(new(ParseResponseHead(r.Head)))
}

// StreamBytes returns a copy of the concatenated bytes of all events.
func (r *Response) StreamBytes() []byte {
	size := 0
	for i := range r.Events {
		size += len(r.Events[i].Raw)
	}
	all := make([]byte, 0, size)
	for i := range r.Events {
		all = append(all, r.Events[i].Raw...)
	}
	return all
}
