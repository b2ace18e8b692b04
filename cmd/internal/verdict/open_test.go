package verdict

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/must"
)

// The filter chooses the same findings of few exchanges, which are looked up, and of many, which are read through.
func TestSelectedFindings(t *testing.T) {
	for _, n := range []int{3, 250} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `{"n":%d,"request":{"line":"POST / HTTP/1.1","headers":[["Content-Type","application/json"]],`+
				`"body":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{\"id\":\"t\"}}"},`+
				`"response":{"line":"HTTP/1.1 200 OK","status":200,"headers":[["Content-Type","application/json"]],"body":"{\"jsonrpc\":\"2.0\",\"id\":1}"}}`+"\n",
				i+1, []string{"tasks/get", "tasks/cancel"}[i%2])
		}
		name := filepath.Join(t.TempDir(), "c.jsonl")
		must.Do(t, os.WriteFile(name, []byte(text.String()), 0o600))
		e := cli.Env{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Now: time.Now}
		src := must.Get(source.Open(e, name))(t)
		defer src.Close()
		j := must.Get(Open(t.Context(), e, "check", name, src, How{}))(t)
		defer j.Close()
		result := must.Get(j.Complete(t.Context(), src))(t)
		found := len(result.Findings)
		keep := must.Get(ParseSelection("op:GetTask", ""))(t)
		must.Do(t, keep.findings(t.Context(), j, result))
		if found != n || len(result.Findings) != (n+1)/2 {
			t.Errorf("of %d findings %d are left, want %d of %d", found, len(result.Findings), (n+1)/2, n)
		}
		for _, f := range result.Findings {
			if f.Place.Exchange%2 == 0 {
				t.Errorf("a finding of exchange %d is left", f.Place.Exchange)
			}
		}
	}
}
