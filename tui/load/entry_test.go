package load_test

import (
	"fmt"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/tui/load"
)

func TestSizeOfAnAnswer(t *testing.T) {
	l := load.New(t.Context(), nil, nil)
	long := make([]capture.Event, 2*load.EntryEvents)
	for i := range long {
		long[i] = capture.Event{K: 1000 * i, Raw: []byte("data: {}\n\n")}
	}
	for _, c := range []struct {
		res  *capture.Response
		want int64
	}{
		{nil, capture.NotKnown},
		{&capture.Response{Body: capture.Body{Size: 5, Complete: true}}, 5},
		{&capture.Response{Body: capture.Body{Size: capture.NotKnown, Data: []byte("abc"), Dropped: 4}}, 7},
		{&capture.Response{
			Stream: true, Body: capture.Body{Size: capture.NotKnown}, Events: []capture.Event{{K: 1, Raw: []byte("ab")}},
		}, 2},
		{&capture.Response{Stream: true, Body: capture.Body{Size: capture.NotKnown}, Events: long}, capture.NotKnown},
		{&capture.Response{Stream: true, Body: capture.Body{Size: 4711, Complete: true}, Events: long}, 4711},
	} {
		x := &capture.Exchange{Seq: 1, Request: capture.Request{Head: []byte("GET / HTTP/1.1\r\n\r\n")}, Response: c.res}
		if c.res != nil {
			c.res.Head = []byte("HTTP/1.1 200 OK\r\n\r\n")
		}
		expect.Equal(t, fmt.Sprintf("the size of %+v", c.res), c.want, l.EntryOf(x).Size)
	}
}
