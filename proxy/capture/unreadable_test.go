package capture_test

import (
	"errors"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/grpc"
)

// A note that says why a message cannot be read is read as it was written; other notes are not.
func TestUnreadable(t *testing.T) {
	reasons := []error{
		&grpc.Error{Reason: "id is not UTF-8"},
		&grpc.Error{Reason: "id is not UTF-8", Pointer: "/message/parts/0"},
		&grpc.Error{Reason: "messages are nested too deeply", Limit: true},
		&grpc.Error{Reason: "an invalid tag", Pointer: "/metadata", Limit: true},
	}
	for _, err := range append(reasons, grpc.Reasons...) {
		for _, event := range []int{0, 1, 2, 1_000_000} {
			u := &capture.Unreadable{Event: event, Err: err}
			got, ok := capture.ParseUnreadable(u.Error())
			if !ok || got.Event != event || got.Reading().Limit() != u.Reading().Limit() {
				t.Errorf("%q: got %+v, %v", u.Error(), got, ok)
			}
			expect.Equal(t, u.Error(), err.Error(), got.Err.Error())
			was, isFault := errors.AsType[*grpc.Error](err)
			now, isStill := errors.AsType[*grpc.Error](got.Err)
			if isFault != isStill || isFault && *was != *now {
				t.Errorf("%q: got %#v", u.Error(), got.Err)
			}
		}
	}
	deep := &capture.Unreadable{Err: &grpc.Error{Reason: "an invalid tag", Pointer: strings.Repeat("/0", 10_000)}}
	expect.Equal(t, "", "content is not recorded: the message of the request cannot be read: an invalid tag", deep.Error())
	for _, note := range []string{
		"", "content is not recorded: ", "content is not recorded, since it could not be searched for secrets: too long",
		"content is not recorded: the message of the request", "content is not recorded: message 0 of the answer cannot be read: x",
		"content is not recorded: message x of the answer cannot be read: x", "content is not recorded: something cannot be read: x",
	} {
		if got, ok := capture.ParseUnreadable(note); ok {
			t.Errorf("%q: got %+v", note, got)
		}
	}
}
