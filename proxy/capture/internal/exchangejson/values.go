package exchangejson

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
)

// A Status is how a call over gRPC came out.
type Status struct {
	Status  string `json:"status"` // by its name, such as "NOT_FOUND"
	Message string `json:"message,omitzero"`
}

// StatusOf returns the status of an exchange over gRPC, for any service; nil for other exchanges, and without a status.
func StatusOf(x *capture.Exchange) *Status {
	if x.Response == nil {
		return nil
	}
	head := capture.ParseResponseHead(x.Response.Head)
	if !capture.IsGRPC(head.Fields.MediaType()) {
		return nil
	}
	status, told := x.Response.GRPCStatus()
	if !told {
		return nil
	}
	return &Status{status.Code.String(), strings.ToValidUTF8(status.Message, "\uFFFD")}
}

// raw is bytes in JSON: a string if they are UTF-8, else {"base64": "..."}.
type raw []byte

// MarshalJSON implements json.Marshaler.
func (r raw) MarshalJSON() ([]byte, error) {
	if utf8.Valid(r) {
		return jsontext.AppendQuote(nil, string(r))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(r)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *raw) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		text, err := jsontext.AppendUnquote([]byte{}, data)
		*r = text
		return err
	}
	var coded struct {
		Base64 *string `json:"base64"`
	}
	if err := json.Unmarshal(data, &coded); err != nil {
		return err
	}
	if coded.Base64 == nil {
		return fmt.Errorf(`want a string or {"base64": "..."}`)
	}
	raw, err := base64.StdEncoding.DecodeString(*coded.Base64)
	*r = raw
	return err
}

// Text returns bytes as the text of a JSON string, and "base64" if that is what it is.
func Text(data []byte) (text, encoding string) {
	if utf8.Valid(data) {
		return string(data), ""
	}
	return base64.StdEncoding.EncodeToString(data), "base64"
}

// Bytes is the other way. The result is never nil.
func Bytes(text, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return []byte(text), nil
	case "base64":
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("read base64: %w", err)
		}
		return data, nil
	}
	return nil, fmt.Errorf("unknown encoding %q; use base64", encoding)
}

// Milliseconds returns a duration in milliseconds, nil if it is not known.
func Milliseconds(d time.Duration) *float64 {
	if d == capture.NotKnown {
		return nil
	}
	return new(float64(d) / float64(time.Millisecond))
}

// Duration is the other way. What no duration can hold is not known.
func Duration(ms *float64) time.Duration {
	const most = float64(math.MaxInt64) / 2 / float64(time.Millisecond)
	if ms == nil || !(*ms >= 0 && *ms < most) {
		return capture.NotKnown
	}
	return time.Duration(math.Round(*ms * float64(time.Millisecond)))
}

// Known returns a pointer to a number, nil if it is NotKnown.
func Known(n int64) *int64 {
	if n == capture.NotKnown {
		return nil
	}
	return &n
}

// numberOf is the other way.
func numberOf(n *int64) int64 {
	if n == nil || *n < 0 {
		return capture.NotKnown
	}
	return *n
}
