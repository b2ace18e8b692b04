package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/recording"
)

// messageOf returns JSON as a message.
func messageOf(t *testing.T, of *grpc.Type, text string) []byte {
	t.Helper()
	message, err := of.FromJSON(jsondoc.Parse([]byte(text)).Root)
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// calls sends a message to a method through a client, and returns the message of the answer.
func calls(t *testing.T, client *http.Client, origin, path string, message []byte) []byte {
	t.Helper()
	request, err := http.NewRequest("POST", origin+path, bytes.NewReader(grpc.AppendFrame(nil, message)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/grpc")
	res, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.Trailer.Get("Grpc-Status") != "0" {
		t.Fatalf("%v, trailer %v", err, res.Trailer)
	}
	frame, rest, ok := grpc.Cut(body)
	if !ok || !frame.Whole() || len(rest) > 0 {
		t.Fatalf("got %q", body)
	}
	return frame.Message
}

// respond answers a call of gRPC with a frame.
func respond(w http.ResponseWriter, frame []byte) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	w.Write(frame)
	w.Header().Set("Grpc-Status", "0")
}

// A card that comes over gRPC leads back to the tap, and nothing else of its message changes.
func TestCardOverGRPC(t *testing.T) {
	const unknown = "\xfa\x3e\x03abc" // field 1007
	for path, text := range map[string]string{
		"/lf.a2a.v1.A2AService/GetExtendedAgentCard": `{"name":"b","supportedInterfaces":[{"url":"https://else.example",` +
			`"protocolBinding":"JSONRPC"},{"url":"ADDR","protocolBinding":"GRPC"},{"url":"http://ADDR/x",` +
			`"protocolBinding":"JSONRPC"}],"version":"1","provider":{"url":"http://ADDR/p"}}`,
		"/a2a.v1.A2AService/GetAgentCard": `{"name":"b","url":"http://ADDR/x","version":"1","preferredTransport":"GRPC",` +
			`"additionalInterfaces":[{"url":"ADDR","transport":"GRPC"}],"provider":{"url":"http://ADDR/p"}}`,
	} {
		for _, rewrite := range []bool{true, false} {
			t.Run(fmt.Sprint(path, rewrite), func(t *testing.T) {
				method, _ := grpc.MethodOf(path)
				var card []byte
				agent := newHTTP2Agent(t, false, func(w http.ResponseWriter, _ *http.Request) {
					respond(w, grpc.AppendFrame(nil, card))
				})
				at := agent.Listener.Addr().String()
				expand := func(addr string) string { return strings.ReplaceAll(text, "ADDR", addr) }
				card = append(messageOf(t, method.Answer, expand(at)), unknown...)
				r := newRig(t, func(o *proxy.Options, _ *recording.Options) { o.NoRewrite = !rewrite }, "b="+agent.URL)
				got := calls(t, newHTTP2Client(t), r.tap(0).URL(), path, nil)
				x := r.record()[0]
				if events := x.Response.Events; len(events) != 1 || !bytes.Equal(events[0].Raw, grpc.AppendFrame(nil, card)) {
					t.Errorf("recorded %v", events)
				}
				if !rewrite {
					want := "b advertises " + at + " (gRPC), which is not tapped: traffic there is not observed"
					if !bytes.Equal(got, card) || !slices.Contains(x.Notes, want) {
						t.Errorf("got %q, notes %q", got, x.Notes)
					}
					return
				}
				// The address of the provider is nobody's to call.
				to := strings.ReplaceAll(expand(r.tap(0).Addr()), "http://"+r.tap(0).Addr()+"/p", "http://"+at+"/p")
				want := append(messageOf(t, method.Answer, to), unknown...)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("want -, got +:\n%s", diff)
				}
				if len(now(x)) != 2 {
					t.Errorf("recorded %v", x.Rewrites)
				}
			})
		}
	}
}
