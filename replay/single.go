package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/replay/live"
)

// A Single is one recorded request that is sent again by itself, as it was: with the same ids, and whatever it needs
// that an earlier exchange made. Run plays several, and gives them ids of their own.
type Single struct {
	Method string
	URL    string // where it goes; it holds no secrets
	Agent  capture.Peer

	// Unsent are the header fields and parameters of the query that held secrets which the recording does not have: they
	// are left out. Placeholders are the rest of those: in the body, which is sent as it stands.
	Unsent       []string
	Placeholders bool

	at   address
	head capture.Head
	body []byte
}

// NewSingle returns the request of an exchange as it can be sent again. It fails if the request is not there as a
// whole, or its agent is not known.
func NewSingle(x *capture.Exchange) (*Single, error) {
	head := capture.ParseRequestHead(x.Request.Head)
	body, err := x.Request.Body.Decode(&head)
	switch {
	case len(x.Request.Head) == 0 || head.Method == "":
		return nil, fmt.Errorf("exchange %d has no request that could be sent", x.Seq)
	case err != nil:
		return nil, fmt.Errorf("the body of exchange %d cannot be decoded: %w", x.Seq, err)
	case !x.Request.Body.Complete || x.Request.Body.Dropped > 0 || x.Lost > 0:
		return nil, fmt.Errorf("the request of exchange %d was not recorded completely, so it cannot be sent", x.Seq)
	case strings.ContainsAny(head.Line, "\x00"):
		return nil, fmt.Errorf("the request line of exchange %d cannot be sent", x.Seq)
	}
	if _, is := head.GRPC(); is {
		body = x.Request.Body.Data // the message as it was, and not what it stands for
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

// aim says where the request goes: to the origin of a URL, with the recorded path and query.
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
	s.at = address{scheme: e.live.Scheme, host: hostPort(e.live), target: s.withoutSecrets(target)}
	if !strings.HasPrefix(s.at.target, "/") {
		return fmt.Errorf("the target %.40q of the request is not a path", target)
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

// Here reports whether the request stays on this machine, by the spelling of its host alone.
func (s *Single) Here() bool {
	u, err := url.Parse(s.URL)
	return err == nil && hostname.IsLoopback(hostname.Normal(u.Hostname()))
}

// withoutSecrets leaves the parameters out of a target's query whose values the recording does not have.
func (s *Single) withoutSecrets(target string) string {
	return refilled(target, func(name string) (string, bool) {
		s.Unsent = append(s.Unsent, "query parameter "+name)
		return "", false
	})
}

// wire returns the head of the request as it is sent: the recorded fields in their order and spelling, but for those
// that belong to the recorded connection or held secrets.
func (s *Single) wire() []byte {
	_, overGRPC := s.head.GRPC()
	return headOf(s.Method, s.at, overGRPC, s.head.Fields, len(s.body), func(f capture.Field) (string, bool) {
		return f.Value, !credential.HasPlaceholder([]byte(f.Value))
	}, nil)
}

// SingleOptions say how a Single is sent.
type SingleOptions struct {
	Sink    capture.Sink     // keeps the exchange; nil for none. It is not closed
	Seq     uint64           // the last number that the sink's capture has used already
	Dialer  *outbound.Dialer // connects to the agent; nil is one without options
	Timeout time.Duration    // of each wait for the agent; DefaultTimeout if it is 0
}

// Send sends the request and reads the answer to its end, or until the context ends. It returns the exchange as it
// went, also one that broke, and the address from which it was sent, host and port. Its error says that the exchange
// was not sent at all, or could not be kept.
func (s *Single) Send(ctx context.Context, o SingleOptions) (x *capture.Exchange, from string, err error) {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	kept := keeper{sink: o.Sink}
	log := live.NewLog(o.Seq, kept.take)
	defer log.End()
	agent := s.Agent
	agent.Addr = s.at.host
	call := &live.Call{Timeout: o.Timeout, Event: func(*capture.Event) live.Reading { return live.Progress }}
	ways := wires{dialer: o.Dialer}
	defer ways.close()
	over := a2a.NoBinding
	if _, is := s.head.GRPC(); is {
		over = a2a.GRPC
	}
	v, err := ways.open(ctx, s.at, over, call)
	if ctx.Err() != nil {
		if err == nil && call.Conn != nil { // the connection was there a moment before
			call.Conn.Close()
		}
		return nil, "", errors.New("it was canceled before it was sent")
	}
	if err != nil {
		return nil, "", fmt.Errorf("connect to %s: %w; nothing was sent", s.at.host, outbound.Cause(err))
	}
	head := s.wire()
	e := log.Open(capture.Peer{Name: "a2atap", How: "replay"}, agent, head)
	call.Log = e
	e.Close(v.Do(ctx, s.Method, head, s.body))
	return e.Recorded(), v.From(), kept.err
}

// A keeper passes steps on to a sink until one cannot be kept.
type keeper struct {
	mu   sync.Mutex
	sink capture.Sink
	err  error
}

func (k *keeper) take(s capture.Step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sink != nil && k.err == nil {
		if err := k.sink.Append(s.Clone()); err != nil {
			k.err = fmt.Errorf("record the answer: %w", err)
		}
	}
}

// headOf writes the head of a request with a body of so many bytes: the recorded fields in their order and spelling, as
// far as fill says and with the values that it gives, but for those that belong to the recorded connection; and more.
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
