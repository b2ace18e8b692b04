// Package expect compares what a test has got with what it wants. Of says whose that is, and may be "".
package expect

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Equal fails the test unless got == want.
func Equal[T comparable](t testing.TB, of any, want, got T) {
	t.Helper()
	if got != want {
		t.Errorf("%sgot %s, want %s", named(of), shown(got), shown(want))
	}
}

// Same fails the test unless both are the same to package cmp, and shows what differs.
func Same(t testing.TB, of, want, got any, opts ...cmp.Option) {
	t.Helper()
	if len(opts) == 0 && reflect.DeepEqual(want, got) { // which takes a fraction of the time
		return
	}
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%v (-want +got):\n%s", of, diff)
	}
}

// Contains fails the test unless got has the part.
func Contains(t testing.TB, of any, part, got string) {
	t.Helper()
	if !strings.Contains(got, part) {
		t.Errorf("%sgot %q, want %q in it", named(of), got, part)
	}
}

// OK reports err, if any, as a failure of the test. The test continues.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Error fails the test unless err is one.
func Error(t testing.TB, of any, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%sgot no error", named(of))
	}
}

// ErrorIs fails the test unless err is the target, or wraps it.
func ErrorIs(t testing.TB, of any, target, err error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("%sgot error %v, want %v", named(of), err, target)
	}
}

// ErrorHas fails the test unless err is an error that has the part in its text.
func ErrorHas(t testing.TB, of any, part string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%sgot error %v, want %q in it", named(of), err, part)
	}
}

// Err returns the error of a call that returns something besides.
func Err[T any](_ T, err error) error { return err }

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

func named(of any) string {
	if of == "" {
		return ""
	}
	return fmt.Sprint(of) + ": "
}

// shown quotes what is a string.
func shown(v any) string {
	if reflect.ValueOf(v).Kind() == reflect.String {
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprintf("%+v", v)
}
