package grpc_test

import (
	"encoding/base64"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
	"a2atap/proxy/must"
)

// TestDetails compares what becomes of grpc-status-details-bin with what protojson makes of it.
func TestDetails(t *testing.T) {
	t.Parallel()
	sent := &status.Status{Code: 5, Message: "gone"}
	for _, detail := range []proto.Message{
		&errdetails.ErrorInfo{Reason: "TASK_NOT_FOUND", Domain: "a2a-protocol.org", Metadata: map[string]string{"k": "v"}},
		&errdetails.ErrorInfo{},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "id", Description: "wrong"}}},
		&structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewNumberValue(1)}},
	} {
		held := must.Get(anypb.New(detail))(t)
		sent.Details = append(sent.Details, held)
	}
	wire := must.Get(proto.Marshal(sent))(t)
	theirs := must.Get(protojson.Marshal(sent))(t)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding} {
		s, ok := grpc.StatusOf(trailer("5", "gone", encoding.EncodeToString(wire)))
		if d := s.Details(); !ok || s.Detail != nil || d == nil || d.Code != grpc.NotFound || d.Message != "gone" {
			t.Fatalf("got %+v, %v", s, ok)
		}
		want := parse(t, theirs).(map[string]any)
		want["status"] = "NOT_FOUND"
		expect.Same(t, "", any(want), parse(t, s.JSON()))
	}
	s, _ := grpc.StatusOf(trailer("5", "", "AAAA"))
	if s.Detail == nil || s.Details() != nil {
		t.Errorf("got %+v for bytes that are no status", s)
	}
}
