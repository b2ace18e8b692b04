package summary

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// ErrorName returns the name of an error for people, "TaskNotFound"; "" without one.
func ErrorName(err *a2a.Error) string {
	name := err.Name
	if (name == a2a.OtherError || name == a2a.NoErrorName) && err.CodeKnown {
		name = a2a.ErrorNameOf(err.Code, 0) // an agent may answer in the words of another version
	}
	switch name {
	case a2a.ParseError:
		return "ParseError"
	case a2a.InternalError:
		return "InternalError"
	}
	return strings.TrimSuffix(name.String(), "Error")
}

// Bounds of the short form of an id, in characters.
const (
	longestID = 20 // that is not shortened
	shortID   = 8  // of each visible end
)

// ShortID returns a short form of an id that people can distinguish and filters accept: the first digits of a UUID,
// otherwise the id with an asterisk for the omitted part. If a UUID begins with the time, as in version 7, or with
// zeros, its beginning is omitted instead, since many UUIDs share it. The id is untrusted text, and is sanitized.
func ShortID(id string) string {
	if u, err := uuid.Parse(id); err == nil && len(id) == len(u.String()) {
		switch first := id[:shortID]; {
		case u.Version() == 6: // both ends are the same for many
			return id
		case u.Version() == 7 || strings.Trim(first, first[:1]) == "":
			return "*" + id[len(id)-shortID:]
		default:
			return first
		}
	}
	if utf8.RuneCountInString(id) <= longestID {
		return analysis.Clean(id)
	}
	runes := []rune(id)
	return analysis.Clean(string(runes[:shortID]) + "*" + string(runes[len(runes)-shortID:]))
}

// DurationWords returns a short text for a duration, such as "12.0ms"; a dash if it is unknown.
func DurationWords(d time.Duration) string {
	switch {
	case d < 0:
		return "–"
	case d < time.Second:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%.2fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// CallWords describes a request: its operation, or its method in quotes; empty if it has neither.
func CallWords(c *a2a.Call) string {
	switch {
	case c.Asks() != a2a.NoOperation:
		return c.Asks().String()
	case c.Method != "":
		return analysis.QuoteText(c.Method)
	case c.Binding == a2a.JSONRPC && c.Doc.Err != nil:
		return "unreadable JSON"
	}
	return ""
}

// A Look is the kind of a word in an outcome, for colors.
type Look uint8

// The looks of words.
const (
	Plain   Look = iota
	Dim          // less important
	Bad          // something went wrong
	Warn         // something is missing
	OfState      // the state of a task: see Word.State
)

// A Word is a part of an outcome. Its text is safe to print.
type Word struct {
	Text  string
	Look  Look
	State a2a.State // for OfState
}

// statusWords returns an HTTP status with its standard text, such as "401 Unauthorized".
func statusWords(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}
