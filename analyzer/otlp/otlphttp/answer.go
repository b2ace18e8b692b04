package otlphttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// An outcome is the outcome of one request.
type outcome struct {
	err      error         // why the spans were not taken, or not all of them; nil if they were
	rejected int64         // spans that the collector rejected from a request that it accepted
	again    bool          // a retry may help
	answered bool          // the collector is reachable
	wait     time.Duration // requested by the collector; 0 if unspecified
}

// maxAnswer bounds how much of an answer is read, in bytes.
const maxAnswer = 64 << 10

// read reads a collector's answer.
//
// Source: OTLP 1.10, "OTLP/HTTP Response".
func read(r *http.Response, now time.Time) outcome {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxAnswer)) // unreadable answers are ignored
	html := capture.MediaType(r.Header.Get("Content-Type")) == "text/html"
	if r.StatusCode/100 == 2 && html {
		return outcome{err: errors.New("the answer is a web page, so this is not a collector; check the URL")}
	}
	if r.StatusCode/100 == 2 {
		rejected, message := partialSuccess(body)
		if rejected <= 0 {
			return outcome{}
		}
		return outcome{err: fmt.Errorf("the collector did not accept all of them%s", said(message)), rejected: rejected}
	}
	text := strconv.Itoa(r.StatusCode) + " " + http.StatusText(r.StatusCode)
	switch {
	case r.StatusCode/100 == 3:
		text += ", which redirects; give the collector's final URL"
	case !html:
		text += said(statusMessage(body))
	}
	o := outcome{err: fmt.Errorf("the collector answered %s", strings.TrimSpace(text)), answered: true}
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		o.again, o.wait = true, retryAfter(r.Header.Get("Retry-After"), now)
	}
	return o
}

// said returns a collector's text for a message.
func said(message string) string {
	if message = strings.TrimSpace(analysis.Clip(message)); message == "" {
		return ""
	}
	return ": " + message
}

// maxWait bounds how long a collector can make us wait.
const maxWait = time.Minute

// retryAfter reads a header Retry-After.
//
// Source: RFC 9110, 10.2.3.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxWait)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, min(at.Sub(now), maxWait))
	}
	return 0
}

// The fields of the messages that a collector answers with: ExportTraceServiceResponse and its
// ExportTracePartialSuccess, and google.rpc.Status. Their packages would link gRPC.
const (
	fieldPartialSuccess = 1
	fieldRejectedSpans  = 1
	fieldErrorMessage   = 2
	fieldStatusMessage  = 2
)

// partialSuccess reads how many spans a collector rejected, and why. It ignores unreadable bodies.
func partialSuccess(body []byte) (rejected int64, message string) {
	inner, _ := field(body, fieldPartialSuccess)
	text, _ := field(inner, fieldErrorMessage)
	_, number := field(inner, fieldRejectedSpans)
	return int64(number), string(text)
}

// statusMessage reads why a collector rejected everything. It ignores unreadable bodies.
func statusMessage(body []byte) string {
	text, _ := field(body, fieldStatusMessage)
	return string(text)
}

// field returns the last field of that number in a message: bytes or a number.
func field(message []byte, number protowire.Number) (data []byte, value uint64) {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, 0
		}
		message = message[size:]
		switch kind {
		case protowire.BytesType:
			var b []byte
			if b, size = protowire.ConsumeBytes(message); size >= 0 && n == number {
				data = b
			}
		case protowire.VarintType:
			var v uint64
			if v, size = protowire.ConsumeVarint(message); size >= 0 && n == number {
				value = v
			}
		default:
			size = protowire.ConsumeFieldValue(n, kind, message)
		}
		if size < 0 {
			return nil, 0
		}
		message = message[size:]
	}
	return data, value
}
