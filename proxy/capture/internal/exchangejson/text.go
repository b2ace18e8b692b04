package exchangejson

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
)

// Head makes a raw head of a first line and a list of fields. Pseudo-fields of HTTP/2 are left out; a value of several
// lines, as browsers join fields of one name, becomes several fields.
func Head(line string, fields capture.Fields) []byte {
	head := append([]byte(oneLineOf(line)), "\r\n"...)
	for _, f := range fields {
		if strings.HasPrefix(f.Name, ":") {
			continue
		}
		for value := range strings.SplitSeq(f.Value, "\n") {
			head = fmt.Appendf(head, "%s: %s\r\n", oneLineOf(f.Name), oneLineOf(value))
		}
	}
	return append(head, "\r\n"...)
}

var noLineEnds = strings.NewReplacer("\r", " ", "\n", " ")

func oneLineOf(s string) string { return noLineEnds.Replace(strings.Trim(s, "\r\n")) }

// Time is a time as both formats have it.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// ParseTime reads a time; some writers leave the zone out, and mean UTC.
func ParseTime(s string) (time.Time, error) {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700",
		"2006-01-02T15:04:05.999999999",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-01-01T00:00:00.000Z", s)
}

// errCutOff is an unexpected end in plain words.
var errCutOff = errors.New("it is cut off here")

// Explain returns an error with the place of invalid JSON, without the library's message.
func Explain(err error) error {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		what := fmt.Sprintf("unexpected %s", semantic.JSONKind)
		if semantic.Err != nil {
			what = semantic.Err.Error()
		}
		return fmt.Errorf("%s: %s", fieldName(semantic.JSONPointer), what)
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		why := syntactic.Err
		if errors.Is(why, io.ErrUnexpectedEOF) {
			why = errCutOff
		}
		return fmt.Errorf("%s: byte %d: %w", fieldName(syntactic.JSONPointer), syntactic.ByteOffset, why)
	}
	return err
}

// fieldName writes a JSON Pointer as people name fields: response.headers[3].name.
func fieldName(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if len(token) > 0 && token[0] >= '0' && token[0] <= '9' {
			fmt.Fprintf(&b, "[%s]", token)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	if b.Len() == 0 {
		return "the entry"
	}
	return b.String()
}
