package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// SendOptions are the parameters of a send beside the message.
type SendOptions struct {
	ReturnImmediately   bool // do not wait until the task is terminal or interrupted; 0.3 calls its opposite blocking
	HistoryLength       *int // nil sets no limit
	AcceptedOutputModes []string
	Push                *PushConfig
	Metadata            json.RawMessage
	// Patch is merged into the parameters as they are sent, in the words of the protocol: a JSON merge patch
	// (RFC 7396), such as {"message":{"metadata":{"run":1}},"configuration":{"historyLength":0}}.
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
	outMetadata struct {
		Metadata json.RawMessage `json:"metadata,omitzero"`
	}
	outList struct {
		ContextID            string `json:"contextId,omitzero"`
		Status               string `json:"status,omitzero"`
		PageSize             int    `json:"pageSize,omitzero"`
		PageToken            string `json:"pageToken,omitzero"`
		HistoryLength        *int   `json:"historyLength,omitzero"`
		StatusTimestampAfter string `json:"statusTimestampAfter,omitzero"`
		IncludeArtifacts     bool   `json:"includeArtifacts,omitzero"`
	}
)

// Send sends a message and returns when the agent answers: by default when the task is terminal or interrupted.
func (c *Client) Send(ctx context.Context, m Message, o SendOptions) (*Result, error) {
	m = c.complete(m)
	params, err := c.sendParams(m, o, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", SendMessage, err)
	}
	body, err := c.invoke(ctx, call{
		op: SendMessage, params: params, verb: http.MethodPost, path: "/message:send",
		body: params, webhook: o.webhook(),
	})
	return read(SendMessage, body, err, c.decodeSent)
}

// Stream sends a message and yields the events of the answer as they arrive. The sequence ends with the stream; an
// error comes last, with an empty event. Leaving the loop closes the stream, and the agent goes on without us.
func (c *Client) Stream(ctx context.Context, m Message, o SendOptions) iter.Seq2[Event, error] {
	m = c.complete(m)
	params, err := c.sendParams(m, o, true)
	if err != nil {
		return func(yield func(Event, error) bool) { yield(Event{}, streamError(StreamMessage, err)) }
	}
	return c.stream(ctx, call{
		op: StreamMessage, params: params, verb: http.MethodPost, path: "/message:stream",
		body: params, session: m.ContextID, webhook: o.webhook(),
	})
}

// complete fills in what a message of ours must have.
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
	q := url.Values{}
	if historyLength != nil {
		q.Set("historyLength", strconv.Itoa(*historyLength))
	}
	body, err := c.invoke(ctx, call{
		op: GetTask, params: outID{ID: id, HistoryLength: historyLength},
		verb: http.MethodGet, path: taskPath(id), query: q,
	})
	return read(GetTask, body, err, ReadTask)
}

// List reads one page of the agent's tasks. A2A 0.3 has no such operation over JSON-RPC.
func (c *Client) List(ctx context.Context, o ListOptions) (*Page, error) {
	p := outList{
		ContextID: o.ContextID, PageSize: o.PageSize, PageToken: o.PageToken,
		HistoryLength: o.HistoryLength, IncludeArtifacts: o.IncludeArtifacts,
	}
	if o.State != "" {
		p.Status = encodeState(o.State)
	}
	if !o.StatusTimestampAfter.IsZero() {
		p.StatusTimestampAfter = o.StatusTimestampAfter.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	body, err := c.invoke(ctx, call{op: ListTasks, params: p, verb: http.MethodGet, path: "/tasks", query: p.query()})
	return read(ListTasks, body, err, decodePage)
}

// query writes the parameters as A2A 1.0 §11.5.
func (p outList) query() url.Values {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("contextId", p.ContextID)
	set("status", p.Status)
	set("pageToken", p.PageToken)
	set("statusTimestampAfter", p.StatusTimestampAfter)
	if p.PageSize != 0 {
		q.Set("pageSize", strconv.Itoa(p.PageSize))
	}
	if p.HistoryLength != nil {
		q.Set("historyLength", strconv.Itoa(*p.HistoryLength))
	}
	if p.IncludeArtifacts {
		q.Set("includeArtifacts", "true")
	}
	return q
}

// Cancel asks the agent to end a task. The metadata, a JSON object, may be nil. Success does not mean that the task is
// canceled: its state says so.
func (c *Client) Cancel(ctx context.Context, id string, metadata json.RawMessage) (*Task, error) {
	body, err := c.invoke(ctx, call{
		op: CancelTask, params: outID{ID: id, Metadata: metadata},
		verb: http.MethodPost, path: taskPath(id) + ":cancel", body: outMetadata{metadata},
	})
	return read(CancelTask, body, err, ReadTask)
}

// Subscribe yields what happens to a task from now on, like Stream. Before A2A 0.1 there is no such operation.
func (c *Client) Subscribe(ctx context.Context, id string) iter.Seq2[Event, error] {
	return c.stream(ctx, call{
		op: SubscribeToTask, params: outID{ID: id},
		verb: http.MethodPost, path: taskPath(id) + ":subscribe", body: struct{}{},
	})
}

// ExtendedCard reads the card that the agent shows to those who are authenticated.
func (c *Client) ExtendedCard(ctx context.Context) (*Card, error) {
	body, err := c.invoke(ctx, call{op: GetExtendedCard, verb: http.MethodGet, path: "/extendedAgentCard"})
	return read(GetExtendedCard, body, err, func(body []byte) (*Card, error) { return decodeCard(body, "") })
}

func taskPath(id string) string { return "/tasks/" + segment(id) }

// segment escapes an id for a path. A colon of its own must not be taken for the one before a verb.
func segment(id string) string { return strings.ReplaceAll(url.PathEscape(id), ":", "%3A") }

// invoke performs a call whose answer is complete, and returns the result.
func (c *Client) invoke(ctx context.Context, in call) ([]byte, error) {
	if c.endpoint.Protocol.OverGRPC() {
		return c.invokeGRPC(ctx, in)
	}
	out, err := c.outgoing(in, false)
	if err != nil {
		return nil, err
	}
	resp, body, err := c.http.complete(ctx, out)
	if err != nil {
		return nil, err
	}
	return c.result(in, resp.StatusCode, body)
}

// read decodes a result and says which operation failed; the agent's own words stay as they are.
func read[T any](op Operation, body []byte, err error, decode func([]byte) (T, error)) (T, error) {
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
