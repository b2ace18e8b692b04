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
	"a2atap/analyzer/kept"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/sender"
	"a2atap/proxy/capture"
	"a2atap/replay/limits"
	"a2atap/replay/prompt"
)

// Bounds of what the page sends.
const (
	sendTimeout  = 5 * time.Minute // for all of one
	pollInterval = time.Second
	maxPassed    = 8 << 20 // bytes that are kept of what is sent and comes back
)

// A reach says to whom messages can be sent.
type reach struct {
	Agents   []Reached `json:"agents"`
	Recorded bool      `json:"recorded"` // they are taps, which record what goes through them
}

// agents answers with the agents that the capture, or the recording, names.
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

// A message is what the page sends, as a2atap send does.
type message struct {
	To      string `json:"to"` // the URL of an agent, or of a tap
	Text    string `json:"text"`
	Stream  bool   `json:"stream"`  // ask for a stream, also where the card does not offer it
	Task    string `json:"task"`    // to which it is sent; empty for none
	Context string `json:"context"` // in which it is sent; empty for none
}

// An answered is what came of a message: in the words of a2atap send, and drawn.
type answered struct {
	drawn
	Words   string `json:"words"`
	Failed  bool   `json:"failed"` // the agent has not answered, or the task has not done what it was for
	Verdict string `json:"verdict"`
	Task    string `json:"task,omitempty"` // that waits for its client
	Context string `json:"context,omitempty"`
}

// send sends a message and answers with what came of it. What passes is kept for the answer alone: where it goes through
// a tap, that records it.
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
		return out, wrong{fmt.Errorf("%d messages wait for their answers; wait for one of them", maxSending)}
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
	case errors.As(err, &exit) && exit.Err == nil: // what is wrong was said
	case err != nil:
		fmt.Fprintln(&words, err)
	}
	out.Failed, out.Words = err != nil, words.String()
	return out, s.drawSent(r.Context(), &out, passed.Reader())
}

// options are those with which a2atap send would send it.
func (m *message) options(to capture.Sink) sender.Options {
	o := sender.Options{
		Mode: string(prompt.Auto), Stream: m.Stream, Interval: pollInterval, PollTimeout: sendTimeout, Format: "text",
		Task: m.Task, ContextID: m.Context, Sink: to,
	}
	flags := pflag.NewFlagSet("send", pflag.ContinueOnError) // for what they are if none is given
	o.Flags.Register(flags)
	o.Flags.Limits = limits.Limits{Answer: maxPassed, Events: 10_000, Values: 100_000}
	o.Flags.Verbatim = true // the page offers addresses that cards in the capture name
	return o
}

// drawSent draws and judges what was sent and came back.
func (s *site) drawSent(ctx context.Context, out *answered, src capture.Source) error {
	k := judged.KeeperOf(ctx, s.e, "web", "-", src)
	j, err := k.Judge(ctx)
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
	var last *kept.Row
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

// A bounded sink takes a number of bytes, and no more.
type bounded struct {
	capture.Sink
	left int
}

// Append implements capture.Sink.
func (b *bounded) Append(steps ...capture.Step) error {
	for _, s := range steps {
		s.WithBytes(func(data []byte) []byte {
			b.left -= len(data)
			return data
		})
	}
	if b.left < 0 {
		return fmt.Errorf("what was sent and came back has more than %s, which is all that is shown of it",
			cli.SizeWords(maxPassed))
	}
	return b.Sink.Append(steps...)
}
