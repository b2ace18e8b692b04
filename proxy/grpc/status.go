package grpc

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"

	"a2atap/proxy/budget"
	"a2atap/proxy/jsondoc"
)

// A Code is how a call came out.
//
// Source: gRPC, "Status codes and their use in gRPC".
type Code int

// The codes that this program asks for by name.
const (
	OK                 Code = 0
	Cancelled          Code = 1
	UnknownError       Code = 2
	InvalidArgument    Code = 3
	DeadlineExceeded   Code = 4
	NotFound           Code = 5
	PermissionDenied   Code = 7
	ResourceExhausted  Code = 8
	FailedPrecondition Code = 9
	Unimplemented      Code = 12
	Internal           Code = 13
	Unavailable        Code = 14
	Unauthenticated    Code = 16
)

var codeNames = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
	"INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// String returns the name of the code, such as "NOT_FOUND", or its number.
func (c Code) String() string {
	if c >= 0 && int(c) < len(codeNames) {
		return codeNames[c]
	}
	return strconv.Itoa(int(c))
}

// ParseCode returns the code of a name, and whether there is one.
func ParseCode(name string) (Code, bool) {
	i := slices.Index(codeNames[:], name)
	return Code(i), i >= 0
}

// The trailers, or fields of the head where there are none, that say how a call came out.
const (
	StatusField  = "grpc-status"
	MessageField = "grpc-message"
	DetailsField = "grpc-status-details-bin"
)

// A Status is how a call came out.
type Status struct {
	Code    Code
	Message string
	Bad     string // why grpc-status is no code; empty if it is one
	Detail  error  // why grpc-status-details-bin cannot be read; nil if it can, or is not there

	details *Detail
}

// A Detail is the google.rpc.Status in grpc-status-details-bin, as JSON.
type Detail struct {
	Code    Code
	Message string
	List    []byte // a JSON array, as google.rpc.Status has it in the answers of HTTP+JSON
}

// StatusOf reads how a call came out; ok is false where it does not say so.
//
// Source: gRPC over HTTP2, "Responses".
func StatusOf(get func(name string) string) (s Status, ok bool) {
	text := get(StatusField)
	if text == "" {
		return s, false
	}
	code, err := strconv.Atoi(text)
	switch s.Code = Code(code); {
	case err != nil || code < 0 || text[0] == '+':
		s.Code, s.Bad = UnknownError, "grpc-status is no number"
	case code >= len(codeNames):
		s.Bad = "grpc-status is " + strconv.Itoa(code)
	}
	s.Message = unescape(get(MessageField))
	if details := get(DetailsField); details != "" {
		s.details, s.Detail = detailOf(details)
	}
	return s, true
}

// Details returns what grpc-status-details-bin says; nil if there is none, or it cannot be read.
func (s *Status) Details() *Detail { return s.details }

// JSON returns the status as JSON: the google.rpc.Status that it is, with the name of its code beside it, as the
// answers of HTTP+JSON have it in their member error.
//
// Source: A2A 1.0 sections 10.6 and 11.6.
func (s *Status) JSON() []byte {
	text := append([]byte(`{"code":`), strconv.Itoa(int(s.Code))...)
	text = append(append(append(text, `,"status":"`...), s.Code.String()...), `","message":`...)
	text, _ = jsontext.AppendQuote(text, strings.ToValidUTF8(s.Message, "\uFFFD"))
	if s.details != nil {
		text = append(append(text, `,"details":`...), s.details.List...)
	}
	return append(text, '}')
}

// EditMessage returns the value of a grpc-message after edit has changed its decoded text. A value whose text edit leaves
// alone is returned byte for byte.
func EditMessage(value string, edit func(text string) string) string {
	text := unescape(value)
	if edited := edit(text); edited != text {
		return escape(edited)
	}
	return value
}

