package hostile

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
)

func answer() *grpc.Type {
	m, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
	return m.Answer
}

// message answers with a message in its frame.
func message(encoding string, frame func() []byte) func(*Agent, http.ResponseWriter, *http.Request) {
	frame = sync.OnceValue(frame)
	return func(_ *Agent, w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // it answers all the same
		w.Header().Set("Content-Type", "application/grpc")
		if encoding != "" {
			w.Header().Set("Grpc-Encoding", encoding)
		}
		w.Header().Set("Trailer", "Grpc-Status")
		w.Write(frame()) //nolint:errcheck // of a client that may have left
		w.Header().Set("Grpc-Status", "0")
	}
}

// packed answers with a text repeated up to a length, compressed with gzip.
func packed(media, begin, again string, length int) func(*Agent, http.ResponseWriter, *http.Request) {
	body := sync.OnceValue(func() []byte {
		piece := strings.Repeat(again, 1<<20/len(again))
		return gzipped(begin, piece, length/len(piece))
	})
	return func(_ *Agent, w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) //nolint:errcheck // it answers all the same
		w.Header().Set("Content-Type", media)
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(body()) //nolint:errcheck // of a client that may have left
	}
}

func gzipped(begin, piece string, times int) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	io.WriteString(w, begin) //nolint:errcheck // of a buffer
	for range times {
		io.WriteString(w, piece) //nolint:errcheck // of a buffer
	}
	w.Close() //nolint:errcheck // of a buffer
	return out.Bytes()
}

// Packed returns a message in the frame of one that is compressed with gzip.
func Packed(message []byte) []byte {
	frame := grpc.AppendFrame(nil, gzipped("", string(message), 1))
	frame[0] = 1
	return frame
}

// Parts returns a message with the given number of empty parts. Its type must have a member message, as requests that
// send and their answers have.
func Parts(of *grpc.Type, n int) []byte {
	return within(of, func(parts protowire.Number) []byte {
		empty := append(protowire.AppendTag(nil, parts, protowire.BytesType), 0)
		return bytes.Repeat(empty, n)
	})
}

// Text returns such a message with one part, whose text has n bytes.
func Text(of *grpc.Type, n int) []byte {
	return within(of, func(parts protowire.Number) []byte {
		text := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), strings.Repeat("a", n))
		return protowire.AppendBytes(protowire.AppendTag(nil, parts, protowire.BytesType), text)
	})
}

// within returns a message whose last field has other parts.
func within(of *grpc.Type, parts func(protowire.Number) []byte) []byte {
	small, err := of.FromJSON(jsondoc.Parse([]byte(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`)).Root)
	if err != nil {
		panic(err) // the types have these fields
	}
	outer, _, n := protowire.ConsumeTag(small)
	inner, _ := protowire.ConsumeBytes(small[n:])
	var kept []byte
	var last protowire.Number
	for rest := inner; len(rest) > 0; {
		number, _, n := protowire.ConsumeField(rest)
		if last = number; n < len(rest) {
			kept = append(kept, rest[:n]...)
		}
		rest = rest[n:]
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, outer, protowire.BytesType), append(kept, parts(last)...))
}
