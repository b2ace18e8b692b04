package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"a2atap/proxy/recording"
	"a2atap/proxy/stdio"
)

// Tools returns the path of the socket at which tools join the recording; empty if they cannot.
func (p *Proxy) Tools() string {
	if p.tools == nil {
		return ""
	}
	return p.tools.Path()
}

// openTools opens the socket for tools. If that fails, everything else is still recorded.
func (p *Proxy) openTools() {
	if !p.opts.Tools {
		return
	}
	var err error
	if p.tools, err = stdio.Listen(); err != nil {
		p.notice(fmt.Sprintf("tools that a2atap stdio runs cannot join this recording: %v", err))
	}
}

// serveTool records the messages of one tool and its client. The tool counts as in flight until it has ended.
func (p *Proxy) serveTool(feed net.Conn) {
	p.inFlight.add(1)
	defer p.inFlight.add(-1)
	err := stdio.Record(feed, func(h stdio.Hello) *recording.Conn {
		conn := p.opts.Recorder.Conn(h.Peer(), "")
		p.callers.lookAbove(h.Ancestors, h.Name, conn)
		return conn
	})
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
		p.notice(err.Error())
	}
}
