package fleet

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"
)

// settle chooses the host name for a capture if the user gave none: this host if the stream has the capture under it,
// otherwise the capture's host in the stream. So a file that is later shipped by another machine, or under another
// machine name, appears only once.
func (s *Shipper) settle(ctx context.Context, c *Conn) error {
	if !s.options.HostGuessed {
		return nil
	}
	info, err := s.spool.Info(ctx)
	if err != nil {
		return spoolError(err)
	}
	host, err := c.hostOf(ctx, info.ID, s.options.Host)
	if err != nil {
		return err
	}
	if host != "" {
		s.host.Store(&host)
	}
	s.options.HostGuessed = false
	return nil
}

// hostOf returns the host whose recorder has published a capture, or empty. It prefers this host.
func (c *Conn) hostOf(ctx context.Context, capture uuid.UUID, own string) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	stream, err := c.js.Stream(bounded, c.address.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return "", nil
	}
	if err != nil {
		return "", explainStream(err)
	}
	info, err := stream.Info(bounded, jetstream.WithSubjectFilter(subjectOf(c.address.stream, "*", capture)))
	if err != nil {
		return "", explainStream(err)
	}
	var subjects []string
	for subject := range info.State.Subjects {
		subjects = append(subjects, subject)
	}
	slices.Sort(subjects)
	mine := subjectOf(c.address.stream, hostToken(own), capture)
	slices.SortStableFunc(subjects, func(a, b string) int {
		switch mine {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	for _, subject := range subjects {
		last, err := c.lastMessage(ctx, subject)
		if err != nil {
			return "", err
		}
		if last == nil {
			continue
		}
		m, err := decodeMessage(last.Header, last.Data)
		if err == nil && m.Recorder.Subject(c.address.stream) == subject {
			return m.Recorder.Host, nil
		}
	}
	return "", nil
}
