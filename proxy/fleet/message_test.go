package fleet

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func someMessage() *Message {
	b := bolt.Block{First: 7, Packed: []byte("packed")}
	info := capture.Info{
		ID: uuid.MustParse("00000000-0000-4000-8000-000000000001"), Format: bolt.Format, Arrivals: 12,
		Created: time.Unix(1, 0).UTC(), Live: true, Crashes: 1, Crash: capture.Crash{After: time.Unix(2, 3).UTC(), Within: 5},
	}
	return &Message{
		Recorder: NewRecorder("host.example", "a2atap 1", "c.a2atap", &info), First: 7, Last: 9, Part: 2, Parts: 3,
		Data: appendBlock(nil, &b),
	}
}

func TestMessageIsReadAsWritten(t *testing.T) {
	want := someMessage()
	msg := must.Get(want.encode("traffic"))(t)
	expect.Equal(t, "the subject", "a2atap.traffic.host-example.00000000000040008000000000000001", msg.Subject)
	got := must.Get(decodeMessage(msg.Header, msg.Data))(t)
	expect.Same(t, "", want, got)
	blocks, err := splitBlocks(got.Data)
	if err != nil || len(blocks) != 1 || blocks[0].First != 7 || string(blocks[0].Packed) != "packed" {
		t.Errorf("blocks %v, %v", blocks, err)
	}
}

func TestLaterVersionsAreNamed(t *testing.T) {
	for name, change := range map[string]func(*Message, nats.Header){
		"of messages": func(_ *Message, h nats.Header) { h.Set(headerVersion, "2") },
		"of blocks": func(m *Message, h nats.Header) {
			h.Set(headerRecorder, strings.Replace(h.Get(headerRecorder), `"format":4`, `"format":5`, 1))
		},
	} {
		m := someMessage()
		msg, err := m.encode("traffic")
		must.Do(t, err)
		change(m, msg.Header)
		_, err = decodeMessage(msg.Header, msg.Data)
		if !errors.Is(err, capture.ErrFuture) || !strings.Contains(err.Error(), "host.example") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzMessage(f *testing.F) {
	msg := must.Get(someMessage().encode("traffic"))(f)
	f.Add("1", msg.Header.Get(headerRecorder), "7-9", "2/3", msg.Data)
	f.Add("1", msg.Header.Get(headerRecorder), "7-6", "", []byte(nil))
	f.Fuzz(func(t *testing.T, version, recorder, arrivals, part string, data []byte) {
		h := nats.Header{
			headerVersion: {version}, headerRecorder: {recorder}, headerArrivals: {arrivals}, headerPart: {part},
		}
		m, err := decodeMessage(h, data)
		if err != nil {
			return
		}
		again := must.Get(m.encode("traffic"))(t)
		twice, err := decodeMessage(again.Header, again.Data)
		if err != nil {
			t.Fatalf("what was read is not read again: %v", err)
		}
		expect.Same(t, "", m, twice)
		blocks, err := splitBlocks(m.Data)
		if err != nil {
			return
		}
		for i := range blocks {
			for _, err := range blocks[i].Steps() {
				if err != nil {
					break
				}
			}
		}
	})
}

// What no recorder says of itself is not a message of one, and what a recorder is called can always be said.
func TestImplausibleRecordersAreForeign(t *testing.T) {
	for name, change := range map[string]func(*Message){
		"no capture":             func(m *Message) { m.Recorder.Capture = uuid.Nil },
		"no host":                func(m *Message) { m.Recorder.Host = "" },
		"a host that is obeyed":  func(m *Message) { m.Recorder.Host = "one\x1b[2J" },
		"a host of two lines":    func(m *Message) { m.Recorder.Host = "one\ntwo" },
		"a host that turns":      func(m *Message) { m.Recorder.Host = "one\u202eowt" },
		"a host without end":     func(m *Message) { m.Recorder.Host = strings.Repeat("h", 1000) },
		"a file that is obeyed":  func(m *Message) { m.Recorder.Name = "\u009b31m.a2atap" },
		"a file without end":     func(m *Message) { m.Recorder.Name = strings.Repeat("../", 1000) },
		"a tool that rings":      func(m *Message) { m.Recorder.Tool = "a2atap\a" },
		"a loss that is a gain":  func(m *Message) { m.Recorder.LostExchanges = -1 },
		"a loss of too much":     func(m *Message) { m.Recorder.LostExchanges = math.MaxInt64 },
		"a file of all numbers":  func(m *Message) { m.Recorder.Committed = math.MaxUint64 },
		"steps of all numbers":   func(m *Message) { m.First, m.Last = math.MaxInt64-1, math.MaxInt64 },
		"parts without end":      func(m *Message) { m.Part, m.Parts = 1, math.MaxInt32 },
		"steps that go backward": func(m *Message) { m.First, m.Last = 9, 7 },
	} {
		m := someMessage()
		change(m)
		msg := must.Get(m.encode("traffic"))(t)
		expect.Error(t, fmt.Sprintf("%s is taken", name), expect.Err(decodeMessage(msg.Header, msg.Data)))
	}
	r := NewRecorder("one\n\x1b[2J"+strings.Repeat("ü", 500), "tool\a", "c\xff\t.a2atap",
		&capture.Info{ID: uuid.New(), Format: 1})
	if !r.plausible() || len(r.Host) > maxName {
		t.Errorf("a recorder calls itself %q, %q, %q", r.Host, r.Tool, r.Name)
	}
}
