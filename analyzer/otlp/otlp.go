// Package otlp converts recorded traffic to OpenTelemetry spans: one for each exchange, one for each task, and one for
// each finding that comes after the span of its exchange was exported. It writes them as OTLP JSON lines; package
// otlphttp sends them to a collector.
//
// The spans are those of an observer between client and agent. A span of an exchange is the request as it reached the
// agent: its kind is SERVER, and its service is the agent. If a request has a traceparent, the span is in that trace
// and below that parent, next to the agent's own spans. Otherwise it is below the exchange that caused it, if that is
// known. Ids are then derived from the exchange's own id, so that repeated exports of an exchange, during the recording
// or later, have the same spans.
//
// Spans contain nothing from bodies, headers or queries unless Options.Bodies requests bodies.
//
// Source: OpenTelemetry Protocol 1.10, trace/v1; OpenTelemetry semantic conventions, HTTP, RPC (JSON-RPC) and GenAI
// (agent spans); W3C Trace Context, "traceparent Header".
package otlp

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/reading"
	"a2atap/proxy/capture"
)

// Options configure the contents of spans.
type Options struct {
	Capture uuid.UUID       // of the capture, or zero
	Version string          // of this program
	Bodies  bool            // of requests and answers are attributes
	Reader  *reading.Reader // of the exchanges; nil means a new one without cards

	// Parent returns which exchange caused another; nil means unknown.
	Parent func(seq uint64) Parent
	// Opened returns the beginning of an exchange without a span yet. It may be nil.
	Opened func(seq uint64) (capture.Opened, bool)
}

// A Parent is the exchange that caused another. The zero Parent means no cause.
type Parent struct {
	Exchange uint64 // its number, lower than its child's
	Inferred string // why it is taken for the parent, in a few words; empty if it surely is
}

// A Span is a span and the service that it belongs to: the name of an agent.
type Span struct {
	Service string
	Span    *tracepb.Span
}

// Spans makes spans. It is for one goroutine.
type Spans struct {
	o     Options
	known *recent.Map[uint64, identity]
}

// maxKnown bounds the exchanges whose place in a trace is remembered. Others' places are computed again.
const maxKnown = 10_000

// New returns a Spans.
func New(o Options) *Spans {
	if o.Reader == nil {
		o.Reader = &reading.Reader{}
	}
	if o.Parent == nil {
		o.Parent = func(uint64) Parent { return Parent{} }
	}
	if o.Opened == nil {
		o.Opened = func(uint64) (capture.Opened, bool) { return capture.Opened{}, false }
	}
	return &Spans{o: o, known: recent.New[uint64, identity](maxKnown)}
}

// Batch returns the spans as one request of the protocol, grouped by service, in the order of services.
//
// A TracesData is the same as an ExportTraceServiceRequest, on the wire and in JSON; the package of the latter would
// link gRPC.
func (s *Spans) Batch(spans []Span) *tracepb.TracesData {
	byService := make(map[string]*tracepb.ScopeSpans)
	data := &tracepb.TracesData{}
	scope := &commonpb.InstrumentationScope{Name: "a2atap", Version: s.o.Version}
	for _, span := range spans {
		group := byService[span.Service]
		if group == nil {
			group = &tracepb.ScopeSpans{Scope: scope, SchemaUrl: schemaURL}
			byService[span.Service] = group
			data.ResourceSpans = append(data.ResourceSpans, &tracepb.ResourceSpans{
				Resource:   s.resource(span.Service),
				ScopeSpans: []*tracepb.ScopeSpans{group},
				SchemaUrl:  schemaURL,
			})
		}
		group.Spans = append(group.Spans, span.Span)
	}
	slices.SortFunc(data.ResourceSpans, func(a, b *tracepb.ResourceSpans) int {
		return cmp.Compare(serviceOf(a), serviceOf(b))
	})
	return data
}

// schemaURL names the version of the semantic conventions from which the names of attributes are.
const schemaURL = "https://opentelemetry.io/schemas/1.41.0"

func (s *Spans) resource(service string) *resourcepb.Resource {
	var a attributes
	a.text("service.name", service)
	if s.o.Capture != uuid.Nil {
		a.text("a2atap.capture.id", s.o.Capture.String())
	}
	return &resourcepb.Resource{Attributes: a.list}
}

func serviceOf(r *tracepb.ResourceSpans) string {
	return r.Resource.Attributes[0].Value.GetStringValue()
}

// service returns the name of an agent as a service.
func service(agent capture.Peer) string {
	return valid(cmp.Or(agent.Name, agent.URL, agent.Addr, "unknown_service"), maxText)
}

// nanoseconds returns an instant in the protocol's unit; 0 if unknown.
func nanoseconds(t time.Time) uint64 {
	if t.IsZero() || t.UnixNano() < 0 {
		return 0
	}
	return uint64(t.UnixNano())
}
