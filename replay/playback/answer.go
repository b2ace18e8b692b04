package playback

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
)

// A responder gives the recorded answer of an exchange to one request.
type responder struct {
	exchange   *exchange
	call       *a2a.Call
	substitute compare.Substitute
	opts       *Options
	w          http.ResponseWriter
	r          *http.Request
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
		return errorIn(a.call, answer.Err.Name, answer.Err.Message)
	}
	return http.StatusOK, a.enveloped(&answer, body)
}

// enveloped puts the object of an answer or event into an envelope, or takes it out of one.
func (a *responder) enveloped(answer *a2a.Answer, data []byte) []byte {
	if a.call.Binding == a2a.JSONRPC {
		if len(bytes.TrimSpace(data)) == 0 {
			data = []byte("null")
		}
		return envelope(a.call, "result", data)
	}
	return answer.Result.Raw()
}

func envelope(call *a2a.Call, member string, value []byte) []byte {
	id := call.ID.Raw()
	if id == nil {
		id = []byte("null")
	}
	return bytes.Join([][]byte{
		[]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"` + member + `":`), value,
		[]byte("}"),
	}, nil)
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
		if a.opts.BreakAfter > 0 && given >= a.opts.BreakAfter {
			panic(http.ErrAbortHandler)
		}
	}
	a.broken()
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
			_, data = errorIn(a.call, answer.Err.Name, answer.Err.Message)
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
	if a.opts.Speed <= 0 || recorded <= 0 {
		return a.r.Context().Err() == nil
	}
	return sleep(a.r.Context(), time.Duration(float64(recorded)/a.opts.Speed))
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// cardURLs returns, for the URLs of the recorded agent in a card, those of the player: the origin that the client
// asked.
func cardURLs(a *exchange, r *http.Request) map[string]string {
	if a.call.Operation != a2a.GetCard && a.call.Operation != a2a.GetExtendedCard {
		return nil
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	urls := map[string]string{}
	for payload := range a.payloads() {
		if payload.Kind != a2a.CardPayload {
			continue
		}
		for _, i := range a2a.DecodeCard(payload.Value).Interfaces {
			if u, err := url.Parse(i.URL); err == nil && u.Host != "" {
				u.Scheme, u.Host = scheme, r.Host
				urls[i.URL] = u.String()
			}
		}
	}
	return urls
}

// refuse answers a request that nothing matches, with an error of its binding.
func refuse(w http.ResponseWriter, call *a2a.Call, m *Miss) {
	message := "playback: " + m.String()
	if call.Binding == a2a.NoBinding {
		http.Error(w, message, http.StatusNotFound)
		return
	}
	status, body := errorIn(call, a2a.InternalError, message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the client has left
}

// errorIn writes an error in the binding of a call: JSON-RPC 2.0 §5.1, or A2A 1.0 §11.6.
func errorIn(call *a2a.Call, name a2a.ErrorName, message string) (status int, body []byte) {
	row, ok := name.Row()
	if !ok {
		row, _ = a2a.InternalError.Row()
	}
	if call.Binding == a2a.JSONRPC {
		value, err := json.Marshal(map[string]any{"code": row.Code, "message": message})
		if err != nil {
			value = []byte(`{"code":-32603,"message":"playback"}`) // not reached: both can be written
		}
		return http.StatusOK, envelope(call, "error", value)
	}
	status = http.StatusInternalServerError
	if len(row.Status) > 0 {
		status = row.Status[0]
	}
	inner := map[string]any{"code": status, "message": message}
	if row.Reason != "" {
		inner["details"] = []any{map[string]string{
			"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": row.Reason, "domain": "a2a-protocol.org",
		}}
	}
	body, err := json.Marshal(map[string]any{"error": inner})
	if err != nil {
		body = []byte(`{"error":{"code":500,"message":"playback"}}`) // not reached: all of it can be written
	}
	return status, body
}
