package present_test

import (
	"strings"
	"testing"

	"a2atap/cmd/internal/present"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

func TestGRPCurl(t *testing.T) {
	m, _ := grpc.MethodOf("/lf.a2a.v1.A2AService/GetTask")
	doc := a2a.Parse([]byte(`{"id":"it's"}`))
	codec := grpc.Codec{Type: m.Request}
	body, err := codec.Write(doc.Root)
	if err != nil {
		t.Fatal(err)
	}
	x := requested("POST /lf.a2a.v1.A2AService/GetTask HTTP/2\nHost: tap\na2a-version: 1.0\n"+
		"content-type: application/grpc\ngrpc-timeout: 1500m\nte: trailers\nuser-agent: x", string(body))
	x.Request.Body.Complete = true
	want := `grpcurl -plaintext -H 'a2a-version: 1.0' -max-time 1.5 -d '{"id":"it'\''s"}' 'booker.example:9001' ` +
		`lf.a2a.v1.A2AService/GetTask`
	if got, err := present.Curl(x); err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	x.Request.Body.Data = body[:6]
	if got, err := present.Curl(x); err == nil || !strings.Contains(err.Error(), "the message is cut off") {
		t.Errorf("of a message that is cut off: %s, %v", got, err)
	}
}
