package sender

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/receiver"
	"a2atap/proxy/outbound"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/prompt"
)

// pushOptions make the agent report on the task by push notifications.
type pushOptions struct {
	on      bool
	webhook receiver.Flags
}

func (o *pushOptions) Register(f *pflag.FlagSet) {
	f.BoolVar(&o.on, "push", false, "request push notifications to a receiver in a2atap, print them, and wait for the "+
		"one that reports that the task has ended or waits, instead of polling")
	o.webhook.Register(f, "with --push: ", "; always so with the protocol legacy")
}

func (o *pushOptions) check() error {
	switch {
	case o.on:
		return o.webhook.Check()
	case o.webhook.Secured():
		return cli.Usage("--webhook-tls, --webhook-cert and --webhook-key need --push")
	}
	return nil
}

// receive starts to listen, if requested. The caller closes the receiver, which is nil if not requested.
func (s *sender) receive() error {
	if !s.o.Push.on {
		return nil
	}
	hook := &s.o.Push.webhook
	// Before A2A 0.1 agents accept only https webhooks. If the user names a URL, its server handles TLS.
	must := s.client.Endpoint().Protocol == client.Early && hook.URL == ""
	certificate, err := hook.Certificate(s.e, "send", must)
	if err != nil {
		return err
	}
	s.receiver, err = webhook.Listen(webhook.Options{
		Address: hook.Listen, Public: hook.URL, Certificate: certificate, On: s.delivered, Record: s.kept.received,
		Limits: s.o.Flags.Limits,
	})
	if err != nil {
		return fmt.Errorf("listen for push notifications on %s: %w; choose another port with --webhook-listen",
			hook.Listen, outbound.Cause(err))
	}
	return nil
}

// delivered prints a notification.
func (s *sender) delivered(d webhook.Delivery) {
	switch {
	case d.Err != nil:
		s.e.Tell("send: ignored a push notification: %s", analysis.Clean(d.Err.Error()))
	case s.o.Output != "":
		s.e.Tell("push: %s", analysis.Clean(eventLine(d.Event)))
	case s.o.Format == "json":
		s.raw(d.Body) // it is JSON, and who reads the output will notice its end
	default:
		s.print("push", eventLine(d.Event))
	}
}

// askPushed sends with a webhook, and waits for the notification that the task has ended or waits.
func (s *sender) askPushed(ctx context.Context, m client.Message, o prompt.Options) (*prompt.Answer, error) {
	if !s.registered { // a continued task keeps its webhook
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
		s.e.Tell("send: the agent answered with a message, so there is no task to be notified of")
		return answer, nil
	}
	if s.client.Endpoint().Protocol == client.Early {
		if over, err := s.setWebhook(ctx, answer); over || err != nil {
			return answer, err
		}
	}
	waiting, cancel := context.WithTimeout(ctx, s.o.PollTimeout)
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

// setWebhook sets the webhook of a task in a separate call, if the agent ignored the one in the message, which was
// allowed before A2A 0.1. It reports whether there is nothing to wait for because the task has already ended; the
// answer shows the result then.
func (s *sender) setWebhook(ctx context.Context, a *prompt.Answer) (over bool, err error) {
	var refused *client.Error
	if _, err := s.client.GetPush(ctx, a.TaskID(), ""); !errors.As(err, &refused) {
		return false, err
	}
	if !a.State().Terminal() {
		config := s.receiver.Config()
		config.TaskID = a.TaskID()
		if _, err := s.client.CreatePush(ctx, config); err != nil {
			return false, err
		}
		task, err := s.client.Get(ctx, a.TaskID(), nil)
		if err != nil {
			return false, err
		}
		if a.Task = task; a.Mode == prompt.Send {
			a.Raw = task.Raw
		}
	}
	if state := a.State(); !state.Terminal() && !state.Interrupted() {
		return false, nil
	}
	s.e.Tell("send: the agent ignored the webhook in the message, and the task had ended before a webhook could be set")
	return true, nil
}
