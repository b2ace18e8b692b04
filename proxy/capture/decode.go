package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// DefaultDecodeLimit is how many bytes the decoding of a body yields at most: 64 MiB. A few kilobytes can claim to be
// gigabytes.
const DefaultDecodeLimit = 64 << 20

// Errors of decoding that callers branch on. Both are returned by Decode and by what calls it.
var (
	ErrUnknownCoding = errors.New("unknown content coding") // nothing was decoded
	ErrTooLong       = errors.New("too long when decoded")  // the limit was reached
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

// Decode takes content codings off, the last one first, and returns at most limit bytes. With an error come the bytes
// that could be decoded before it: a body that was cut off gives its beginning and an error that wraps
// io.ErrUnexpectedEOF. No data is no data in any coding. Without codings the result is data itself, whatever its
// length.
//
// It knows gzip, deflate (in its wrapper, as it should be, or without), br and zstd.
func Decode(data []byte, codings []string, limit int64) ([]byte, error) {
	if len(codings) == 0 || len(data) == 0 {
		return data, nil
	}
	r, err := decodingReader(bytes.NewReader(data), codings)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out bytes.Buffer
	_, err = out.ReadFrom(io.LimitReader(r, limit))
	if err == nil && int64(out.Len()) == limit {
		if n, _ := io.ReadFull(r, make([]byte, 1)); n > 0 {
			err = fmt.Errorf("%w: more than %d bytes", ErrTooLong, limit)
		}
	}
	if err != nil {
		err = fmt.Errorf("decode %s: %w", strings.Join(codings, ", "), err)
	}
	return bytes.Clone(out.Bytes()), err
}

// Decode returns the body as it was before its content codings were applied, or what can be told of it (see Decode). It
// is nil if nothing was kept. The head is that of the body's message.
func (b *Body) Decode(h *Head) ([]byte, error) {
	if b.Decoded || b.Data == nil {
		return b.Data, nil
	}
	return Decode(b.Data, h.Fields.Codings(), DefaultDecodeLimit)
}

// Content returns the request's body without its content codings (see Body.Decode).
func (r *Request) Content() ([]byte, error) {
	h := ParseRequestHead(r.Head)
	return r.Body.Decode(&h)
}

// Content returns the response's body without its content codings (see Body.Decode); of a stream, the bytes of all its
// events.
func (r *Response) Content() ([]byte, error) {
	if r.Stream {
		return r.StreamBytes(), nil
	}
	h := ParseResponseHead(r.Head)
	return r.Body.Decode(&h)
}

// StreamBytes returns the bytes of all events, one after another: a copy, empty if there are none.
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
