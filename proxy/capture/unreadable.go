package capture

import (
	"errors"
	"strconv"
	"strings"

	"a2atap/proxy/grpc"
)

// An Unreadable is the reason why a gRPC message cannot be decoded. Its bytes are withheld, since they cannot be
// searched for secrets. It is recorded as a note of the exchange, before the step of the message, without any of its
// content.
type Unreadable struct {
	Event int   // number of the message in the answer; 0 for the message of the request
	Err   error // of package grpc
}

// The first and second parts of the notes about messages that cannot be read.
const (
	withheld      = "content is not recorded: "
	requestsOwn   = "the message of the request"
	answersOwn    = "message "
	ofTheAnswer   = " of the answer"
	cannotBeRead  = " cannot be read: "
	isNotReadHere = " is not read here: " // but may be in order
	atPointer     = " at /"
)

// maxReason bounds the reason in a note, in bytes.
const maxReason = 400

// Error returns the note.
func (u *Unreadable) Error() string {
	which, how, why := requestsOwn, cannotBeRead, u.Err.Error()
	if u.Event > 0 {
		which = answersOwn + strconv.Itoa(u.Event) + ofTheAnswer
	}
	if u.Reading().Limit() {
		how = isNotReadHere
	}
	if fault, ok := errors.AsType[*grpc.Error](u.Err); ok && len(why) > maxReason {
		why = fault.Reason // the place is deep in lists of lists
	}
	return withheld + which + how + why[:min(len(why), maxReason)]
}

// Reading returns the message as it was read.
func (u *Unreadable) Reading() *grpc.Reading { return &grpc.Reading{Err: u.Err} }

// ParseUnreadable reads the note about a message that cannot be read; ok is false for other notes.
func ParseUnreadable(note string) (u Unreadable, ok bool) {
	rest, ok := strings.CutPrefix(note, withheld)
	if !ok {
		return u, false
	}
	which, why, ok := strings.Cut(rest, cannotBeRead)
	limit := !ok
	if limit {
		which, why, ok = strings.Cut(rest, isNotReadHere)
	}
	switch number, isAnswer := strings.CutPrefix(strings.TrimSuffix(which, ofTheAnswer), answersOwn); {
	case !ok:
		return u, false
	case isAnswer:
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return u, false
		}
		u.Event = n
	case which != requestsOwn:
		return u, false
	}
	u.Err = reasonIn(why, limit)
	return u, true
}

// reasonIn returns the error of package grpc that corresponds to this reason.
func reasonIn(text string, limit bool) error {
	for _, known := range grpc.Reasons {
		if known.Error() == text {
			return known
		}
	}
	fault := &grpc.Error{Reason: text, Limit: limit}
	if i := strings.LastIndex(text, atPointer); i >= 0 {
		fault.Reason, fault.Pointer = text[:i], text[i+len(atPointer)-1:]
	}
	return fault
}
