package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Limits bound a new stream. Zero means no limit, and one replica.
type Limits struct {
	MaxAge   time.Duration // messages that are older are removed
	MaxBytes int64         // the oldest messages are removed for new ones
	Replicas int           // number of servers in the cluster that keep each message
}

// Codes of JetStream's errors that nats.go does not name.
const (
	codeSubjectsOverlap jetstream.ErrorCode = 10065
	codeNoStorage       jetstream.ErrorCode = 10047
	codeNoResources     jetstream.ErrorCode = 10023
	codeAccountLimits   jetstream.ErrorCode = 10002
	codeStoreFailed     jetstream.ErrorCode = 10077
)

// errForeignStream means that a stream cannot carry captures. Retrying does not help.
var errForeignStream = errors.New("the stream is not for captures")

// ensureStream creates the stream of the address, within limits, if it does not exist, and returns its description. It
// leaves an existing stream unchanged, and returns an error if that stream does not accept recorders' messages.
//
// The stream keeps messages in files, in order, up to its limits. No one can remove a message from the middle, and the
// leader, which has every message, answers all reads.
func (c *Conn) ensureStream(ctx context.Context, l Limits) (*jetstream.StreamInfo, error) {
	name := c.address.stream
	info, err := c.streamInfo(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		config := jetstream.StreamConfig{
			Name: name, Description: "captures of a2atap recorders", Subjects: []string{allSubjects(name)},
			Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
			MaxAge: l.MaxAge, MaxBytes: l.MaxBytes, Replicas: max(l.Replicas, 1), DenyDelete: true,
		}
		if config.MaxBytes == 0 {
			config.MaxBytes = -1
		}
		bounded, cancel := context.WithTimeout(ctx, c.patience)
		_, err = c.js.CreateStream(bounded, config)
		cancel()
		if err == nil || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another recorder created it first
			info, err = c.streamInfo(ctx)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the stream %s: %w", name, explainStream(err))
	}
	for _, pattern := range info.Config.Subjects {
		if covers(pattern, allSubjects(name)) {
			return info, nil
		}
	}
	return nil, fmt.Errorf("%w: %s on this server has the subjects %s, not %s; choose another name", errForeignStream, name,
		subjectList(info.Config.Subjects), allSubjects(name))
}

func (c *Conn) streamInfo(ctx context.Context) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	stream, err := c.js.Stream(ctx, c.address.stream)
	if err != nil {
		return nil, err
	}
	return stream.CachedInfo(), nil
}

func subjectList(subjects []string) string {
	if len(subjects) == 0 {
		return "no subjects"
	}
	return strings.Join(subjects, ", ")
}

// covers reports whether a pattern of subjects matches everything that another pattern matches.
func covers(pattern, other string) bool {
	p, o := strings.Split(pattern, "."), strings.Split(other, ".")
	for i, token := range p {
		switch {
		case token == ">":
			return i < len(o)
		case i >= len(o) || o[i] == ">" || token != "*" && token != o[i]:
			return false
		}
	}
	return len(p) == len(o)
}

// explainStream adds to a JetStream error what to do about it.
func explainStream(err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		return fmt.Errorf("%w; is JetStream enabled there (nats-server -js), and does its cluster have a leader?", err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the server does not answer: %w", err)
	case !errors.As(err, &api):
		return err
	}
	switch api.ErrorCode {
	case codeSubjectsOverlap:
		return fmt.Errorf("%w: another stream has the subjects a2atap.NAME.>; choose another name, or remove that stream "+
			"(%s)", errForeignStream, api.Description)
	case codeNoStorage, codeNoResources, codeAccountLimits, codeStoreFailed:
		return fmt.Errorf("%w: %s (code %d)", errFull, api.Description, api.ErrorCode)
	}
	return err
}

// errFull means that a server or a stream is full.
var errFull = errors.New("the server has no space for it")

// lastMessage returns the last message of a subject according to the stream's leader; nil for an empty subject.
func (c *Conn) lastMessage(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	request, err := json.Marshal(map[string]string{"last_by_subj": subject})
	if err != nil {
		return nil, err
	}
	// This does not use nats.go, which may ask any replica if the stream allows that. A replica that lags must not
	// answer.
	reply, err := c.nats.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+c.address.stream, request)
	if err != nil {
		return nil, explainStream(err)
	}
	var answer struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Subject  string    `json:"subject"`
			Sequence uint64    `json:"seq"`
			Header   []byte    `json:"hdrs"`
			Data     []byte    `json:"data"`
			Time     time.Time `json:"time"`
		} `json:"message"`
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return nil, fmt.Errorf("read the last message of a recorder: %w", err)
	}
	switch {
	case answer.Error != nil && answer.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, nil
	case answer.Error != nil:
		return nil, explainStream(answer.Error)
	case answer.Message == nil:
		return nil, errors.New("read the last message of a recorder: the server's answer contains none")
	}
	m := answer.Message
	last := &jetstream.RawStreamMsg{Subject: m.Subject, Sequence: m.Sequence, Data: m.Data, Time: m.Time}
	if len(m.Header) > 0 {
		if last.Header, err = nats.DecodeHeadersMsg(m.Header); err != nil {
			last.Header = nil // a foreign message
		}
	}
	return last, nil
}

// isCopied reports whether a stream mirrors or sources other streams.
func isCopied(info *jetstream.StreamInfo) bool {
	return info.Config.Mirror != nil || len(info.Config.Sources) > 0
}
