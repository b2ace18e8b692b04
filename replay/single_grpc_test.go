package replay_test

import (
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// A gRPC call is sent again unchanged over HTTP/2, and the answer is recorded.
func TestSingleOverGRPC(t *testing.T) {
	t.Parallel()
	agent := agenttest.Start(t, "spec", refagent.Options{Bindings: []string{"grpc"}})
	m, _ := grpc.MethodOf("/lf.a2a.v1.A2AService/GetTask")
	doc := a2a.Parse([]byte(`{"id":"none"}`))
	codec := grpc.Codec{Type: m.Request}
	body := must.Get(codec.Write(doc.Root))(t)
	s, err := replay.NewSingle(single(agent, string(body), "POST /lf.a2a.v1.A2AService/GetTask HTTP/2", "Host: tap",
		"a2a-version: 1.0", "content-type: application/grpc", "te: trailers"))
	must.Do(t, err)
	memory := capture.NewMemory(capture.Info{})
	x, from, err := s.Send(t.Context(), replay.SingleOptions{Sink: memory})
	if err != nil || from == "" {
		t.Fatalf("from %q: %v", from, err)
	}
	head := string(x.Response.Head)
	if x.Fault != nil || !strings.HasPrefix(head, "HTTP/2 200\r\n") || !strings.Contains(head, "grpc-status: 5\r\n") {
		t.Errorf("got %v, %s", x.Fault, head)
	}
	if head := string(x.Request.Head); !strings.HasPrefix(head, "POST /lf.a2a.v1.A2AService/GetTask HTTP/2\r\n") {
		t.Errorf("sent %s", head)
	}
}
