package h2

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"a2atap/proxy/relay"
)

// Requests that a Route takes go to another receiver than the agent of the connection. The relay sends each with its
// own client: over HTTP/2 with prior knowledge if the receiver is in the clear, like the sender, and over HTTP/1.1 if
// the receiver is on TLS.

// A delivery is a request on its way to the receiver of a Route.
type delivery struct {
	body   *upload
	cancel context.CancelFunc
}

// maxAgain bounds how much of a body is kept for another connection.
const maxAgain = 1 << 20

// An upload is the body of a delivery, which is read as it arrives. The sender may send more once a part has been read.
// A short upload can be read again, since a receiver may have closed the connection of an earlier delivery.
type upload struct {
	allow func(n int64) // receives the number of bytes read

	mu      sync.Mutex
	changed sync.Cond
	content []byte // the part that has arrived, without padding
	read    int    // of it
	allowed int    // of it
	ended   bool   // all of it has come
	cut     bool   // it cannot be read again
	closed  bool   // it has no reader any more
}

func newUpload(allow func(n int64)) *upload {
	u := &upload{allow: allow}
	u.changed.L = &u.mu
	return u
}

// add adds received data.
func (u *upload) add(p []byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.content = append(u.content, p...)
	if u.closed {
		u.read = len(u.content) // and is lost
		u.heed()
	}
	u.changed.Broadcast()
}

// heed gives the sender credit for the bytes that were read. The lock is held.
func (u *upload) heed() {
	if n := u.read - u.allowed; n > 0 {
		u.allowed = u.read
		u.allow(int64(n))
	}
	if u.cut = u.cut || u.read > maxAgain; u.cut {
		u.content = u.content[u.read:]
		u.read, u.allowed = 0, 0
	}
}

// end reports that the body is complete.
func (u *upload) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = true
	u.changed.Broadcast()
}

// again returns the body from its beginning, as http.Request.GetBody does.
func (u *upload) again() (io.ReadCloser, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.cut {
		return nil, errors.New("the body is too long to be sent again")
	}
	u.read, u.closed = 0, false
	return u, nil
}

// Read implements io.Reader.
func (u *upload) Read(p []byte) (n int, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.read == len(u.content) && !u.ended && !u.closed {
		u.changed.Wait()
	}
	switch {
	case u.closed:
		return 0, net.ErrClosed
	case u.read == len(u.content):
		return 0, io.EOF
	}
	n = copy(p, u.content[u.read:])
	u.read += n
	u.heed()
	return n, nil
}

// Close implements io.Closer.
func (u *upload) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	u.changed.Broadcast()
	return nil
}

// route returns the target of a request if a Route takes it.
func (r *requests) route() (target string, taken bool) {
	if r.cfg.Route == nil {
		return "", false
	}
	return relay.RouteTarget(r.head, r.cfg.Route.Prefix)
}

// deliver begins to send a request to the receiver of its Route. The lock of the stream is held.
func (r *requests) deliver(s *stream, b *block, target string) {
	refused := func(status int, err error) {
		r.answerOurs(s, relay.TransportError{Kind: relay.KindRefused, Side: relay.SideClient, Detail: err.Error(), Status: status})
	}
	route := r.cfg.Route
	if accept := route.Accept; accept != nil {
		if err := b.list.hosts(accept); err != nil {
			refused(http.StatusMisdirectedRequest, err)
			return
		}
	}
	to, authority, rest, err := route.Resolve(target)
	if err != nil {
		refused(http.StatusForbidden, err)
		return
	}
	u, err := url.Parse(to.Scheme + "://" + authority + rest)
	if err != nil {
		refused(http.StatusForbidden, err)
		return
	}
	ctx, cancel := context.WithCancel(r.ctx)
	id := s.id
	s.ours = true
	d := &delivery{body: newUpload(func(n int64) { r.credit.grant(id, n) }), cancel: cancel}
	s.delivery = d
	method, _ := b.list.get(":method")
	request := (&http.Request{
		Method: method, URL: u, Host: authority, Header: b.list.header(), ContentLength: -1,
	}).WithContext(ctx)
	request.Body, request.GetBody = d.body, d.body.again
	if b.endsStream() {
		request.Body, request.GetBody, request.ContentLength = nil, nil, 0
		d.body.end()
	} else if text, ok := b.list.get("content-length"); ok {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			request.ContentLength = n
		}
	}
	r.mu.Lock()
	if r.lastRouted = max(r.lastRouted, id); r.receivers == nil {
		r.receivers = newReceivers(route)
	}
	by := r.receivers.to(to)
	r.mu.Unlock()
	if !b.endsStream() {
		r.credit.letDeliver(id)
	}
	r.deliveries.Go(func() {
		defer cancel()
		r.conn.deliver(s, request, by)
	})
}

// hosts calls accept for each host that a request names.
func (l fieldList) hosts(accept func(authority []byte) error) error {
	for _, name := range []string{":authority", "host"} {
		if host, ok := l.get(name); ok {
			if err := accept([]byte(host)); err != nil {
				return err
			}
		}
	}
	return nil
}

// header returns the fields of a request as package http has them.
func (l fieldList) header() http.Header {
	h := http.Header{"User-Agent": {""}} // otherwise net/http adds one
	for i := range l {
		switch f := &l[i]; {
		case f.IsPseudo(), f.Name == "host", f.Name == "content-length":
		case f.Name == "user-agent":
			h["User-Agent"] = []string{f.Value}
		default:
			name := http.CanonicalHeaderKey(f.Name)
			h[name] = append(h[name], f.Value)
		}
	}
	return h
}

