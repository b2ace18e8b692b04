package redacted

import (
	"errors"

	"a2atap/proxy/capture"
	"a2atap/replay/client/setup"
)

// A masked sink hides the secrets that flags have brought, wherever they stand, before it hands steps on: also in a query
// or a header whose name says nothing, and in what an agent says back. It stands behind the redactor, whose placeholders
// say more, and hides only what that could not know.
type masked struct {
	next  capture.Sink
	masks []*setup.Mask
}

// Append implements capture.Sink.
func (m masked) Append(steps ...capture.Step) error {
	for i := range steps {
		steps[i] = steps[i].WithBytes(m.blank)
		steps[i].Parsed = nil // it may hold what is hidden now
	}
	return m.next.Append(steps...)
}

// Close implements capture.Sink.
func (m masked) Close() error { return m.next.Close() }

func (m masked) blank(p []byte) []byte {
	for _, mask := range m.masks {
		p, _ = mask.Blank(p)
	}
	return p
}

// A Tee hands steps on to several sinks.
type Tee []capture.Sink

// Append implements capture.Sink.
func (t Tee) Append(steps ...capture.Step) error {
	for _, sink := range t {
		for _, s := range steps {
			if err := sink.Append(s.Clone()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close implements capture.Sink.
func (t Tee) Close() error {
	var errs []error
	for _, sink := range t {
		errs = append(errs, sink.Close())
	}
	return errors.Join(errs...)
}
