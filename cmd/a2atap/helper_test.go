package main

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer"
	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/recorder"
)

// tooLong ends a test whose recording does not come to its end.
const tooLong = 30 * time.Second

// stopped is what the end of a recording says.
func stopped(t *testing.T, r *recorder.Recording) *judgment.Result {
	t.Helper()
	type end struct {
		result *judgment.Result
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		result, _, err := r.Stop()
		ended <- end{result, err}
	}()
	select {
	case e := <-ended:
		if e.err != nil {
			t.Fatal(e.err)
		}
		return e.result
	case <-time.After(tooLong):
		t.Fatal("the recording does not end")
		return nil
	}
}

func callTask(client *http.Client, to string) error {
	body := `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`
	request, err := http.NewRequest(http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("A2A-Version", "1.0")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return errors.Join(err, answer.Body.Close())
}

// told is a Listener of findings.
type told struct {
	recorder.Silent
	finding func(analyzer.Finding)
}

func (l told) Finding(f analyzer.Finding) { l.finding(f) }
