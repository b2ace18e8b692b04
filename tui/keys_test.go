package tui

import (
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/tui/keys"
)

func TestKeysAreOneTable(t *testing.T) {
	for _, p := range []keys.Scope{keys.InList, keys.InDetail, keys.InLadder, keys.InWorkflow, keys.InFindings, keys.InPage, keys.InDiff, keys.InElsewhere} {
		seen := make(map[string]string)
		for i := range keys.Table {
			k := &keys.Table[i]
			if k.In&p == 0 {
				continue
			}
			for _, name := range k.Names {
				if other, twice := seen[name]; twice {
					t.Errorf("%s is %q and %q in the same panel", name, other, k.Words)
				}
				seen[name] = k.Words
				if keys.Lookup(name, p) != k {
					t.Errorf("%s in panel %b is not found", name, p)
				}
			}
		}
	}
	for i := range keys.Table {
		k := &keys.Table[i]
		if k.Label == "" || k.Words == "" || k.Action == keys.None || k.In == 0 || len(k.Names) == 0 {
			t.Errorf("the row of %q lacks something", k.Names)
		}
		listedIn := 0
		for _, p := range keys.Panels {
			for _, row := range keys.Listed(p.In) {
				if row == k {
					listedIn++
				}
			}
		}
		if listedIn == 0 {
			t.Errorf("the help does not list %q (%s)", k.Names, k.Words)
		}
	}
}

func TestKeysPage(t *testing.T) {
	var b strings.Builder
	if err := writeKeys(&b); err != nil {
		t.Fatal(err)
	}
	expect.Golden(t, *update, filepath.Join("..", "docs", "keys.md"), b.String())
}
