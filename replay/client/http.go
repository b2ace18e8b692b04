package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"sync"

	"a2atap/proxy/hostname"
)

// maxAnswer bounds an answer that is no stream, in bytes.
const maxAnswer = 64 << 20

// An httpClient puts requests on the wire.
type httpClient struct {
	client *http.Client
	opts   Options

	mu    sync.Mutex      // guards fault
	fault func(*Outgoing) // nil if the client is faithful
}

func newHTTP(o Options) *httpClient {
	o = o.withDefaults()
	transport := o.Transport
	if transport == nil {
		transport = &http.Transport{
			Proxy:                 proxyBeyondLoopback,
			ResponseHeaderTimeout: o.Timeout,
			DisableCompression:    true, // Raw shows what was sent
			ForceAttemptHTTP2:     true,
		}
	}
	return &httpClient{opts: o, client: &http.Client{Transport: transport, CheckRedirect: redirectReads}}
}

// proxyBeyondLoopback uses the proxy of the environment, but never for this machine.
func proxyBeyondLoopback(r *http.Request) (*url.URL, error) {
	if hostname.IsLoopback(hostname.Normal(r.URL.Hostname())) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// redirectReads follows redirects of reads only: a message is not sent to where nobody asked for it.
func redirectReads(r *http.Request, via []*http.Request) error {
	if via[0].Method != http.MethodGet || len(via) >= 10 {
		return http.ErrUseLastResponse
	}
	return nil
}

// do sends a request; the caller closes the body.
func (h *httpClient) do(ctx context.Context, out *Outgoing) (*http.Response, error) {
	out.Header.Set("User-Agent", h.opts.UserAgent)
	if h.opts.Token != "" {
		out.Header.Set("Authorization", "Bearer "+h.opts.Token)
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
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header = out.Header
	resp, err := h.client.Do(req)
	if err != nil {
		// The caller says what was asked of whom: keep only the cause.
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("%s %s: %w", out.Method, out.URL, err)
	}
	return resp, nil
}

// complete sends a request and reads the whole answer, within the timeout.
func (h *httpClient) complete(ctx context.Context, out *Outgoing) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, h.opts.Timeout)
	defer cancel()
	resp, err := h.do(ctx, out)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := readAll(resp)
	return resp, body, err
}

func readAll(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(body) > maxAnswer {
		return nil, errors.New("read the answer: it is larger than 64 MiB")
	}
	return body, nil
}

// isEventStream says whether an answer is a stream.
func isEventStream(resp *http.Response) bool {
	essence, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && essence == "text/event-stream"
}
