package fleet

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/nats-io/nats.go"

	"a2atap/proxy/capture"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// An askedSpool is a Spool that calls a function when its recorder is asked for its state.
type askedSpool struct {
	Spool
	asked func()
}

func (s askedSpool) Info(ctx context.Context) (capture.Info, error) {
	if _, bounded := ctx.Deadline(); bounded {
		s.asked()
	}
	return s.Spool.Info(ctx)
}

// Whoever asks all the time gets some answers, and does not disturb who ships.
func TestTooManyAsk(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	r := newRecorder(t)
	r.record(1, 100)
	asked, answers := make(chan struct{}), make(chan struct{})
	shipper := ship(t, s.URL("traffic"), askedSpool{r, sync.OnceFunc(func() {
		close(asked)
		<-answers
	})})
	shipper.until(6)
	c := connected(t, s).nats
	inbox := c.NewInbox()
	sub := must.Get(c.SubscribeSync(inbox))(t)
	const flood = 500
	for i := range 1 + flood {
		must.Do(t, c.PublishRequest(answerSubject("traffic"), inbox, nil))
		if i == 0 {
			<-asked
		}
	}
	must.Do(t, c.Flush())
	r.record(1, 100)
	shipper.until(12) // what the server says of that comes after the questions
	close(answers)
	for range maxAsking { // the one that is being answered is among those that wait
		must.Get(sub.NextMsgWithContext(patient(t)))(t)
	}
	if _, err := c.RequestWithContext(patient(t), answerSubject("traffic"), nil); err != nil {
		t.Errorf("after many have asked: %v", err)
	}
	if more, _, err := sub.Pending(); err != nil || more > 0 {
		t.Errorf("%d more are answered (%v)", more, err)
	}
	shipper.connection(fmt.Errorf("%w: too many ask", nats.ErrSlowConsumer))
	if shipper.lost.Load() != nil {
		t.Error("its connection is taken for lost")
	}
}

// An answer that panics is one answer less.
func TestAnAnswerThatPanics(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	r := newRecorder(t)
	r.record(1, 100)
	asked := false // by the goroutine that answers
	shipper := ship(t, s.URL("traffic"), askedSpool{r, func() {
		if !asked {
			asked = true
			panic("a mistake")
		}
	}})
	shipper.until(6)
	c := connected(t, s).nats
	must.Do(t, c.PublishRequest(answerSubject("traffic"), c.NewInbox(), nil))
	if _, err := c.RequestWithContext(patient(t), answerSubject("traffic"), nil); err != nil {
		t.Errorf("after an answer that panicked: %v", err)
	}
	r.end()
	shipper.wait()
}

// What is known of the last message of a subject does not keep its blocks in memory.
func TestLastMessageIsNotKept(t *testing.T) {
	t.Parallel()
	s := &Shipper{}
	var data weak.Pointer[[1 << 20]byte]
	err := s.goOn(7, 1, func() (*Message, error) {
		block := new([1 << 20]byte)
		data = weak.Make(block)
		return &Message{Recorder: Recorder{Host: "north"}, First: 1, Last: 6, Part: 1, Parts: 1, Data: block[:]}, nil
	})
	if err != nil || s.next != 7 || s.state.Host != "north" {
		t.Fatalf("it goes on with step %d behind %+v (%v)", s.next, s.state, err)
	}
	if runtime.GC(); data.Value() != nil {
		t.Error("the data of the message is kept")
	}
	runtime.KeepAlive(s)
}
