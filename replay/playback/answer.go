package playback

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/replay/compare"
)

// A responder gives the recorded answer of an exchange to one request.
type responder struct {
	*service
	exchange   *recorded
	substitute compare.Substitute
}

func (a *responder) run() {
	switch silenceOf(a.exchange.x) {
	case stays:
		a.stay()
	case breaks:
		panic(http.ErrAbortHandler)
	case noSilence:
	}
	res := a.exchange.x.Response
	head := capture.ParseResponseHead(res.Head)
	if !a.pause(res.At - max(0, a.exchange.x.Request.Body.At)) {
		return
	}
	overGRPC := a.exchange.call.Binding == a2a.GRPC
	switch {
	case a.call.Binding == a2a.GRPC && (res.Stream || !overGRPC):
		a.messages(&head)
		return
	case res.Stream && (!overGRPC || a.exchange.x.Streams() && len(res.Events) > 0):
		a.stream(&head)
		return
	}
	body, _ := res.Body.Decode(&head) // what could be decoded is what there is to give
	var failed *a2a.Error
	if overGRPC && res.Stream {
		body, failed = a.exchange.first()
	}
	body = compare.RewriteJSON(body, &a.exchange.call, a.substitute)
	status := head.Status
	answer := a2a.DecodeAnswer(&a.exchange.call, status, head.Fields.MediaType(), body)
	recorded := body
	body = a.p.offering(a.exchange, &answer, body, a.r)
	another := !bytes.Equal(body, recorded)
	if a.converts() {
		status, body = a.convert(&answer, failed, body)
	}
	a.head(&head)
	if tag := head.Fields.Get("ETag"); another && tag != "" {
		a.w.Header().Set("ETag", tagOf(tag, a.p.opts.Binding))
	}
	if status != http.StatusNoContent && status != http.StatusNotModified {
		a.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	a.w.WriteHeader(status)
	a.w.Write(body) //nolint:errcheck // the client has left
	a.broken()
}

// tagOf returns the tag of a card that offers another binding than the recorded one, whose tag is given.
func tagOf(recorded string, b a2a.Binding) string {
	return strings.TrimSuffix(recorded, `"`) + "-" + b.String() + `"`
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
		case "content-type", grpc.StatusField, grpc.MessageField, grpc.DetailsField, "grpc-encoding",
			"grpc-accept-encoding":
			if a.converts() {
				continue
			}
		}
		to.Add(f.Name, f.Value)
	}
	if a.converts() && to.Get("Content-Type") == "" {
		to.Set("Content-Type", "application/json")
		if a.call.Binding == a2a.GRPC {
			to.Set("Content-Type", "application/grpc")
		}
	}
}

// converts reports whether the answer was recorded in another binding than it is asked for.
func (a *responder) converts() bool { return a.call.Binding != a.exchange.call.Binding }

// convert converts the answer to the binding of the request. In 1.0 both hold the same objects (1.0 §9.4, §11.4).
func (a *responder) convert(answer *a2a.Answer, failed *a2a.Error, body []byte) (int, []byte) {
	if failed == nil {
		failed = answer.Err
	}
	if failed != nil {
		return refusalOf(failed).in(&a.call)
	}
	return http.StatusOK, a.enveloped(answer, body)
}

// enveloped returns what an answer or event holds in the form of the request's binding.
func (a *responder) enveloped(answer *a2a.Answer, data []byte) []byte {
	data = a.object(answer, data)
	if a.call.Binding != a2a.JSONRPC {
		return data
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("null")
	}
	return envelope(&a.call, "result", data)
}

// object returns the object in a recorded answer or event, without the envelope of JSON-RPC.
func (a *responder) object(answer *a2a.Answer, data []byte) []byte {
	if a.exchange.call.Binding == a2a.JSONRPC {
		return a2a.Parse(data).Root.Get("result").Raw()
	}
	return data
}

// stream sends the events of a stream, each at its time.
func (a *responder) stream(head *capture.Head) {
	res := a.exchange.x.Response
	a.head(head)
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.w.WriteHeader(head.Status)
	a.flush()
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
		a.flush()
		if e.K > 0 {
			given++
		}
		if limit := a.p.opts.BreakAfter; limit > 0 && given >= limit {
			a.cut(given)
		}
	}
	a.endStream()
	if status, ok := res.GRPCStatus(); ok && status.Code != grpc.OK {
		_, data := refusalOf(a2a.ReadStatus(&a.exchange.call, &status).Err).in(&a.call)
		a.w.Write(eventOf(nil, data)) //nolint:errcheck // the client has left
	}
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
			_, data = refusalOf(answer.Err).in(&a.call)
		} else {
			data = a.enveloped(&answer, data)
		}
	}
	if !a.converts() && bytes.Equal(data, fields.Data) {
		return e.Raw
	}
	return eventOf(&fields, data)
}

// eventOf writes an event with the given data and the other fields of a recorded event, which may be nil.
func eventOf(fields *capture.EventFields, data []byte) []byte {
	var b bytes.Buffer
	if fields == nil {
		fields = &capture.EventFields{}
	}
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
