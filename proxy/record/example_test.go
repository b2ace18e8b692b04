package record_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/record"
)

// What a client and an agent say to each other is recorded in memory.
func Example() {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") }))
	defer agent.Close()

	booker, err := proxy.ParseTap("booker=" + agent.URL)
	if err != nil {
		panic(err)
	}
	memory := capture.NewMemory(capture.Info{Name: "example"})
	r := record.New(memory, record.Options{Proxy: proxy.Options{Taps: []proxy.TapSpec{booker}}})
	if err := r.Start(); err != nil {
		panic(err)
	}
	answer, err := http.Get(r.Taps()[0].URL() + "/tasks/t1?token=secret") // by whichever client there is
	if err != nil {
		panic(err)
	}
	answer.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if err := r.Close(context.Background()); err != nil {
		panic(err)
	}

	for x, err := range memory.Exchanges(context.Background(), 1) {
		if err != nil {
			panic(err)
		}
		request := capture.ParseRequestHead(x.Request.Head)
		fmt.Println(request.Method, request.Target[:len("/tasks/t1?token=redacted")], x.Agent.Name)
	}
	// Output: GET /tasks/t1?token=redacted booker
}
