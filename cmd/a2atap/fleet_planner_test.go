package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/demo"
	"a2atap/replay/client"
	"a2atap/replay/refagent"
)

// fleetPlanner is a program of tests: a reference agent that asks another one before it answers, by a call and by a
// stream, with the trace of who asked it.
//
//	planner HOST:PORT URL
func fleetPlanner() {
	booker := os.Args[2]
	agent, err := refagent.New("spec", refagent.Options{
		StepTime: 20 * time.Millisecond,
		Work: func(ctx context.Context, a refagent.Assignment) (string, error) {
			c, err := client.Connect(ctx, booker, demo.Client("planner/1.0", demo.ChildOf(a.Traceparent), client.JSONRPC10))
			if err != nil {
				return "", err
			}
			defer c.Close()
			room, err := c.Send(ctx, client.Text("task-lifecycle a room, "+a.Text), client.SendOptions{})
			if err != nil {
				return "", err
			}
			for _, err := range c.Stream(ctx, client.Text("streaming two seats, "+a.Text), client.SendOptions{}) {
				if err != nil {
					return "", err
				}
			}
			if room.Task != nil {
				if _, err := c.Get(ctx, room.Task.ID, nil); err != nil {
					return "", err
				}
			}
			return "two seats and a room, " + a.Text, nil
		},
	})
	if err != nil {
		fatal("make the planner:", err)
	}
	l, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fatal("listen:", err)
	}
	fmt.Println("planner", l.Addr())
	fatal("serve:", cli.Serve(context.Background(), l, agent))
}
