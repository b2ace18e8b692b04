package grpc

import (
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protowire"

	"a2atap/proxy/budget"
	"a2atap/proxy/jsondoc"
)

// A Code is the status code of a call.
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

// ParseCode returns the code with a name, and whether it exists.
func ParseCode(name string) (Code, bool) {
	i := slices.Index(codeNames[:], name)
	return Code(i), i >= 0
}

// The trailers, or header fields if there are no trailers, with the status of a call.
const (
	StatusField  = "grpc-status"
	MessageField = "grpc-message"
	DetailsField = "grpc-status-details-bin"
)

// A Status is the status of a call.
type Status struct {
	Code    Code
	Message string
	Bad     string // why grpc-status is no code; empty if it is one
	Detail  error  // why grpc-status-details-bin cannot be read; nil if it can, or is missing

	details *Detail
}

// A Detail is the google.rpc.Status in grpc-status-details-bin, as JSON.
type Detail struct {
	Code    Code
	Message string
	List    []byte // a JSON array, as google.rpc.Status has it in the answers of HTTP+JSON
}

// StatusOf reads the status of a call; ok is false if it is missing. Values of a repeated field are joined by commas.
// Several statuses are invalid, and clients differ in which one they use: if the statuses differ, the code is
// UnknownError.
//
// Sources: gRPC over HTTP2, "Responses"; RFC 9110 section 5.3.
func StatusOf(get func(name string) string) (s Status, ok bool) {
	text := get(StatusField)
	if text == "" {
		return s, false
	}
	values := strings.Split(text, ",")
	for i, value := range values {
		code, bad := codeOf(strings.TrimSpace(value))
		switch {
		case i == 0:
			s.Code, s.Bad = code, bad
		case code != s.Code:
			s.Code = UnknownError
		}
	}
	if len(values) > 1 {
		s.Bad = "grpc-status has " + strconv.Itoa(len(values)) + " values"
	}
	s.Message = unescape(get(MessageField))
	if details := get(DetailsField); details != "" {
		s.details, s.Detail = detailOf(details)
	}
	return s, true
}

// codeOf returns the code in a grpc-status, and why it is invalid; "" if it is valid.
func codeOf(text string) (c Code, bad string) {
	code, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return UnknownError, "grpc-status is a number of " + strconv.Itoa(len(strings.TrimLeft(text, "+-"))) + " digits"
	case err != nil || text[0] == '+':
		return UnknownError, "grpc-status is not a number"
	case code < 0:
		return UnknownError, "grpc-status is " + strconv.Itoa(code)
	case code >= len(codeNames):
		return Code(code), "grpc-status is " + strconv.Itoa(code)
	}
	return Code(code), ""
}

// Details returns the contents of grpc-status-details-bin; nil if it is missing or invalid.
func (s *Status) Details() *Detail { return s.details }

// JSON returns the status as JSON: its google.rpc.Status and the name of its code, like the member error of HTTP+JSON
// responses.
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

// unescape decodes the percent-encoding of a grpc-message. Invalid escapes stay unchanged.
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

// rpc has the messages of error details, as far as A2A uses them.
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

// appendAny adds one detail: with the fields of its type if known, else in base64.
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

// Write writes the status of a call to the fields that StatusOf reads. The details are a JSON array in the form of
// Detail; nil writes none.
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

// anyOf converts a detail in JSON, which has one of the types of google.rpc, to a google.protobuf.Any.
func anyOf(detail jsondoc.Value) ([]byte, error) {
	url := detail.Get("@type").Text()
	of := rpc[strings.TrimPrefix(url[strings.LastIndexByte(url, '/')+1:], "google.rpc.")]
	if of == nil {
		return nil, wrong(detail, "of an unknown type")
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
