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

// Limits bound a stream that is made. Of each a zero stands for none, of Replicas for one.
type Limits struct {
	MaxAge   time.Duration // messages that are older are removed
	MaxBytes int64         // the oldest messages are removed for new ones
	Replicas int           // on how many servers of a cluster each message is kept
}

// Codes of JetStream's errors, of which nats.go has no names.
const (
	codeSubjectsOverlap jetstream.ErrorCode = 10065
	codeNoStorage       jetstream.ErrorCode = 10047
	codeNoResources     jetstream.ErrorCode = 10023
	codeAccountLimits   jetstream.ErrorCode = 10002
	codeStoreFailed     jetstream.ErrorCode = 10077
)

// errForeignStream is what a stream is that cannot carry captures. It will not heal.
var errForeignStream = errors.New("the stream is not for captures")

// ensureStream makes the stream of the address if there is none, within limits, and returns what it is. One that is
// there is taken as it is; one that does not take the messages of recorders is an error that says so.
//
// What recorders publish is kept in files, in order, until it is too old or too much. Nobody can remove a message out
// of the middle, and each read is answered by the leader, who knows all.
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
		if err == nil || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another recorder was first
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
	return nil, fmt.Errorf("%w: %s on this server takes %s, and not %s; choose another name", errForeignStream, name,
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
		return "nothing that is published"
	}
	return strings.Join(subjects, ", ")
}

// covers reports whether a pattern of subjects takes everything that another one takes.
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

// explainStream says what to do about an error of JetStream.
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
		return fmt.Errorf("%w: another stream takes the subjects a2atap.NAME.>; choose another name, or remove that stream "+
			"(%s)", errForeignStream, api.Description)
	case codeNoStorage, codeNoResources, codeAccountLimits, codeStoreFailed:
		return fmt.Errorf("%w: %s (code %d)", errFull, api.Description, api.ErrorCode)
	}
	return err
}

// errFull is a server or a stream without place.
var errFull = errors.New("there is no place for it on the server")

// lastMessage returns the last message of a subject, as the leader of the stream knows it; nil if there is none.
func (c *Conn) lastMessage(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	request, err := json.Marshal(map[string]string{"last_by_subj": subject})
	if err != nil {
		return nil, err
	}
	// By hand: nats.go would ask any replica if the stream allows that, and one that is behind must not answer.
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
		return nil, errors.New("read the last message of a recorder: the server's answer has none")
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

// isCopied reports whether a stream has its messages, and their subjects, from others.
func isCopied(info *jetstream.StreamInfo) bool {
	return info.Config.Mirror != nil || len(info.Config.Sources) > 0
}
