package fleet

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// answers lets a recorder be there that says something of itself, until it leaves.
func (s *stage) answers(a Answer) (leave func()) {
	s.t.Helper()
	data := must.Get(json.Marshal(a))(s.t)
	sub, err := s.conn.nats.Subscribe(answerSubject("traffic"), func(m *nats.Msg) {
		m.Respond(data) //nolint:errcheck // who asked is gone
	})
	must.Do(s.t, err)
	leave = func() { sub.Unsubscribe() } //nolint:errcheck // the server may have gone
	s.t.Cleanup(leave)
	return leave
}

// holes are the reasons of what is lost of the whole of a host's captures.
func (r *reading) holes(t *testing.T, host string) (reasons []string) {
	t.Helper()
	for _, one := range r.Recorded() {
		if one.Host != host {
			continue
		}
		for _, s := range allSteps(t, one.Source) {
			if lost, ok := s.What.(capture.Lost); ok && s.Seq == 0 && strings.Contains(lost.Reason, host+" (") {
				reasons = append(reasons, lost.Reason)
			}
		}
	}
	return reasons
}

func TestWhoCannotShipIsAGap(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		published int                   // messages of the capture
		ended     bool                  // as they say
		change    func(a *Answer)       // of a recorder that is behind
		options   func(o *ReadOptions)  // may be nil
		want      []string              // begins of holes
		reads     func(r *reading) bool // may be nil
	}{
		"is only behind": {3, false, func(*Answer) {}, nil, nil, nil},
		"is full": {
			3, false, func(a *Answer) { a.Error = "no space\x1b[2J" }, nil,
			[]string{"steps NEXT to LAST of north (c.a2atap) are not in the stream, since it cannot ship them: no space"},
			nil,
		},
		"has shipped all": {3, false, func(a *Answer) { a.Error, a.Recorder.Committed = "no space", 1 }, nil, nil, nil},
		"goes on":         {3, true, func(a *Answer) {}, nil, nil, nil},
		"never came": {
			0, false, func(a *Answer) { a.Error = "no space" }, nil,
			[]string{"steps 1 to LAST of north (c.a2atap) are not in the stream, since it cannot ship them: no space"},
			nil,
		},
		"is gone": {
			0, false, func(a *Answer) { a.Shipped = a.Recorder.Committed }, nil,
			[]string{"steps 1 to LAST of north (c.a2atap) are not in the stream"},
			nil,
		},
		"is older": {
			0, false, func(a *Answer) { a.Shipped = a.Recorder.Committed },
			func(o *ReadOptions) { o.Since = time.Now() }, nil, func(r *reading) bool { return len(r.Recorded()) == 0 },
		},
		"has nothing": {
			0, false, func(a *Answer) { a.Error, a.Recorder.Committed = "no space", 0 }, nil, nil,
			func(r *reading) bool { return len(r.Recorded()) == 0 },
		},
		"is another": {
			0, false, func(a *Answer) { a.Error = "no space" },
			func(o *ReadOptions) { o.Hosts = []string{"south"} }, nil,
			func(r *reading) bool { return len(r.Recorded()) == 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			all := messages(t, "north", record(t, capturetest.Exchanges()), 1<<20)
			for _, m := range all {
				m.Recorder.Live, m.Recorder.Committed = !test.ended, all[max(test.published-1, 0)].Last
			}
			s.publish(all[:test.published]...)
			a := Answer{Recorder: all[0].Recorder}
			a.Recorder.Live, a.Recorder.Committed = true, all[len(all)-1].Last
			next := uint64(1)
			if test.published > 0 {
				next = all[test.published-1].Last + 1
			}
			a.Shipped = next - 1
			test.change(&a)
			s.answers(a)
			o := ReadOptions{}
			if test.options != nil {
				test.options(&o)
			}
			r := s.read(o)
			for i, text := range test.want {
				text = strings.ReplaceAll(text, "NEXT", uintText(next))
				test.want[i] = strings.ReplaceAll(text, "LAST", uintText(a.Recorder.Committed))
			}
			holes := r.holes(t, "north")
			if !slices.EqualFunc(holes, test.want, strings.HasPrefix) {
				t.Errorf("holes %q, want %q", holes, test.want)
			}
			expect.Equal(t, r.notices, len(test.want), len(r.notices))
			if test.reads != nil {
				if !test.reads(r) {
					t.Errorf("it reads %d captures", len(r.Recorded()))
				}
				return
			}
			info, err := r.of(t, "north").Info(t.Context())
			if err != nil || !info.Live {
				t.Errorf("of one that is there: %+v (%v)", info, err)
			}
		})
	}
}

func uintText(n uint64) string {
	text, _ := json.Marshal(n) //nolint:errchkjson // a number
	return string(text)
}

