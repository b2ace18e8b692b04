package grpc

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

var grpcMessageCount = &analysis.Rule{
	ID:     "grpc-message-count",
	Title:  "gRPC call with more or fewer messages than its method has",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Either: true,
	On:     analysis.RequestSeen | analysis.AnswerSeen,
	Cites:  rule.Cite("6", a2a.V0_2).And("3.2.2", a2a.V0_3).And("10.1", a2a.V1_0),
	Stands: "0.2.6:proto:2 0.3.0:87 1.0.1:2513",
	Doc: `Every A2A method expects one message, and all but the streaming methods answer a successful call with one
message. With none or several, libraries fail the call with INTERNAL or UNIMPLEMENTED, or the call hangs. Some servers
ignore the second message of a request, and its content is lost.`,
	Fix: `Call the method, and answer it, through generated code. Send a list as several calls, or as one message with
a list. A method without a result still answers with an empty message.`,
	Silent: `Answers with a status other than OK, streams, answers that broke off, and recordings with gaps.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !x.Call.RPC.Known() {
			return
		}
		expected := "expected one " + strings.TrimPrefix(typeOf(p), "a ")
		if p.Kind == analysis.RequestSeen {
			judgeRequestCount(p, expected)
			return
		}
		if x.Call.Streams || x.Cut || p.Answer.Err != nil || !grpc.IsMedia(x.Response.Fields.Get("Content-Type")) {
			return
		}
		p.Applied()
		switch x.Messages {
		case 0:
			if capture.Foreign(x.ID) { // other programs may leave out bodies
				return
			}
			p.Report(x.ResponsePlace().Body(), "the answer has status OK and no message", expected)
		case 1:
		default:
			p.Report(x.ResponsePlace().Event(2), fmt.Sprintf("the answer has %d messages", x.Messages), expected)
		}
	},
}

// judgeRequestCount judges how many messages a request has.
func judgeRequestCount(p *analysis.Pass, expected string) {
	m := p.Exchange.Message
	if m == nil || m.Limit() {
		return
	}
	p.Applied()
	switch {
	case m.Err == grpc.ErrNoMessage:
		p.Report(p.Place, "the request has no message", expected, rule.BySender(p))
	case m.Err == nil && len(m.Rest) > 0:
		p.Report(p.Place, "another message follows the message of the request", expected, rule.BySender(p))
	}
}

var grpcEncoding = &analysis.Rule{
	ID:     "grpc-encoding",
	Title:  "gRPC message in a compression that the receiver does not know",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Either: true,
	On:     analysis.CallEnded,
	Cites:  rule.Cite("gRPC over HTTP/2 §Message-Encoding", a2a.V0_2, a2a.V0_3, a2a.V1_0),
	Doc: `grpc-encoding names the compression of the messages that follow, and grpc-accept-encoding the compressions
that the sender can decompress. A server refuses a call in an unknown compression with UNIMPLEMENTED; a client fails
an answer in one with INTERNAL.`,
	Fix: `Compress with gzip, and answer only in a compression that the client lists in grpc-accept-encoding or has
used itself.`,
	Silent: `Any compression in requests that the agent does not refuse with UNIMPLEMENTED or INTERNAL. Answers in
gzip, deflate or snappy to a client that does not say what it accepts.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		asked := encodingOf(x.Request.Fields)
		if asked != "" {
			p.Applied()
			if status, told := x.GRPCStatus(); told && !isStandard(asked) && !slices.Contains(accepts(x.Response.Fields), asked) &&
				(status.Code == grpc.Unimplemented || status.Code == grpc.Internal) {
				p.Report(x.RequestPlace().Header(encodingField), "grpc-encoding is "+analysis.QuoteText(asked)+
					", and the agent refuses it with "+status.Code.String(), "expected gzip, deflate, snappy or identity",
					analysis.By(a2a.Client))
			}
		}
		answered := encodingOf(x.Response.Fields)
		if answered == "" || !x.HeadersKept() || !grpc.IsMedia(x.Response.Fields.Get("Content-Type")) {
			return
		}
		p.Applied()
		known := accepts(x.Request.Fields)
		switch {
		case answered == "identity", answered == asked, slices.Contains(known, answered):
		case len(known) > 0:
			p.Report(x.ResponsePlace().Header(encodingField), "grpc-encoding is "+analysis.QuoteText(answered),
				"expected one of grpc-accept-encoding, "+analysis.QuoteText(strings.Join(known, ", ")))
		case !isStandard(answered):
			p.Report(x.ResponsePlace().Header(encodingField), "grpc-encoding is "+analysis.QuoteText(answered)+
				", and the client sends no grpc-accept-encoding", "expected identity")
		}
	},
}

