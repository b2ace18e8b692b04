package ca

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A trust store is read back as Java reads it: every authority once, and a digest that fits.
func TestWriteTrustStore(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	name := filepath.Join(t.TempDir(), "store")
	must.Do(t, a.WriteTrustStore(name, other.CertificateFile(), other.CertificateFile()))
	text, err := os.ReadFile(name)
	must.Do(t, err)
	body, sum := text[:len(text)-sha1.Size], text[len(text)-sha1.Size:]
	secret := []byte("\x00c\x00h\x00a\x00n\x00g\x00e\x00i\x00tMighty Aphrodite")
	if want := sha1.Sum(append(secret, body...)); !bytes.Equal(sum, want[:]) {
		t.Error("the digest does not fit")
	}
	take := func(n int) []byte {
		part := body[:n]
		body = body[n:]
		return part
	}
	number := func() int { return int(binary.BigEndian.Uint32(take(4))) }
	word := func() string { return string(take(int(binary.BigEndian.Uint16(take(2))))) }
	if mark, version := number(), number(); mark != trustStoreMark || version != 2 {
		t.Fatalf("mark %x, version %d", mark, version)
	}
	aliases, found := make(map[string]bool), make(map[string]int)
	entries := number()
	for range entries {
		if kind := number(); kind != trustedEntry {
			t.Fatalf("an entry of kind %d", kind)
		}
		aliases[word()] = true
		take(8)
		if kind := word(); kind != "X.509" {
			t.Fatalf("a certificate of kind %s", kind)
		}
		found[string(take(number()))]++
	}
	if len(body) > 0 || len(aliases) != entries {
		t.Errorf("%d bytes are left, and %d of %d aliases are distinct", len(body), len(aliases), entries)
	}
	for _, want := range []*Authority{a, other} {
		expect.Equal(t, "an authority is there", 1, found[string(want.Certificate().Raw)])
	}
}

// A rotation keeps the old authority under another name, and a process that has it open continues to use it.
func TestRotate(t *testing.T) {
	before := newAuthority(t)
	must.Do(t, os.Chmod(before.KeyFile(), 0o644)) // which may be why it is rotated
	now := before.now()
	a, former, err := Rotate(before.dir, now)
	must.Do(t, err)
	if a.Certificate().Equal(before.Certificate()) {
		t.Error("the authority is the same")
	}
	expect.Equal(t, "the former key", 0o600, must.Get(os.Stat(former.KeyFile))(t).Mode().Perm())
	kept, err := os.ReadFile(former.CertificateFile)
	must.Do(t, err)
	if !bytes.Equal(kept, certificatePEM(before.cert.Raw)) {
		t.Error("the former certificate is another")
	}
	leaf, err := before.Leaf("host.example")
	must.Do(t, err)
	must.Do(t, leaf.Leaf.CheckSignatureFrom(before.Certificate()))
	if _, _, err := Rotate(before.dir, now); err == nil {
		t.Error("a second rotation in one second overwrites what the first has kept")
	}
	again, err := Open(before.dir)
	must.Do(t, err)
	if !again.Certificate().Equal(a.Certificate()) {
		t.Error("a rotation that failed has changed the authority")
	}
	fresh, former, err := Rotate(filepath.Join(t.TempDir(), "new"), now)
	if err != nil || former != (Former{}) || fresh.Certificate() == nil {
		t.Errorf("where there was none: %v, %v", former, err)
	}
}
