package capture

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// message returns a message of gRPC with its prefix.
func message(flag byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(text))), text...)
}

// Messages are the same however their bytes arrive, and together are the body, but for what the limit dropped.
func FuzzMessageSplitter(f *testing.F) {
	f.Add(append(message(0, "hello"), message(1, "")...), 3, 100)
	f.Add(append(message(0, "too long"), 0, 0), 1, 6)
	f.Add([]byte("data: no message\n\n"), 4, 4)
	f.Fuzz(func(t *testing.T, body []byte, step, limit int) {
		limit = min(max(limit, 1), 1<<20)
		split := func(step int) (events []Event) {
			s := MessageSplitter{Limit: limit}
			for rest := body; len(rest) > 0; {
				n := min(max(step, 1), len(rest))
				events = append(events, s.Write(rest[:n])...)
				rest = rest[n:]
			}
			return append(events, s.Flush()...)
		}
		events, k := split(step), 0
		for rest := body; len(rest) > 0; k++ {
			if k == len(events) {
				t.Fatalf("%d events, and %x follows", k, rest)
			}
			n, whole := len(rest), false
			if len(rest) >= messagePrefix {
				n = int(min(messagePrefix+messageSize(rest), int64(len(rest))))
				whole = int64(n) == messagePrefix+messageSize(rest)
			}
			e, raw := &events[k], rest[:n]
			rest = rest[n:]
			if e.K != k+1 || e.Unterminated == whole || int64(len(e.Raw))+e.Dropped != int64(len(raw)) ||
				!bytes.HasPrefix(raw, e.Raw) || e.Dropped > 0 && len(e.Raw) < min(limit, messagePrefix) {
				t.Errorf("event %+v of %x", e, raw)
			}
			if whole && raw[0] <= 1 && !e.IsMessage() {
				t.Errorf("%+v is no message", e)
			}
			if fields := e.Fields(); e.IsMessage() && (fields.HasData || len(fields.Ignored) > 0) {
				t.Errorf("a message has the fields %+v", fields)
			}
		}
		if k != len(events) {
			t.Errorf("%d events for %d messages", len(events), k)
		}
		for i, e := range split(len(body)) {
			if !bytes.Equal(e.Raw, events[i].Raw) || e.Dropped != events[i].Dropped {
				t.Errorf("in one piece %+v, in several %+v", e, events[i])
			}
		}
	})
}
