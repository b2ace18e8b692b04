package fleet

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// Trouble that a user has to fix is reported once, without secrets, and ends a shipper that must not wait.
func TestLastingTrouble(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		server func(*server.Options)
		stream *jetstream.StreamConfig // that is there
		user   string
		want   string
	}{
		"wrong password": {
			server: func(o *server.Options) { o.Username, o.Password = "me", "right-one" }, user: "me:wrong-one@",
			want: "check the user",
		},
		"may not publish": {server: mayNot("a2atap.>"), user: "me:wrong-one@", want: "does not allow it"},
		"may not ask":     {server: mayNot("$JS.API.STREAM.MSG.GET.>"), user: "me:wrong-one@", want: "does not allow it"},
		"another stream": {
			stream: &jetstream.StreamConfig{Name: "traffic", Subjects: []string{"other.*"}},
			want:   "has the subjects other.*, not a2atap.traffic.>",
		},
		"its subjects elsewhere": {
			stream: &jetstream.StreamConfig{Name: "all", Subjects: []string{"a2atap.>"}},
			want:   "another stream has the subjects",
		},
		"small messages": {server: func(o *server.Options) { o.MaxPayload = 1 << 10 }, want: "too small"},
		"small messages of the stream": {
			stream: &jetstream.StreamConfig{Name: "traffic", Subjects: []string{"a2atap.traffic.>"}, MaxMsgSize: 512},
			want:   "too small",
		},
		"no JetStream": {server: func(o *server.Options) { o.JetStream = false }, want: "is JetStream enabled there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var change []func(*server.Options)
			if test.server != nil {
				change = append(change, test.server)
			}
			s := fleettest.Start(t, change...)
			if test.stream != nil {
				must.Get(connected(t, s).js.CreateStream(patient(t), *test.stream))(t)
			}
			r := newRecorder(t)
			r.record(1, 100)
			url := strings.Replace(s.URL("traffic"), "://", "://"+test.user, 1)
			goesOn := ship(t, url, r)
			givesUp := ship(t, url, r, func(o *ShipOptions) { o.Once, o.GiveUp = true, time.Millisecond })
			<-givesUp.done
			if givesUp.err == nil || !strings.Contains(givesUp.err.Error(), test.want) ||
				strings.Contains(givesUp.err.Error(), "wrong-one") {
				t.Errorf("it gives up with %v", givesUp.err)
			}
			eventually(t, "word of it", func() bool { return len(goesOn.told()) > 0 })
			tries := func() *error { return goesOn.failing.Load() }
			for first := tries(); tries() == first; {
				<-time.After(5 * time.Millisecond) // until it has tried again, which it does not report
			}
			if told := goesOn.told(); len(told) != 1 || !strings.Contains(told[0].Error(), test.want) ||
				strings.Contains(told[0].Error(), "wrong-one") {
				t.Errorf("the user was told %v", told)
			}
		})
	}
}

// mayNot lets a user publish anything but to some subjects.
func mayNot(subjects ...string) func(*server.Options) {
	return func(o *server.Options) {
		o.Users = []*server.User{{
			Username: "me", Password: "wrong-one",
			Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: subjects}},
		}}
	}
}

// Whether a recorder may be asked how it is has nothing to do with shipping.
func TestNobodyMayAsk(t *testing.T) {
	t.Parallel()
	checkAllowed(t, &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{"a2atap-hosts.>"}}})
}

// checkAllowed fails the test unless a user with these permissions can ship a capture without reported trouble.
func checkAllowed(t *testing.T, p *server.Permissions) {
	t.Helper()
	s := fleettest.Start(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "me", Password: "right-one", Permissions: p}}
	})
	r := newRecorder(t)
	r.record(1, 100)
	r.end()
	shipper := ship(t, strings.Replace(s.URL("traffic"), "://", "://me:right-one@", 1), r)
	shipper.wait()
	if told := shipper.told(); len(told) > 0 || shipper.Status().Shipped != 6 {
		t.Errorf("the user was told %v; %+v", told, shipper.Status())
	}
}

// shipped ships three exchanges of a recorder that is still recording.
func shipped(t *testing.T) (s *fleettest.Server, c *Conn, r *recorder, shipper *shipping) {
	t.Helper()
	s = fleettest.Start(t)
	c, r = connected(t, s), newRecorder(t)
	r.record(3, 100)
	shipper = ship(t, s.URL("traffic"), r)
	shipper.until(18)
	return s, c, r, shipper
}

