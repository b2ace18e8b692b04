package analyzer

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"a2atap/proxy/a2a"
)

// Failure says what went wrong with an exchange that was answered with an HTTP status, 0 for none: its first protocol
// error, as ErrorWords has it, or else the status if that is an error, such as "401 Unauthorized". It is "" if nothing
// did.
func (r *Reading) Failure(status int) string {
	switch {
	case len(r.Errors) > 0:
		if words := r.ErrorWords(r.Errors[0]); words != "" {
			return words
		}
	case status < 400:
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// ErrorWords returns an error on one line: its code, or its HTTP status where that binding has no codes, its name and
// its message, such as "-32001 TaskNotFound: no such task". It is "" if nothing but an HTTP status says that there is
// an error. The message is foreign text, clipped as findings have it.
func (r *Reading) ErrorWords(e *a2a.Error) string {
	words, message := r.ErrorName(e), Clip(e.Message)
	switch {
	case words == "" || message == "":
		return words + message
	}
	return words + ": " + message
}

// ErrorName is ErrorWords without the message.
func (r *Reading) ErrorName(e *a2a.Error) string {
	name := shortName(e)
	if name == "" {
		name = Clip(e.Reason)
	}
	switch {
	case e.CodeKnown && (r.Call.Binding != a2a.HTTPJSON || e.HTTPStatus == 0):
		return strings.TrimSpace(fmt.Sprintf("%d %s", e.Code, name))
	case e.HTTPStatus != 0 && (name != "" || e.Message != ""):
		return strings.TrimSpace(fmt.Sprintf("%d %s", e.HTTPStatus, name))
	}
	return name
}

// shortName returns the name of an error as people say it, "TaskNotFound"; "" if it has none.
func shortName(err *a2a.Error) string {
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
		return Clean(id)
	}
	runes := []rune(id)
	return Clean(string(runes[:shortID]) + "*" + string(runes[len(runes)-shortID:]))
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
