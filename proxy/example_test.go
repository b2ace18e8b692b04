package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/record"
)

// What two agents say to each other is recorded: each is given the address of the other's tap.
func Example() {
	a := httptest.NewServer(http.NotFoundHandler())
	defer a.Close()
	b := httptest.NewServer(http.NotFoundHandler())
	defer b.Close()

	planner, err := proxy.ParseTap("planner=" + a.URL)
	must(err)
	booker, err := proxy.ParseTap("booker=" + b.URL)
	must(err)
	memory := capture.NewMemory(capture.Info{Name: "example"})
	r := record.New(memory, record.Options{Proxy: proxy.Options{Taps: []proxy.TapSpec{planner, booker}}})
	must(r.Start())
	for _, tap := range r.Taps() {
		answer, err := http.Get(tap.URL() + "/hello") // by an agent
		must(err)
		answer.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	must(r.Close(context.Background()))

	for x, err := range memory.Exchanges(context.Background(), 1) {
		must(err)
		fmt.Println(x.Agent.Name, capture.ParseRequestHead(x.Request.Head).Target)
	}
	// Output:
	// planner /hello
	// booker /hello
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
