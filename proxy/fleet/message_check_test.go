package fleet

import (
	"math"
	"strings"
	"testing"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// What no recorder says of itself is no message of one, and what a recorder is called can always be said.
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
		msg, err := m.encode("traffic")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeMessage(msg.Header, msg.Data); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	r := NewRecorder("one\n\x1b[2J"+strings.Repeat("ü", 500), "tool\a", "c\xff\t.a2atap",
		&capture.Info{ID: uuid.New(), Format: 1})
	if !r.plausible() || len(r.Host) > maxName {
		t.Errorf("a recorder calls itself %q, %q, %q", r.Host, r.Tool, r.Name)
	}
}
