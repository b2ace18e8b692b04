package summary

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// ErrorName returns the name of an error as people say it, "TaskNotFound"; "" if it has none.
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
	shortID   = 8  // of each end that is kept
)

// ShortID returns what people tell ids apart by, in a form that filters take back: the first digits of a UUID, and
// otherwise the id with an asterisk for what was left out. What is left out of a UUID that begins with the time, as
// version 7 does, or with zeros, is its beginning, which is the same for many. The id is foreign text, and cleaned.
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

// DurationWords returns a duration in few letters, such as "12.0ms"; one that is not known is a dash.
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

// CallWords says what a request asks: an operation, or the method that it names in quotes; empty if it shows neither.
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
