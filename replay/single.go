package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/replay/live"
)

// A Single is one recorded request that is sent again unchanged, with the same ids, even if it depends on an earlier
// exchange. Run, in contrast, plays several requests and gives them new ids.
type Single struct {
	Method string
	URL    string // its destination; contains no secrets
	Agent  capture.Peer

	// Unsent are the header fields and query parameters whose secrets the recording lacks: they are omitted.
	// Placeholders are the other places with such secrets: in the body, which is sent as recorded.
	Unsent       []string
	Placeholders bool

	at   address
	head capture.Head
	body []byte
}

// NewSingle returns the request of an exchange, ready to be sent again. It fails if the recorded request is incomplete
// or its agent is unknown.
func NewSingle(x *capture.Exchange) (*Single, error) {
	head := capture.ParseRequestHead(x.Request.Head)
	body, err := x.Request.Body.Decode(&head)
	switch {
	case len(x.Request.Head) == 0 || head.Method == "":
		return nil, fmt.Errorf("exchange %d has no request to send", x.Seq)
	case err != nil:
		return nil, fmt.Errorf("the body of exchange %d cannot be decoded: %w", x.Seq, err)
	case !x.Request.Body.Complete || x.Request.Body.Dropped > 0 || x.Lost > 0:
		return nil, fmt.Errorf("the request of exchange %d was not recorded completely, so it cannot be sent", x.Seq)
	case strings.ContainsAny(head.Line, "\x00"):
		return nil, fmt.Errorf("the request line of exchange %d cannot be sent", x.Seq)
	}
	if _, is := head.GRPC(); is {
		body = x.Request.Body.Data // the message as recorded, not as JSON
	}
	s := &Single{Method: head.Method, Agent: x.Agent, head: head, body: body}
	to := x.Agent.URL
	if u, err := url.Parse(head.Target); err == nil && u.Host != "" {
		to = u.Scheme + "://" + u.Host
	}
	base, err := url.Parse(to)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("the capture does not say where the agent of exchange %d is", x.Seq)
	}
	return s, s.aim(base)
}

// aim directs the request to the origin of a URL, with the recorded path and query.
func (s *Single) aim(base *url.URL) error {
	e, err := newEndpoints(base.Scheme + "://" + base.Host)
	if err != nil {
		return err
	}
	s.Unsent, s.Placeholders = nil, credential.HasPlaceholder(s.body)
	target := s.head.Target
	if u, err := url.Parse(target); err == nil && u.Host != "" { // absolute form
		target = u.RequestURI()
	}
	s.at = address{scheme: e.live.Scheme, host: hostname.HostPort(e.live), target: s.withoutSecrets(target)}
	if !strings.HasPrefix(s.at.target, "/") {
		return fmt.Errorf("the request target %.40q is not a path", target)
	}
	for _, f := range s.head.Fields {
		if credential.HasPlaceholder([]byte(f.Value)) {
			s.Unsent = append(s.Unsent, "header "+f.Name)
		}
	}
	s.URL = s.at.scheme + "://" + s.at.authority() + s.at.target
	return nil
}

// Through sends the request to the origin of another URL, such as that of a tap in front of its agent.
func (s *Single) Through(to string) error {
	base, err := url.Parse(to)
	if err != nil {
		return err
	}
	return s.aim(base)
}

// Here reports whether the request stays on this machine. It looks only at the spelling of the host.
func (s *Single) Here() bool {
	u, err := url.Parse(s.URL)
	return err == nil && hostname.IsLoopback(hostname.Normal(u.Hostname()))
}

// withoutSecrets removes the query parameters whose values the recording does not have from a target.
func (s *Single) withoutSecrets(target string) string {
	return refilled(target, func(name string) (string, bool) {
		s.Unsent = append(s.Unsent, "query parameter "+name)
		return "", false
	})
}

