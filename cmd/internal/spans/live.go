// Package spans makes OpenTelemetry spans of captures: live for a collector while one is recorded, and of one that is
// exported. What is in a span is said by analyzer/otlp; this package knows flags, where spans go, and what users are
// told.
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
	collectorPatience = 10 * time.Second // with one request to a collector
	collectorEnd      = 5 * time.Second  // for what waits when the recording has ended
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

// A Collector says where spans are sent.
type Collector struct {
	url    *url.URL
	header http.Header
	bodies bool
}

// Collector reads the flags; nil if no spans are wanted.
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

// Live makes spans of a recording while it is judged, and sends them. But for stop it is for the goroutine that
// judges; a nil one does nothing.
type Live struct {
	collector *Collector
	tracer    *otlp.Tracer
	sender    *otlphttp.Sender
	notice    func(string)
	tell      func(string) // what the user may do without
	failed    sync.Once
	causes    workflow.Index
	broken    bool // by a mistake of ours
}

// Start returns what sends the spans of a recording, whose id is given, to a collector; nil if there is none.
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
			s.say("spans are not taken at %s: %v; the recording goes on", to.url, err)
		},
	})
	s.tracer = otlp.NewTracer(spans, src, time.Now, s.sender.Send)
	return s
}

// say tells the user what should be known at once.
func (s *Live) say(format string, args ...any) {
	s.notice(analysis.Clean(fmt.Sprintf(format, args...)))
}

// guarded runs what makes spans. If that panics no more spans are made, and judging goes on.
func (s *Live) guarded(f func() error) {
	if s == nil || s.broken {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			s.broken = true
			s.say("no more spans are made, the recording goes on: panic: %v; please report it", v)
		}
	}()
	if err := f(); err != nil {
		s.failed.Do(func() { s.say("not all spans can be made: %v", err) })
	}
}

// Ended is told of each exchange that has ended.
func (s *Live) Ended(x *summary.Summary) {
	s.guarded(func() error { s.tracer.Ended(x); return nil })
}

// Event is told of each event of a stream.
func (s *Live) Event(v *summary.Event) {
	s.guarded(func() error { s.tracer.Event(v); return nil })
}

// Found is told of each finding.
func (s *Live) Found(f *analysis.Finding) {
	s.guarded(func() error { s.tracer.Found(f); return nil })
}

// Step comes after each step that was judged.
func (s *Live) Step() {
	s.guarded(func() error { return s.tracer.Step(context.Background()) })
}

// Stop makes the last spans, sends what waits, in bounded time, and says what became of all. The recording was judged.
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
		stats.Err = errors.New("more passed than the collector took in time")
	}
	s.say("%s, %d NOT sent: %v", text, stats.Dropped+int64(lost), stats.Err)
}

// Options are those of an engine that says what caused what, for the spans.
func (s *Live) Options() []engine.Option {
	if s == nil {
		return nil
	}
	return workflow.Into(s.causes.Put)
}
