package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/proxy/jsondoc"
	"a2atap/replay/client"
)

type sendOptions struct {
	stream      bool
	auth        string
	protocol    string
	task        string
	contextID   string
	timeout     time.Duration
	interactive bool
	format      string
	fault       string
}

// protocols are the words of --protocol.
var protocols = []struct {
	word     string
	protocol client.Protocol
	proto    bool // the proto JSON of 0.3
}{
	{"1.0-jsonrpc", client.JSONRPC10, false},
	{"1.0-rest", client.REST10, false},
	{"0.3-jsonrpc", client.JSONRPC03, false},
	{"0.3-rest", client.REST03, false},
	{"0.3-rest-proto", client.REST03, true},
	{"0.1-jsonrpc", client.JSONRPC01, false},
}

func newSend(e env) *cobra.Command {
	o := sendOptions{}
	cmd := &cobra.Command{
		Use:   "send URL TEXT",
		Short: "Send one message as a client and print the answer",
		Long: `Send reads the agent card at URL (an agent's, or a tap's), sends one message, and prints the answer. With
--stream it prints each event as it arrives. If TEXT is -, it is read from standard input.

With --fault the client breaks the rule of that name on purpose, for testing agents and this tool. If the rule
concerns an operation other than sending, that operation follows for the task of the answer.

Exit status: 0 an answer; 1 the task failed, was canceled or rejected, or waits for input and --interactive was not
given; 2 wrong usage; 3 the agent refused, could not be reached, or its answer could not be read.`,
		Example: `  a2atap send http://127.0.0.1:7001/spec 'task-lifecycle book two seats'
  a2atap send http://127.0.0.1:7001/spec 'streaming tell me more' --stream
  a2atap send http://127.0.0.1:7001/spec 'multi-turn hello' --interactive`,
		RunE: func(cmd *cobra.Command, args []string) error { return send(cmd.Context(), e, o, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.stream, "stream", false, "ask for a stream and print its events")
	f.StringVar(&o.auth, "auth", "", "send credentials: `bearer:TOKEN`; "+secretHelp+", of the whole or of TOKEN")
	f.StringVar(&o.protocol, "protocol", "",
		"use `PROTOCOL`: "+strings.Join(protocolWords(), ", ")+" (default what the card prefers)")
	f.StringVar(&o.task, "task", "", "send to the existing task `ID`")
	f.StringVar(&o.contextID, "context", "", "send in the context `ID`")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "give up after `D` without an answer")
	f.BoolVar(&o.interactive, "interactive", false, "while the task waits for input, send a line of standard input")
	f.StringVar(&o.format, "format", "text", "print as `FORMAT`: text or json (the answer, or each event, as it came)")
	f.StringVar(&o.fault, "fault", "",
		"break the rule `SLUG` on purpose; list prints those that can be broken with the protocol")
	return withArgs(cmd, 2, 2)
}

func protocolWords() []string {
	words := make([]string, 0, len(protocols))
	for _, p := range protocols {
		words = append(words, p.word)
	}
	return words
}

func send(ctx context.Context, e env, o sendOptions, url, text string) error {
	options, err := o.client(e)
	if err != nil {
		return err
	}
	if o.fault == "list" {
		return listClientFaults(e, options.Prefer)
	}
	if text == "-" {
		all, err := io.ReadAll(e.In)
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		text = string(all)
	}
	c, err := client.Connect(ctx, url, options)
	if errors.Is(err, client.ErrNoFault) {
		return usage("%w", err)
	}
	if err != nil {
		return fmt.Errorf("send to %s: %w; check that the agent, or the tap in front of it, listens there", url, err)
	}
	defer c.Close()
	s := &sender{e: e, o: o, client: c}
	lines := bufio.NewScanner(e.In)
	m := client.Text(text)
	m.TaskID, m.ContextID = o.task, o.contextID
	for {
		state, err := s.send(ctx, m)
		if err != nil {
			return err
		}
		if !state.Interrupted() {
			return errors.Join(s.performFault(ctx), outcomeOf(state))
		}
		if !o.interactive || !lines.Scan() {
			fmt.Fprintf(e.Err, "send: task %s waits for input; go on with --task %s\n", s.task, s.task)
			return &exit{code: exitFindings}
		}
		m = client.Text(lines.Text())
		m.TaskID, m.ContextID = s.task, s.context
	}
}

func (o *sendOptions) client(e env) (client.Options, error) {
	options := client.Options{Version: tool().Version, Timeout: o.timeout, Fault: o.fault}
	if err := choose("format", o.format, "text", "json"); err != nil {
		return options, err
	}
	if o.auth != "" {
		auth, err := e.credentials("--auth", o.auth)
		if err != nil {
			return options, err
		}
		token, ok := strings.CutPrefix(auth, "bearer:")
		if !ok || token == "" {
			return options, usage("--auth: write bearer:TOKEN")
		}
		options.Token = token
	}
	if o.protocol == "" {
		return options, nil
	}
	for _, p := range protocols {
		if p.word == o.protocol {
			options.Prefer, options.ProtoJSON = []client.Protocol{p.protocol}, p.proto
			return options, nil
		}
	}
	return options, choose("protocol", o.protocol, protocolWords()...)
}

// performFault performs the operation that the fault concerns, if that is not sending.
func (s *sender) performFault(ctx context.Context) error {
	if s.o.fault == "" {
		return nil
	}
	f, err := client.FaultOf(s.client.Endpoint().Protocol, s.o.fault)
	if err != nil || f.On == "" || f.On == client.SendMessage {
		return err
	}
	task := &client.Task{ID: s.task, ContextID: s.context}
	if task.ID == "" && f.On != client.GetExtendedCard && f.On != client.StreamMessage {
		return fmt.Errorf("the fault %s is about %s, which needs a task, but the agent answered with a message; "+
			"send a text that starts a task", f.Slug, f.On)
	}
	if err := s.client.Ask(ctx, f.On, task); err != nil {
		s.print(string(f.On), err.Error())
		return nil
	}
	s.print(string(f.On), "done")
	return nil
}

// listClientFaults prints the faults that a client of any of the protocols can have.
func listClientFaults(e env, among []client.Protocol) error {
	if len(among) == 0 {
		among = client.Protocols()
	}
	seen := make(map[string]bool)
	for _, p := range among {
		for _, f := range client.Faults(p) {
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

// outcomeOf returns the exit status for the final state of a task as an error, nil for 0.
func outcomeOf(state client.State) error {
	switch state {
	case client.Failed, client.Canceled, client.Rejected:
		return &exit{code: exitFindings}
	}
	return nil
}

// A sender sends the messages of one conversation and prints the answers.
type sender struct {
	e             env
	o             sendOptions
	client        *client.Client
	task, context string // of the last answer
}

// send sends one message and returns the last state of the task, or "" if the answer is not a task.
func (s *sender) send(ctx context.Context, m client.Message) (client.State, error) {
	if s.o.stream {
		return s.stream(ctx, m)
	}
	r, err := s.client.Send(ctx, m, client.SendOptions{})
	if err != nil {
		return "", err
	}
	if s.o.format == "json" {
		return s.result(r), s.raw(r.Raw)
	}
	if r.Message != nil {
		s.print("message", r.Message.Text())
		return s.result(r), nil
	}
	s.print("task "+r.Task.ID, string(r.Task.Status.State))
	for _, a := range r.Task.Artifacts {
		s.print("artifact "+a.ID, a.Text())
	}
	if m := r.Task.Status.Message; m != nil {
		s.print("says", m.Text())
	}
	return s.result(r), nil
}

func (s *sender) result(r *client.Result) client.State {
	if r.Task == nil {
		return ""
	}
	s.task, s.context = r.Task.ID, r.Task.ContextID
	return r.Task.Status.State
}

func (s *sender) stream(ctx context.Context, m client.Message) (client.State, error) {
	var state client.State
	for event, err := range s.client.Stream(ctx, m, client.SendOptions{}) {
		if err != nil {
			return state, err
		}
		if now := event.State(); now != "" {
			state = now
		}
		if s.o.format == "json" {
			if err := s.raw(event.Raw); err != nil {
				return state, err
			}
			continue
		}
		s.event(event)
	}
	return state, nil
}

func (s *sender) event(event client.Event) {
	switch {
	case event.Task != nil:
		s.task, s.context = event.Task.ID, event.Task.ContextID
		s.print("task "+event.Task.ID, string(event.Task.Status.State))
	case event.Message != nil:
		s.print("message", event.Message.Text())
	case event.Status != nil:
		s.task, s.context = event.Status.TaskID, event.Status.ContextID
		text := string(event.Status.Status.State)
		if m := event.Status.Status.Message; m != nil {
			text += ": " + m.Text()
		}
		s.print("status", text)
	case event.Artifact != nil:
		s.print("artifact "+event.Artifact.Artifact.ID, event.Artifact.Artifact.Text())
	}
}

// print prints a line, without control characters that the agent may have sent.
func (s *sender) print(what, text string) {
	fmt.Fprintf(s.e.Out, "%s: %s\n", analyzer.Clean(what), analyzer.Clean(text))
}

func (s *sender) raw(body []byte) error {
	if !json.Valid(body) {
		return errors.New("the answer is not JSON")
	}
	_, err := fmt.Fprintf(s.e.Out, "%s\n", jsondoc.Escape(bytes.TrimSpace(body)))
	return err
}
