package ca

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/internal/childtest"
	"a2atap/proxy/must"
)

// A process that is started with this variable opens the authority in the folder that it names and prints its
// fingerprint, once its standard input ends.
const childVariable = "A2ATAP_TEST_OPEN_CA"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		var nothing [1]byte
		os.Stdin.Read(nothing[:]) // the end of it is the signal to begin
		a, err := Open(dir)
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Stdout.WriteString(a.Fingerprint())
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func newAuthority(t *testing.T) *Authority {
	t.Helper()
	return must.Get(Open(filepath.Join(t.TempDir(), "new")))(t)
}

func TestOpenMakesAndKeeps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "a2atap")
	first := must.Get(Open(dir))(t)
	again := must.Get(Open(dir))(t)
	if !first.Made() || again.Made() {
		t.Errorf("made %v, then %v", first.Made(), again.Made())
	}
	if first.Fingerprint() != again.Fingerprint() || len(first.Fingerprint()) != 32*3-1 {
		t.Errorf("fingerprint %s, then %s", first.Fingerprint(), again.Fingerprint())
	}
	for name, want := range map[string]fs.FileMode{
		first.KeyFile(): 0o600, first.CertificateFile(): 0o644,
		dir: fs.ModeDir | 0o700,
	} {
		expect.Equal(t, name+" has mode", want, must.Get(os.Stat(name))(t).Mode())
	}
	public := must.Get(os.ReadFile(first.CertificateFile()))(t)
	block, rest := pem.Decode(public)
	if block == nil || len(rest) > 0 || !bytes.Equal(block.Bytes, first.Certificate().Raw) ||
		bytes.Contains(public, []byte("PRIVATE")) {
		t.Errorf("the file for clients is %s", public)
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("the folder holds %v", names)
	}
	c := first.Certificate()
	if !c.IsCA || !c.MaxPathLenZero || c.PublicKeyAlgorithm != x509.ECDSA ||
		c.NotAfter.Before(time.Now().AddDate(4, 0, 0)) {
		t.Errorf("got the certificate %+v", c)
	}
}

// Processes that use the authority for the first time at the same moment get the same one.
func TestOpenAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a2atap")
	outputs := childtest.AtOnce(t, 6, childVariable+"="+dir)
	a := must.Get(Open(dir))(t)
	for i, got := range outputs {
		expect.Equal(t, fmt.Sprintf("process %d", i), a.Fingerprint(), got)
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 {
		t.Errorf("the folder holds %v", names)
	}
}

