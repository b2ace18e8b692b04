package injection

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/spelling"
)

// A Kind is a sort of fault, by its name.
type Kind string

// The kinds of faults.
const (
	Delay          Kind = "delay"
	DelayEvents    Kind = "delay-events"
	Drop           Kind = "drop"
	Status         Kind = "status"
	GRPCStatus     Kind = "grpc-status"
	GoAway         Kind = "goaway"
	Reset          Kind = "reset"
	ResetBody      Kind = "reset-body"
	ContentType    Kind = "content-type"
	CutStream      Kind = "cut-stream"
	EndStream      Kind = "end-stream"
	StallStream    Kind = "stall-stream"
	DuplicateEvent Kind = "duplicate-event"
)

// A Description describes a kind of fault to users.
type Description struct {
	Kind  Kind
	Value string // the name of its value, such as "D", or empty
	Does  string

	Optional bool // it may do without the value
}

// Kinds describes all kinds of faults, in reading order.
func Kinds() []Description { return append([]Description(nil), kinds...) }

var kinds = []Description{
	{Kind: Delay, Value: "D", Does: "the answer starts D later, such as 2s"},
	{Kind: Drop, Does: "no answer: the request is not sent to the agent, and the client waits until it gives up"},
	{Kind: Status, Value: "CODE", Does: "the tap answers with this status from 400 to 599, and the agent gets no " +
		"request; CODE,retry-after=SECONDS adds Retry-After"},
	{Kind: GRPCStatus, Value: "CODE", Does: "the tap answers a call over gRPC with this status, such as UNAVAILABLE, and " +
		"the agent gets no request"},
	{Kind: Reset, Value: "CODE", Optional: true, Does: "the connection is reset instead of the answer, which the agent " +
		"has sent; over HTTP/2 the stream is reset, with CODE or INTERNAL_ERROR"},
	{Kind: ResetBody, Value: "CODE", Optional: true, Does: "the same in the middle of the body"},
	{Kind: GoAway, Value: "CODE", Optional: true, Does: "over HTTP/2 the connection accepts no more calls (GOAWAY with CODE " +
		"or NO_ERROR); calls in progress are answered"},
	{Kind: ContentType, Value: "TYPE", Does: "the answer claims the media type TYPE"},
	{Kind: DelayEvents, Value: "D", Does: "each event of a stream arrives D later"},
	{Kind: CutStream, Value: "N", Does: "the connection breaks after event N of a stream; 0 is before the first; over " +
		"HTTP/2 the stream is reset, over gRPC it ends without a status"},
	{Kind: EndStream, Value: "N", Does: "the stream ends properly after event N, and later events are dropped"},
	{Kind: StallStream, Value: "N", Does: "nothing arrives after event N, and the connection stays open until the client " +
		"gives up"},
	{Kind: DuplicateEvent, Value: "N", Does: "event N of a stream arrives twice"},
}

// ofStream reports whether the fault is one of event streams.
func (k Kind) ofStream() bool {
	switch k {
	case DelayEvents, CutStream, EndStream, StallStream, DuplicateEvent:
		return true
	}
	return false
}

// keepsRequest reports whether the agent gets no request.
func (k Kind) keepsRequest() bool { return k == Drop || k == Status || k == GRPCStatus }

// A wire is the transport of a call. Later ones include the earlier ones.
type wire uint8

const (
	overHTTP1 wire = iota
	overHTTP2
	overGRPC
)

// String returns what people call the wire.
func (w wire) String() string { return [...]string{"HTTP/1.1", "HTTP/2", "gRPC"}[w] }

// needs returns the wire without which the fault has no meaning.
func (k Kind) needs() wire {
	switch k {
	case GoAway:
		return overHTTP2
	case GRPCStatus:
		return overGRPC
	}
	return overHTTP1
}

// A Fault is a change to answers, and the selection of those.
type Fault struct {
	Kind       Kind
	Delay      time.Duration // of Delay and DelayEvents
	Status     int           // of Status
	RetryAfter int           // of Status: seconds, -1 for none
	GRPC       grpc.Code     // of GRPCStatus
	Code       string        // of Reset, ResetBody and GoAway: the name of the HTTP/2 error code; empty for the default
	Type       string        // of ContentType
	Event      int           // of the faults of streams but DelayEvents
	When       When
}