// What cannot be read at the end of a subject may be what was recorded last; what is followed by what can, shows in the
// numbers of the steps.
func TestUnreadableMessages(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	garbage := func(subject string) {
		t.Helper()
		must.Get(s.conn.js.Publish(t.Context(), subject, []byte("hello")))(t)
	}
	whole := messages(t, "whole", record(t, capturetest.Exchanges()), 1<<20)
	garbage(whole[0].Recorder.Subject("traffic"))
	s.publish(whole...)
	garbage("a2atap.traffic.whole.other")
	north := messages(t, "north", record(t, capturetest.Exchanges()), 1<<20)
	s.publish(north...)
	garbage(north[0].Recorder.Subject("traffic"))
	for range 2 * maxUnread {
		garbage(subjectOf("traffic", "evil", uuid.New()))
	}
	garbage(subjectOf("traffic", "evil", north[0].Recorder.Capture))
	r := s.read(ReadOptions{})
	for host, want := range map[string]int{"whole": 0, "north": 1, "evil": maxUnread - 1} { // one belongs to whole
		if holes := r.holes(t, host); len(holes) != want || want > 0 && !strings.Contains(holes[0], "cannot be read") {
			t.Errorf("of %s there are holes %q", host, holes)
		}
	}
	if len(r.notices) > strangeNotices+1 {
		t.Errorf("said %q", r.notices)
	}
}

// A message below the subject of a host is not that of another, which who may publish there could claim.
func TestMessagesBelowTheirSubject(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	m := messages(t, "north", record(t, capturetest.Exchanges()), 1<<20)[0]
	msg := must.Get(m.encode("traffic"))(t)
	msg.Subject = strings.Replace(msg.Subject, ".north.", ".evil.north.", 1)
	must.Get(s.conn.js.PublishMsg(t.Context(), msg))(t)
	if r := s.read(ReadOptions{}); len(r.Recorded()) > 0 || len(r.notices) != 1 {
		t.Errorf("it reads %+v, said %q", r.Recorded(), r.notices)
	}
	if found, err := s.conn.Hosts(t.Context()); err != nil || len(found.Hosts) > 0 {
		t.Errorf("listed are %+v (%v)", found, err)
	}
	if _, own := sender("", "a2atap.origin.north."+strings.ReplaceAll(m.Recorder.Capture.String(), "-", ""), m); !own {
		t.Error("a copy of another stream has no recorders")
	}
}

// A clock that was set back, or another shipper of the same file, does not take back what was said.
func TestFactsOnlyGrow(t *testing.T) {
	t.Parallel()
	at := time.Now()
	one := Recorder{
		Sent: at, Committed: 9, Crashes: 2, CrashAfter: at, CrashWithin: 5, LostExchanges: 1, LostBytes: 70,
		SecretsKept: true,
	}
	other := Recorder{Sent: at.Add(-time.Hour), Committed: 7, Crashes: 1, LostExchanges: 4, LostBytes: 30, Insecure: true}
	for _, order := range [][]Recorder{{one, other}, {other, one}} {
		m := newMirror(nil, time.Time{}, func(string) {}, nil)
		for _, r := range order {
			must.Do(t, m.take(&Message{Recorder: r, First: 1}, nil, at))
		}
		want := one
		want.LostExchanges, want.Insecure, want.Sent = 4, true, order[1].Sent
		expect.Equal(t, "", want, m.recorder)
	}
}

func TestCrashesAtAnUnknownTime(t *testing.T) {
	t.Parallel()
	since := time.Now()
	for after, want := range map[time.Time]uint64{{}: 1, since.Add(-time.Hour): 0, since.Add(time.Hour): 1} {
		r := &Reader{}
		m := newMirror(nil, since, func(string) {}, &r.held)
		m.recorder = Recorder{Crashes: 1, CrashAfter: after}
		expect.Equal(t, fmt.Sprintf("after %v", after), want, must.Get((mirrored{m}).Info(t.Context()))(t).Crashes)
	}
}

// Much that is damaged or missing is not said piece by piece.
func TestManyHolesAreSaidOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	all := messages(t, "north", record(t, capturetest.Exchanges()), 1<<20)
	for i := 1; i < len(all); i += 2 {
		bent := *all[i]
		bent.Data = slices.Clone(bent.Data[:len(bent.Data)-9])
		bent.Data = appendBlock(nil, &bolt.Block{First: bent.First, Packed: bent.Data[blockPrefix:]})
		all[i] = &bent
	}
	s.publish(all...)
	r := s.read(ReadOptions{})
	if len(r.notices) > 5 || !strings.Contains(strings.Join(r.notices, "\n"), "damaged blocks in total") ||
		!strings.Contains(strings.Join(r.notices, "\n"), "gaps in total") {
		t.Errorf("said %q", r.notices)
	}
	expect.Error(t, "a block of no bytes is one", expect.Err(splitBlocks([]byte{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})))
}