// unescape takes the percent-encoding off a grpc-message. What is not properly encoded stands for itself.
//
// Source: gRPC over HTTP2, "Status-Message".
func unescape(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if c, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// rpc is the messages of details, as far as A2A says something of them.
//
// Source: google/rpc/status.proto and error_details.proto.
var rpc = (&schema{types: map[string]string{
	"Status":         `1 code int32; 2 message string; 3 details []Any`,
	"Any":            `1 typeUrl string; 2 value bytes`,
	"ErrorInfo":      `1 reason string; 2 domain string; 3 metadata map string`,
	"BadRequest":     `1 fieldViolations []FieldViolation`,
	"FieldViolation": `1 field string; 2 description string; 3 reason string`,
}}).compile()

// detailOf reads a google.rpc.Status in base64, padded or not.
func detailOf(text string) (*Detail, error) {
	message, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, err
	}
	d := newDecoder(message, budget.Read)
	values, err := d.values(rpc["Status"], message, 0)
	if err != nil {
		return nil, err
	}
	detail := &Detail{List: []byte{'['}}
	for _, v := range values {
		switch v.field {
		case 0:
			detail.Code = Code(int32(v.bits))
		case 1:
			detail.Message = string(v.bytes)
		default:
			if len(detail.List) > 1 {
				detail.List = append(detail.List, ',')
			}
			if detail.List, err = appendAny(detail.List, v.bytes); err != nil {
				return nil, err
			}
		}
	}
	detail.List = append(detail.List, ']')
	return detail, nil
}

// appendAny adds one detail: with the fields of its type where that is known, else in base64.
func appendAny(list, message []byte) ([]byte, error) {
	d := newDecoder(message, budget.Read)
	values, err := d.values(rpc["Any"], message, 1)
	if err != nil {
		return list, err
	}
	var url, held []byte
	for _, v := range values {
		if v.field == 0 {
			url = v.bytes
		} else {
			held = v.bytes
		}
	}
	list = append(list, `{"@type":`...)
	list, _ = jsontext.AppendQuote(list, url)
	name := string(url[strings.LastIndexByte(string(url), '/')+1:])
	short, _ := strings.CutPrefix(name, "google.rpc.")
	inner := newDecoder(held, budget.Read)
	switch {
	case name != short && rpc[short] != nil:
		if err = inner.message(rpc[short], held, 2); err == nil && len(inner.text) > len("{}") {
			return append(append(list, ','), inner.text[1:]...), nil
		}
	case name == "google.protobuf.Struct":
		if err = inner.object(held, 2); err == nil {
			list = append(append(list, `,"value":`...), inner.text...)
		}
	default:
		list = append(base64.StdEncoding.AppendEncode(append(list, `,"value":"`...), held), '"')
	}
	return append(list, '}'), err
}

// Write says how a call came out in the fields that StatusOf reads. The details are a JSON array as Detail has it; nil
// writes none.
//
// Source: gRPC over HTTP2, "Responses".
func (s *Status) Write(set func(name, value string), details jsondoc.Value) error {
	set(StatusField, strconv.Itoa(int(s.Code)))
	if s.Message != "" {
		set(MessageField, escape(s.Message))
	}
	if details.Len() == 0 {
		return nil
	}
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(s.Code))
	b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), s.Message)
	for _, d := range details.Elems() {
		detail, err := anyOf(d)
		if err != nil {
			return err
		}
		b = protowire.AppendBytes(protowire.AppendTag(b, 3, protowire.BytesType), detail)
	}
	set(DetailsField, base64.RawStdEncoding.EncodeToString(b))
	return nil
}

// anyOf returns the google.protobuf.Any that a detail in JSON stands for, which is of one of the types of google.rpc.
func anyOf(detail jsondoc.Value) ([]byte, error) {
	url := detail.Get("@type").Text()
	of := rpc[strings.TrimPrefix(url[strings.LastIndexByte(url, '/')+1:], "google.rpc.")]
	if of == nil {
		return nil, wrong(detail, "of no type that is known here")
	}
	var held []byte
	for name, v := range detail.Members() {
		f := of.byName(name)
		var err error
		switch {
		case name == "@type":
			continue
		case f == nil:
			err = wrong(v, "%s has no field of that name", of.name)
		default:
			held, err = encoder{}.field(held, f, v)
		}
		if err != nil {
			return nil, err
		}
	}
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), url)
	return protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), held), nil
}

// escape puts a text into the percent-encoding of a grpc-message.
//
// Source: gRPC over HTTP2, "Status-Message".
func escape(text string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '%' {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
