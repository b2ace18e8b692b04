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
	check(err)
	booker, err := proxy.ParseTap("booker=" + b.URL)
	check(err)
	memory := capture.NewMemory(capture.Info{Name: "example"})
	r := record.New(memory, record.Options{Proxy: proxy.Options{Taps: []proxy.TapSpec{planner, booker}}})
	check(r.Start())
	for _, tap := range r.Taps() {
		answer, err := http.Get(tap.URL() + "/hello") // by an agent
		check(err)
		answer.Body.Close()
	}
	http.DefaultClient.CloseIdleConnections()
	check(r.Close(context.Background()))

	for x, err := range memory.Exchanges(context.Background(), 1) {
		check(err)
		fmt.Println(x.Agent.Name, capture.ParseRequestHead(x.Request.Head).Target)
	}
	// Output:
	// planner /hello
	// booker /hello
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
