package peers

import (
	"bytes"
	"strings"
	"testing"

	"a2atap/analyzer/judgment"
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/must"
	"a2atap/proxy/record"
)

// checkRedaction checks that the tokens of push configurations are removed from the places that the protocol defines
// for secrets, and that the redacted capture has the same findings.
func checkRedaction(t *testing.T, src capture.Source, want *judgment.Result) {
	t.Helper()
	memory := capture.NewMemory(capture.Info{})
	sink := record.NewSink(memory, redact.Options{Key: bytes.Repeat([]byte{1}, 32), Describer: secrets{}})
	for s, err := range src.Steps(t.Context(), 1) {
		if err == nil {
			err = sink.Append(s)
		}
		must.Do(t, err)
	}
	must.Do(t, sink.Close())
	if said := tokensIn(t, src); len(said) == 0 {
		t.Error("no exchange holds a token, so hiding them shows nothing")
	}
	if told := tokensIn(t, memory.Reader()); len(told) > 0 {
		t.Errorf("the tokens of the script are still in:\n%s", strings.Join(told, "\n"))
	}
	same(t, "with secrets hidden", want, judge(t, memory.Reader()))
}

// tokensIn returns the titles of the exchanges that hold a token of the script.
func tokensIn(t *testing.T, src capture.Source) (titles []string) {
	t.Helper()
	for _, x := range capturetest.ReadAll(t, src) {
		whole := string(x.Request.Head) + string(x.Request.Body.Data) + callOf(x).Answer
		if strings.Contains(whole, "deleted-token") || strings.Contains(whole, "inline-token") {
			titles = append(titles, title(x))
		}
	}
	return titles
}

// secrets is a describer that knows where A2A has secrets, but has no keys.
type secrets struct{}

// Request implements capture.Describer.
func (secrets) Request(x *capture.Exchange, _ *capture.Parsed) capture.Description {
	return hide(reading.Read(x))
}

// Event implements capture.Describer.
func (secrets) Event(x *capture.Exchange, e *capture.Event, _ *capture.Parsed) capture.Description {
	request := reading.Read(&capture.Exchange{Request: x.Request})
	return hide(reading.ReadEvent(&request.Call, e, nil))
}

// Response implements capture.Describer.
func (secrets) Response(x *capture.Exchange, _ *capture.Parsed) capture.Description {
	return hide(reading.Read(x))
}

func hide(r *reading.Reading) capture.Description {
	return capture.Description{Secrets: a2a.SecretPointers(r.Call.Operation, r.Dialects)}
}