// A Spec is a fault and the agent whose answers get it.
type Spec struct {
	Agent string // its name, or "*" for all
	Fault Fault
}

// Parse reads the value of the flag --fault, AGENT:WHAT[@WHEN]. WHAT is the name of a kind of fault, with a value if it
// has one (cut-stream=2). See [When] about WHEN.
//
// Its errors list the valid values.
func Parse(flag string) (Spec, error) {
	s, err := parse(flag)
	if err != nil {
		return Spec{}, fmt.Errorf("--fault %q: %w", flag, err)
	}
	return s, nil
}

func parse(flag string) (s Spec, err error) {
	what, when, timed := strings.Cut(flag, "@")
	colon := strings.LastIndexByte(what, ':')
	if colon <= 0 {
		return s, fmt.Errorf("the agent is missing; write AGENT:WHAT[@WHEN], such as booker:%s, or * for all agents",
			defaultTo(what[colon+1:], "status=503"))
	}
	s.Agent = what[:colon]
	if s.Fault, err = parseWhat(what[colon+1:]); err != nil {
		return s, err
	}
	if timed {
		if s.Fault.When, err = ParseWhen(when); err != nil {
			return s, err
		}
	}
	if o := s.Fault.When.Operation; s.Fault.Kind.ofStream() && o.String() != "" && !o.Streams() {
		return s, fmt.Errorf("%s is a fault of streams, but %s has none; write SendStreamingMessage or SubscribeToTask "+
			"after @, or leave it out for both", s.Fault.Kind, o)
	}
	return s, nil
}