// wire returns the head of the request to send: the recorded fields in their order and spelling, except for those that
// belong to the recorded connection or contained secrets.
func (s *Single) wire() []byte {
	_, overGRPC := s.head.GRPC()
	return headOf(s.Method, s.at, overGRPC, s.head.Fields, len(s.body), func(f capture.Field) (string, bool) {
		return f.Value, !credential.HasPlaceholder([]byte(f.Value))
	}, nil)
}

// SingleOptions configure how a Single is sent.
type SingleOptions struct {
	Sink    capture.Sink     // keeps the exchange; nil for none. It is not closed
	Seq     uint64           // the last number that the sink's capture has used already
	Dialer  *outbound.Dialer // connects to the agent; nil is one without options
	Timeout time.Duration    // of each wait for the agent; DefaultTimeout if it is 0
}

// Send sends the request and reads the answer to its end, or until the context ends. It returns the exchange, even if
// it broke, and the host and port from which it was sent. An error means that the exchange was not sent at all, or
// could not be recorded.
func (s *Single) Send(ctx context.Context, o SingleOptions) (x *capture.Exchange, from string, err error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	log := live.NewLog(o.Seq, o.Sink, nil)
	agent := s.Agent
	agent.Addr = s.at.host
	call := &live.Call{
		Secure: s.at.scheme == "https", Host: s.at.host, Head: s.wire(), Body: s.body, Timeout: o.Timeout,
		Event: func(*capture.Event) live.Reading { return live.Progress },
	}
	_, call.GRPC = s.head.GRPC()
	t := live.Transport{Dialer: o.Dialer}
	defer t.CloseIdleConnections()
	switch err := t.Connect(ctx, call); {
	case ctx.Err() != nil:
		call.Close()
		return nil, "", errors.New("it was canceled before it was sent")
	case err != nil:
		return nil, "", fmt.Errorf("connect to %s: %w; nothing was sent", s.at.host, outbound.Cause(err))
	}
	call.Log = log.Open(capture.Peer{Name: "a2atap", How: "replay"}, agent, call.Head)
	t.Do(ctx, call)
	if err = log.End(); err != nil {
		err = fmt.Errorf("record the answer: %w", err)
	}
	return call.Log.Recorded(), call.From, err
}

// headOf writes the head of a request with a body of the given size. It writes the recorded fields in their order and
// spelling, with the values that fill returns, but skips fields that fill rejects and those of the recorded connection.
// Further fields follow.
func headOf(
	method string, at address, overGRPC bool, recorded capture.Fields, size int,
	fill func(capture.Field) (string, bool), more *secrets,
) []byte {
	var b bytes.Buffer
	version := "HTTP/1.1"
	if overGRPC {
		version = "HTTP/2"
	}
	fmt.Fprintf(&b, "%s %s %s\r\nHost: %s\r\n", method, at.target, version, at.authority())
	if overGRPC {
		b.WriteString("te: trailers\r\n") // gRPC over HTTP2, "Requests"
	}
	hop := hopByHop(recorded)
	for _, f := range recorded {
		if hop[strings.ToLower(f.Name)] {
			continue
		}
		if value, ok := fill(f); ok {
			fmt.Fprintf(&b, "%s: %s\r\n", f.Name, value)
		}
	}
	more.addFields(&b)
	if size > 0 || recorded.Has("Content-Length") || recorded.Has("Transfer-Encoding") {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", size)
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// hopByHop returns the names, in lower case, of the fields that end at the next hop or depend on how the body is framed
// and coded.
//
// Source: RFC 9110 section 7.6.1.
func hopByHop(fields capture.Fields) map[string]bool {
	names := map[string]bool{}
	for _, name := range []string{
		"host", "content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive", "te", "trailer",
		"upgrade", "expect", "proxy-connection", "proxy-authorization", "http2-settings",
	} {
		names[name] = true
	}
	for _, value := range fields.Values("Connection") {
		for name := range strings.SplitSeq(value, ",") {
			names[strings.ToLower(strings.TrimSpace(name))] = true
		}
	}
	return names
}
