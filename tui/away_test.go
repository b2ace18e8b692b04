package tui

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/capture/bolt"
	"a2atap/tui/internal/tuitest"
)

// A remoteReader is a capture whose server is away as the channel says.
type remoteReader struct {
	*bolt.Reader
	away chan bool
}

func (r remoteReader) Away(ctx context.Context, _ bool) (bool, error) {
	select {
	case away := <-r.away:
		return away, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// While the server of a capture is away, the screen shows that.
func TestServerAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	store, add := recorder(t, path)
	add(tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
	defer end(t, store)
	attached, err := bolt.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer attached.Close()
	r := remoteReader{attached, make(chan bool)}
	u := startUI(t, r, 120, 40, Options{})
	defer u.cancel()
	sees := func(words string) {
		t.Helper()
		u.until(words, func() bool { return strings.Contains(u.screen(), words) })
	}
	sees("no finding, live")
	r.away <- true
	sees("no finding, server away")
	sees("the server is unreachable; missing data comes later")
	r.away <- false
	sees("no finding, live")
	sees("the server is reachable again")
}
