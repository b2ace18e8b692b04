package intake

import (
	"strconv"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// offset returns when an observation was made, since the exchange began; NotKnown if that was not measured.
func (in *openExchange) offset(o *analysis.Observation) time.Duration {
	if o.At.IsZero() || in.X.Started.IsZero() {
		return capture.NotKnown
	}
	return o.At.Sub(in.X.Started)
}

// clientGone reports whether a client had ended its part at an offset, so far as the record tells.
func (in *openExchange) clientGone(at time.Duration) bool {
	return in.client.Side != "" && in.client.At >= 0 && at > in.client.At && in.client.How != capture.EndHalfClose
}

// toldByHead reports whether the client left after a head that tells how the call came out, so that it had no use for the
// body: an error, or the success of a call that returns nothing.
func (in *openExchange) toldByHead() bool {
	x := in.X
	if !x.Answered || x.Stream != nil || x.Call.Binding == a2a.GRPC || in.client.Side == "" || in.headAt < 0 ||
		in.client.At < in.headAt {
		return false
	}
	status := x.Response.Status
	return status >= 400 || status/100 == 2 && x.Call.Binding == a2a.HTTPJSON && x.Call.Operation == a2a.DeletePushConfig
}

// outcomeOfHead returns how a call came out by the head of its answer, unless the answer has told more.
func (in *openExchange) outcomeOfHead() analysis.Outcome {
	switch status := in.X.Response.Status; {
	case in.X.Outcome.Known():
		return in.X.Outcome
	case status >= 400:
		return analysis.Outcome{Failure: "HTTP " + strconv.Itoa(status)}
	}
	return analysis.Outcome{Succeeded: true}
}

// toldTooLate reports whether the answer told how the call came out when the client may have left. A body that the client
// had been sent whole by then is not late, whenever it ended.
func (in *openExchange) toldTooLate(c *capture.Closed) bool {
	if !in.X.Outcome.Known() || !in.clientGone(in.toldAt) || in.toldBefore() {
		return false
	}
	return in.client.Left() || c.Fault == nil || c.Fault.Side == "client"
}

// toldBefore reports whether the client had been sent the whole body of an answer that is no stream when it ended its
// part.
func (in *openExchange) toldBefore() bool {
	return in.X.Stream == nil && in.X.Ended && in.response.Size > 0 && in.client.Response >= in.response.Size
}

// outcomeOfLate returns how a call came out whose answer came when the client may have left.
func (in *openExchange) outcomeOfLate(c *capture.Closed) analysis.Outcome {
	if in.client.Left() || c.Fault != nil && !in.X.Ended {
		return analysis.Outcome{Failure: analysis.ClientLeft}
	}
	in.lack("its client had ended its sending before the answer came,", "and nothing shows whether it still read")
	return analysis.Outcome{}
}

// leftEarly reports whether the client left a stream before that had told all that a client waits for.
func (in *openExchange) leftEarly(c *capture.Closed) bool {
	s := in.X.Stream
	if s == nil || c.Fault == nil || c.Fault.Side != "client" || notPassedOn(c.Fault) {
		return false
	}
	return !s.Over || in.clientGone(in.overAt)
}
