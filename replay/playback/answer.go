package playback

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/live"
)

// A responder gives the recorded answer of an exchange to one request.
type responder struct {
	*service
	exchange   *exchange
	substitute compare.Substitute
}

func (a *responder) run() {
	res := a.exchange.x.Response
	head := capture.ParseResponseHead(res.Head)
	if !a.pause(res.At - max(0, a.exchange.x.Request.Body.At)) {
		return
	}
	if res.Stream {
		a.stream(&head)
		return
	}
	body, _ := res.Body.Decode(&head) // what could be decoded is what there is to give
	body = compare.RewriteJSON(body, &a.exchange.call, a.substitute)
	status := head.Status
	if a.converts() {
		status, body = a.convert(status, head.Fields.MediaType(), body)
	}
	a.head(&head)
	if status != http.StatusNoContent && status != http.StatusNotModified {
		a.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	a.w.WriteHeader(status)
	a.w.Write(body) //nolint:errcheck // the client has left
	a.broken()
}

// broken cuts the answer off where the recorded agent did.
func (a *responder) broken() {
	if f := a.exchange.x.Fault; f != nil && f.Side == "agent" {
		panic(http.ErrAbortHandler)
	}
}

// head sets the recorded header fields, except those of the recorded connection or of the coding of the body.
func (a *responder) head(head *capture.Head) {
	to := a.w.Header()
	for _, f := range head.Fields {
		switch strings.ToLower(f.Name) {
		case "connection", "keep-alive", "transfer-encoding", "trailer", "upgrade", "content-length", "content-encoding",
			"date":
			continue
		case "content-type":
			if a.converts() {
				continue
			}
		}
		to.Add(f.Name, f.Value)
	}
	if a.converts() && to.Get("Content-Type") == "" {
		to.Set("Content-Type", "application/json")
	}
}

// converts reports whether the answer was recorded in another binding than it is asked for.
func (a *responder) converts() bool { return a.call.Binding != a.exchange.call.Binding }

// convert converts the answer to the binding of the request. In 1.0 both hold the same objects (1.0 §9.4, §11.4).
func (a *responder) convert(status int, mediaType string, body []byte) (int, []byte) {
	answer := a2a.DecodeAnswer(&a.exchange.call, status, mediaType, body)
	if answer.Err != nil {
		return (&refusal{name: answer.Err.Name, message: answer.Err.Message}).in(&a.call)
	}
	return http.StatusOK, a.enveloped(&answer, body)
}

// enveloped puts the object of an answer or event into an envelope, or takes it out of one.
func (a *responder) enveloped(answer *a2a.Answer, data []byte) []byte {
	if a.call.Binding == a2a.JSONRPC {
		if len(bytes.TrimSpace(data)) == 0 {
			data = []byte("null")
		}
		return envelope(&a.call, "result", data)
	}
	return answer.Result.Raw()
}

// stream sends the events of a stream, each at its time.
func (a *responder) stream(head *capture.Head) {
	res := a.exchange.x.Response
	a.head(head)
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.w.WriteHeader(head.Status)
	flush := http.NewResponseController(a.w)
	flush.Flush() //nolint:errcheck // the client has left: the next write tells
	before := res.At
	given := 0
	for i := range res.Events {
		e := &res.Events[i]
		if !a.pause(e.At - before) {
			return
		}
		before = e.At
		if _, err := a.w.Write(a.event(e)); err != nil {
			return
		}
		flush.Flush() //nolint:errcheck // as above
		if e.K > 0 {
			given++
		}
		if limit := a.p.opts.BreakAfter; limit > 0 && given >= limit {
			a.cut(given)
		}
	}
	a.broken()
}

// cut ends a stream that is to end here. It panics, which tells net/http to close the connection.
func (a *responder) cut(events int) {
	a.mark(faultMade+"the stream was cut after %d events", events)
	a.p.mu.Lock()
	a.p.report.Cut++
	a.p.mu.Unlock()
	panic(http.ErrAbortHandler)
}

// event returns the bytes of an event with the ids of the live client. Where nothing is to be replaced they are the
// recorded ones.
func (a *responder) event(e *capture.Event) []byte {
	fields := e.Fields()
	if !fields.HasData || e.K == 0 {
		return e.Raw
	}
	data := compare.RewriteJSON(fields.Data, &a.exchange.call, a.substitute)
	if a.converts() {
		answer := a2a.DecodeEvent(&a.exchange.call, data)
		if answer.Err != nil {
			_, data = (&refusal{name: answer.Err.Name, message: answer.Err.Message}).in(&a.call)
		} else {
			data = a.enveloped(&answer, data)
		}
	}
	if bytes.Equal(data, fields.Data) {
		return e.Raw
	}
	var b bytes.Buffer
	if len(fields.Type) > 0 {
		b.WriteString("event: " + string(fields.Type) + "\n")
	}
	if fields.HasID {
		b.WriteString("id: " + string(fields.ID) + "\n")
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		b.WriteString("data: ")
		b.Write(line)
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// pause waits for a recorded time at the speed of the options. It reports whether the client is still there.
func (a *responder) pause(recorded time.Duration) bool {
	speed := a.p.opts.Speed
	if speed <= 0 || recorded <= 0 {
		return a.r.Context().Err() == nil
	}
	return live.Sleep(a.r.Context(), time.Duration(float64(recorded)/speed))
}
