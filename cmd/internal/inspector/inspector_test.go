package inspector

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/view"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A large capture that was not checked is checked while the user looks at it, and the result is stored for the next
// inspector. If the user leaves early, nothing is stored.
func TestCheckedWhileInspected(t *testing.T) {
	name := filepath.Join(t.TempDir(), "c.a2atap")
	to := must.Get(redacted.Open(name, redacted.Options{Key: redact.NewKey()}))(t)
	for n := range uint64(checkedFirst + 1) {
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
	open := func() (capture.Source, *view.View) {
		src := must.Get((*source.Flags)(nil).Follow(e, name, source.Forever))(t)
		return src, viewOf(t.Context(), e, name, src, nil)
	}
	end := func(src capture.Source, v *view.View) {
		expect.OK(t, v.Close())
		expect.OK(t, src.Close())
	}
	stored := func() bool {
		src := must.Get(source.OpenFile(name))(t)
		defer src.Close()
		j := verdict.Stored(t.Context(), name, src)
		defer j.Close()
		return j != nil
	}
	src, v := open()
	early, _ := v.Now()
	end(src, v)
	if early.Whole || stored() {
		t.Error("the user left early, and the whole capture was checked")
	}
	src, v = open()
	if state := must.Get(v.Wait(t.Context()))(t); state.Results.Head().Rows != checkedFirst+1 {
		t.Errorf("the results are %+v", state.Results.Head())
	}
	end(src, v)
	if !stored() {
		t.Error("the result was not stored")
	}
}
