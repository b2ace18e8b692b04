package analysis_test

import (
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

// What a message holds is worked out once, and for each call of a batch by itself.
func TestSent(t *testing.T) {
	message := func(text string) a2a.Value {
		return a2a.Parse([]byte(`{"parts":[{"text":"` + text + `"}]}`)).Root
	}
	content := func(v a2a.Value) digest.Content { return digest.ContentOf(a2a.Message{Value: v}.Parts()) }
	x := &analysis.Exchange{Call: a2a.Call{Message: message("hello")}}
	for range 2 {
		if x.Sent() != content(x.Call.Message) {
			t.Error("what was sent is not what the message holds")
		}
	}
	one := x.CallOfBatch(0)
	one.Call.Message = message("goodbye")
	if one.Sent() != content(one.Call.Message) || one.Sent() == x.Sent() {
		t.Error("a call of a batch has sent what the batch has")
	}
	expect.Equal(t, "who sent nothing has sent", digest.NoContent, (&analysis.Exchange{}).Sent())
}
