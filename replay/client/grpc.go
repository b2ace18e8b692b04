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

	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/replay/limits"
)

// bindingGRPC is how cards spell the binding.
const bindingGRPC = "GRPC"

// OverGRPC reports whether the protocol is one over gRPC.
func (p Protocol) OverGRPC() bool { return p.Binding == bindingGRPC }

// GRPCURL returns the address of an interface over gRPC as a URL: cards write a host and a port, or a URL, or a target
// as libraries of gRPC take it. Where it does not say whether TLS is spoken, that is as for the card.
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

// methodsGRPC03 are the methods of 0.3 that have another name than the operation.
var methodsGRPC03 = map[Operation]string{
	SubscribeToTask: "TaskSubscription",
	ListPushConfigs: "ListTaskPushNotificationConfig",
	GetExtendedCard: "GetAgentCard",
}

// rpc returns the method of gRPC for an operation.
func (p Protocol) rpc(op Operation) (grpc.Method, error) {
	service, name := grpc.Service1_0, string(op)
	if p.Version != "1.0" {
		service, name = grpc.Service0_3, cmp.Or(methodsGRPC03[op], name)
	}
	m, _ := grpc.MethodOf("/" + service + "/" + name)
	if !m.Known() {
		return m, fmt.Errorf("%s has no %s", p, op)
	}
	return m, nil
}

// outgoingGRPC puts a call on gRPC (A2A 0.3 §3.2.2, 1.0 §10).
func (c *Client) outgoingGRPC(in call) (*Outgoing, error) {
	m, err := c.endpoint.Protocol.rpc(in.op)
	if err != nil {
		return nil, err
	}
	params := in.params
	if c.endpoint.Protocol == GRPC03 {
		if c.endpoint.Tenant != "" {
			return nil, fmt.Errorf("%s has no tenants", c.endpoint.Protocol)
		}
		params = in.message03()
	} else if params, err = c.tenanted(params); err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	text := []byte("{}")
	if params != nil {
		if text, err = marshal(params); err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
	}
	doc := jsondoc.Parse(text)
	codec := grpc.Codec{Type: m.Request}
	body, err := codec.Write(doc.Root)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	out := &Outgoing{
		Operation: in.op, Method: http.MethodPost, URL: c.endpoint.URL + "/" + m.Service + "/" + m.Name,
		Header: http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}, Body: body,
	}
	if c.endpoint.Protocol.Version == "1.0" {
		out.Header.Set("A2A-Version", "1.0") // A2A 1.0 §10.2
	}
	if !m.Streams {
		out.Header.Set(grpc.TimeoutField, grpc.FormatTimeout(c.http.opts.Timeout))
	}
	return out, nil
}

// message03 returns the request as the proto definition of 0.3 has it, which names tasks and configs by paths.
func (in call) message03() any {
	type named struct {
		Name          string `json:"name"`
		HistoryLength int    `json:"historyLength,omitzero"`
	}
	switch p := in.params.(type) {
	case outID:
		n := named{Name: "tasks/" + p.ID}
		if p.HistoryLength != nil {
			n.HistoryLength = *p.HistoryLength
		}
		return n
	case outList:
		type list outList
		return struct {
			list
			StatusTimestampAfter string `json:"-"`
			LastUpdatedTime      string `json:"lastUpdatedTime,omitzero"`
		}{list: list(p), LastUpdatedTime: p.StatusTimestampAfter}
	case outConfigID:
		if p.ConfigID == "" {
			return struct {
				Parent string `json:"parent"`
			}{"tasks/" + p.ID}
		}
		return named{Name: configName(p.ID, p.ConfigID)}
	case wirePushConfig:
		return struct {
			Parent   string         `json:"parent"`
			ConfigID string         `json:"configId,omitzero"`
			Config   wirePushConfig `json:"config"`
		}{"tasks/" + p.TaskID, p.Inner.ID, wirePushConfig{Name: configName(p.TaskID, p.Inner.ID), Inner: p.Inner}}
	}
	return in.params
}

// configName names a push config as the proto definition of 0.3 does.
func configName(taskID, id string) string {
	return "tasks/" + taskID + "/pushNotificationConfigs/" + id
}

// invokeGRPC performs a call that is answered with one message, and returns it as JSON.
func (c *Client) invokeGRPC(ctx context.Context, in call) ([]byte, error) {
	m, err := c.endpoint.Protocol.rpc(in.op)
	if err != nil {
		return nil, err
	}
	out, err := c.outgoingGRPC(in)
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
	for message, err := range c.messages(ctx, resp, m) {
		if err != nil {
			return nil, err
		}
		if result != nil {
			return nil, errors.New("read the answer: it holds more than one message")
		}
		result = message
	}
	if result == nil {
		return nil, errors.New("read the answer: it is OK, and holds no message")
	}
	return result, nil
}

// streamGRPC performs a call that is answered with any number of messages.
func (c *Client) streamGRPC(ctx context.Context, cancel context.CancelFunc, in call) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		m, err := c.endpoint.Protocol.rpc(in.op)
		if err != nil {
			yield(Event{}, err)
			return
		}
		resp, err := c.open(ctx, cancel, in)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer resp.Body.Close()
		silence := newSilence(c.http.opts.Limits, cancel)
		defer silence.stop()
		for text, err := range c.messages(ctx, resp, m) {
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

// messages yields the messages of an answer as JSON. An error comes last: of the agent, an *Error, or why the answer
// cannot be read.
//
// Source: gRPC over HTTP2, "Responses".
func (c *Client) messages(ctx context.Context, resp *http.Response, m grpc.Method) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		codec := grpc.Codec{Type: m.Answer, Encoding: resp.Header.Get("Grpc-Encoding")}
		if !grpc.IsMedia(resp.Header.Get("Content-Type")) {
			body, err := c.http.readAll(ctx, resp)
			switch {
			case err != nil:
			case resp.StatusCode != http.StatusOK:
				err = &Error{HTTPStatus: resp.StatusCode, Message: http.StatusText(resp.StatusCode), Raw: body}
			default:
				err = fmt.Errorf("read the answer: it is %q, not application/grpc", resp.Header.Get("Content-Type"))
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

// readFrame reads a message with what stands before it. It returns io.EOF where the body has ended.
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

// ended returns what the end of a body is inside a message.
func ended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// statusOf returns the error that a call has come to, by the trailer of an answer that has been read or, where there is
// none, its head; nil for OK.
func statusOf(resp *http.Response, service string) error {
	status, ok := grpc.StatusOf(func(name string) string { return cmp.Or(resp.Trailer.Get(name), resp.Header.Get(name)) })
	switch {
	case !ok && resp.StatusCode != http.StatusOK:
		return &Error{HTTPStatus: resp.StatusCode, Message: http.StatusText(resp.StatusCode)}
	case !ok:
		return errors.New("the answer has ended without grpc-status")
	case status.Code == grpc.OK && status.Bad == "":
		return nil
	}
	body := status.JSON()
	refused := decodeError(resp.StatusCode, body, body)
	refused.Status = status.Code.String()
	if service == grpc.Service0_3 && refused.Reason == "" && status.Code == grpc.NotFound {
		refused.Code, refused.Reason = codeOf("TASK_NOT_FOUND"), "TASK_NOT_FOUND" // 0.3 has no details that say so
	}
	return refused
}
