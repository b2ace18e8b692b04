package peers

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/har"
	"a2atap/proxy/capture/jsonl"
	captures "a2atap/proxy/capture/open"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// checkExports checks that a capture that was converted to another format and back has the same findings.
func checkExports(t *testing.T, exchanges []*capture.Exchange, want *judgment.Result) {
	t.Helper()
	for format, begin := range map[string]func(io.Writer) (exchangeWriter, error){
		"har":   func(w io.Writer) (exchangeWriter, error) { return har.NewWriter(w, "peers") },
		"jsonl": func(w io.Writer) (exchangeWriter, error) { return jsonl.NewWriter(w, nil), nil },
		"txtar": func(w io.Writer) (exchangeWriter, error) { return transcript.NewWriter(w), nil },
	} {
		file := filepath.Join(t.TempDir(), "c."+format)
		must.Do(t, export(file, begin, exchanges))
		src := must.Get(captures.File(file))(t)
		same(t, "from "+format, want, judge(t, src))
		expect.OK(t, src.Close())
	}
}

// An exchangeWriter is the common interface of the writers of all formats.
type exchangeWriter interface {
	Write(x *capture.Exchange) error
	Close() error
}

func export(file string, begin func(io.Writer) (exchangeWriter, error), exchanges []*capture.Exchange) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := begin(f)
	if err != nil {
		return err
	}
	for _, x := range exchanges {
		if err := w.Write(x); err != nil {
			return err
		}
	}
	return w.Close()
}

func judge(t *testing.T, src capture.Source) *judgment.Result {
	t.Helper()
	return must.Get(engine.Run(t.Context(), rules.All, src, nil))(t)
}

// checkReading demands that what was kept of judging a capture says the same.
func checkReading(t *testing.T, src capture.Source, want *judgment.Result) {
	t.Helper()
	var shelf capture.MemoryShelf
	var got *judgment.Result
	_, w, err := snapshot.Judge(t.Context(), rules.All, src, shelf.Put, []byte("mark"))
	if err == nil {
		err = w.Err()
	}
	r, opened := snapshot.Open(t.Context(), &shelf, rules.All)
	if opened == nil {
		got, opened = r.Complete(t.Context(), src)
	}
	if err != nil || opened != nil {
		t.Fatal(err, opened)
	}
	same(t, "and kept", want, got)
}

// same demands the same findings and the same coverage, in whatever order.
func same(t *testing.T, how string, want, got *judgment.Result) {
	t.Helper()
	expect.Same(t, "judged "+how+", the result is another than of the closed capture",
		whole(want), whole(got))
}

// whole writes out all that a result says, but for the names of the captures.
func whole(r *judgment.Result) []string {
	lines := []string{fmt.Sprintf("%+v", r.Counts)}
	for i := range r.Findings {
		f := &r.Findings[i]
		lines = append(lines,
			fmt.Sprint(f.Severity, f.Side, f.Dialects, f.Binding, f.Operation, f.Link, f.ExchangeID, f, f.Also, f.Fingerprint()))
	}
	for _, c := range r.Coverage {
		lines = append(lines, fmt.Sprintf("%s on %s: %d applied, %d broken", c.Rule.ID, c.Link, c.Applied, c.Broken))
	}
	for _, a := range r.Agents {
		lines = append(lines, fmt.Sprintf("%+v", a))
	}
	slices.Sort(lines)
	return lines
}
