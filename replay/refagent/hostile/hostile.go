// Package hostile plays agents that cost their readers as much time and memory as they can. Each has a name and does one thing,
// whatever it is asked. Behaviors lists them; what is added there is tried on every command that the tests name.
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

// A Behavior is what a hostile agent does.
type Behavior struct {
	Name        string // such as "grpc-parts-packed"
	Description string // one sentence
	GRPC        bool   // it answers calls over gRPC, and is asked for SendMessage of A2A 1.0; else it is asked over HTTP
	Answer      http.HandlerFunc
}

// Behaviors are those that are known, in the order in which they are listed.
var Behaviors = []Behavior{
	{
		"grpc-parts-packed", "A message of 60 KiB unpacks to 31 million parts that are empty.", true,
		message("gzip", func() []byte { return Packed(Parts(answer(), 31_000_000)) }),
	},
	{
		"grpc-parts", "A message of 14 MB holds 7 million parts that are empty.", true,
		message("", func() []byte { return grpc.AppendFrame(nil, Parts(answer(), 7_000_000)) }),
	},
	{
		"grpc-parts-within", "A message of 2 KiB unpacks to a million parts that are empty, as many as are read.", true,
		message("gzip", func() []byte { return Packed(Parts(answer(), 1_000_000)) }),
	},
	{
		"grpc-text-packed", "A message of 59 KiB unpacks to a text of 60 MB.", true,
		message("gzip", func() []byte { return Packed(Text(answer(), 60_000_000)) }),
	},
	{
		"json-packed", "A body of 100 KiB unpacks to 100 MB of parts.", false,
		packed("application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","parts":[`, `{"kind":"text","text":"a"},`, 100<<20),
	},
	{
		"sse-packed", "A stream of 200 KiB unpacks to 10 million events.", false,
		packed("text/event-stream", "", "data: {}\n\n", 100<<20),
	},
}

// Named returns the behavior of a name, and whether there is one.
func Named(name string) (Behavior, bool) {
	for _, b := range Behaviors {
		if b.Name == name {
			return b, true
		}
	}
	return Behavior{}, false
}

func answer() *grpc.Type {
	m, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
	return m.Answer
}

// message answers with a message in its frame.
func message(encoding string, frame func() []byte) http.HandlerFunc {
	frame = sync.OnceValue(frame)
	return func(w http.ResponseWriter, r *http.Request) {
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

// packed answers with a text that is repeated up to a length, in gzip.
func packed(media, begin, again string, length int) http.HandlerFunc {
	body := sync.OnceValue(func() []byte {
		piece := strings.Repeat(again, 1<<20/len(again))
		return gzipped(begin, piece, length/len(piece))
	})
	return func(w http.ResponseWriter, r *http.Request) {
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

// Parts returns a message of a type that has a member message, as requests that send and their answers have, with so many
// empty parts.
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

// within returns a message with other parts in the place of its last field.
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