func defaultTo(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func parseWhat(text string) (f Fault, err error) {
	name, value, given := strings.Cut(text, "=")
	f.Kind, f.RetryAfter = Kind(name), -1
	d := f.Kind.describe()
	switch {
	case d == nil:
		return f, unknown(name)
	case d.Value == "" && given:
		return f, fmt.Errorf("%s accepts no value; write only %s", name, name)
	case d.Value != "" && value == "" && (given || !d.Optional):
		return f, fmt.Errorf("%s needs a value: %s=%s: %s", name, name, d.Value, d.Does)
	}
	switch f.Kind {
	case Delay, DelayEvents:
		if f.Delay, err = time.ParseDuration(value); err != nil || f.Delay <= 0 || f.Delay > maxDelay {
			return f, fmt.Errorf("%s needs a time above 0 and up to %v, such as 500ms or 2s, not %q", name, maxDelay, value)
		}
	case Status:
		return f, f.parseStatus(value)
	case GRPCStatus:
		code, ok := grpc.ParseCode(strings.ToUpper(value))
		if f.GRPC = code; !ok || code == grpc.OK {
			return f, fmt.Errorf("%s needs a gRPC status other than OK, such as UNAVAILABLE, not %q", name, value)
		}
	case Reset, ResetBody, GoAway:
		if f.Code = strings.ToUpper(value); f.Code != "" && codeOf(f.Code) == nil {
			return f, fmt.Errorf("%s needs an HTTP/2 error code, such as %s, not %q", name, f.usualCode(), value)
		}
	case ContentType:
		if f.Type = value; !isMediaType(value) {
			return f, fmt.Errorf("%s needs a media type such as text/html, not %q", name, value)
		}
	case CutStream, EndStream, StallStream, DuplicateEvent:
		least := 0
		if f.Kind == DuplicateEvent {
			least = 1
		}
		if f.Event, err = strconv.Atoi(value); err != nil || f.Event < least || f.Event > maxNumber {
			return f, fmt.Errorf("%s needs the number of an event from %d to %d, not %q", name, least, maxNumber, value)
		}
	}
	return f, nil
}

const (
	maxDelay  = time.Hour
	maxNumber = 1_000_000
	maxRetry  = 86_400
)

func (f *Fault) parseStatus(value string) (err error) {
	code, option, more := strings.Cut(value, ",")
	if f.Status, err = strconv.Atoi(code); err != nil || f.Status < 400 || f.Status > 599 {
		return fmt.Errorf("status needs a code from 400 to 599, such as 503, not %q", code)
	}
	if !more {
		return nil
	}
	name, seconds, _ := strings.Cut(option, "=")
	if name != "retry-after" {
		return fmt.Errorf("only retry-after=SECONDS may follow the code, as in status=%s,retry-after=2, not %q",
			code, option)
	}
	if f.RetryAfter, err = strconv.Atoi(seconds); err != nil || f.RetryAfter < 0 || f.RetryAfter > maxRetry {
		return fmt.Errorf("retry-after needs seconds from 0 to %d, not %q", maxRetry, seconds)
	}
	return nil
}

// isMediaType reports whether a text is a media type, with parameters or without (RFC 9110 section 8.3.1), that a field
// can have.
func isMediaType(s string) bool {
	kind, rest, _ := strings.Cut(s, "/")
	subtype, parameters, _ := strings.Cut(rest, ";")
	odd := strings.ContainsFunc(parameters, func(c rune) bool { return c < ' ' || c > '~' })
	return !odd && capture.IsToken(kind) && capture.IsToken(strings.TrimRight(subtype, " "))
}

// unknown returns the error for a name that is no fault's.
func unknown(name string) error {
	var words, known []string
	for _, d := range kinds {
		words, known = append(words, d.Words()), append(known, string(d.Kind))
	}
	return fmt.Errorf("unknown fault %q; use one of %s%s", name, strings.Join(words, ", "), spelling.Hint(name, known))
}

func (k Kind) describe() *Description {
	for i := range kinds {
		if kinds[i].Kind == k {
			return &kinds[i]
		}
	}
	return nil
}

// Words returns the name with its value, such as "delay=D" or "reset[=CODE]".
func (d *Description) Words() string {
	switch {
	case d.Value == "":
		return string(d.Kind)
	case d.Optional:
		return string(d.Kind) + "[=" + d.Value + "]"
	}
	return string(d.Kind) + "=" + d.Value
}

// codeOf returns the HTTP/2 error code with a name (RFC 9113 section 7), or nil.
func codeOf(name string) *http2.ErrCode {
	for c := http2.ErrCodeNo; c <= http2.ErrCodeHTTP11Required; c++ {
		if c.String() == name {
			return &c
		}
	}
	return nil
}

// usualCode is the code if the fault names none.
func (f *Fault) usualCode() http2.ErrCode {
	if f.Kind == GoAway {
		return http2.ErrCodeNo
	}
	return http2.ErrCodeInternal
}

// code returns the code with which a stream, or a connection, is given up.
func (f *Fault) code() *http2.ErrCode {
	if code := codeOf(f.Code); code != nil {
		return code
	}
	return new(f.usualCode())
}

// String returns WHAT[@WHEN], as Parse reads it.
func (f Fault) String() string {
	if when := f.When.String(); when != "" {
		return f.what() + "@" + when
	}
	return f.what()
}

func (f *Fault) what() string {
	switch f.Kind {
	case Delay, DelayEvents:
		return fmt.Sprintf("%s=%v", f.Kind, f.Delay)
	case Status:
		if f.RetryAfter >= 0 {
			return fmt.Sprintf("%s=%d,retry-after=%d", f.Kind, f.Status, f.RetryAfter)
		}
		return fmt.Sprintf("%s=%d", f.Kind, f.Status)
	case GRPCStatus:
		return fmt.Sprintf("%s=%s", f.Kind, f.GRPC)
	case Reset, ResetBody, GoAway:
		if f.Code != "" {
			return string(f.Kind) + "=" + f.Code
		}
	case ContentType:
		return string(f.Kind) + "=" + f.Type
	case CutStream, EndStream, StallStream, DuplicateEvent:
		return fmt.Sprintf("%s=%d", f.Kind, f.Event)
	}
	return string(f.Kind)
}

// String returns the value of the flag.
func (s Spec) String() string { return s.Agent + ":" + s.Fault.String() }

// concerns reports whether a call of that operation counts.
func (f *Fault) concerns(o a2a.Operation) bool {
	switch {
	case f.When.Operation != a2a.NoOperation:
		return o == f.When.Operation
	case f.Kind.ofStream():
		return o.Streams()
	}
	return o != a2a.NoOperation && o != a2a.GetCard && o != a2a.Webhook
}
