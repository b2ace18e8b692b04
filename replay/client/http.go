package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/replay/limits"
)

// An httpClient sends requests.
type httpClient struct {
	client *http.Client
	opts   Options

	mu    sync.Mutex      // guards fault
	fault func(*Outgoing) // nil if the client is faithful
}

// newHTTP returns a client; for gRPC it speaks HTTP/2, even without TLS.
func newHTTP(o Options, overGRPC bool) *httpClient {
	o = o.withDefaults()
	transport := o.Transport
	if transport == nil {
		own := NewTransport(o.Timeout)
		if o.Dialer != nil {
			o.Dialer.Configure(own)
		}
		if overGRPC {
			outbound.OnlyHTTP2(own)
		}
		transport = own
	}
	return &httpClient{opts: o, client: &http.Client{Transport: transport, CheckRedirect: o.redirect}}
}

// NewTransport returns the transport of a client: through the proxy of the environment, except on loopback. The
// timeout bounds the wait for an answer's head.
func NewTransport(timeout time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                  proxyBeyondLoopback,
		ResponseHeaderTimeout:  timeout,
		MaxResponseHeaderBytes: limits.Head,
		DisableCompression:     true, // Raw has the bytes as sent
		ForceAttemptHTTP2:      true,
	}
}

// proxyBeyondLoopback uses the proxy of the environment, but never for this machine.
func proxyBeyondLoopback(r *http.Request) (*url.URL, error) {
	if hostname.IsLoopback(hostname.Normal(r.URL.Hostname())) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// redirect follows redirects only for reads: a message goes only to its intended address. With Stay, a redirect to
// another address is an error that wraps ErrElsewhere. Another origin gets no header field that may carry
// credentials; net/http knows such fields only by their usual names.
func (o *Options) redirect(r *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet {
		return http.ErrUseLastResponse
	}
	if len(via) > limits.Redirects {
		return limits.TooManyRedirects()
	}
	if o.Stay && !hostname.SameOrigin(via[0].URL, r.URL) {
		to := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: r.URL.Path} // the query may hold credentials
		return fmt.Errorf("%w: it redirects to %s", ErrElsewhere, to.String())
	}
	r.Header.Del("Referer") // the query may hold credentials
	if was := via[0].URL; was.Scheme != r.URL.Scheme || was.Host != r.URL.Host {
		for name := range r.Header {
			if !harmless[name] {
				delete(r.Header, name)
			}
		}
	}
	return nil
}

// harmless are the fields that may go to any origin.
var harmless = map[string]bool{"Accept": true, "User-Agent": true, "A2a-Version": true}

// do sends a request; the caller closes the body.
func (h *httpClient) do(ctx context.Context, out *Outgoing) (*http.Response, error) {
	plain := out.URL // out.URL may later contain credentials
	if err := h.dress(ctx, out); err != nil {
		return nil, err
	}
	if h.fault != nil {
		h.mu.Lock()
		h.fault(out)
		h.mu.Unlock()
	}
	if h.opts.Edit != nil {
		h.opts.Edit(out)
	}
	var body io.Reader
	if out.Body != nil {
		body = bytes.NewReader(out.Body)
	}
	req, err := http.NewRequestWithContext(ctx, out.Method, out.URL, body)
	if err != nil {
		return nil, fmt.Errorf("make the request for %s %s", out.Method, plain)
	}
	req.Header = out.Header
	resp, err := h.client.Do(req)
	if err != nil {
		// Keep only the cause: the caller adds the request.
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		var slow net.Error
		switch {
		case strings.Contains(err.Error(), "server response headers exceeded"): // net/http has no type for it
			err = limits.HeadTooLong()
		case errors.As(err, &slow) && slow.Timeout() && context.Cause(ctx) != context.DeadlineExceeded && ctx.Err() == nil,
			errors.Is(context.Cause(ctx), errLate):
			err = limits.Late(h.opts.Timeout)
		case h.opts.Transport == nil:
			err = h.opts.Dialer.ExplainSilence(ctx, h.opts.Dialer.Explain(err, req.URL.Host), req.URL)
		}
		return nil, fmt.Errorf("%s %s: %w", out.Method, plain, err)
	}
	return resp, nil
}

// dress adds the common fields to a request.
func (h *httpClient) dress(ctx context.Context, out *Outgoing) error {
	out.Header.Set("User-Agent", h.opts.UserAgent)
	if h.opts.A2AVersion != "" {
		out.Header.Set("A2A-Version", h.opts.A2AVersion)
	}
	maps.Copy(out.Header, h.opts.Header.Clone())
	if h.opts.Token != "" {
		out.Header.Set("Authorization", "Bearer "+h.opts.Token)
	}
	if h.opts.Authorize == nil {
		return nil
	}
	if err := h.opts.Authorize(ctx, out); err != nil {
		return fmt.Errorf("get credentials: %w", err)
	}
	return nil
}

// complete sends a request and reads the whole answer, within the timeout.
func (h *httpClient) complete(ctx context.Context, out *Outgoing) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, h.opts.Timeout, errLate)
	defer cancel()
	resp, err := h.do(ctx, out)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := h.readAll(ctx, resp)
	return resp, body, err
}

// errLate is the cause of a call's context when the answer did not come in time.
var errLate = errors.New("the answer did not arrive in time")

// readAll reads an answer that is not a stream, within the timeout.
func (h *httpClient) readAll(ctx context.Context, resp *http.Response) ([]byte, error) {
	late := make(chan struct{})
	timer := time.AfterFunc(h.opts.Timeout, func() {
		close(late)
		resp.Body.Close()
	})
	body, err := h.opts.Limits.ReadAll(resp.Body)
	switch over := !timer.Stop(); {
	case err == nil:
	case errors.Is(context.Cause(ctx), errLate):
		err = limits.Unended(h.opts.Timeout)
	case over && ctx.Err() == nil:
		<-late
		err = limits.Unended(h.opts.Timeout)
	}
	if err == nil {
		err = h.opts.Limits.CheckValues(body)
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return bytes.TrimPrefix(body, []byte("\ufeff")), nil // readers may ignore a byte order mark: RFC 8259 §8.1
}

// isEventStream reports whether an answer is a stream.
func isEventStream(resp *http.Response) bool {
	essence, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && essence == "text/event-stream"
}
