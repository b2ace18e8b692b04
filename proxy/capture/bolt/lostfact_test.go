package bolt

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// What is learned of an exchange that was lost as a whole, such as the name of its client, makes no exchange of it.
func TestFactOfALostExchange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	s, err := Open(path, Options{})
	must.Do(t, err)
	err = errors.Join(
		s.Append(capture.Step{What: capture.Lost{Exchanges: 1, Reason: "the disk was full"}}),
		s.Append(capture.Step{Seq: 1, What: capture.Fact{Client: capture.Peer{Name: "planner", How: "user-agent"}}}),
		s.Append(capture.Step{Seq: 2, What: capture.Opened{Started: time.Unix(1, 0), Head: []byte("GET / HTTP/1.1\r\n\r\n")}}),
		s.Close())
	must.Do(t, err)
	r := must.Get(Read(path))(t)
	defer r.Close()
	var seqs []uint64
	for x, err := range r.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		seqs = append(seqs, x.Seq)
	}
	if len(seqs) != 1 || seqs[0] != 2 {
		t.Errorf("the capture has the exchanges %d, want 2 alone", seqs)
	}
	if x, err := r.Exchange(t.Context(), 1); !errors.Is(err, capture.ErrNotFound) {
		t.Errorf("exchange 1 is %v, %v; want none", x, err)
	}
}
