package refagent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/replay/refagent"
)

func TestWork(t *testing.T) {
	trace := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ended := make(chan struct{})
	origin := serve(t, "spec", refagent.Options{Work: func(ctx context.Context, a refagent.Assignment) (string, error) {
		switch a.Text {
		case "fail":
			return "", errors.New("no seats are left")
		case "wait":
			<-ctx.Done()
			close(ended)
			return "", ctx.Err()
		}
		return "did " + a.Text + " for " + a.Traceparent, nil
	}})
	send := func(text, more string) string {
		body := bodyOf(t, origin, "POST /spec\nTraceparent: "+trace+v10Header+
			rpc("1", "SendMessage", `{"message":`+userMessage("", text)+more+`}`))
		return body
	}
	for text, want := range map[string][]string{
		"streaming": {`"TASK_STATE_COMPLETED"`, `"did streaming for ` + trace + `"`}, // not one of the agent's skills
		"fail":      {`"TASK_STATE_FAILED"`, `"no seats are left"`},
	} {
		got := send(text, "")
		for _, w := range want {
			expect.Contains(t, text, w, got)
		}
	}
	got := send("wait", `,"configuration":{"returnImmediately":true}`)
	id := strings.Split(strings.SplitAfter(got, `"task":{"id":"`)[1], `"`)[0]
	body := bodyOf(t, origin, "POST /spec"+v10Header+rpc("1", "CancelTask", `{"id":"`+id+`"}`))
	<-ended
	expect.Contains(t, "canceled", `"TASK_STATE_CANCELED"`, body)
}
