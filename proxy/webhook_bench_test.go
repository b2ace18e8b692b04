package proxy

import (
	"net/url"
	"strings"
	"testing"

	"a2atap/proxy/hostname"
)

// BenchmarkRequestWithoutWebhook is what a request that carries no config costs more where webhooks are led through taps:
// a look at its head and its body, without a copy.
func BenchmarkRequestWithoutWebhook(b *testing.B) {
	agent := &url.URL{Scheme: "http", Host: "127.0.0.1:9001"}
	tap := &Tap{
		proxy: &Proxy{opts: Options{Webhooks: &WebhookSpec{}}, seals: testSeals},
		spec:  TapSpec{Name: "booker", Agent: agent}, agent: hostname.OriginOf(agent),
	}
	editor := hookEditor{cardEditor{&link{tap: tap}}}
	head := []byte("POST /rpc HTTP/1.1\r\nHost: 127.0.0.1:9001\r\nUser-Agent: planner/1\r\nContent-Type: application/json\r\n" +
		"Content-Length: 1000\r\n\r\n")
	body := []byte(strings.Repeat(`{"text":"to book"}`, 56)[:1000])
	b.ReportAllocs()
	for b.Loop() {
		if editor.HoldRequest(0, head, body, true) != 0 {
			b.Fatal("the request is held")
		}
	}
}
