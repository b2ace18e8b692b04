package translate_test

import (
	"bytes"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/must"
	"a2atap/replay/internal/translate"
)

// An agent of 0.3 whose HTTP+JSON follows the proto file is still written to by JSON-RPC as the text says.
func TestProtoJSONIsOfHTTPAlone(t *testing.T) {
	t.Parallel()
	message := a2a.Parse([]byte(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`)).Root
	for binding, member := range map[a2a.Binding]string{a2a.JSONRPC: `"parts":`, a2a.HTTPJSON: `"content":`} {
		to := translate.Protocol{Binding: binding, Dialect: a2a.V0_3}
		r := must.Get(translate.Write(a2a.SendMessage, message, to, translate.WriteOptions{ID: "1", ProtoJSON: true}))(t)
		if !bytes.Contains(r.Body, []byte(member)) {
			t.Errorf("%v: %s has no %s", binding, r.Body, member)
		}
	}
}
