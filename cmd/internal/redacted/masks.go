package redacted

import (
	"errors"

	"a2atap/proxy/capture"
	"a2atap/replay/client/setup"
)

// A masked sink hides secrets from flags anywhere in steps, including in headers and queries with inconspicuous names
// and in agents' answers, and passes the steps on. It comes after the redactor, whose placeholders have more
// information, and hides only what the redactor could not know.
type masked struct {
	next  capture.Sink
	masks []*setup.Mask
}

// Append implements capture.Sink.
func (m masked) Append(steps ...capture.Step) error {
	for i := range steps {
		steps[i] = steps[i].WithBytes(m.blank)
		steps[i].Parsed = nil // it may contain values that are hidden now
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

// A Tee passes steps on to several sinks.
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