func TestOpenRefuses(t *testing.T) {
	tests := map[string]struct {
		spoil func(t *testing.T, a *Authority)
		want  []string
	}{
		"key that others can read": {
			func(t *testing.T, a *Authority) { must.Do(t, os.Chmod(a.KeyFile(), 0o640)) },
			[]string{"other users can read ", "run chmod 600", "ca-key.pem"},
		},
		"no PEM": {
			func(t *testing.T, a *Authority) { must.Do(t, os.WriteFile(a.KeyFile(), []byte("x"), 0o600)) },
			[]string{"cannot be read", "run a2atap ca rotate to replace it by a new one", "ca-key.pem"},
		},
		"empty": {
			func(t *testing.T, a *Authority) { must.Do(t, os.Truncate(a.KeyFile(), 0)) },
			[]string{"cannot be read", "to replace it by a new one"},
		},
		"another's certificate": {
			func(t *testing.T, a *Authority) {
				mine, err := os.ReadFile(a.KeyFile())
				must.Do(t, err)
				theirs, err := os.ReadFile(newAuthority(t).KeyFile())
				must.Do(t, err)
				key, _ := pem.Decode(mine)
				_, cert := pem.Decode(theirs)
				must.Do(t, os.WriteFile(a.KeyFile(), append(pem.EncodeToMemory(key), cert...), 0o600))
			},
			[]string{"cannot be read", "private key does not match"},
		},
		"a host's certificate": {
			func(t *testing.T, a *Authority) {
				leaf, err := a.Leaf("host.example")
				must.Do(t, err)
				a.key = a.leafs.key
				must.Do(t, os.Remove(a.KeyFile()))
				text, err := authorityPEM(leaf.Leaf.Raw, a.leafs.key)
				must.Do(t, err)
				must.Do(t, a.store(text))
			},
			[]string{"is not an authority created by a2atap"},
		},
		"folder in the place of the key": {
			func(t *testing.T, a *Authority) {
				must.Do(t, os.Remove(a.KeyFile()))
				must.Do(t, os.Mkdir(a.KeyFile(), 0o700))
			},
			[]string{"ca-key.pem", "make it readable"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			test.spoil(t, a)
			_, err := Open(a.dir)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range append(test.want, "open the certificate authority: ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

func TestOpenRefusesOtherTimes(t *testing.T) {
	a := newAuthority(t)
	for want, now := range map[string]time.Time{
		"its certificate expired on ":          a.cert.NotAfter.Add(time.Second),
		"its certificate is not valid before ": a.cert.NotBefore.Add(-time.Second),
		"to replace it by a new one":           a.cert.NotAfter.Add(time.Hour),
	} {
		if _, err := open(a.dir, func() time.Time { return now }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("at %v: got %v, want %q", now, err, want)
		}
	}
}

func TestOpenWhereNothingCanBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(filepath.Join(file, "a2atap"))
	expect.ErrorHas(t, "", "A2ATAP_CA_DIR", err)
}

// A certificate file that was lost or spoilt is written again.
func TestCertificateFileIsKept(t *testing.T) {
	a := newAuthority(t)
	want, err := os.ReadFile(a.CertificateFile())
	must.Do(t, err)
	for _, spoil := range []func() error{
		func() error { return os.Remove(a.CertificateFile()) },
		func() error { return os.WriteFile(a.CertificateFile(), []byte("x"), 0o600) },
	} {
		must.Do(t, spoil())
		must.Get(Open(a.dir))(t)
		if got, _ := os.ReadFile(a.CertificateFile()); !bytes.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	}
}

func TestDefaultDir(t *testing.T) {
	if dir, err := DefaultDir(func(string) string { return "/somewhere" }); dir != "/somewhere" || err != nil {
		t.Errorf("got %s, %v", dir, err)
	}
	t.Setenv("XDG_CONFIG_HOME", "/config")
	t.Setenv("HOME", "/home")
	dir, err := DefaultDir(func(string) string { return "" })
	if err != nil || filepath.Base(dir) != "a2atap" || dir == "a2atap" {
		t.Errorf("got %s, %v", dir, err)
	}
}

func TestBundle(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	was := rootFiles
	t.Cleanup(func() { rootFiles = was })
	pool := func(name string) int {
		text, err := os.ReadFile(name)
		must.Do(t, err)
		p := x509.NewCertPool()
		if !p.AppendCertsFromPEM(text) {
			t.Errorf("%s holds no certificates", name)
		}
		return bytes.Count(text, []byte("BEGIN CERTIFICATE"))
	}
	name := filepath.Join(t.TempDir(), "bundle.pem")
	rootFiles = []string{filepath.Join(t.TempDir(), "none")}
	if err := a.WriteBundle(name, "", "/none"); !errors.Is(err, ErrNoRoots) || pool(name) != 1 {
		t.Errorf("without roots: got %v and %d certificates", err, pool(name))
	}
	rootFiles = append(rootFiles, other.KeyFile()) // whose private part must stay out
	if err := a.WriteBundle(name, other.CertificateFile(), a.CertificateFile()); err != nil || pool(name) != 2 {
		t.Errorf("got %v and %d certificates", err, pool(name))
	}
	if text, _ := os.ReadFile(name); bytes.Contains(text, []byte("PRIVATE")) {
		t.Error("the bundle holds a private key")
	}
}

func TestManyOpenInOneProcess(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	seen := make(chan string, 20)
	for range cap(seen) {
		wg.Go(func() {
			a, err := Open(dir)
			if err != nil {
				t.Error(err)
				return
			}
			seen <- a.Fingerprint()
		})
	}
	wg.Wait()
	close(seen)
	first := <-seen
	for other := range seen {
		if other != first {
			t.Errorf("got %s and %s", first, other)
		}
	}
}
