package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"a2atap/proxy/capture"
)

// A wrong is an error in a request. The page shows it unchanged.
type wrong struct{ error }

// answer answers with the JSON of what f returns.
func answer[T any](f func(*http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		status := http.StatusInternalServerError
		var asked wrong
		switch {
		case err == nil:
			status = http.StatusOK
		case errors.As(err, &asked):
			status = http.StatusBadRequest
		case errors.Is(err, capture.ErrNotFound):
			status = http.StatusNotFound
		case errors.Is(err, errNoReading):
			status = http.StatusServiceUnavailable
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if err != nil {
			json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) //nolint:errcheck // the page is gone
			return
		}
		json.NewEncoder(w).Encode(v) //nolint:errcheck // the same
	}
}

// errNoReading means that the capture has nothing to show yet.
var errNoReading = errors.New("the capture has not been checked yet")

// number returns a parameter of the query, 0 if it is missing.
func number(r *http.Request, name string) (uint64, error) {
	text := r.FormValue(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, wrong{fmt.Errorf("%s is %q; write a whole number", name, text)}
	}
	return n, nil
}
