package intake

import (
	"strconv"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// offset returns the time of an observation since the exchange began; NotKnown if it was not measured.
func (in *openExchange) offset(o *analysis.Observation) time.Duration {
	if o.At.IsZero() || in.X.Started.IsZero() {
		return capture.NotKnown
	}
	return o.At.Sub(in.X.Started)
}

// clientGone reports whether a client had ended its request at an offset, as far as the record shows.
func (in *openExchange) clientGone(at time.Duration) bool {
	return in.client.Side != "" && in.client.At >= 0 && at > in.client.At && in.client.How != capture.EndHalfClose
}

// toldByHead reports whether the client left after a head that shows the outcome of the call, so that it did not need
// the body: an error, or the success of a call without a result.
func (in *openExchange) toldByHead() bool {
	x := in.X
	if !x.Answered || x.Stream != nil || x.Call.Binding == a2a.GRPC || in.client.Side == "" || in.headAt < 0 ||
		in.client.At < in.headAt {
		return false
	}
	status := x.Response.Status
	return status >= 400 || status/100 == 2 && x.Call.Binding == a2a.HTTPJSON && x.Call.Operation == a2a.DeletePushConfig
}

// outcomeOfHead returns the outcome of a call by the head of its answer, unless the body has shown more.
func (in *openExchange) outcomeOfHead() analysis.Outcome {
	switch status := in.X.Response.Status; {
	case in.X.Outcome.Known():
		return in.X.Outcome
	case status >= 400:
		return analysis.Outcome{Failure: "HTTP " + strconv.Itoa(status)}
	}
	return analysis.Outcome{Succeeded: true}
}

// toldTooLate reports whether the client may have left before the answer showed the outcome of the call. A body that
// had been sent to the client completely before is not late, whenever it ended.
func (in *openExchange) toldTooLate(c *capture.Closed) bool {
	if !in.X.Outcome.Known() || !in.clientGone(in.toldAt) || in.toldBefore() {
		return false
	}
	return in.client.Left() || c.Fault == nil || c.Fault.Side == "client"
}

// toldBefore reports whether the client had been sent the whole body of a non-streaming answer when it ended its
// request.
func (in *openExchange) toldBefore() bool {
	return in.X.Stream == nil && in.X.Ended && in.response.Size > 0 && in.client.Response >= in.response.Size
}

// outcomeOfLate returns the outcome of a call whose client may have left before the answer came.
func (in *openExchange) outcomeOfLate(c *capture.Closed) analysis.Outcome {
	if in.client.Left() || c.Fault != nil && !in.X.Ended {
		return analysis.Outcome{Failure: analysis.ClientLeft}
	}
	in.lack("its client had stopped sending before the answer came,", "and it is unknown whether it was still reading")
	return analysis.Outcome{}
}

// leftEarly reports whether the client left a stream before the stream had sent everything that a client waits for.
func (in *openExchange) leftEarly(c *capture.Closed) bool {
	s := in.X.Stream
	if s == nil || c.Fault == nil || c.Fault.Side != "client" || notPassedOn(c.Fault) {
		return false
	}
	return !s.Over || in.clientGone(in.overAt)
}
