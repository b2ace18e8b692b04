package capturetest

import (
	"iter"
	"os"
	"path/filepath"
	"testing"

	"a2atap/proxy/capture"
)

// Each is a sequence of exchanges as a Source yields it.
func Each(xs []*capture.Exchange) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for _, x := range xs {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// ReadAll returns the exchanges of a source.
func ReadAll(t testing.TB, s capture.Source) []*capture.Exchange {
	t.Helper()
	var xs []*capture.Exchange
	for x, err := range s.Exchanges(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		xs = append(xs, x)
	}
	return xs
}

// WriteFile writes a file into a folder of the test's own and returns its path.
func WriteFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
