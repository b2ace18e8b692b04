package sender

import (
	"context"
	"fmt"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/client/fault"
)

// performFault performs the operation of the fault, if that is not sending.
func (s *sender) performFault(ctx context.Context) error {
	if s.o.Fault == "" {
		return nil
	}
	f, err := fault.Find(s.client.Endpoint().Protocol, s.o.Fault)
	if err != nil || f.On == a2a.SendMessage {
		return err
	}
	task := &client.Task{ID: s.task, ContextID: s.context}
	if task.ID == "" && f.On != a2a.GetExtendedCard && f.On != a2a.SendStreamingMessage {
		return fmt.Errorf("the fault %s is about %s, which needs a task, but the agent answered with a message; "+
			"send a text that starts a task", f.Slug, f.On)
	}
	if err := s.client.Ask(ctx, f.On, task); err != nil {
		s.print(f.On.String(), err.Error())
		return nil
	}
	s.print(f.On.String(), "done")
	return nil
}

// listClientFaults prints the client faults of all protocols.
func listClientFaults(e cli.Env, among []client.Protocol) error {
	if len(among) == 0 {
		among = client.Protocols()
	}
	seen := make(map[string]bool)
	for _, p := range among {
		for _, f := range fault.All(p) {
			if seen[f.Slug] {
				continue
			}
			seen[f.Slug] = true
			if _, err := fmt.Fprintf(e.Out, "%-32s %s\n", f.Slug, f.Doc); err != nil {
				return err
			}
		}
	}
	return nil
}
