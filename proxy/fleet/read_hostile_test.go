package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/safetext"
)

// Anyone who may publish to a stream can fill it with anything. Other recorders' data is read as before, and no output
// contains control characters that a terminal would obey.
func TestHostilePublisher(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	own := messages(t, "north", path, 1<<20)
	s.publish(own[:len(own)/2]...)

	evil := func(change func(m *Message)) *Message {
		m := *own[len(own)/2]
		m.Recorder.Host, m.Recorder.Capture = "evil", uuid.New()
		change(&m)
		return &m
	}
	on := func(subject string, m *Message) {
		t.Helper()
		msg := must.Get(m.encode("traffic"))(t)
		msg.Subject = "a2atap.traffic." + subject
		must.Get(s.conn.js.PublishMsg(t.Context(), msg))(t)
	}
	victim := own[0].Recorder.Capture
	hex := strings.ReplaceAll(victim.String(), "-", "")
	on("evil."+hex, own[len(own)-1])                                          // another's recorder on a subject of his
	on("north.00", evil(func(m *Message) {}))                                 // his on another's
	on("ev\x1b[2Jil.00", evil(func(m *Message) {}))                           // a subject that clears the screen
	on("evil.00", evil(func(m *Message) { m.Recorder.Format = 99 }))          // a later format, which does not exist
	on("evil.01", evil(func(m *Message) { m.Recorder.Host = "e\x1b]0;x\a" })) // a host that names the window
	s.publish(
		evil(func(m *Message) { m.First, m.Last = 1, 1 }), // steps that are others than it says
		evil(func(m *Message) { // steps that no recorder can have
			m.First, m.Last = maxCount-1, maxCount
			m.Data = appendBlock(nil, &bolt.Block{First: maxCount - 1, Packed: m.Data[blockPrefix:]})
		}),
		evil(func(m *Message) { m.Data = []byte{255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0} }),
	)
	for i := range 2 * strangeNotices {
		on(fmt.Sprintf("evil.%02d", i+10), evil(func(m *Message) { m.Recorder.Host = "" }))
	}
	s.publish(own[len(own)/2:]...)

	r := s.read(ReadOptions{})
	checkSame(t, stepsOfFile(t, path), allSteps(t, r.of(t, "north")))
	if n := len(r.notices); n < 5 || n > 2*strangeNotices {
		t.Errorf("%d notices", n)
	}
	for _, notice := range r.notices {
		expect.Equal(t, "", safetext.Plain(notice), notice)
	}

	answers := s.answerFalsely(victim)
	found := must.Get(s.conn.Hosts(t.Context()))(t)
	must.Do(t, answers.Unsubscribe())
	text := must.Get(json.Marshal(found))(t)
	for _, h := range found.Hosts {
		if h.Host != "north" && h.Host != "evil" || h.Host == "north" && h.Name != "c.a2atap" {
			t.Errorf("%+v is listed", h)
		}
		if all := h.Host + h.Name + h.Tool + h.Error + h.Future; all != safetext.Plain(all) {
			t.Errorf("%q is listed: %s", all, text)
		}
	}
}

// answerFalsely answers those who ask recorders how they are.
func (s *stage) answerFalsely(victim uuid.UUID) *nats.Subscription {
	s.t.Helper()
	sub, err := s.conn.nats.Subscribe(answerSubject("traffic"), func(m *nats.Msg) {
		for _, text := range []string{
			"not JSON", `{}`, `{"recorder":{"host":"x\u001b[2J","capture":"` + uuid.NewString() + `"}}`,
			`{"recorder":{"host":"` + strings.Repeat("x", maxAnswer) + `","capture":"` + uuid.NewString() + `"}}`,
			`{"recorder":{"host":"north","name":"\u001b[31m","capture":"` + victim.String() + `"}}`,
			`{"recorder":{"host":"evil","capture":"` + uuid.NewString() + `"},"error":"\u001b[2J\u202e"}`,
		} {
			m.Respond([]byte(text)) //nolint:errcheck // who asked is gone
		}
	})
	must.Do(s.t, err)
	return sub
}

// Losses that no recorder can have had would spoil the sums of those that others had.
func TestAbsurdLossesAreDamage(t *testing.T) {
	t.Parallel()
	for _, lost := range []capture.Lost{{Exchanges: -1}, {Bytes: -1}, {Exchanges: math.MaxInt64}, {Bytes: maxCount + 1}} {
		path := filepath.Join(t.TempDir(), "c.a2atap")
		store := must.Get(bolt.Open(path, bolt.Options{}))(t)
		must.Do(t, store.Append(capture.Step{Offset: capture.NotKnown, What: lost}))
		must.Do(t, store.Close())
		msg := messages(t, "evil", path, 1<<20)[0]
		b := bolt.Block{First: msg.First, Last: msg.Last, Packed: msg.Data[blockPrefix:]}
		var notices []string
		m := newMirror(nil, time.Time{}, func(s string) { notices = append(notices, s) }, &atomic.Bool{})
		if err := m.block(&b); err != nil || m.arrivals != 0 || len(notices) != 1 {
			t.Errorf("%+v: %v, %d steps, notices %q", lost, err, m.arrivals, notices)
		}
	}
}