const encodingField = "grpc-encoding"

// isStandard reports whether a compression is one that gRPC itself names.
//
// Source: gRPC over HTTP2, "Content-Coding".
func isStandard(encoding string) bool {
	return slices.Contains([]string{"identity", "gzip", "deflate", "snappy"}, encoding)
}

// encodingOf returns the compression that a head names, in lower case.
func encodingOf(fields capture.Fields) string {
	return strings.ToLower(strings.TrimSpace(fields.Get(encodingField)))
}

// accepts returns the compressions that the sender of a head can decode.
func accepts(fields capture.Fields) []string {
	var list []string
	for _, value := range fields.Values("grpc-accept-encoding") {
		for one := range strings.SplitSeq(value, ",") {
			if one = strings.ToLower(strings.TrimSpace(one)); one != "" {
				list = append(list, one)
			}
		}
	}
	return list
}

var grpcContentType = &analysis.Rule{
	ID:     "grpc-content-type",
	Title:  "gRPC call not labeled application/grpc",
	Level:  analysis.Must,
	Side:   a2a.Agent,
	Either: true,
	On:     analysis.CallEnded,
	Cites:  rule.Cite("gRPC over HTTP/2 §Requests", a2a.V0_2, a2a.V0_3, a2a.V1_0),
	Doc: `gRPC requests and answers have the Content-Type application/grpc, optionally with a plus sign and the
encoding of messages. Servers refuse any other type with HTTP 415, and clients fail the call with UNKNOWN, whatever
its messages and status are.`,
	Fix: `Let the client and server libraries write the field. A proxy or middleware in between must pass it through.`,
	Silent: `Answers with an HTTP status other than 200, as gateways send them. Requests of Connect and gRPC-Web,
which use the same paths.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		asked := x.Request.Fields.MediaType()
		if !capture.IsGRPC(asked) {
			if x.HeadersKept() && meansGRPC(x) {
				p.Applied()
				p.Report(x.RequestPlace().Header("Content-Type"), rule.ContentType(x.Request.Fields.Values("Content-Type")),
					"expected application/grpc", analysis.By(a2a.Client))
			}
			return
		}
		if !x.Answered || x.Response.Status != 200 || x.Cut || p.End.Fault != nil || !rule.LabelKept(x, x.Response.Fields) {
			return
		}
		p.Applied()
		if !capture.IsGRPC(x.Response.Fields.MediaType()) {
			p.Report(x.ResponsePlace().Header("Content-Type"), rule.ContentType(x.Response.Fields.Values("Content-Type")),
				"expected application/grpc")
		}
	},
}

// meansGRPC reports whether a request without a gRPC content type is a gRPC request anyway: it announces that it
// accepts trailers, or has one message with its prefix. Connect and gRPC-Web have content types of their own.
func meansGRPC(x *analysis.Exchange) bool {
	label := x.Request.Fields.MediaType()
	if strings.HasPrefix(label, "application/grpc-web") || strings.HasPrefix(label, "application/connect") {
		return false
	}
	if strings.EqualFold(strings.TrimSpace(x.Request.Fields.Get("TE")), "trailers") {
		return true
	}
	if x.Message != nil { // read by its path, since it has no label
		return x.Message.Err == nil
	}
	frame, _, ok := grpc.Cut(x.Body)
	return ok && frame.Whole() && !frame.Reserved
}

// typeOf returns the expected type of the current message.
func typeOf(p *analysis.Pass) string {
	if p.Kind == analysis.RequestSeen {
		return "a " + p.Exchange.Call.RPC.Request.Name()
	}
	return "a " + p.Exchange.Call.RPC.Answer.Name()
}
