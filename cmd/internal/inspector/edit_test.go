package inspector

import (
	"strings"
	"testing"

	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// A gRPC message is edited as JSON, and sent as a gRPC message.
func TestEditMessageOfGRPC(t *testing.T) {
	exchanges := rulestest.Exchanges(t, "grpcstatus/grpc-ended-fails")
	x := exchanges[len(exchanges)-1]
	text := must.Get(requestText(x))(t)
	head := capture.ParseRequestHead(x.Request.Head)
	was, err := x.Request.Body.Decode(&head)
	if err != nil || !strings.Contains(string(text), `"messageId"`) {
		t.Fatalf("the text is %s, of %s, %v", text, was, err)
	}
	edited := must.Get(readRequest([]byte(strings.Replace(string(text), `"m3"`, `"new-m3"`, 1)), x))(t)
	now, err := edited.Request.Body.Decode(&head)
	if err != nil || !strings.Contains(string(now), `"new-m3"`) || edited.Request.Body.Data[0] != 0 {
		t.Errorf("it becomes %q, which is %s, %v", edited.Request.Body.Data, now, err)
	}
	_, err = readRequest([]byte(strings.Replace(string(text), `"messageId"`, `messageId`, 1)), x)
	if err == nil || !strings.Contains(err.Error(), `section "3.request": read gRPC messages`) {
		t.Errorf("what is not JSON is refused with %v", err)
	}
}
