package demo

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"

	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/refagent"
)

// askPlanner is the demo's client: it asks the planner for a journey, and passes on a trace as a traced program does.
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

// A Planner is what the demo's planner does with a message: it books a hotel, which tells a webhook when it is done,
// and meanwhile two seats, as a stream.
type Planner struct {
	Flights, Hotels string // where clients reach the agents
}

// Plan is refagent.Options.Work.
func (p *Planner) Plan(ctx context.Context, a refagent.Assignment) (string, error) {
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

// BookRoom is what the demo's agent for hotels does with a message.
func BookRoom(_ context.Context, a refagent.Assignment) (string, error) {
	return "booked: " + a.Text, nil
}

// Client returns the options of a client that calls itself by a name, and passes on a trace.
func Client(name, traceparent string, speaks client.Protocol) client.Options {
	return client.Options{
		UserAgent: name, Prefer: []client.Protocol{speaks}, Header: http.Header{"Traceparent": {traceparent}},
	}
}

// ChildOf returns the traceparent of a call that is made while another is answered; of the first one, if there is none
// (W3C Trace Context §3.2).
func ChildOf(traceparent string) string {
	var ids [24]byte
	rand.Read(ids[:])
	trace := fmt.Sprintf("%x", ids[:16])
	if fields := strings.Split(traceparent, "-"); len(fields) == 4 {
		trace = fields[1]
	}
	return fmt.Sprintf("00-%s-%x-01", trace, ids[16:])
}
