// Package spans makes OpenTelemetry spans from captures: live for a collector during a recording, and for exports.
// Package analyzer/otlp defines the contents of spans. This package handles flags, destinations and messages to users.
package spans

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/otlp"
	"a2atap/analyzer/otlp/otlphttp"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/replay/client"
)

const (
	collectorPatience = 10 * time.Second // maximum time of one request to a collector
	collectorEnd      = 5 * time.Second  // maximum time to send pending spans after the recording has ended
)

// Flags are the flags of recordings that send spans.
type Flags struct {
	url     string
	headers []string
	bodies  bool
}

// Register adds the flags to a command.
func (o *Flags) Register(f *pflag.FlagSet) {
	f.StringVar(&o.url, "otlp", "",
		"send spans of exchanges and tasks to the OpenTelemetry collector at `URL`, such as http://127.0.0.1:4318")
	f.StringArrayVar(&o.headers, "otlp-header", nil,
		"with --otlp: add a header to requests, `NAME=VALUE`; VALUE may be "+cli.SecretHelp+"; repeatable")
	f.BoolVar(&o.bodies, "otlp-bodies", false, "with --otlp: "+BodiesHelp)
}

// A Collector is the destination of spans.
type Collector struct {
	url    *url.URL
	header http.Header
	bodies bool
}

// Collector parses the flags. It returns nil if no spans are wanted.
func (o *Flags) Collector(e cli.Env, keepSecrets bool) (*Collector, error) {
	switch {
	case o.url == "" && (len(o.headers) > 0 || o.bodies):
		return nil, cli.Usage("--otlp-header and --otlp-bodies need --otlp URL, such as http://127.0.0.1:4318")
	case o.url == "":
		return nil, nil
	case o.bodies && keepSecrets:
		return nil, cli.Usage("--otlp-bodies with --keep-secrets would send credentials to the collector; leave one out")
	}
	c := &Collector{header: make(http.Header), bodies: o.bodies}
	var err error
	if c.url, err = otlphttp.ParseURL(o.url); err != nil {
		return nil, cli.Usage("--otlp: %w", err)
	}
	for _, text := range o.headers {
		err := otlphttp.ParseHeader(c.header, text, func(value string) (string, error) {
			return e.Secret("--otlp-header NAME=", value)
		})
		if err != nil {
			return nil, cli.Usage("--otlp-header: %w", err)
		}
	}
	return c, nil
}

// Live makes spans of a recording while it is checked, and sends them. Except for Stop, it is for the goroutine that
// checks. A nil Live does nothing.
type Live struct {
	collector *Collector
	tracer    *otlp.Tracer
	sender    *otlphttp.Sender
	notice    func(string)
	tell      func(string) // prints an optional message
	failed    sync.Once
	causes    workflow.Index
	broken    bool // a2atap's own bug stopped it
}

// Start returns a Live that sends the spans of a recording with this id to a collector; nil without a collector.
func Start(to *Collector, src capture.Source, id uuid.UUID, notice, tell func(string)) *Live {
	if to == nil {
		return nil
	}
	s := &Live{collector: to, notice: notice, tell: tell}
	spans := otlp.New(otlp.Options{
		Parent:  parentIn(&s.causes),
		Capture: id, Version: cli.Tool().Version, Bodies: to.bodies,
		Opened: openedIn(context.Background(), src),
	})
	s.sender = otlphttp.New(otlphttp.Options{
		URL: to.url, Header: to.header, Transport: client.NewTransport(collectorPatience),
		Batch: spans.Batch,
		OnTrouble: func(err error) {
			s.say("the collector at %s does not accept spans: %v; the recording continues", to.url, err)
		},
	})
	s.tracer = otlp.NewTracer(spans, src, time.Now, s.sender.Send)
	return s
}

// say prints a message that the user should see at once.
func (s *Live) say(format string, args ...any) {
	s.notice(analysis.Clean(fmt.Sprintf(format, args...)))
}

// guarded calls f, which makes spans. If f panics, no more spans are made, and the check continues.
func (s *Live) guarded(f func() error) {
	if s == nil || s.broken {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			s.broken = true
			s.say("no more spans are created, the recording continues: panic: %v; please report it", v)
		}
	}()
	if err := f(); err != nil {
		s.failed.Do(func() { s.say("not all spans can be created: %v", err) })
	}
}

// Ended records the end of an exchange.
func (s *Live) Ended(x *summary.Summary) {
	s.guarded(func() error { s.tracer.Ended(x); return nil })
}

// Event records an event of a stream.
func (s *Live) Event(v *summary.Event) {
	s.guarded(func() error { s.tracer.Event(v); return nil })
}

// Found records a finding.
func (s *Live) Found(f *analysis.Finding) {
	s.guarded(func() error { s.tracer.Found(f); return nil })
}

// Step is called after each checked step.
func (s *Live) Step() {
	s.guarded(func() error { return s.tracer.Step(context.Background()) })
}

// Stop makes the last spans, sends pending ones within bounded time, and reports the result. Call it after the
// recording has been checked.
func (s *Live) Stop() {
	if s == nil {
		return
	}
	lost := 0
	s.guarded(func() (err error) {
		lost, err = s.tracer.Close(context.Background())
		return err
	})
	ctx, cancel := context.WithTimeout(context.Background(), collectorEnd)
	defer cancel()
	stats := s.sender.Close(ctx)
	text := fmt.Sprintf("%s sent to %s", analysis.Plural(stats.Sent, "span"), s.collector.url)
	if stats.Dropped+int64(lost) == 0 {
		s.tell(text)
		return
	}
	if stats.Err == nil {
		stats.Err = errors.New("the collector did not keep up")
	}
	s.say("%s, %d NOT sent: %v", text, stats.Dropped+int64(lost), stats.Err)
}

// Options returns the engine options that report the causes of exchanges to the spans.
func (s *Live) Options() []engine.Option {
	if s == nil {
		return nil
	}
	return workflow.Into(s.causes.Put)
}
