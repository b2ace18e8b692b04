package fleet

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/must"
)

// FuzzReader takes messages in any order, repeated, cut and damaged, and those of others: whatever comes, the steps of
// each recorder are in order, numbered without a gap, and no exchange is without its beginning.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 0, 2, 0, 0}, "", []byte(nil))
	f.Add([]byte{5, 0, 0, 1, 1, 9, 200, 2, 3, 7, 0, 0, 9, 3, 1}, "1", []byte("{}"))
	var published []*Message
	var bySubject []*nats.Msg
	for i, host := range []string{"north", "south"} {
		path := record(f, capturetest.Exchanges()[i:])
		published = append(published, messages(f, host, path, []int{1 << 20, 90}[i])...)
	}
	for _, m := range published {
		msg := must.Get(m.encode("traffic"))(f)
		bySubject = append(bySubject, msg)
	}
	var all []byte
	for i := range bySubject {
		all = append(all, byte(i), 0, 0)
	}
	f.Add(all, "", []byte(nil))
	f.Fuzz(func(t *testing.T, plan []byte, header string, foreign []byte) {
		r := must.Get(NewReader(&Conn{address: Address{stream: "traffic"}}, ReadOptions{Folder: t.TempDir()}))(t)
		defer r.Close()
		for ; len(plan) >= 3; plan = plan[3:] {
			msg := bySubject[int(plan[0])%len(bySubject)]
			h, data := msg.Header, msg.Data
			switch plan[1] % 8 {
			case 1:
				data = data[:int(plan[2])%(len(data)+1)]
			case 2:
				data = append([]byte(nil), data...)
				if len(data) > 0 {
					data[int(plan[2])%len(data)] ^= plan[1] | 1
				}
			case 3:
				h, data = nats.Header{headerVersion: {header}, headerRecorder: h[headerRecorder]}, foreign
			case 4:
				data = binary.LittleEndian.AppendUint64([]byte{4, 0, 0, 0}, uint64(plan[2]))
				data = append(data, 1, 2, 3, 4)
			}
			if _, err := r.take(msg.Subject, h, data, time.Unix(int64(plan[2]), 0)); err != nil {
				return
			}
		}
		for _, one := range r.Recorded() {
			checkOrder(t, one.Source)
		}
	})
}

func checkOrder(t *testing.T, src capture.Source) {
	t.Helper()
	var last uint64
	opened := make(map[uint64]bool)
	for s, err := range src.Steps(t.Context(), 1) {
		must.Do(t, err)
		if last++; s.Arrival != last {
			t.Fatalf("step %d has number %d", last, s.Arrival)
		}
		if _, is := s.What.(capture.Opened); is {
			opened[s.Seq] = true
		}
		if s.Seq != 0 && !opened[s.Seq] {
			t.Fatalf("exchange %d has no beginning", s.Seq)
		}
	}
	info, err := src.Info(t.Context())
	if err != nil || info.Arrivals != last {
		t.Fatalf("%d steps, and %d are said (%v)", last, info.Arrivals, err)
	}
}
