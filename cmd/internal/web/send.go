package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/sender"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/replay/limits"
	"a2atap/replay/prompt"
)

// These constants bound what the page may send.
const (
	sendTimeout  = 5 * time.Minute // for a whole message and its answer
	pollInterval = time.Second
	maxPassed    = 8 << 20 // bytes of traffic that are kept
	stepCost     = 256     // overhead of a step in bytes
)

// A reach is the agents that the page can send messages to.
type reach struct {
	Agents   []Reached `json:"agents"`
	Recorded bool      `json:"recorded"` // they are taps, which record their traffic
}

// agents answers with the agents named in the capture, or in the recording.
func (s *site) agents(r *http.Request) (reach, error) {
	if s.taps != nil {
		return reach{Agents: s.taps, Recorded: true}, nil
	}
	out := reach{Agents: []Reached{}}
	state, err := s.now()
	if err != nil {
		return out, err
	}
	t, err := s.sum(r.Context(), state)
	if err != nil {
		return out, err
	}
	out.Agents = append(out.Agents, t.agents...)
	return out, nil
}

// A message is sent from the page, as by a2atap send.
type message struct {
	To      string `json:"to"` // the URL of an agent, or of a tap
	Text    string `json:"text"`
	Stream  bool   `json:"stream"`  // request a stream, even if the card does not offer it
	Task    string `json:"task"`    // its task; empty for none
	Context string `json:"context"` // its context; empty for none
}

// An answered is the result of a message: as a2atap send prints it, and as a drawing.
type answered struct {
	drawn
	Words   string `json:"words"`
	Failed  bool   `json:"failed"` // the agent has not answered, or the task has failed
	Verdict string `json:"verdict"`
	Task    string `json:"task,omitempty"` // waits for its client
	Context string `json:"context,omitempty"`
}

// send sends a message and answers with the result. The traffic is kept only for the answer. If it passes through a
// tap, the tap records it.
func (s *site) send(r *http.Request) (out answered, err error) {
	var m message
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	if err := body.Decode(&m); err != nil {
		return out, wrong{fmt.Errorf("read the message: %w", err)}
	}
	if strings.TrimSpace(m.Text) == "" {
		return out, wrong{errors.New("the message is empty")}
	}
	select {
	case s.sending <- struct{}{}:
		defer func() { <-s.sending }()
	default:
		return out, wrong{fmt.Errorf("%d messages are waiting for their answers; wait for one of them", maxSending)}
	}
	ctx, cancel := context.WithTimeout(r.Context(), sendTimeout)
	defer cancel()
	passed := capture.NewMemory(capture.Info{Created: s.e.Now(), Tool: cli.ToolName()})
	var words bytes.Buffer
	e := s.e
	e.In, e.Out, e.Err, e.Common = strings.NewReader(m.Text), &words, &words, nil
	err = sender.Run(ctx, e, m.options(&bounded{Sink: passed, left: maxPassed}), []string{m.To, m.Text})
	passed.Close() //nolint:errcheck // where nothing was sent, it is open still; in memory it cannot fail
	var exit *cli.Exit
	switch {
	case errors.As(err, &exit) && exit.Code == cli.ExitUsage:
		return out, wrong{err}
	case errors.As(err, &exit) && exit.Err == nil: // the error was printed
	case err != nil:
		fmt.Fprintln(&words, err)
	}
	out.Failed, out.Words = err != nil, words.String()
	return out, s.drawSent(r.Context(), &out, passed.Reader())
}

// options returns the options with which a2atap send would send the message.
func (m *message) options(to capture.Sink) sender.Options {
	o := sender.Options{
		Mode: string(prompt.Auto), Stream: m.Stream, Interval: pollInterval, PollTimeout: sendTimeout, Format: "text",
		Task: m.Task, ContextID: m.Context, Sink: to,
	}
	flags := pflag.NewFlagSet("send", pflag.ContinueOnError) // for their defaults
	o.Flags.Register(flags)
	o.Flags.Limits = limits.Limits{Answer: maxPassed, Events: 10_000, Values: 100_000}
	o.Flags.Verbatim = true // the page offers addresses that cards in the capture name
	return o
}

// drawSent draws and checks the traffic of a message.
func (s *site) drawSent(ctx context.Context, out *answered, src capture.Source) error {
	j, err := verdict.Open(ctx, s.e, "web", "-", src, verdict.How{})
	if err != nil {
		return err
	}
	defer j.Close()
	result, err := j.Complete(ctx, src)
	if err != nil {
		return err
	}
	out.Verdict = result.Verdict(analysis.Error).String()
	var seqs []uint64
	var last *snapshot.Row
	for row, err := range j.Rows(ctx, 1) {
		if err != nil {
			return err
		}
		if len(seqs) < maxGroup {
			seqs = append(seqs, row.Seq)
		}
		last = row
	}
	if last != nil && last.State.Interrupted() && len(last.Tasks) > 0 && len(last.Contexts) > 0 {
		out.Task, out.Context, out.Failed = last.Tasks[0], last.Contexts[0], false
	}
	done, err := s.draws(ctx)
	if err != nil {
		return err
	}
	defer done()
	return draw(ctx, &out.drawn, "sent", j, seqs)
}

// A bounded sink accepts a maximum number of bytes. Each step counts as stepCost bytes more, since steps may have few
// bytes.
type bounded struct {
	capture.Sink
	left int
}

// Append implements capture.Sink.
func (b *bounded) Append(steps ...capture.Step) error {
	for _, s := range steps {
		b.left -= stepCost
		s.WithBytes(func(data []byte) []byte {
			b.left -= len(data)
			return data
		})
	}
	if b.left < 0 {
		return fmt.Errorf("the request and answer take more than %s; only the beginning is shown",
			cli.SizeWords(maxPassed))
	}
	return b.Sink.Append(steps...)
}
