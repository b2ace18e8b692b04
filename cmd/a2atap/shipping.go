package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"a2atap/analyzer"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/fleet"
)

// shipEnd is how long the end of a recording waits for what is left to be shipped.
const shipEnd = 5 * time.Second

// A shipEvent is what there is to say of shipping.
type shipEvent struct {
	State   string `json:"state"` // shipping, behind, recovered, shipped, left
	URL     string `json:"url"`   // without credentials
	Host    string `json:"host"`
	Error   string `json:"error,omitempty"`
	File    string `json:"file,omitempty"`
	Sent    uint64 `json:"sent,omitempty"` // steps, by this command
	Shipped uint64 `json:"shipped"`        // the last step that is in the stream, if that is known
	Left    uint64 `json:"left,omitempty"` // steps that are not
	text    string
}

// urgent reports whether the user should know at once.
func (v *shipEvent) urgent() bool { return v.State == "behind" || v.State == "left" }

// A shipment is a recording that is being shipped. A nil one is none.
type shipment struct {
	to      *shipTo
	file    string
	spool   fleet.Spool
	shipper *fleet.Shipper
	tell    func(shipEvent)
	cancel  context.CancelFunc
	done    chan error
}

// mayShip refuses to ship a capture with secrets in it.
func mayShip(to *shipTo, file string, spool fleet.Spool) error {
	if to == nil {
		return nil
	}
	info, err := spool.Info(context.Background())
	if err == nil && info.SecretsKept {
		err = cli.Usage("--ship: %s: %s", file, secretsInside(file))
	}
	return err
}

// startShipment begins to ship the capture in a file as it grows, until stop.
func startShipment(to *shipTo, file string, spool fleet.Spool, busy func() bool, tell func(shipEvent)) *shipment {
	if to == nil {
		return nil
	}
	if tell == nil {
		tell = func(shipEvent) {}
	}
	s := &shipment{to: to, file: file, spool: spool, tell: tell, done: make(chan error, 1)}
	own := *to
	own.options.Busy, own.options.OnTrouble = busy, s.trouble
	s.shipper = own.of(file, spool)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.say("shipping", nil, "shipping to %s as %s", to.address, to.options.Host)
	go func() { s.done <- s.shipper.Run(ctx) }()
	return s
}

// next is how what was not shipped gets there.
func (s *shipment) next() string {
	return fmt.Sprintf("a2atap ship %s %s%s sends the rest", s.file, s.to.address, s.to.called())
}

func (s *shipment) say(state string, err error, format string, args ...any) {
	status := s.shipper.Status()
	v := shipEvent{
		State: state, URL: s.to.address.String(), Host: status.Host, Shipped: status.Shipped,
		text: fmt.Sprintf(format, args...),
	}
	if err != nil {
		v.Error = err.Error()
	}
	s.tell(v)
}

func (s *shipment) trouble(err error) {
	if err == nil {
		s.say("recovered", nil, "all of %s is shipped again to %s", s.file, s.to.address)
		return
	}
	if errors.Is(err, fleet.ErrBroken) {
		s.say("behind", err, "%s is not shipped any more, and nothing is lost: %v; %s", s.file, err, s.next())
		return
	}
	s.say("behind", err, "%s is not shipped for now, and nothing is lost: %v", s.file, err)
}

// stop waits for what is left to be shipped, in bounded time, and says what became of it. The recording has ended.
func (s *shipment) stop() {
	if s == nil {
		return
	}
	defer s.cancel()
	var err error
	select {
	case err = <-s.done:
	case <-time.After(shipEnd):
		s.cancel()
		err = <-s.done
	}
	status := s.shipper.Status()
	if err == nil {
		s.say("shipped", nil, "%s shipped to %s", analyzer.Plural(status.Shipped, "step"), s.to.address)
		return
	}
	if errors.Is(err, context.Canceled) {
		if err = status.Err; err == nil {
			err = errors.New("there was no time")
		}
	}
	next := s.next()
	v := shipEvent{
		State: "left", URL: s.to.address.String(), Host: status.Host, Shipped: status.Shipped, Error: err.Error(),
		text: fmt.Sprintf("%s is not shipped: %v; %s", s.file, err, next),
	}
	if info, infoErr := s.spool.Info(context.Background()); infoErr == nil && status.Asked {
		if v.Left = info.Arrivals - min(info.Arrivals, status.Shipped); v.Left == 0 {
			s.say("shipped", err, "%s shipped to %s, but not that the recording has ended: %v",
				analyzer.Plural(status.Shipped, "step"), s.to.address, err)
			return
		}
		v.text = fmt.Sprintf("%s in %s not shipped: %v; %s", isOrAre(v.Left, "step"), s.file, err, next)
	}
	s.tell(v)
}

// isOrAre is a number of things with its verb.
func isOrAre(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return analyzer.Plural(n, noun) + " are"
}

// busyForShipping is how shipping asks whether traffic needs the processor.
func (r *recording) busyForShipping() func() bool {
	cpu := newCPUMonitor()
	return func() bool {
		waiting, _ := r.recorder.Waiting()
		return waiting+int64(r.store.Waiting()) > judgeBacklog || cpu.saturated(r.recorder.Stats().Bytes)
	}
}

// onShip tells the inspector, too, what keeps the recording from being shipped.
func (r *recording) onShip(tell func(shipEvent)) func(shipEvent) {
	return func(v shipEvent) {
		if tell != nil {
			tell(v)
		}
		if r.verdicts != nil && (v.urgent() || v.State == "recovered") {
			r.verdicts.Notice(v.text)
		}
	}
}

// tellShipping says what becomes of shipping.
func tellShipping(e cli.Env, v shipEvent) {
	if v.urgent() || !e.Quiet() {
		e.Notice(v.text)
	}
}

// ship prints what becomes of shipping.
func (p *recordPrinter) ship(v shipEvent) {
	switch {
	case v.urgent():
		p.notice(v.text)
	default:
		p.tell(v.text)
	}
	if p.json {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.object("ship", v)
	}
}
