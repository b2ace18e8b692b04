package snapshot

import (
	"sync"
	"testing"
	"time"

	"a2atap/proxy/expect"
)

// Rows are written while others read them. Whether writing changes one is the race detector's to say.
func TestWrittenRowsStay(t *testing.T) {
	r := &Row{}
	r.Seq, r.Conn, r.Took, r.Gap = 3, 2, time.Second, time.Millisecond
	var all sync.WaitGroup
	written := make([][]byte, 2)
	for i := range written {
		all.Go(func() {
			e := newEncoder()
			codec{w: e}.rest(r)
			written[i] = e.b
		})
	}
	all.Wait()
	expect.Same(t, "written beside each other", written[0], written[1])
}
