package inspector

import (
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
)

// A message of gRPC is edited as the JSON that it stands for, and sent as a message.
func TestEditMessageOfGRPC(t *testing.T) {
	script, err := transcript.ReadFile(filepath.Join("..", "..", "..", "analyzer", "rules", "testdata", "grpcstatus",
		"grpc-ended-fails.txtar"))
	must.Do(t, err)
	x := script.Exchanges[len(script.Exchanges)-1]
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
	if err == nil || !strings.Contains(err.Error(), `section "3.request": read messages of gRPC`) {
		t.Errorf("what is no JSON is refused with %v", err)
	}
}
