package expect_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A failing is a test that takes down how it fails.
type failing struct {
	testing.TB
	said []string
}

func (*failing) Helper()                          {}
func (f *failing) Error(args ...any)              { f.said = append(f.said, fmt.Sprint(args...)) }
func (f *failing) Errorf(format string, a ...any) { f.Error(fmt.Sprintf(format, a...)) }

func TestWhatFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "golden")
	must.Do(t, os.WriteFile(file, []byte("a"), 0o600))
	type word string
	cut := fmt.Errorf("read: %w", io.ErrUnexpectedEOF)
	for want, check := range map[string]func(testing.TB){
		`x: got 2, want 1`:  func(t testing.TB) { expect.Equal(t, "x", 1, 2) },
		`got "b", want "a"`: func(t testing.TB) { expect.Equal(t, "", word("a"), "b") },
		`[x y]: got {A:1}, want {A:0}`: func(t testing.TB) {
			expect.Equal(t, []string{"x", "y"}, struct{ A int }{}, struct{ A int }{1})
		},
		`x (-want +got)`:                                     func(t testing.TB) { expect.Same(t, "x", []int{1}, []int{2}) },
		`x: got "abc", want "d" in it`:                       func(t testing.TB) { expect.Contains(t, "x", "d", "abc") },
		`read: unexpected EOF`:                               func(t testing.TB) { expect.OK(t, cut) },
		`x: got no error`:                                    func(t testing.TB) { expect.Error(t, "x", nil) },
		`x: got error read: unexpected EOF, want EOF`:        func(t testing.TB) { expect.ErrorIs(t, "x", io.EOF, cut) },
		`got error <nil>, want EOF`:                          func(t testing.TB) { expect.ErrorIs(t, "", io.EOF, nil) },
		`got error read: unexpected EOF, want "write" in it`: func(t testing.TB) { expect.ErrorHas(t, "", "write", cut) },
		`got error <nil>, want "" in it`:                     func(t testing.TB) { expect.ErrorHas(t, "", "", nil) },
		`golden, which -update writes`:                       func(t testing.TB) { expect.Golden(t, false, file, "b") },
	} {
		var f failing
		if check(&f); len(f.said) != 1 || !strings.Contains(f.said[0], want) {
			t.Errorf("got %q, want %s", f.said, want)
		}
	}
}

func TestWhatHolds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "golden")
	var f failing
	expect.Equal(&f, "", 1, 1)
	expect.Same(&f, "", []int{1}, []int{1})
	expect.Same(&f, "", time.Unix(1, 0), time.Unix(1, 0).UTC()) // by its method Equal
	expect.Contains(&f, "", "b", "abc")
	expect.OK(&f, nil)
	expect.Error(&f, "", io.EOF)
	expect.ErrorIs(&f, "", io.EOF, fmt.Errorf("read: %w", io.EOF))
	expect.ErrorHas(&f, "", "E", errors.New("EOF"))
	expect.Golden(&f, true, file, "a")
	expect.Golden(&f, false, file, "a")
	if len(f.said) > 0 {
		t.Error(f.said)
	}
}
