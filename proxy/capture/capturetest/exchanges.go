// Package capturetest tests what stores and reads captures: one suite for every Source and every Sink, and the
// exchanges that it is made of.
package capturetest

import (
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// Exchanges returns exchanges that together hold all that a record can say. They are new for each call. Their bodies
// are as formats keep them that decode: none has a content coding.
func Exchanges() []*capture.Exchange {
	xs := []*capture.Exchange{
		call(), stream(), open(), interrupted(), unreachable(), aborted(), cut(), notKept(), unknown(), strange(),
		refused(), overGRPC(),
	}
	start := time.Date(2026, 3, 1, 10, 0, 0, 123456789, time.UTC)
	for i, x := range xs {
		x.Seq = uint64(i) + 1
		x.ID = uuid.NewSHA1(uuid.NameSpaceURL, []byte{byte(i)})
		x.Started = start.Add(time.Duration(i) * 40 * time.Millisecond)
	}
	return xs
}

const ms = time.Millisecond

var (
	planner = capture.Peer{Name: "planner", Addr: "127.0.0.1:53124", How: "user-agent"}
	booker  = capture.Peer{Name: "booker", Addr: "127.0.0.1:9000", URL: "http://127.0.0.1:9000/rpc"}
)

func post() capture.Request {
	body := []byte("{\"jsonrpc\": \"2.0\", \"id\": 1,\r\n \"method\": \"message/send\"}")
	return capture.Request{
		Head: []byte("POST /rpc?tenant=a%20b HTTP/1.1\r\nHost: 127.0.0.1:7001\r\nUser-Agent: planner/1.2\r\n" +
			"content-type: application/json\r\nX-Twice: 1\r\nx-twice: 2\r\nContent-Length: 55\r\n\r\n"),
		Body: capture.Body{Data: body, Size: int64(len(body)), Complete: true, At: 1 * ms},
	}
}

func get() capture.Request {
	return capture.Request{
		Head: []byte("GET /.well-known/agent-card.json HTTP/1.1\r\nHost: 127.0.0.1:7001\r\n\r\n"),
		Body: capture.Body{Data: []byte{}, Size: 0, Complete: true, At: 0},
	}
}

// call is a plain call that was rewritten on its way.
func call() *capture.Exchange {
	return &capture.Exchange{
		Conn: 1, Ended: 31*ms + 17, State: capture.StateClosed, Client: planner, Agent: booker, Request: post(),
		Response: &capture.Response{
			At:   30 * ms,
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n"),
			Body: capture.Body{Data: []byte(`{"name":"æther 日本"}`), Size: 24, Complete: true, At: 31 * ms},
		},
		Rewrites: []capture.Rewrite{
			{Place: "response.body#/url", Was: "http://127.0.0.1:9000/", Now: "http://127.0.0.1:7001/"},
			{Place: "request.header[Host]", Was: "127.0.0.1:7001", Now: "127.0.0.1:9000"},
		},
		Notes:    []string{"the card is signed; rewriting breaks its signature", "another\nnote"},
		Replayed: true,
	}
}

// stream is an event stream with all that its framing allows. It overlaps the exchange after it.
func stream() *capture.Exchange {
	return &capture.Exchange{
		Conn: 2, Ended: 90 * ms, State: capture.StateClosed, Client: planner, Agent: booker, Request: post(),
		Ends: []capture.SideEnd{{Side: "client", How: capture.EndHalfClose, At: 21 * ms, Request: 55, Response: 60}},
		Response: &capture.Response{
			At:     5*ms + 1,
			Head:   []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"),
			Stream: true,
			Events: []capture.Event{
				{K: 0, At: 5*ms + 1, Raw: []byte("\uFEFF: hello\n\n")},
				{K: 1, At: 20 * ms, Raw: []byte("event: x\r\nid: 7\r\ndata: {\r\ndata: }\r\n\r\n")},
				{K: 2, At: 20 * ms, Raw: []byte("data: \xff\xfe not text\r\r")},
				{K: 3, At: 55 * ms, Raw: []byte("data: cu"), Dropped: 12},
				{K: 4, At: 80 * ms, Raw: []byte("data: the end"), Unterminated: true},
			},
			Body:    capture.Body{Size: 123, Dropped: 12, Complete: true, At: 89 * ms},
			Trailer: []byte("X-Sum: 1\r\n"),
		},
	}
}

// open is a stream that is still passing.
func open() *capture.Exchange {
	return &capture.Exchange{
		Conn: 3, Ended: capture.NotKnown, State: capture.StateOpen, Client: planner, Agent: booker, Request: get(),
		Response: &capture.Response{
			At:     ms,
			Head:   []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
			Stream: true,
			Events: []capture.Event{{K: 1, At: 2 * ms, Raw: []byte("data: 1\n\n")}},
			Body:   capture.Body{Size: capture.NotKnown, At: 2 * ms},
		},
		Ends: []capture.SideEnd{
			{Side: "client", How: capture.EndFIN, At: 3 * ms, Response: 9}, {Side: "agent", How: capture.EndReset, At: 4 * ms},
		},
	}
}

// interrupted is an exchange that the recorder did not see to its end, and has not seen whole.
func interrupted() *capture.Exchange {
	return &capture.Exchange{
		Conn: 3, Ended: capture.NotKnown, State: capture.StateInterrupted, Client: planner, Agent: booker, Lost: 4711,
		Request: capture.Request{
			Head: post().Head,
			Body: capture.Body{Data: []byte("{\"half"), Size: capture.NotKnown, At: 3 * ms},
		},
	}
}

// unreachable is an exchange without an answer.
func unreachable() *capture.Exchange {
	return &capture.Exchange{
		Conn: 4, Ended: 7 * ms, State: capture.StateClosed, Client: planner, Agent: booker, Request: post(),
		Fault: &capture.TransportFault{Kind: "unreachable", Side: "agent", Detail: "connection refused: \"127.0.0.1:9000\""},
	}
}

// aborted is an answer that broke off, and overtook its request.
func aborted() *capture.Exchange {
	x := &capture.Exchange{
		Conn: 5, Ended: 30 * ms, State: capture.StateClosed, Client: planner, Agent: booker, Request: post(),
		Response: &capture.Response{
			At: 2 * ms,
			Informational: [][]byte{
				[]byte("HTTP/1.1 100 Continue\r\n\r\n"),
				[]byte("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"),
			},
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"),
			Body: capture.Body{Data: []byte{0, 1, 2, 0xff}, Size: capture.NotKnown, At: 8 * ms},
		},
		Fault: &capture.TransportFault{Kind: "truncated", Side: "agent", Detail: "4 of 100 bytes"},
	}
	x.Request.Body.At = 4 * ms
	x.Request.Trailer = []byte("A: b\r\nB: c\r\n")
	return x
}

// cut is an answer that was longer than what is kept.
func cut() *capture.Exchange {
	return &capture.Exchange{
		Conn: 5, Ended: 30 * ms, State: capture.StateClosed, Client: planner, Agent: booker, Request: get(),
		Response: &capture.Response{
			At:   2 * ms,
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
			Body: capture.Body{Data: []byte("begin\n"), Size: 1000, Dropped: 994, Complete: true, At: 8 * ms},
		},
	}
}

// notKept is an answer of which only the length is known, and a request with an empty body whose length is not.
func notKept() *capture.Exchange {
	x := &capture.Exchange{
		Conn: 6, Ended: 30 * ms, State: capture.StateClosed, Client: planner, Agent: booker, Request: get(),
		Response: &capture.Response{
			At:   2 * ms,
			Head: []byte("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
			Body: capture.Body{Size: 1000, Dropped: 1000, Complete: true, At: 8 * ms},
		},
	}
	x.Request.Body = capture.Body{Data: []byte{}, Size: capture.NotKnown, Complete: true, At: ms}
	return x
}

// unknown has no times, no sizes and no names.
func unknown() *capture.Exchange {
	return &capture.Exchange{
		Ended: capture.NotKnown, State: capture.StateClosed,
		Agent: capture.Peer{Name: "example.com:443", URL: "https://example.com/a2a"},
		Request: capture.Request{
			Head: []byte("POST /a2a HTTP/1.1\r\nHost: example.com\r\n\r\n"),
			Body: capture.Body{Data: []byte("{}\n"), Size: capture.NotKnown, Complete: true, At: capture.NotKnown},
		},
		Response: &capture.Response{
			At:     capture.NotKnown,
			Head:   []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
			Stream: true,
			Events: []capture.Event{
				{K: 1, At: capture.NotKnown, Raw: []byte("data: 1\n\n")},
				{K: 2, At: capture.NotKnown, Raw: []byte("data: 2\n\n")},
			},
			Body: capture.Body{Size: capture.NotKnown, Complete: true, At: capture.NotKnown},
		},
	}
}

// strange has heads that lists of names and values cannot hold.
func strange() *capture.Exchange {
	return &capture.Exchange{
		Conn: 7, Ended: 9 * ms, State: capture.StateClosed, Client: planner, Agent: booker,
		Request: capture.Request{
			Head: []byte("PUT http://127.0.0.1:9000/a HTTP/1.0\nHost:  a \nno colon\nX: \xff\n\n"),
			Body: capture.Body{Data: []byte("-- not.a.marker --\n"), Size: 19, Complete: true, At: ms},
		},
		Response: &capture.Response{
			At:   2 * ms,
			Head: []byte("HTTP/1.1 200\r\nA:b\r\n c\r\n\r\n"),
			Body: capture.Body{Data: []byte{}, Complete: true, At: 2 * ms},
		},
	}
}

// refused is what was not HTTP at all.
func refused() *capture.Exchange {
	return &capture.Exchange{
		Conn: 8, Ended: 0, State: capture.StateClosed, Client: capture.Peer{Addr: "127.0.0.1:1"}, Agent: booker,
		Request: capture.Request{
			Head: []byte("\x16\x03\x01\x02\x00\x01"),
			Body: capture.Body{Size: capture.NotKnown, At: capture.NotKnown},
		},
		Fault: &capture.TransportFault{Kind: "not-http", Side: "client", Detail: "a TLS handshake"},
	}
}

// overGRPC is a gRPC call of a custom service, which fails after two messages, one of them in an unknown compression.
func overGRPC() *capture.Exchange {
	message := []byte("\x00\x00\x00\x00\x02\x08\x01")
	return &capture.Exchange{
		Conn: 9, Stream: 5, Ended: 30 * ms, State: capture.StateClosed, Client: planner, Agent: booker,
		Request: capture.Request{
			Head: []byte("POST /booker.Tickets/Watch HTTP/2\r\nHost: 127.0.0.1:7001\r\ncontent-type: application/grpc\r\n" +
				"te: trailers\r\n\r\n"),
			Body: capture.Body{Data: message, Size: int64(len(message)), Complete: true, At: 1 * ms},
		},
		Response: &capture.Response{
			At: 2 * ms, Stream: true,
			Head: []byte("HTTP/2 200\r\ncontent-type: application/grpc\r\ngrpc-encoding: own\r\n\r\n"),
			Body: capture.Body{Size: 15, Complete: true, At: 30 * ms},
			Events: []capture.Event{
				{K: 1, At: 3 * ms, Raw: []byte("\x00\x00\x00\x00\x03\x0a\x01a")},
				{K: 2, At: 4 * ms, Raw: []byte("\x01\x00\x00\x00\x02\xff\xfe")},
			},
			Trailer: []byte("grpc-status: 14\r\ngrpc-message: out of tickets%21\r\n"),
		},
	}
}