// receivers are the transports to the receivers of a Route.
type receivers struct{ plain, secure *http.Transport }

// An undialled is the reason why a receiver cannot be reached.
type undialled struct{ error }

func newReceivers(route *relay.Route) *receivers {
	dial := func(scheme string) func(ctx context.Context, _, address string) (net.Conn, error) {
		return func(ctx context.Context, _, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, undialled{err}
			}
			conn, err := route.Dial(ctx, relay.Target{Scheme: scheme, Host: host, Port: port})
			if err != nil {
				return nil, undialled{err}
			}
			return conn, nil
		}
	}
	plain := &http.Transport{DialContext: dial("http"), DisableCompression: true, Protocols: new(http.Protocols)}
	plain.Protocols.SetUnencryptedHTTP2(true)
	return &receivers{plain, &http.Transport{DialTLSContext: dial("https"), DisableCompression: true}}
}

func (r *receivers) to(t relay.Target) *http.Transport {
	if t.Scheme == "https" {
		return r.secure
	}
	return r.plain
}

// close closes idle connections.
func (r *receivers) close() {
	r.plain.CloseIdleConnections()
	r.secure.CloseIdleConnections()
}

// deliver sends a request to its receiver, and returns the answer to the client.
func (c *conn) deliver(s *stream, request *http.Request, by *http.Transport) {
	answer, err := by.RoundTrip(request)
	if err != nil {
		c.undelivered(s, request, err)
		return
	}
	defer answer.Body.Close()
	own := &body{stream: s, bare: true, sender: math.MaxInt32} // which is us
	list := fieldList{{Name: ":status", Value: strconv.Itoa(answer.StatusCode)}}
	for _, f := range listOf(answer.Header) {
		if f.Name != "connection" && f.Name != "keep-alive" && f.Name != "transfer-encoding" { // RFC 9113 section 8.2.2
			list = append(list, f)
		}
	}
	c.tell(s, func(o *outlet) {
		s.answered = true
		c.obs.Answer(s.x, list.appendAnswer(nil))
		k := &c.down.credit
		k.mu.Lock()
		own.receiver, own.head = k.initial+s.early.Load(), list
		k.bodies[s.id] = own
		k.mu.Unlock()
		if answer.ContentLength != 0 {
			c.down.flush(o)
		}
	})
	piece := make([]byte, 16<<10)
	for err == nil {
		var n int
		if n, err = answer.Body.Read(piece); n > 0 {
			c.pass(s, own, piece[:n])
		}
	}
	if !errors.Is(err, io.EOF) {
		c.undelivered(s, request, err)
		return
	}
	trailer := listOf(answer.Trailer)
	c.tell(s, func(o *outlet) {
		s.answerDone = true
		c.obs.AnswerEnd(s.x, trailer.appendTrailer(nil))
		c.endIfDone(s)
		k := &c.down.credit
		k.mu.Lock()
		own.ended, own.trailer = true, trailer
		k.mu.Unlock()
		c.down.flush(o)
		c.remember(s)
	})
}

// tell runs a function on the answer of a stream that has not ended, once the relay has the turn to write to the
// client. The lock of the stream is held during the call. tell returns when the function has run, or the connection is
// over.
func (c *conn) tell(s *stream, do func(o *outlet)) {
	done := make(chan struct{})
	c.client.out.post(func(o *outlet) {
		defer close(done)
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.ended {
			do(o)
		}
	})
	select {
	case <-done:
	case <-c.ctx.Done():
	}
}

// pass sends content of a delivery's answer, and waits until the client accepts more.
func (c *conn) pass(s *stream, own *body, p []byte) {
	k := &c.down.credit
	content := append([]byte(nil), p...)
	c.tell(s, func(o *outlet) {
		c.obs.AnswerBody(s.x, content)
		k.replace(own, 0, content)
		c.down.flush(o)
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(own.queue) > 0 && !own.gone && !k.over {
		k.changed.Wait()
	}
}

// undelivered answers a request that has not reached its receiver, or breaks off an answer that has begun.
func (c *conn) undelivered(s *stream, request *http.Request, err error) {
	receiver := c.cfg.Route.Receiver
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.answerDone {
		return
	}
	f := relay.TransportError{
		Kind: relay.KindTruncated, Side: relay.SideAgent, Status: http.StatusBadGateway,
		Detail: receiver + " did not complete its answer: " + relay.Reason(err),
	}.Advised("find out what closes its connections, and send the request again")
	if dialled, ok := errors.AsType[undialled](err); ok {
		f = relay.DialFault(dialled.error, request.URL.Host).Advised("make sure that it listens there")
		f.Detail = strings.Replace(f.Detail, "connect to the agent", "connect to "+receiver, 1)
	}
	s.answerDone = true
	if !s.answered {
		c.answerOurs(s, f)
		return
	}
	f.Status = 0
	c.down.credit.drop(s.id)
	c.say(s.id, http2.ErrCodeInternal)
	c.end(s, &f)
	c.remember(s)
}

// listOf returns fields that package http has read.
func listOf(h http.Header) (list fieldList) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			list = append(list, hpack.HeaderField{Name: strings.ToLower(name), Value: value})
		}
	}
	return list
}
