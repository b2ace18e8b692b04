package h2

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"a2atap/proxy/relay"
)

// answerOurs answers a request instead of the agent, and reports why. The lock of the stream is held. If the request is
// still arriving, the exchange lasts until the request is complete.
func (c *conn) answerOurs(s *stream, f relay.TransportError) {
	s.ours = true
	c.noteFault(f)
	c.obs.Fault(s.x, f)
	s.faulted = true
	if s.asked || f.Side == relay.SideClient {
		c.end(s, nil)
	}
	list, content := ownAnswer(c.cfg.Mark, f, s.isGRPC)
	asked := s.asked
	c.client.out.post(func(o *outlet) {
		c.answer(o, s.id, list, content)
		if !asked && f.Side == relay.SideClient {
			o.bytes = appendReset(o.bytes, s.id, http2.ErrCodeNo)
		}
	})
	c.mu.Lock()
	c.refused++
	many := c.refused > maxRefused
	c.mu.Unlock()
	if many {
		c.client.out.sayFinally(c.lastAsked(), http2.ErrCodeEnhanceYourCalm, "a2atap: too many requests are refused")
		c.over.Store(true)
	}
}

// answer sends one of the relay's own answers, without its content if the client has no room for it.
func (c *conn) answer(o *outlet, id uint32, list fieldList, content []byte) {
	n := int64(len(content))
	if n > c.down.credit.room() {
		n = 0
	}
	var flags http2.Flags
	if n == 0 {
		flags = http2.FlagHeadersEndStream
	}
	o.fields(http2.FrameHeaders, flags, id, nil, 0, list)
	if n > 0 {
		c.down.credit.made(n)
		o.bytes = appendFrame(o.bytes, http2.FrameData, http2.FlagDataEndStream, id, content)
	}
}

// ownAnswer returns one of the relay's own answers, header and content. A gRPC call gets the status UNAVAILABLE in a
// header that is also the trailer.
func ownAnswer(mark string, f relay.TransportError, isGRPC bool) (list fieldList, content []byte) {
	head, content, _ := bytes.Cut(relay.OwnAnswer(mark, f), []byte("\r\n\r\n"))
	start, rest, _ := strings.Cut(string(head), "\r\n")
	status := strings.Fields(start)[1]
	if isGRPC {
		status = "200"
	}
	list = fieldList{{Name: ":status", Value: status}}
	for line := range strings.SplitSeq(rest, "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch name = strings.ToLower(name); {
		case name == "connection", isGRPC && strings.HasPrefix(name, "content-"):
		default:
			list = append(list, hpack.HeaderField{Name: name, Value: value})
		}
	}
	if !isGRPC {
		return list, content
	}
	const unavailable = 14
	return append(list,
		hpack.HeaderField{Name: "content-type", Value: "application/grpc"},
		hpack.HeaderField{Name: "grpc-status", Value: strconv.Itoa(unavailable)},
		hpack.HeaderField{Name: "grpc-message", Value: percentEncoded("a2atap: " + relay.Message(f))},
	), nil
}

// percentEncoded returns a text in the encoding of grpc-message.
func percentEncoded(text string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '%' {
			const digits = "0123456789ABCDEF"
			out.Write([]byte{'%', digits[c>>4], digits[c&15]})
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

// giveUp resets a stream at the agent.
func (c *conn) giveUp(s *stream, code http2.ErrCode) {
	c.agent.out.post(func(o *outlet) { o.bytes = appendReset(o.bytes, s.id, code) })
}

// tooLate replaces an answer that has not begun in time with 504.
func (c *conn) tooLate(s *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answered || s.ended || s.ours {
		return
	}
	c.giveUp(s, http2.ErrCodeCancel)
	c.answerOurs(s, relay.TransportError{
		Kind: relay.KindTimeout, Side: relay.SideAgent, Status: http.StatusGatewayTimeout,
		Detail: fmt.Sprintf("no head of an answer within %v (RFC 9110 section 15.6.5)", c.cfg.AnswerTimeout),
	}.Advised("check why the agent is slow, or allow more time"))
}
