package h2_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"a2atap/proxy/must"
	"a2atap/proxy/relay"
)

// A requestEditor holds requests, and puts shouted ones in their place.
type requestEditor struct{ cardEditor }

func (requestEditor) Hold(int, []byte) int { return 0 }
func (requestEditor) HoldRequest(int, []byte, []byte, bool) (int, time.Duration) {
	return 1 << 20, must.Patience
}

func (requestEditor) KeepRequest(int, []byte) bool { return true }
func (requestEditor) RequestTooSlow(int)           {}
func (requestEditor) HeldRequest(_ int, head, body, _ []byte) []byte {
	return append(slices.Clone(head), strings.ToUpper(string(body))...)
}

func holdRequests(cfg *relay.Config) { cfg.Editor = requestEditor{} }

// post begins a request with a body on a stream.
func (w *wire) post(id uint32, kind string, more ...string) {
	pairs := append([]string{
		":method", "POST", ":scheme", "http", ":path", "/" + fmt.Sprint(id), ":authority", "tap",
		"content-type", kind,
	}, more...)
	w.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: w.block(pairs...), EndHeaders: true})
}

// frames returns what arrives at the agent for streams, up to the end of one.
func (s *session) frames(last uint32) (came []string) {
	s.agent.next(func(f http2.Frame) bool {
		h := f.Header()
		if h.StreamID == 0 {
			return false
		}
		what := fmt.Sprintf("%d %s", h.StreamID, h.Type)
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			what += " " + f.PseudoValue("path")
		case *http2.DataFrame:
			what += " " + string(f.Data())
		case *http2.WindowUpdateFrame:
			what += fmt.Sprint(" ", f.Increment)
		}
		came = append(came, what)
		return h.StreamID == last && h.Flags.Has(http2.FlagDataEndStream)
	})
	return came
}

// Requests reach the agent in the order of their streams, whichever are held, and what belongs to one that is held
// comes behind its head: otherwise the agent gives up the connection.
func TestHeldRequestsKeepTheirTurn(t *testing.T) {
	t.Parallel()
	s := newSession(t, holdRequests)
	s.client.post(1, "application/json", "content-length", "5")
	s.client.WriteWindowUpdate(1, 77)
	s.client.post(3, "application/json", "content-length", "5")
	s.client.get(5, "/5")
	s.client.WriteWindowUpdate(5, 88)
	s.client.post(7, "application/grpc")
	s.client.WriteData(3, true, []byte("three"))
	s.client.WriteRSTStream(3, http2.ErrCodeCancel) // all of it was sent before
	s.client.WriteData(7, true, []byte("\x00\x00\x00\x00\x05seven"))
	s.client.WriteWindowUpdate(1, 1)
	s.client.post(9, "application/json", "content-length", "4")
	s.client.WriteRSTStream(9, http2.ErrCodeCancel) // the agent sees a request that was given up, as it would without a tap
	s.client.get(11, "/11")
	s.client.WriteData(1, true, []byte("first"))
	s.client.get(13, "/13")
	want := []string{
		"1 HEADERS /1", "1 WINDOW_UPDATE 78", "3 HEADERS /3", "5 HEADERS /5", "5 WINDOW_UPDATE 88", "7 HEADERS /7",
		"9 HEADERS /9", "11 HEADERS /11", "13 HEADERS /13",
	}
	var heads, rest []string
	for _, f := range s.frames(13) {
		if strings.Contains(f, "DATA") || strings.Contains(f, "RST") {
			rest = append(rest, f)
			continue
		}
		heads = append(heads, f)
	}
	if !slices.Equal(heads, want) {
		t.Errorf("in this order came %q, want %q", heads, want)
	}
	slices.Sort(rest) // streams that have begun are independent of each other
	wantRest := []string{"1 DATA FIRST", "3 DATA THREE", "3 RST_STREAM", "7 DATA \x00\x00\x00\x00\x05SEVEN", "9 RST_STREAM"}
	if !slices.Equal(rest, wantRest) {
		t.Errorf("came %q, want %q", rest, wantRest)
	}
}

// The head of a call of gRPC does not wait for its message, nor does what comes behind it.
func TestHeadsOfCallsGoAhead(t *testing.T) {
	t.Parallel()
	s := newSession(t, holdRequests)
	s.client.post(1, "application/grpc")
	s.client.WriteData(1, false, []byte("\x00\x00"))
	s.client.get(3, "/3")
	if got, want := s.frames(3), []string{"1 HEADERS /1", "3 HEADERS /3"}; !slices.Equal(got, want) {
		t.Errorf("came %q, want %q", got, want)
	}
	s.client.WriteRSTStream(1, http2.ErrCodeCancel)
	s.client.post(5, "application/grpc")
	s.client.WriteData(5, true, nil)
	want := []string{"1 DATA \x00\x00", "1 RST_STREAM", "5 HEADERS /5", "5 DATA "} // a frame of its own, as it came
	if got := s.frames(5); !slices.Equal(got, want) {
		t.Errorf("came %q, want %q", got, want)
	}
}

// What clients of gRPC get to see is the same where their requests are held, many at once.
func TestSameWhereRequestsAreHeld(t *testing.T) {
	t.Parallel()
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, s, _ := grpcAgent(t)
			want := script(t, grpcClient(t, addr), s)
			p := newTap(t, addr, func(cfg *relay.Config) { cfg.Editor = sameEditor{} })
			if got := script(t, grpcClient(t, p.addr), s); got != want {
				t.Errorf("through the tap\n%s\nwithout it\n%s", got, want)
			}
		})
	}
	t.Run("many", func(t *testing.T) {
		t.Parallel()
		addr, _, _ := grpcAgent(t)
		p := newTap(t, addr, func(cfg *relay.Config) { cfg.Editor = sameEditor{} })
		c := grpcClient(t, p.addr)
		var wait sync.WaitGroup
		for i := range 20 {
			wait.Go(func() {
				for j := range 20 {
					in := &pb.SimpleRequest{ResponseSize: 3, Payload: &pb.Payload{Body: make([]byte, 1+i*j*50)}}
					out, err := c.UnaryCall(within(t), in)
					if err != nil || out.Username != fmt.Sprint(1+i*j*50) {
						t.Errorf("%v, %v", out.GetUsername(), err)
					}
				}
			})
		}
		wait.Wait()
	})
}

// A sameEditor holds requests until their first message is there, and changes nothing.
type sameEditor struct{ requestEditor }

func (sameEditor) KeepRequest(_ int, body []byte) bool {
	return len(body) < 5 || body[0] != 0 || len(body)-5 < int(binary.BigEndian.Uint32(body[1:]))
}

func (sameEditor) HeldRequest(_ int, head, body, _ []byte) []byte {
	return append(slices.Clone(head), body...)
}
