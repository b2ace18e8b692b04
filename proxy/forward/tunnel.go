package forward

import (
	"io"

	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// tunnel passes the bytes of a connection without opening it. It is recorded as one exchange, with how many bytes
// passed and none of them, so that nobody takes what was not observed for clean. The client may have its answer to
// CONNECT already.
func (c *connect) tunnel(why string, answered bool) {
	to := c.to
	to.Scheme = "http" // whatever it is, the bytes go as they come
	l := c.link()
	l.isTunnel = true
	l.Request(0, c.head)
	defer l.Ended(0)
	l.RequestEnd(0, nil)
	l.Fact(0, capture.Fact{Note: "tunnelled, not observed: " + why})
	agent, err := c.forward.dial(c.ctx, to, "")
	if err != nil {
		f := relay.DialFault(err, to.Authority()).Advised(c.forward.Advise(err, to.Authority()))
		if answered {
			f.Status = 0
			relay.Reset(c)
		}
		l.Fault(0, f)
		if !answered {
			relay.WriteFinal(c, relay.OwnAnswer("", f))
		}
		return
	}
	defer agent.Close()
	l.Answer(0, []byte(established))
	l.Upgraded(0)
	if !answered {
		if _, err := io.WriteString(c.Conn, established); err != nil {
			l.Fault(0, relay.Fault{
				Kind: relay.KindClientLeft, Side: relay.SideClient,
				Detail: "connection closed before CONNECT was answered",
			})
			return
		}
	}
	both := splice{
		client: c, agent: agent, idle: c.forward.TunnelTimeout,
		request: func(p []byte) { l.RequestBody(0, p) }, answer: func(p []byte) { l.AnswerBody(0, p) },
	}
	if f := both.run(c.ctx); f != nil {
		l.Fault(0, *f)
		return
	}
	l.AnswerEnd(0, nil)
}
