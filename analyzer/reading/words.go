package reading

import (
	"fmt"
	"net/http"
	"strings"

	"a2atap/analyzer"
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
	words, message := r.ErrorName(e), analyzer.Clip(e.Message)
	switch {
	case words == "" || message == "":
		return words + message
	}
	return words + ": " + message
}

// ErrorName is ErrorWords without the message.
func (r *Reading) ErrorName(e *a2a.Error) string {
	name := analyzer.ErrorName(e)
	if name == "" {
		name = analyzer.Clip(e.Reason)
	}
	switch {
	case e.CodeKnown && (r.Call.Binding != a2a.HTTPJSON || e.HTTPStatus == 0):
		return strings.TrimSpace(fmt.Sprintf("%d %s", e.Code, name))
	case e.HTTPStatus != 0 && (name != "" || e.Message != ""):
		return strings.TrimSpace(fmt.Sprintf("%d %s", e.HTTPStatus, name))
	}
	return name
}
