package cli

import (
	"context"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/expect"
)

func TestSecondInterruptComesASecondAfterTheFirst(t *testing.T) {
	for name, c := range map[string]struct {
		at   []time.Duration // when interrupts come
		ends int             // which of them ends the process; -1 for none
	}{
		"one":                          {[]time.Duration{0}, -1},
		"two at once, as timeout does": {[]time.Duration{0, 0}, -1},
		"a key that is held down":      {[]time.Duration{0, 300e6, 600e6, 999e6}, -1},
		"a second later":               {[]time.Duration{0, 1e9}, 1},
		"much later":                   {[]time.Duration{5e9, 3600e9}, 1},
		"impatience":                   {[]time.Duration{0, 500e6, 1100e6}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Unix(1, 0)
			now := begun
			i := Interrupts{Now: func() time.Time { return now }}
			ends := -1
			for k, at := range c.at {
				now = begun.Add(at)
				if i.second() && ends < 0 {
					ends = k
				}
			}
			expect.Equal(t, "the interrupt that ends it", c.ends, ends)
		})
	}
}

// Each interrupt but the second is reported; a hangup counts as an interrupt.
func TestTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		i := Interrupts{Now: time.Now}
		told := 0
		ended := make(chan bool, 1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { ended <- i.twice(ctx, signals, func() { told++ }) }()
		for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, os.Interrupt} {
			signals <- s
			synctest.Wait()
		}
		if told != 3 || len(ended) > 0 {
			t.Fatalf("of three interrupts at once %d are told; ended: %d", told, len(ended))
		}
		time.Sleep(secondAfter) // of the bubble's clock
		signals <- os.Interrupt
		if !<-ended {
			t.Error("the second interrupt is not taken")
		}
	})
}

func TestTwiceEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	i := Interrupts{Now: time.Now}
	if i.twice(ctx, nil, nil) {
		t.Error("nobody interrupted")
	}
}

// A program under run gets an interrupt once where it comes twice at once, and each kind of signal.
func TestSignalsArePassedOn(t *testing.T) {
	now := time.Unix(1, 0)
	r := SignalRelay{Interrupts: Interrupts{Now: func() time.Time { return now }}}
	for _, c := range []struct {
		after  time.Duration
		signal os.Signal
		passes bool
	}{
		{0, syscall.SIGTERM, true},
		{0, syscall.SIGTERM, false},
		{0, os.Interrupt, true},
		{0, syscall.SIGHUP, true},
		{0, syscall.SIGHUP, true},
		{999 * time.Millisecond, syscall.SIGTERM, false},
		{time.Millisecond, syscall.SIGTERM, true},
		{time.Millisecond, syscall.SIGTERM, false},
	} {
		now = now.Add(c.after)
		if got := r.Passes(c.signal); got != c.passes {
			t.Errorf("%v at %v: passed %t, want %t", c.signal, now.Sub(time.Unix(1, 0)), got, c.passes)
		}
	}
	if !r.Interrupts.second() {
		t.Error("what was passed on a second ago was not the first interrupt")
	}
}
