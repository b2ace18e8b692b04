// Package expect compares what a test has got with what it wants.
package expect

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Same fails the test unless both are the same, and shows what differs. Of says whose they are; it may be empty.
func Same(t testing.TB, of string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", of, diff)
	}
}

// OK fails the test if err is one, and lets it go on.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Golden fails the test unless a file has what was got. With update, it is written before.
func Golden(t testing.TB, update bool, file, got string) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // it is a page
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	Same(t, file+", which -update writes", string(want), got)
}
