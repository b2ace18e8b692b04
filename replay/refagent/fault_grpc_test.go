package refagent_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

// overHTTP2 posts JSON as a gRPC message, and returns the response: the messages, then the status and its details.
func overHTTP2(t *testing.T, origin, service, method, text string) string {
	t.Helper()
	m, _ := grpc.MethodOf("/" + service + "/" + method)
	codec := grpc.Codec{Type: m.Request}
	body := must.Get(codec.Write(jsondoc.Parse([]byte(text)).Root))(t)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), "POST", origin+"/"+service+"/"+method, bytes.NewReader(body))
	must.Do(t, err)
	r.Header.Set("Content-Type", "application/grpc")
	res := must.Get(transport.RoundTrip(r))(t)
	defer res.Body.Close()
	all := must.Get(io.ReadAll(res.Body))(t)
	var out strings.Builder
	for answers := (grpc.Codec{Type: m.Answer}); len(all) > 0; {
		read := answers.Read(all)
		fmt.Fprintf(&out, "%s %d unknown\n", read.Text, len(read.Unknown))
		all = read.Rest
	}
	for _, h := range []http.Header{res.Header, res.Trailer} {
		if status := h.Get("Grpc-Status"); status != "" {
			fmt.Fprintf(&out, "status %s, %d bytes of details", status, len(h.Get("Grpc-Status-Details-Bin")))
		}
	}
	return out.String()
}

// grpcFaultTests show each fault of gRPC on the wire, as faultTests does.
var grpcFaultTests = []struct{ slug, method, request, has, lacks string }{
	{"grpc-field", "GetTask", `{"ID":"id-1"}`, "} 1 unknown", "} 0 unknown"},
	{"grpc-status", "GetTask", `{"ID":"id-1"}`, "unknown", "status 0"},
	{"grpc-status", "SendStreamingMessage", "", "unknown", "status 0"},
	{"grpc-ended-fails", "SendStreamingMessage", "", "status 13", "status 0"},
	{"grpc-status-map", "GetTask", `{"ID":"none"}`, "status 14", "status 5"},
	{"grpc-errorinfo", "GetTask", `{"ID":"none"}`, "status 5, 0 bytes", ""},
}

func TestFaultsOverGRPC(t *testing.T) {
	for _, tt := range grpcFaultTests {
		for agent, service := range map[string]string{"spec": grpc.Service1_0, "spec03": grpc.Service0_3} {
			if agent == "spec03" && (tt.slug == "grpc-status-map" || tt.slug == "grpc-errorinfo") {
				continue // of 1.0
			}
			t.Run(tt.slug+" "+tt.method+" "+agent, func(t *testing.T) {
				id, send := "id", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"task-lifecycle"}]}}`
				if agent == "spec03" {
					id, send = "name", strings.Replace(send, "parts", "content", 1)
				}
				request := strings.NewReplacer("ID", id, "none", "tasks/none", "id-1", "tasks/id-1").Replace(tt.request)
				if agent == "spec" {
					request = strings.ReplaceAll(request, "tasks/", "")
				}
				if tt.request == "" {
					request = send
				}
				var got [2]string
				for i, fault := range []string{tt.slug, ""} {
					o := fixed()
					o.Fault, o.Bindings = fault, []string{"grpc"}
					origin := serve(t, agent, o)
					overHTTP2(t, origin, service, "SendMessage", send)
					got[i] = overHTTP2(t, origin, service, tt.method, request)
				}
				checkFault(t, got, tt.has, tt.lacks)
			})
		}
	}
}
