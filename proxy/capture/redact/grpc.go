package redact

import (
	"errors"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
)

// maxMessages bounds the messages of one request that are searched for secrets. No method has more than one.
const maxMessages = 16

var (
	errMessage  = errors.New("it is not a readable message")
	errMessages = errors.New("too many messages follow each other")
)

// readMessage reads a message of gRPC into parsed, whose text becomes the message's JSON. The error is errNoTime if the
// message is too long for the time that is left.
func (r *redactor) readMessage(as *grpc.Codec, raw []byte, parsed *capture.Parsed) error {
	m := r.read(as, raw)
	parsed.Text, parsed.Doc = []byte{}, nil // no reader tries an unreadable message again
	if fault, is := errors.AsType[*grpc.Error](m.Err); (is && fault.Limit || errors.Is(m.Err, grpc.ErrTooLong)) && r.outOfTime() {
		return errNoTime
	}
	parsed.Message = m
	if m.Err == nil {
		parsed.Text, parsed.Doc = m.Text, &m.Doc
	}
	return nil
}

// read reads the first message of a body; if there is no time, only a short one.
func (r *redactor) read(as *grpc.Codec, raw []byte) *grpc.Reading {
	if r.outOfTime() {
		return as.ReadShort(raw)
	}
	return as.Read(raw)
}

// grpcMessages returns the gRPC messages in a body without their secrets; the body itself if they have none. m is the
// first message, already read. The error is a capture.Unreadable if one of them cannot be read: then all are withheld.
func (s search) grpcMessages(
	read func(as *grpc.Codec, raw []byte) *grpc.Reading, as *grpc.Codec, raw []byte, m *grpc.Reading,
) ([]byte, error) {
	var all []byte
	changed := false
	for rest, n := raw, 0; ; n++ {
		this := rest[:len(rest)-len(m.Rest)]
		now, err := s.grpcMessage(as, this, m)
		switch {
		case err != nil:
			return nil, err
		case n == maxMessages:
			return nil, errMessages
		}
		changed = changed || !same(now, this)
		if rest = m.Rest; len(rest) == 0 && n == 0 {
			return now, nil
		}
		if all = append(all, now...); len(rest) == 0 {
			break
		}
		m = read(as, rest)
	}
	if !changed {
		return raw, nil
	}
	return all, nil
}

// grpcMessage returns one gRPC message without its secrets; the message itself if it has none. A message with secrets
// is written again, without what no reader of its type sees: fields that the type does not have, and values that others
// replace. The error is a capture.Unreadable if the message cannot be read.
func (s search) grpcMessage(as *grpc.Codec, raw []byte, m *grpc.Reading) ([]byte, error) {
	if errors.Is(m.Err, grpc.ErrNoMessage) {
		return raw, nil
	}
	if m.Err != nil {
		return nil, &capture.Unreadable{Err: m.Err}
	}
	edits := s.json(&m.Doc, m.Text)
	if len(edits) == 0 && !m.Overwritten && (len(m.Unknown) == 0 || len(s.loose(raw)) == 0) {
		return raw, nil
	}
	doc := jsondoc.Parse(splice(m.Text, edits))
	now, err := as.Write(doc.Root)
	if err != nil {
		return nil, errUnsettled
	}
	return now, nil
}

// details returns the details of a gRPC error, or a placeholder for all of them if they contain a secret or cannot be
// read.
func (m *mask) details(value string) string {
	inner := strings.Trim(value, " \t")
	if inner == "" || credential.IsPlaceholder(inner) {
		return value
	}
	status, _ := grpc.StatusOf(func(name string) string {
		return map[string]string{grpc.StatusField: "2", grpc.DetailsField: inner}[name]
	})
	if status.Detail == nil {
		status.Message = status.Details().Message
		if len(search{m, new(placeSet)}.json(nil, status.JSON())) == 0 && m.looseText(status.Message) == status.Message {
			return value
		}
	}
	return strings.Replace(value, inner, m.hideWhole(inner), 1)
}

// grpcEvent describes a message of an answer over gRPC and hands it on.
func (r *redactor) grpcEvent(
	out []capture.Step, s capture.Step, what capture.ResponseEvent, as *grpc.Codec,
) []capture.Step {
	o := r.exchange(s)
	e := what.Event
	e.At, e.As = s.Offset, as
	parsed := &capture.Parsed{Head: o.response.head}
	if len(e.Raw) > longBody && r.outOfTime() || r.readMessage(as, e.Raw, parsed) != nil {
		s.Parsed = nil
		return o.searched(out, s, what, nil, nil, errNoTime)
	}
	parsed.Text = nil // Text is for bodies only
	d, ok := o.describe(parsed,
		func(by capture.Describer, m *capture.Parsed) capture.Description { return by.Event(&o.x, &e, m) })
	parsed.Head, s.Parsed = nil, nil // which may have held secrets
	s.Keys = withKeys(s.Keys, d.Keys)
	if r.opts.Keep {
		s.Parsed = parsed
		return append(out, s)
	}
	now, err := []byte(nil), errDescriber
	if ok {
		now, err = r.search(o, d).grpcMessages(r.read, as, e.Raw, parsed.Message)
	}
	if unread, is := errors.AsType[*capture.Unreadable](err); is {
		if unread.Event = e.K; e.Dropped > 0 {
			err = errMessage
		}
	}
	return o.searched(out, s, what, parsed, now, err)
}
