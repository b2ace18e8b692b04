package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/refagent"
)

// askPlanner is the demo's client: it asks the planner for a journey, and sends a trace as a traced program does.
func askPlanner(ctx context.Context, planner string) error {
	c, err := client.Connect(ctx, planner, Client("traveller/1.0", ChildOf(""), client.REST10))
	if err != nil {
		return err
	}
	defer c.Close()
	result, err := c.Send(ctx, client.Text("two days in Kyoto"), client.SendOptions{})
	if err != nil {
		return err
	}
	if result.Task != nil {
		_, err = c.Get(ctx, result.Task.ID, nil)
	}
	return err
}

// A Planner handles messages to the demo's planner. It asks a model, calls a tool, and books a hotel, which notifies a webhook when it is done, and
// meanwhile two seats, as a stream.
type Planner struct {
	Flights, Hotels string // URLs for clients
	Model, Tools    string // base URLs of a model and an MCP server; empty for none
}

// Plan implements refagent.Options.Work.
func (p *Planner) Plan(ctx context.Context, a refagent.Assignment) (string, error) {
	if err := p.prepare(ctx, a.Text, a.Traceparent); err != nil {
		return "", err
	}
	hook, err := webhook.Listen(webhook.Options{Address: "127.0.0.1:0"})
	if err != nil {
		return "", err
	}
	defer hook.Close()
	hotels, err := client.Connect(ctx, p.Hotels, Client("planner/1.0", ChildOf(a.Traceparent), client.JSONRPC10))
	if err != nil {
		return "", err
	}
	defer hotels.Close()
	push := hook.Config()
	room, err := hotels.Send(ctx, client.Text("a room, "+a.Text), client.SendOptions{ReturnImmediately: true, Push: &push})
	if err != nil {
		return "", err
	}
	flights, err := client.Connect(ctx, p.Flights, Client("planner/1.0", ChildOf(a.Traceparent), client.JSONRPC10))
	if err != nil {
		return "", err
	}
	defer flights.Close()
	for _, err := range flights.Stream(ctx, client.Text("streaming two seats, "+a.Text), client.SendOptions{}) {
		if err != nil {
			return "", err
		}
	}
	if room.Task == nil {
		return "", fmt.Errorf("the agent for hotels made no task")
	}
	if _, err := hook.Await(ctx, room.Task.ID, 0); err != nil {
		return "", err
	}
	return "two seats and a room, " + a.Text, nil
}

// prepare asks the model about a journey, and calls the tool that it asks for.
func (p *Planner) prepare(ctx context.Context, text, traceparent string) error {
	if p.Model == "" {
		return nil
	}
	for _, call := range [...]struct{ url, body string }{
		{p.Model + "/v1/chat/completions", fmt.Sprintf(askModel, text)}, {p.Tools + "/mcp", askTool},
	} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, call.url, strings.NewReader(call.body))
		if err != nil {
			return err
		}
		req.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"User-Agent": {"planner/1.0"}, "Traceparent": {ChildOf(traceparent)},
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		err = json.NewDecoder(resp.Body).Decode(new(any))
		resp.Body.Close()
		if err != nil {
			return fmt.Errorf("read the answer from %s: %w", call.url, err)
		}
	}
	return nil
}

// BookRoom handles a message to the demo's agent for hotels.
func BookRoom(_ context.Context, a refagent.Assignment) (string, error) {
	return "booked: " + a.Text, nil
}

// Client returns the options of a client with a name, which passes on a trace.
func Client(name, traceparent string, speaks client.Protocol) client.Options {
	return client.Options{
		UserAgent: name, Prefer: []client.Protocol{speaks}, Header: http.Header{"Traceparent": {traceparent}},
	}
}

// ChildOf returns the traceparent of a call that is made while another is answered; without one, it begins a trace (W3C
// Trace Context §3.2).
func ChildOf(traceparent string) string {
	var ids [24]byte
	rand.Read(ids[:])
	trace := fmt.Sprintf("%x", ids[:16])
	if fields := strings.Split(traceparent, "-"); len(fields) == 4 {
		trace = fields[1]
	}
	return fmt.Sprintf("00-%s-%x-01", trace, ids[16:])
}
