package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"a2atap/proxy/a2a"
)

// SendOptions are the parameters of a send other than the message.
type SendOptions struct {
	ReturnImmediately   bool // do not wait until the task is terminal or interrupted; 0.3 calls its opposite blocking
	HistoryLength       *int // nil sets no limit
	AcceptedOutputModes []string
	Push                *PushConfig
	Metadata            json.RawMessage
	// Patch is merged into the parameters to send, with the names of the protocol: a JSON merge patch (RFC 7396), such
	// as {"message":{"metadata":{"run":1}},"configuration":{"historyLength":0}}.
	Patch json.RawMessage
}

// ListOptions filter and page ListTasks (A2A 1.0 §3.1.4). Zero values are not sent.
type ListOptions struct {
	ContextID            string
	State                State
	PageSize             int
	PageToken            string
	HistoryLength        *int
	StatusTimestampAfter time.Time
	IncludeArtifacts     bool
}

type (
	outID struct {
		ID            string          `json:"id"`
		HistoryLength *int            `json:"historyLength,omitzero"`
		Metadata      json.RawMessage `json:"metadata,omitzero"`
	}
	outList struct {
		ContextID            string `json:"contextId,omitzero"`
		Status               State  `json:"status,omitzero"`
		PageSize             int    `json:"pageSize,omitzero"`
		PageToken            string `json:"pageToken,omitzero"`
		HistoryLength        *int   `json:"historyLength,omitzero"`
		StatusTimestampAfter string `json:"statusTimestampAfter,omitzero"`
		IncludeArtifacts     bool   `json:"includeArtifacts,omitzero"`
	}
)

// Send sends a message and returns when the agent answers: by default when the task is terminal or interrupted.
func (c *Client) Send(ctx context.Context, m Message, o SendOptions) (*Result, error) {
	body, err := c.invoke(ctx, c.sending(a2a.SendMessage, c.complete(m), o))
	return read(a2a.SendMessage, body, err, c.decodeSent)
}

// Stream sends a message and yields the events of the response as they arrive. The sequence ends with the stream; an
// error comes last, with an empty event. Leaving the loop closes the stream, but the agent continues its work.
func (c *Client) Stream(ctx context.Context, m Message, o SendOptions) iter.Seq2[Event, error] {
	return c.stream(ctx, c.sending(a2a.SendStreamingMessage, c.complete(m), o))
}

// sending returns the call that sends a message.
func (c *Client) sending(op a2a.Operation, m Message, o SendOptions) call {
	in := call{
		op: op, params: c.endpoint.Protocol.send(m, o, op.Streams()), patch: o.Patch, session: m.ContextID,
	}
	if o.Push != nil {
		in.webhook = o.Push.URL
	}
	return in
}

// complete fills in the required fields of a message.
func (c *Client) complete(m Message) Message {
	if m.ID == "" {
		m.ID = c.http.opts.NewID()
	}
	m.Role = cmp.Or(m.Role, User)
	p := c.endpoint.Protocol
	if p == Early && m.TaskID == "" && m.ContextID == "" {
		m.ContextID = c.http.opts.NewID()
	}
	if p.clientNamesTasks() && m.TaskID == "" {
		m.TaskID = c.http.opts.NewID()
	}
	return m
}

// Get reads a task with at most so many messages of history; nil sets no limit.
func (c *Client) Get(ctx context.Context, id string, historyLength *int) (*Task, error) {
	body, err := c.invoke(ctx, call{op: a2a.GetTask, params: outID{ID: id, HistoryLength: historyLength}})
	return read(a2a.GetTask, body, err, ReadTask)
}

// List reads one page of the agent's tasks. A2A 0.3 has no such operation over JSON-RPC.
func (c *Client) List(ctx context.Context, o ListOptions) (*Page, error) {
	p := outList{
		ContextID: o.ContextID, PageSize: o.PageSize, PageToken: o.PageToken,
		HistoryLength: o.HistoryLength, IncludeArtifacts: o.IncludeArtifacts, Status: o.State,
	}
	if !o.StatusTimestampAfter.IsZero() {
		p.StatusTimestampAfter = o.StatusTimestampAfter.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	body, err := c.invoke(ctx, call{op: a2a.ListTasks, params: p})
	return read(a2a.ListTasks, body, err, decodePage)
}

// Cancel asks the agent to end a task. The metadata, a JSON object, may be nil. Success does not mean that the task is
// canceled; check its state.
func (c *Client) Cancel(ctx context.Context, id string, metadata json.RawMessage) (*Task, error) {
	body, err := c.invoke(ctx, call{op: a2a.CancelTask, params: outID{ID: id, Metadata: metadata}})
	return read(a2a.CancelTask, body, err, ReadTask)
}

// Subscribe yields the events of a task from now on, like Stream. Before A2A 0.1 there is no such operation.
func (c *Client) Subscribe(ctx context.Context, id string) iter.Seq2[Event, error] {
	return c.stream(ctx, call{op: a2a.SubscribeToTask, params: outID{ID: id}})
}

// ExtendedCard reads the card that the agent shows to those who are authenticated.
func (c *Client) ExtendedCard(ctx context.Context) (*Card, error) {
	body, err := c.invoke(ctx, call{op: a2a.GetExtendedCard, params: struct{}{}})
	return read(a2a.GetExtendedCard, body, err, func(body []byte) (*Card, error) { return decodeCard(body, "") })
}

// invoke performs a call whose answer is complete, and returns the result.
func (c *Client) invoke(ctx context.Context, in call) ([]byte, error) {
	if c.endpoint.Protocol.OverGRPC() {
		return c.invokeGRPC(ctx, in)
	}
	out, err := c.outgoing(in)
	if err != nil {
		return nil, err
	}
	resp, body, err := c.http.complete(ctx, out)
	if err != nil {
		return nil, err
	}
	return c.result(in, resp.StatusCode, body)
}

// read decodes a result and wraps errors with the failed operation; the agent's message stays unchanged.
func read[T any](op a2a.Operation, body []byte, err error, decode func([]byte) (T, error)) (T, error) {
	var none T
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return none, refused
	case err != nil:
		return none, fmt.Errorf("%s: %w", op, err)
	}
	v, err := decode(body)
	if err != nil {
		return none, fmt.Errorf("%s: read the result: %w", op, err)
	}
	return v, nil
}
