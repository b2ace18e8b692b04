package snapshot

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

var update = flag.Bool("update", false, "write what has changed")

// sumFile holds the version, and a checksum of the results of all transcripts of the rules.
const sumFile = "testdata/results.sum"

// Stored results of another version are not read, so the version must change when the results do. The transcripts show
// whether they have.
func TestVersion(t *testing.T) {
	sum := sha256.New()
	for _, s := range rulestest.Scenarios(t) {
		src := must.Get(must.Get(s.Parse())(t).Source(s.Name))(t)
		var shelf capture.MemoryShelf
		if _, w, err := Judge(t.Context(), rules.All, src, shelf.Put, nil); err != nil || w.Err() != nil {
			t.Fatal(s.Name, err, w.Err())
		}
		fmt.Fprintln(sum, s.Name)
		for e, err := range shelf.KeptRange(t.Context(), []byte("i"), nil) { // not the head, which is in h
			must.Do(t, err)
			fmt.Fprintf(sum, "%q %q\n", e.Key, must.Get(unpacker().DecodeAll(e.Value, nil))(t))
		}
		for e, err := range shelf.KeptRange(t.Context(), nil, []byte("h")) {
			must.Do(t, err)
			fmt.Fprintf(sum, "%q %q\n", e.Key, must.Get(unpacker().DecodeAll(e.Value, nil))(t))
		}
	}
	got := fmt.Sprintf("%d %x\n", version, sum.Sum(nil)[:8])
	want, err := os.ReadFile(sumFile)
	var before int
	if err == nil {
		_, err = fmt.Sscan(string(want), &before)
	}
	switch {
	case err == nil && got == string(want):
	case err == nil && before == version:
		t.Errorf("the results of the transcripts have changed: raise the version in kept.go, then run go test ./analyzer/snapshot -run Version -update")
	case !*update:
		t.Errorf("%s is of version %d: run go test ./analyzer/snapshot -run Version -update", sumFile, before)
	default:
		must.Do(t, os.WriteFile(sumFile, []byte(got), 0o644))
	}
}