// Retention may have removed all messages of a recorder. Only the process that shipped them knows.
func TestRetentionEmptiesTheSubject(t *testing.T) {
	t.Parallel()
	s, c, r, shipper := shipped(t)
	stream := must.Get(c.js.Stream(patient(t), "traffic"))(t)
	must.Do(t, stream.Purge(patient(t)))
	r.record(1, 100)
	shipper.until(24)
	if blocks := blocksOf(t, messagesIn(t, s, "traffic")); len(blocks) != 1 || blocks[0].First != 19 {
		t.Fatalf("the stream has blocks %v", blocks)
	}
	must.Do(t, stream.Purge(patient(t)))
	shipper.stop()
	<-shipper.done
	r.end()
	ship(t, s.URL("traffic"), r).wait() // the server remembers what it had, and takes it again nevertheless
	exactly(t, s, "traffic", r)
}

// A stream that was removed is made again, with the whole capture.
func TestStreamIsRemoved(t *testing.T) {
	t.Parallel()
	s, c, r, shipper := shipped(t)
	must.Do(t, c.js.DeleteStream(patient(t), "traffic"))
	r.record(1, 100)
	shipper.endsWith(s, r)
}

func TestForeignLastMessage(t *testing.T) {
	t.Parallel()
	s, c, r, shipper := shipped(t)
	info := must.Get(r.Info(patient(t)))(t)
	subject := (&Recorder{Host: "host.example", Capture: info.ID}).Subject("traffic")
	must.Get(c.js.Publish(patient(t), subject, []byte("foreign")))(t)
	r.record(1, 100)
	r.end()
	shipper.wait()
	stream := must.Get(c.js.Stream(patient(t), "traffic"))(t)
	var messages []*Message
	for seq := range stream.CachedInfo().State.LastSeq {
		raw := must.Get(stream.GetMsg(patient(t), seq+1))(t)
		if m, err := decodeMessage(raw.Header, raw.Data); err == nil {
			messages = append(messages, m)
		}
	}
	if blocks := blocksOf(t, messages); blocks[len(blocks)-1].First != 19 {
		t.Errorf("the last block has step %d", blocks[len(blocks)-1].First)
	}

	// A message of a later version must not be continued.
	later := &nats.Msg{Subject: subject, Header: nats.Header{headerVersion: {"2"}}}
	must.Get(c.js.PublishMsg(patient(t), later))(t)
	again := ship(t, s.URL("traffic"), r, func(o *ShipOptions) { o.Once, o.GiveUp = true, time.Minute })
	if <-again.done; !errors.Is(again.err, capture.ErrFuture) {
		t.Errorf("behind a message of a later version: %v", again.err)
	}
}

// A file that was put back from a copy has other steps under the numbers that the stream has already.
func TestOlderCopy(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	r := newRecorder(t)
	r.record(3, 100)
	r.end()
	older := must.Get(os.ReadFile(r.path))(t)
	more := newRecorderAt(t, r.path)
	more.record(2, 100)
	more.end()
	ship(t, s.URL("traffic"), more).wait()
	path := filepath.Join(t.TempDir(), "older.a2atap")
	must.Do(t, os.WriteFile(path, older, 0o600))
	file := must.Get(bolt.Read(path))(t)
	defer file.Close()
	shipper := ship(t, s.URL("traffic"), file, func(o *ShipOptions) { o.Once, o.GiveUp = true, time.Minute })
	if <-shipper.done; !errors.Is(shipper.err, errAhead) {
		t.Errorf("an older copy: %v", shipper.err)
	}
}

func TestRecordersAnswer(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	r := newRecorder(t)
	r.record(2, 100)
	ship(t, s.URL("traffic"), r).until(12)
	reply := must.Get(connected(t, s).nats.Request("a2atap-hosts.traffic", nil, must.Patience))(t)
	var a Answer
	must.Do(t, json.Unmarshal(reply.Data, &a))
	if a.Shipped != 12 || a.Error != "" || a.Recorder.Host != "host.example" || !a.Recorder.Live ||
		a.Recorder.Committed != 12 {
		t.Errorf("the recorder answers %s", reply.Data)
	}
}

func TestCovers(t *testing.T) {
	for _, test := range []struct {
		pattern, other string
		want           bool
	}{
		{"a2atap.x.>", "a2atap.x.>", true},
		{"a2atap.>", "a2atap.x.>", true},
		{">", "a2atap.x.>", true},
		{"*.*.>", "a2atap.x.>", true},
		{"a2atap.x.*", "a2atap.x.>", false},
		{"a2atap.x", "a2atap.x.>", false},
		{"a2atap.y.>", "a2atap.x.>", false},
		{"a2atap.x.y.>", "a2atap.x.>", false},
	} {
		expect.Equal(t, test.pattern+" covers "+test.other, test.want, covers(test.pattern, test.other))
	}
}

// What docs/security.md says that a recorder needs is enough.
func TestLeastPermissions(t *testing.T) {
	t.Parallel()
	checkAllowed(t, &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{
			"a2atap.traffic.>", "$JS.API.STREAM.INFO.traffic", "$JS.API.STREAM.CREATE.traffic",
			"$JS.API.STREAM.MSG.GET.traffic", "_INBOX.>",
		}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>", "a2atap-hosts.traffic"}},
	})
}
