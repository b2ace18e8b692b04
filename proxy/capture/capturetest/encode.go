package capturetest

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// An Encoder is what all compressing writers have in common.
type Encoder interface {
	io.WriteCloser
	Flush() error
}

// encoders makes a writer for each coding; "bare" is deflate without its wrapper.
var encoders = map[string]func(io.Writer) Encoder{
	"gzip":    func(w io.Writer) Encoder { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) Encoder { return zlib.NewWriter(w) },
	"bare": func(w io.Writer) Encoder {
		f, err := flate.NewWriter(w, flate.DefaultCompression)
		if err != nil {
			panic(err)
		}
		return f
	},
	"br": func(w io.Writer) Encoder { return brotli.NewWriter(w) },
	"zstd": func(w io.Writer) Encoder {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		return z
	},
}

// NewEncoder returns a writer to w that applies a coding: "gzip", "deflate", "bare", "br" or "zstd".
func NewEncoder(coding string, w io.Writer) Encoder { return encoders[coding](w) }

// Encode applies codings (see NewEncoder) in order.
func Encode(t testing.TB, data []byte, codings ...string) []byte {
	t.Helper()
	for _, coding := range codings {
		var b bytes.Buffer
		w := encoders[coding](&b)
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = b.Bytes()
	}
	return data
}
