package analyzertest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
	"a2atap/proxy/must"
)

// Bytes of gRPC: messages of SendMessage with their prefixes, and bytes that are not a message.
var (
	asked    = grpc.AppendFrame(nil, []byte("\x12\x0c\x0a\x02m1\x20\x01\x2a\x04\x0a\x02hi"))
	answered = grpc.AppendFrame(nil, []byte("\x12\x10\x0a\x02m2\x12\x02c1\x20\x02\x2a\x04\x0a\x02hi"))
	notUTF8  = grpc.AppendFrame(nil, []byte("\x12\x0a\x0a\x08geheim\xff\xfe"))
	varint   = grpc.AppendFrame(nil, []byte("\xff\xff"))
	tooShort = answered[:len(answered)-3]
	flagged  = slices.Concat([]byte{1}, answered[1:])
)

// What a recorder withholds, since it cannot search it for secrets, is judged all the same: by the rules that say why it
// cannot be read, against the program that sent it. The call is one, and failed as its trailer, or a client's library, has
// it.
func TestFramingThroughTap(t *testing.T) {
	t.Parallel()
	const send, stream = "SendMessage", "SendStreamingMessage"
	for _, test := range []struct {
		name, method    string
		request, answer []byte
		status          int
		want            string // the findings of gRPC's rules, and the verdict on calls
	}{
		{"all in order", send, asked, answered, 0, "1 of 1 call succeeded"},
		{"a stream in order", stream, asked, slices.Concat(answered, answered), 0, "1 of 1 call succeeded"},
		{
			"request not UTF-8", send, notUTF8, nil, 13,
			"client 1.request.body#/message: the message cannot be read: messageId is not UTF-8; 1 of 1 call failed: INTERNAL 1",
		},
		{
			"request of a stream not UTF-8", stream, notUTF8, nil, 13,
			"client 1.request.body#/message: the message cannot be read: messageId is not UTF-8; 1 of 1 call failed: INTERNAL 1",
		},
		{
			"request a truncated varint", send, varint, nil, 13,
			"client 1.request.body#: the message cannot be read: an invalid tag; 1 of 1 call failed: INTERNAL 1",
		},
		{
			"two requests", send, slices.Concat(asked, asked), nil, 12,
			"client 1.request.body: another message follows the message of the request; 1 of 1 call failed: UNIMPLEMENTED 1",
		},
		{
			"answer not UTF-8", send, asked, notUTF8, 0,
			"agent 1.response.message[1]#/message: the message cannot be read: messageId is not UTF-8; " +
				"1 of 1 call failed: no protocol answer 1",
		},
		{
			"stream not UTF-8", stream, asked, slices.Concat(answered, notUTF8), 0,
			"agent 1.response.message[2]#/message: the message cannot be read: messageId is not UTF-8; " +
				"1 of 1 call failed: no protocol answer 1",
		},
		{
			"answer too short", send, asked, tooShort, 0,
			"agent 1.response.message[1]: the message cannot be read: the message is cut off; " +
				"1 of 1 call failed: no protocol answer 1",
		},
		{
			"answer flagged as compressed", send, asked, flagged, 0,
			"agent 1.response.message[1]: the message cannot be read: the message is marked as compressed, but " +
				"grpc-encoding names no compression; 1 of 1 call failed: no protocol answer 1",
		},
		{
			"two answers", send, asked, slices.Concat(answered, answered), 0,
			"agent 1.response.message[2]: the answer has 2 messages; 1 of 1 call failed: more than one message 1",
		},
		{
			"no answer", send, asked, nil, 0,
			"agent 1.response.body: the answer has status OK and no message; 1 of 1 call failed: no protocol answer 1",
		},
		{
			"bytes behind the answer", send, asked, slices.Concat(answered, answered[:3]), 0,
			"agent 1.response.message[2]: the message cannot be read: the message is cut off; " +
				"1 of 1 call failed: no protocol answer 1",
		},
		{
			"a stream ends inside a message", stream, asked, slices.Concat(answered, tooShort), 0,
			"agent 1.response.message[2]: the message cannot be read: the message is cut off; " +
				"1 of 1 call failed: no protocol answer 1",
		},
		{
			"no status that there is", send, asked, answered, 42,
			"agent 1.response.trailer[grpc-status]: grpc-status is 42; 1 of 1 call failed: grpc-status 42 1",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			agent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/grpc")
				w.Header().Set("Trailer", "Grpc-Status")
				w.WriteHeader(http.StatusOK)
				w.Write(test.answer)
				w.Header().Set("Grpc-Status", fmt.Sprint(test.status))
			}))
			agent.Config.Protocols = new(http.Protocols)
			agent.Config.Protocols.SetUnencryptedHTTP2(true)
			agent.Start()
			t.Cleanup(agent.Close)

			r := must.Get(start(must.Get(url.Parse(agent.URL))(t), must.Get(newOptions(nil))(t), t.Name()))(t)
			transport := &http.Transport{Protocols: agent.Config.Protocols}
			ask := must.Get(http.NewRequest(http.MethodPost, r.URL+"/lf.a2a.v1.A2AService/"+test.method,
				bytes.NewReader(test.request)))(t)
			ask.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "A2a-Version": {"1.0"}}
			res := must.Get(transport.RoundTrip(ask))(t)
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
			transport.CloseIdleConnections()
			r.record.CloseTaps()
			must.Do(t, r.record.Close(t.Context()))

			result := must.Get(engine.Run(context.Background(), rules.All, r.memory, nil))(t)
			var got string
			verdict := result.Verdict(analysis.Error)
			for i := range result.Findings {
				if f := &result.Findings[i]; f.Rule.Family == "grpc" || f.Rule.ID == "grpc-status" {
					got += fmt.Sprintf("%s %s: %s; ", f.Side, f.Place, f.Seen)
				}
			}
			expect.Equal(t, "", test.want, got+verdict.Calls.String())
			if x := must.Get(r.memory.Exchange(t.Context(), 1))(t); x.Lost != 0 || result.Counts.Lost != 0 {
				t.Errorf("something is counted as lost: %+v", x)
			}
		})
	}
}
