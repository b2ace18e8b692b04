// Package must is for what a test only prepares: where that fails, there is nothing left to test.
package must

import (
	"testing"
	"time"
)

// Patience ends a test that waits for what does not come. What comes may be slow where others use the machine and its disk.
const Patience = 2 * time.Minute

// Do ends the test if err is one.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get has what a call returns with an error, which ends the test: l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t).
func Get[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return v
	}
}
