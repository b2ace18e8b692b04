// Package shipment ships captures to a NATS JetStream stream: the flags, and a Shipment, which follows a capture while
// it is recorded and reports Events. A server that is away, slow or full delays nothing: unshipped steps stay in the
// capture. A capture with secrets is never shipped.
package shipment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/fleet"
)

// SecretsInside is the reason why a capture is not shipped, and advice.
func SecretsInside(file string) string {
	return fmt.Sprintf("it contains secrets (--keep-secrets), which would leave this machine; a2atap import %s -o "+
		"hidden.a2atap makes a copy without them", file)
}

// shipEnd is the default of To.End.
const shipEnd = 5 * time.Second

// An Event is a report about shipping.
type Event struct {
	State   string `json:"state"` // shipping, behind, recovered, shipped, left
	URL     string `json:"url"`   // without credentials
	Host    string `json:"host"`
	Error   string `json:"error,omitempty"`
	File    string `json:"file,omitempty"`
	Sent    uint64 `json:"sent,omitempty"` // steps, by this command
	Shipped uint64 `json:"shipped"`        // the last step known to be in the stream
	Left    uint64 `json:"left,omitempty"` // steps not shipped
	Text    string `json:"-"`
}

// Urgent reports whether the user should know at once.
func (v *Event) Urgent() bool { return v.State == "behind" || v.State == "left" }

// A Shipment is a recording that is being shipped. A nil Shipment does nothing.
type Shipment struct {
	To      *To
	file    string
	spool   fleet.Spool
	Shipper *fleet.Shipper
	tell    func(Event)
	cancel  context.CancelFunc
	done    chan error
}

// May returns an error for a capture with secrets in it.
func May(to *To, file string, spool fleet.Spool) error {
	if to == nil {
		return nil
	}
	info, err := spool.Info(context.Background())
	if err == nil && info.SecretsKept {
		err = cli.Usage("--ship: %s: %s", file, SecretsInside(file))
	}
	return err
}

// Start starts to ship the capture in a file as it grows, until Stop.
func Start(to *To, file string, spool fleet.Spool, busy func() bool, tell func(Event)) *Shipment {
	if to == nil {
		return nil
	}
	if tell == nil {
		tell = func(Event) {}
	}
	s := &Shipment{To: to, file: file, spool: spool, tell: tell, done: make(chan error, 1)}
	own := *to
	own.Options.Busy, own.Options.OnTrouble = busy, s.trouble
	s.Shipper = own.Of(file, spool)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.say("shipping", nil, "shipping to %s as %s", to.Address, to.Options.Host)
	go func() { s.done <- s.Shipper.Run(ctx) }()
	return s
}

// next suggests how to ship the rest.
func (s *Shipment) next() string {
	return fmt.Sprintf("a2atap ship %s %s%s sends the rest", s.file, s.To.Address, s.To.called())
}

func (s *Shipment) say(state string, err error, format string, args ...any) {
	status := s.Shipper.Status()
	v := Event{
		State: state, URL: s.To.Address.String(), Host: status.Host, Shipped: status.Shipped,
		Text: fmt.Sprintf(format, args...),
	}
	if err != nil {
		v.Error = err.Error()
	}
	s.tell(v)
}

func (s *Shipment) trouble(err error) {
	if err == nil {
		s.say("recovered", nil, "shipping %s again to %s", s.file, s.To.Address)
		return
	}
	if errors.Is(err, fleet.ErrBroken) {
		s.say("behind", err, "stopped shipping %s; nothing is lost: %v; %s", s.file, err, s.next())
		return
	}
	s.say("behind", err, "shipping of %s is paused; nothing is lost: %v", s.file, err)
}

// Stop waits for the rest to be shipped, for a limited time, and reports the result. The recording must have ended.
func (s *Shipment) Stop() {
	if s == nil {
		return
	}
	defer s.cancel()
	var err error
	select {
	case err = <-s.done:
	case <-time.After(cmp.Or(s.To.End, shipEnd)):
		s.cancel()
		err = <-s.done
	}
	status := s.Shipper.Status()
	if err == nil {
		s.say("shipped", nil, "%s shipped to %s", analysis.Plural(status.Shipped, "step"), s.To.Address)
		return
	}
	if errors.Is(err, context.Canceled) {
		if err = status.Err; err == nil {
			err = errors.New("out of time")
		}
	}
	next := s.next()
	v := Event{
		State: "left", URL: s.To.Address.String(), Host: status.Host, Shipped: status.Shipped, Error: err.Error(),
		Text: fmt.Sprintf("%s is not shipped: %v; %s", s.file, err, next),
	}
	if info, infoErr := s.spool.Info(context.Background()); infoErr == nil && status.Asked {
		if v.Left = info.Arrivals - min(info.Arrivals, status.Shipped); v.Left == 0 {
			s.say("shipped", err, "%s shipped to %s, except for the end mark of the recording: %v",
				analysis.Plural(status.Shipped, "step"), s.To.Address, err)
			return
		}
		v.Text = fmt.Sprintf("%s in %s not shipped: %v; %s", IsOrAre(v.Left, "step"), s.file, err, next)
	}
	s.tell(v)
}

// IsOrAre is a number of things with its verb.
func IsOrAre(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return analysis.Plural(n, noun) + " are"
}

// Tell prints an event.
func Tell(e cli.Env, v Event) {
	if v.Urgent() || !e.Quiet() {
		e.Notice(v.Text)
	}
}
