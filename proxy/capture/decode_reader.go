package capture

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory of one zstd stream: RFC 9659 section 3.
const maxWindow = 8 << 20

// maxCodings is the maximum number of nested codings. More are an attack or a mistake.
const maxCodings = 8

// decodingReader returns a reader that removes the codings, the last one first. It never reads from src while it has
// decoded bytes to return, so that the part of a stream that has arrived is available at once.
func decodingReader(src io.Reader, codings []string) (io.ReadCloser, error) {
	if len(codings) > maxCodings {
		return nil, fmt.Errorf("%w: %d nested codings", ErrUnknownCoding, len(codings))
	}
	wire := &link{r: src}
	d := &decoders{r: src}
	for i := len(codings) - 1; i >= 0; i-- {
		l := &link{r: d.r, wire: wire}
		if d.links == nil {
			l = wire
		}
		d.links = append(d.links, l)
		d.r = l
		switch coding := codings[i]; coding {
		case "gzip":
			d.r = &gzipReader{src: bufio.NewReader(d.r)}
		case "deflate":
			d.r = &deflateReader{src: bufio.NewReader(d.r)}
		case "br":
			d.r = brotli.NewReader(d.r)
		case "zstd":
			z, err := zstd.NewReader(d.r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
				zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				d.Close()
				return nil, fmt.Errorf("read zstd: %w", err)
			}
			d.r = z
			d.close = append(d.close, z.Close)
		default:
			d.Close()
			return nil, fmt.Errorf("%w %q", ErrUnknownCoding, coding)
		}
	}
	return d, nil
}

// decoders is a chain of decoders and the resources to release after it.
type decoders struct {
	r     io.Reader
	links []*link
	close []func()
}

func (d *decoders) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if errors.Is(err, io.EOF) {
		for _, l := range d.links {
			if l.err != nil {
				return n, l.err
			}
		}
	}
	return n, err
}

// Bounds on the output of each of several nested codings: a fixed number of bytes, plus a number for each byte on the
// wire. The caller bounds the output of the last one, which may be empty.
const betweenBytes, betweenRatio = 16 << 20, 100

var errBetween = fmt.Errorf("%w between its codings", ErrTooLong)

// A link is the input of a decoder, and remembers the error of that input: zstd accepts any early end.
type link struct {
	r    io.Reader
	wire *link // the lowest one; nil for itself
	n    int64 // bytes so far
	err  error
}

func (l *link) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.n += int64(n); l.wire != nil && l.n > betweenBytes+betweenRatio*l.wire.n {
		n, err = 0, errBetween
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

// Close releases the resources of the decoders. It never fails.
func (d *decoders) Close() error {
	for _, release := range d.close {
		release()
	}
	return nil
}

// gzipReader reads the members of a gzip stream one by one. The standard reader looks for the next member before it
// returns the end of the previous one, and a stream may be silent at that point.
type gzipReader struct {
	src    *bufio.Reader
	z      *gzip.Reader
	inside bool
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for {
		if !g.inside {
			if err := g.begin(); err != nil {
				return 0, err
			}
		}
		n, err := g.z.Read(p)
		if errors.Is(err, io.EOF) {
			g.inside, err = false, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// begin opens the next member, or returns io.EOF after the last one.
func (g *gzipReader) begin() error {
	if _, err := g.src.Peek(1); err != nil && g.z != nil {
		return err
	}
	var err error
	if g.z == nil {
		g.z, err = gzip.NewReader(g.src)
	} else {
		err = g.z.Reset(g.src)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		g.z = nil
		return err
	}
	g.z.Multistream(false)
	g.inside = true
	return nil
}

// deflateReader reads the deflate coding: zlib (RFC 1950), or the bare data (RFC 1951) that some servers send instead.
type deflateReader struct {
	src  *bufio.Reader
	r    io.Reader
	over bool // the data has ended
}

var errTrailing = errors.New("bytes follow the end of the coded data")

func (d *deflateReader) Read(p []byte) (int, error) {
	if d.over {
		if _, err := d.src.Peek(1); err != nil {
			return 0, err
		}
		return 0, errTrailing
	}
	if d.r == nil {
		if err := d.begin(); err != nil {
			return 0, err
		}
	}
	n, err := d.r.Read(p)
	if errors.Is(err, io.EOF) {
		d.over, err = true, nil
	}
	return n, err
}

// begin checks for a zlib wrapper.
func (d *deflateReader) begin() error {
	begin, err := d.src.Peek(2)
	if len(begin) < 2 {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	// RFC 1950 section 2.2: method 8, and the two bytes are a multiple of 31.
	if begin[0]&0x0f == 8 && (int(begin[0])<<8|int(begin[1]))%31 == 0 {
		d.r, err = zlib.NewReader(d.src)
		return err
	}
	d.r = flate.NewReader(d.src)
	return nil
}
