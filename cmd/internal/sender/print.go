package sender

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/safetext"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/prompt"
)

// A sender sends the messages of one conversation and prints the answers.
type sender struct {
	e             cli.Env
	o             Options
	client        *client.Client
	task, context string // of the last response

	kept       *keptTraffic      // nil without recording
	receiver   *webhook.Receiver // of push notifications; may be nil
	registered bool              // the agent knows the receiver
	delivery   int               // number of the notification to wait for
}

// asking returns how to send messages, and which parts of responses to print when.
func (s *sender) asking() prompt.Options {
	o := prompt.Options{
		Mode: prompt.Mode(s.o.Mode), NoPoll: s.o.NoPoll || s.o.Fault != "",
		Interval: s.o.Interval, PollTimeout: s.o.PollTimeout,
	}
	switch {
	case s.o.Stream:
		o.Mode = prompt.Stream
	case o.Mode == prompt.Auto && (o.NoPoll || s.o.Push.on): // these are about the response to a send
		o.Mode = prompt.Send
	}
	if s.o.Output != "" {
		return o
	}
	if s.o.Format == "json" {
		o.OnEvent = func(e client.Event) error { return s.raw(e.Raw) }
		o.OnResult = func(r *client.Result) error { return s.raw(r.Raw) }
		return o
	}
	if s.o.Stream {
		o.OnEvent = func(e client.Event) error { s.event(e); return nil }
	}
	return o
}

// send sends one message and prints the answer.
func (s *sender) send(ctx context.Context, m client.Message, options client.SendOptions) (*prompt.Answer, error) {
	asking := s.asking()
	asking.Send = options
	polled := false
	asking.OnPoll = func(*client.Task) error { polled = true; return nil }
	ask := func() (*prompt.Answer, error) { return prompt.Ask(ctx, s.client, m, asking) }
	if s.receiver != nil {
		ask = func() (*prompt.Answer, error) { return s.askPushed(ctx, m, asking) }
	}
	answer, err := ask()
	for err != nil {
		other := s.client.Reconsider(err)
		if other == nil {
			return nil, err
		}
		s.client.Close()
		s.client, s.registered = other, false
		s.e.Tell("send: %s", analysis.Clean(fmt.Sprintf("%v, and the card does not say its version; using %s", err,
			other.Endpoint().Protocol)))
		answer, err = ask()
	}
	s.task, s.context = answer.TaskID(), answer.ContextID()
	return answer, s.answer(ctx, answer, polled)
}

// answer prints the unprinted parts of a response: all of it, unless its events were printed.
func (s *sender) answer(ctx context.Context, a *prompt.Answer, polled bool) error {
	switch {
	case s.o.Output != "":
		return s.final(ctx, a)
	case s.o.Format == "json":
		if polled {
			return s.raw(a.Task.Raw)
		}
	case !s.o.Stream || polled:
		s.summary(a)
	}
	return nil
}

func (s *sender) summary(a *prompt.Answer) {
	if a.Message != nil {
		s.print("message", a.Message.Text())
	}
	if a.Task != nil {
		s.printTask(a.Task)
	}
}

func (s *sender) printTask(t *client.Task) {
	s.print("task "+t.ID, string(t.Status.State))
	for _, a := range t.Artifacts {
		s.print(artifactName(&a), a.Text())
	}
	if m := t.Status.Message; m != nil {
		s.print("says", m.Text())
	}
}

// final prints the response as --output selects.
func (s *sender) final(ctx context.Context, a *prompt.Answer) error {
	r := a.Response()
	good := a.Task == nil || !a.State().Interrupted() && (!a.State().Terminal() || a.State() == client.Completed)
	if s.o.transform != nil && good { // otherwise there are only errors, which are not transformed
		ctx, cancel := context.WithTimeout(ctx, s.o.Flags.Timeout)
		defer cancel()
		var err error
		if r, err = s.o.transform.Apply(ctx, a); err != nil {
			return fmt.Errorf("--transform: %w", err)
		}
	}
	if err := s.response(r); err != nil || r.Error == "" {
		return err
	}
	fmt.Fprintf(s.e.Err, "send: output of the transform: %s\n", analysis.Clean(r.Error))
	return &cli.Exit{Code: cli.ExitFindings}
}

func (s *sender) response(r prompt.Response) error {
	switch s.o.Output {
	case "text":
		if r.Output == nil && r.Error != "" {
			return nil
		}
		_, err := fmt.Fprintln(s.e.Out, safetext.Plain(r.Text()))
		return err
	case "raw":
		return s.json(r.Raw)
	case "metadata":
		return s.json(r.Metadata)
	}
	return s.json(r)
}

// artifactName returns an artifact's id or, if no artifact has one, its name, if any.
func artifactName(a *client.Artifact) string {
	return strings.TrimSpace("artifact " + cmp.Or(a.ID, a.Name))
}

func (s *sender) event(e client.Event) {
	what, text, _ := strings.Cut(eventLine(e), ": ")
	s.print(what, text)
}

// print prints a line, without control characters that the agent may have sent.
func (s *sender) print(what, text string) {
	fmt.Fprintf(s.e.Out, "%s: %s\n", analysis.Clean(what), analysis.Clean(text))
}

// json prints a value as one line of JSON.
func (s *sender) json(v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return s.raw(text.Bytes())
}

func (s *sender) raw(body []byte) error {
	if !json.Valid(body) {
		return errors.New("the answer is not JSON")
	}
	_, err := fmt.Fprintf(s.e.Out, "%s\n", safetext.JSON(bytes.TrimSpace(body)))
	return err
}

// eventLine describes an event in one line.
func eventLine(e client.Event) string {
	switch {
	case e.Task != nil:
		return "task " + e.Task.ID + ": " + string(e.Task.Status.State)
	case e.Status != nil:
		text := "status: " + string(e.Status.Status.State)
		if e.Name == "artifact" { // a notification from before A2A 0.1
			return "artifact, " + text
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
