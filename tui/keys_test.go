package tui

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestKeysAreOneTable(t *testing.T) {
	for _, p := range []place{inList, inDetail, inLadder, inWorkflow, inFindings, inPage, inDiff, inElsewhere} {
		seen := make(map[string]string)
		for i := range keys {
			k := &keys[i]
			if k.in&p == 0 {
				continue
			}
			for _, name := range k.names {
				if other, twice := seen[name]; twice {
					t.Errorf("%s is %q and %q in the same panel", name, other, k.words)
				}
				seen[name] = k.words
				if lookup(name, p) != k {
					t.Errorf("%s in panel %b is not found", name, p)
				}
			}
		}
	}
	for i := range keys {
		k := &keys[i]
		if k.label == "" || k.words == "" || k.do == noAction || k.in == 0 || len(k.names) == 0 {
			t.Errorf("the row of %q lacks something", k.names)
		}
		listedIn := 0
		for _, p := range panels {
			for _, row := range listed(p.in) {
				if row == k {
					listedIn++
				}
			}
		}
		if listedIn == 0 {
			t.Errorf("the help does not list %q (%s)", k.names, k.words)
		}
	}
}

func TestKeysPage(t *testing.T) {
	var b strings.Builder
	if err := WriteKeys(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("..", "docs", "keys.md"), b.String())
}
