package client

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
	"a2atap/replay/limits"
)

// bindingGRPC is how cards spell the binding.
const bindingGRPC = "GRPC"

// OverGRPC reports whether the protocol is one over gRPC.
func (p Protocol) OverGRPC() bool { return p.Binding == bindingGRPC }

// GRPCURL returns the address of a gRPC interface as a URL. Cards have a host and a port, a URL, or a target in the
// syntax of gRPC libraries. If the address does not tell whether to use TLS, GRPCURL uses TLS if the card was fetched
// with TLS.
func GRPCURL(at, card string) string {
	scheme := "http"
	if strings.HasPrefix(card, "https://") {
		scheme = "https"
	}
	before, rest, ok := strings.Cut(at, "://")
	if !ok {
		rest, _ = strings.CutPrefix(at, "dns:")
	} else {
		switch strings.ToLower(before) {
		case "http", "grpc":
			scheme = "http"
		case "https", "grpcs":
			scheme = "https"
		case "dns": // dns://AUTHORITY/HOST:PORT
			_, rest, _ = strings.Cut(rest, "/")
		default:
			return at
		}
	}
	return scheme + "://" + strings.TrimRight(rest, "/")
}

// frame puts a message, as JSON in the body, on gRPC (A2A 0.3 §3.2.2, 1.0 §10).
func (c *Client) frame(out *Outgoing) (err error) {
	m := out.Operation.RPC(c.endpoint.Protocol.dialect())
	out.Header.Set("Te", "trailers")
	if !m.Streams {
		out.Header.Set(grpc.TimeoutField, grpc.FormatTimeout(c.http.opts.Timeout))
	}
	codec := grpc.Codec{Type: m.Request}
	out.Body, err = codec.Write(a2a.Parse(out.Body).Root)
	return err
}

// invokeGRPC performs a call that is answered with one message, and returns it as JSON.
func (c *Client) invokeGRPC(ctx context.Context, in call) ([]byte, error) {
	out, err := c.outgoing(in)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.http.opts.Timeout)
	defer cancel()
	resp, err := c.http.do(ctx, out)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var result []byte
	for message, err := range c.messages(ctx, resp, in.op) {
		if err != nil {
			return nil, err
		}
		if result != nil {
			return nil, errors.New("read the answer: it holds more than one message")
		}
		result = message
	}
	if result == nil {
		return nil, errors.New("read the answer: its status is OK, but it has no message")
	}
	return result, nil
}

// streamGRPC performs a call that is answered with any number of messages.
func (c *Client) streamGRPC(ctx context.Context, cancel context.CancelFunc, in call) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		resp, err := c.open(ctx, cancel, in)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer resp.Body.Close()
		silence := newSilence(c.http.opts.Limits, cancel)
		defer silence.stop()
		for text, err := range c.messages(ctx, resp, in.op) {
			var refused *Error
			switch {
			case err == nil:
				silence.end()
			case errors.As(err, &refused):
			default:
				err = c.broken(ctx, silence, err)
			}
			e := Event{}
			if err == nil {
				if e, err = decodeEvent(text); err != nil {
					err = fmt.Errorf("read an event: %w", err)
				}
				e.Raw, e.Result = text, text
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// messages yields the messages of an answer as JSON. An error comes last: an *Error from the agent, or the reason
// that the answer cannot be read.
//
// Source: gRPC over HTTP2, "Responses".
func (c *Client) messages(ctx context.Context, resp *http.Response, op a2a.Operation) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		m := op.RPC(c.endpoint.Protocol.dialect())
		codec := grpc.Codec{Type: m.Answer, Encoding: resp.Header.Get("Grpc-Encoding")}
		if !grpc.IsMedia(resp.Header.Get("Content-Type")) {
			body, err := c.http.readAll(ctx, resp)
			switch {
			case err != nil:
			case resp.StatusCode != http.StatusOK:
				err = &Error{HTTPStatus: resp.StatusCode, Message: http.StatusText(resp.StatusCode), Raw: body}
			default:
				err = fmt.Errorf("read the answer: its Content-Type is %q, not application/grpc", resp.Header.Get("Content-Type"))
			}
			yield(nil, err)
			return
		}
		meter := limits.Meter{Limits: c.http.opts.Limits}
		for {
			frame, err := readFrame(resp.Body)
			if err == io.EOF {
				break
			}
			if err == nil {
				err = cmp.Or(meter.Event(), meter.Bytes(len(frame)))
			}
			if err != nil {
				yield(nil, fmt.Errorf("read the answer: %w", err))
				return
			}
			message := codec.Read(frame)
			if err := cmp.Or(message.Err, meter.Bytes(len(message.Text)-len(frame)), meter.CheckValues(message.Text)); err != nil {
				yield(nil, fmt.Errorf("read the answer: %w", err))
				return
			}
			if !yield(message.Text, nil) {
				return
			}
		}
		if err := statusOf(resp, m.Service); err != nil {
			yield(nil, err)
		}
	}
}

// readFrame reads a message and its prefix. It returns io.EOF at the end of the body.
func readFrame(body io.Reader) ([]byte, error) {
	frame := make([]byte, grpc.PrefixSize)
	if _, err := io.ReadFull(body, frame); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(frame[1:])
	if size > limits.Event {
		return nil, limits.EventTooLong()
	}
	frame = append(frame, make([]byte, size)...)
	if _, err := io.ReadFull(body, frame[grpc.PrefixSize:]); err != nil {
		return nil, cmp.Or(ended(err), err)
	}
	return frame, nil
}

// ended converts the end of a body inside a message to an error.
func ended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// statusOf returns the error of a call from the trailer of a response that was read to its end or, without a trailer,
// from its header; nil for OK.
func statusOf(resp *http.Response, service string) error {
	status, ok := grpc.StatusOf(func(name string) string { return cmp.Or(resp.Trailer.Get(name), resp.Header.Get(name)) })
	switch {
	case !ok && resp.StatusCode != http.StatusOK:
		return &Error{HTTPStatus: resp.StatusCode, Message: http.StatusText(resp.StatusCode)}
	case !ok:
		return errors.New("the answer ended without grpc-status")
	case status.Code == grpc.OK && status.Bad == "":
		return nil
	}
	body := status.JSON()
	refused := decodeError(resp.StatusCode, body, body)
	refused.Status = status.Code.String()
	if service == grpc.Service0_3 && refused.Reason == "" && status.Code == grpc.NotFound {
		refused.Code, refused.Reason = codeOf("TASK_NOT_FOUND"), "TASK_NOT_FOUND" // 0.3 has no error details for it
	}
	return refused
}
