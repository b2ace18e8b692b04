package inspector

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A capture that nobody has judged, and that is too large to be judged before the inspector opens, is judged while one
// looks at it, and that is kept: who looks next reads it. Whoever leaves early is not made to wait, and nothing is
// kept.
func TestJudgedWhileInspected(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c.a2atap")
	to := must.Get(redacted.Open(name, redacted.Options{Key: redact.NewKey()}))(t)
	for n := range uint64(judgedFirst + 1) {
		err := to.Append(
			capture.Step{Seq: n + 1, What: capture.Opened{
				ID: uuid.New(), Started: time.Unix(1_700_000_000, 0), Head: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
			}},
			capture.Step{Seq: n + 1, What: capture.RequestEnd{}},
			capture.Step{Seq: n + 1, What: capture.Closed{}},
		)
		must.Do(t, err)
	}
	must.Do(t, to.Close())
	e := cli.Env{Out: io.Discard, Err: io.Discard}
	open := func() (capture.Source, *judged.Capture, <-chan struct{}) {
		src := must.Get((*source.Flags)(nil).Follow(e, name, source.Forever))(t)
		j, making := inspected(t.Context(), e, name, src)
		if j == nil {
			t.Fatal("there is no reading")
		}
		return src, j, making
	}
	end := func(src capture.Source, j *judged.Capture) {
		expect.OK(t, j.Close())
		expect.OK(t, src.Close())
	}
	left := func(src capture.Source, j *judged.Capture, making <-chan struct{}) {
		end(src, j)
		select {
		case <-making:
		default:
			t.Error("it is judged although nobody looks")
		}
	}
	src, j, making := open()
	if making == nil {
		t.Fatal("it was judged before the inspector opened")
	}
	left(src, j, making)

	src, j, making = open()
	if making == nil {
		t.Fatal("what was judged in part was kept as if it were all")
	}
	<-making
	if grown, err := j.Refresh(t.Context()); !grown || err != nil {
		t.Errorf("grown: %v, %v", grown, err)
	}
	if h := j.Head(); !h.Ended || h.Rows != judgedFirst+1 {
		t.Errorf("the reading is %+v", h)
	}
	end(src, j)

	src, j, making = open()
	if making != nil || !j.Head().Ended {
		t.Error("it is judged anew")
	}
	end(src, j)
}
