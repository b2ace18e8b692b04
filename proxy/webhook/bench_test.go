package webhook

import (
	"net/url"
	"strings"
	"testing"
)

// BenchmarkRequestWithoutWebhook is what a request that carries no config costs more where webhooks are led through taps:
// a look at its head and its body, without a copy.
func BenchmarkRequestWithoutWebhook(b *testing.B) {
	agent := &url.URL{Scheme: "http", Host: "127.0.0.1:9001"}
	editor := testHooks().NewSite("booker", agent, "127.0.0.1:7001").NewEditor(nil, nil, "")
	head := []byte("POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nUser-Agent: planner/1\r\nContent-Type: application/json\r\n" +
		"Content-Length: 1000\r\n\r\n")
	body := []byte(strings.Repeat(`{"text":"to book"}`, 56)[:1000])
	b.ReportAllocs()
	for b.Loop() {
		if limit, _ := editor.HoldRequest(0, head, body, true); limit != 0 {
			b.Fatal("the request is held")
		}
	}
}
