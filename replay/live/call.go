package live

import (
	"errors"
	"net"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/scheme"
)

// A Call is one exchange: a Transport sends the request and records the answer while it reads it.
type Call struct {
	Log     *Entry
	Secure  bool   // over TLS
	Host    string // host and port of the agent
	GRPC    bool   // over HTTP/2, on a connection that several calls share
	Head    []byte // of the request, in the form of HTTP/1.1
	Body    []byte
	Timeout time.Duration // of the whole exchange, restarted by each Progress; 0 means no timeout

	Sent  func()                         // called when the request has been written; may be nil
	Begun func() (stay bool)             // called when a stream begins; false leaves it; may be nil
	Event func(e *capture.Event) Reading // called with each block of a stream; nil is GoOn for all

	// From is the address from which the request was sent, host and port; empty if it was not sent.
	From string

	conn net.Conn // closed with the answer's body; nil over gRPC
}

// A Reading says how reading a stream continues after a block.
type Reading uint8

// The readings. Bytes alone are not progress: an agent that only pings its stream would keep a call forever.
const (
	GoOn     Reading = iota // the timeout continues
	Progress                // the timeout restarts
	Leave                   // the connection is closed at once
)

var (
	// errLeft is returned where [Call].Event says that the stream is to be left.
	errLeft = errors.New("left the stream at the same point as the recorded client")
	// errSpeaksTLS means that a request was sent without TLS to an agent that expects TLS.
	errSpeaksTLS = errors.New(scheme.SpeaksTLS + " (a plain request was answered with a TLS record)")
)

// Close closes the connection of a call that will not be sent.
func (c *Call) Close() {
	if c.conn != nil {
		c.conn.Close()
	}
}
