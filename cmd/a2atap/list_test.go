package main

import (
	"testing"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
)

// The list counts the events that passed, whether they speak A2A or not, and no comments.
func TestOutcomeCountsEvents(t *testing.T) {
	x := &capture.Exchange{
		State:   capture.StateClosed,
		Request: capture.Request{Head: []byte("GET /ticks HTTP/1.1\r\nHost: a\r\n\r\n")},
		Response: &capture.Response{
			Head:   []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
			Stream: true,
			Events: []capture.Event{
				{Raw: []byte(": hello\n\n")},
				{K: 1, Raw: []byte("data: 1\n\n")},
				{K: 2, Raw: []byte("data: 2\n\n")},
			},
		},
	}
	if got := outcome(x, analyzer.Facts{Reading: analyzer.Read(x)}); got != "2 events" {
		t.Errorf("got %q", got)
	}
}

func TestOutcomeNamesFault(t *testing.T) {
	for want, fault := range map[string]capture.Fault{
		"reset by client": {Kind: "reset", Side: "client"},
		"failed":          {Kind: "failed"},
	} {
		x := &capture.Exchange{State: capture.StateClosed, Fault: &fault}
		if got := outcome(x, analyzer.Facts{Reading: analyzer.Read(x)}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
