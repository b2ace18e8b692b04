package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"a2atap/analyzer"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/prompt"
)

// pushOptions let the agent report on the task by push notifications.
type pushOptions struct {
	on          bool
	listen, url string
	remote      bool
}

func (o *pushOptions) register(f *pflag.FlagSet) {
	f.BoolVar(&o.on, "push", false, "ask for push notifications at a receiver of our own, print them, and wait for the "+
		"one that says that the task has ended or waits, in place of polling")
	f.StringVar(&o.listen, "webhook-listen", "127.0.0.1:0", "with --push: receive on `ADDR`; port 0 is a free one")
	f.StringVar(&o.url, "webhook-url", "",
		"with --push: the agent reaches the receiver beneath `URL` (default where it listens)")
	f.BoolVar(&o.remote, "allow-remote", false, "with --push: allow a listening address that other machines can reach")
}

func (o *pushOptions) check() error {
	if !o.on {
		return nil
	}
	if o.url != "" && !strings.HasPrefix(o.url, "http://") && !strings.HasPrefix(o.url, "https://") {
		return usage("--webhook-url %q: it must begin with http:// or https://", o.url)
	}
	return localOnly(o.listen, o.remote)
}

// receive begins to listen, if that is asked for. The caller closes the receiver, which is nil if it is not.
func (s *sender) receive() error {
	if !s.o.push.on {
		return nil
	}
	var err error
	s.receiver, err = webhook.Listen(s.o.push.listen, s.o.push.url, s.delivered)
	if err != nil {
		return fmt.Errorf("listen for push notifications on %s: %w; choose another port with --webhook-listen",
			s.o.push.listen, netCause(err))
	}
	return nil
}

// delivered prints a notification.
func (s *sender) delivered(d webhook.Delivery) {
	switch {
	case d.Err != nil:
		s.e.tell("send: a push notification does not count: %s", analyzer.Clean(d.Err.Error()))
	case s.o.output != "":
		s.e.tell("push: %s", analyzer.Clean(eventLine(d.Event)))
	case s.o.format == "json":
		s.raw(d.Body) // it is JSON, and who reads the output will notice its end
	default:
		s.print("push", eventLine(d.Event))
	}
}

// eventLine says in a line what happened.
func eventLine(e client.Event) string {
	switch {
	case e.Task != nil:
		return "task " + e.Task.ID + ": " + string(e.Task.Status.State)
	case e.Status != nil:
		text := "status: " + string(e.Status.Status.State)
		if e.Name == "artifact" { // a notification from before A2A 0.1
			text = "artifact, " + text
		}
		if m := e.Status.Status.Message; m != nil {
			text += ": " + m.Text()
		}
		return text
	case e.Artifact != nil:
		return artifactName(&e.Artifact.Artifact) + ": " + e.Artifact.Artifact.Text()
	}
	return "message: " + e.Message.Text()
}

// askPushed asks with a webhook, and waits for the notification that the task has ended or waits.
func (s *sender) askPushed(ctx context.Context, m client.Message, o prompt.Options) (*prompt.Answer, error) {
	if !s.registered { // a task that goes on keeps its webhook
		config := s.receiver.Config()
		o.Send.Push = &config
		s.registered = true
	}
	polling := o
	o.NoPoll = o.NoPoll || o.ModeFor(s.client) == prompt.Send
	answer, err := prompt.Ask(ctx, s.client, m, o)
	if err != nil {
		return answer, err
	}
	if answer.Task == nil {
		s.e.tell("send: the agent answered with a message, so there is no task to be notified of")
		return answer, nil
	}
	waiting, cancel := context.WithTimeout(ctx, s.o.pollTimeout)
	defer cancel()
	s.delivery, err = s.receiver.Await(waiting, answer.TaskID(), s.delivery)
	if err != nil {
		return answer, err
	}
	if state := answer.State(); state.Terminal() || state.Interrupted() {
		return answer, nil
	}
	return prompt.Poll(ctx, s.client, answer.TaskID(), polling)
}
