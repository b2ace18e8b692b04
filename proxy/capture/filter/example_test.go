package filter_test

import (
	"fmt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
)

func ExampleParse() {
	slow, err := filter.Parse(`method:POST (dur:>2s or status:>=500) -path:/health`)
	if err != nil {
		fmt.Println(err)
		return
	}
	x := &capture.Exchange{
		Ended:    3e9,
		Request:  capture.Request{Head: []byte("POST /rpc HTTP/1.1\r\n\r\n")},
		Response: &capture.Response{Head: []byte("HTTP/1.1 200 OK\r\n\r\n")},
	}
	fmt.Println(slow.Match(x, nil), slow)

	_, err = filter.Parse("metod:POST")
	fmt.Println(err.Error()[:65])
	// Output:
	// true method:POST (dur:>2s or status:>=500) not path:/health
	// filter: column 1: unknown key "metod"; did you mean "method"? use
}
