package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// keysOf returns the fingerprints that a capture names, and fails the test if it has a key inside.
func keysOf(t *testing.T, path string) []string {
	t.Helper()
	c := must.Get(Examine(t.Context(), path, nil))(t)
	if !c.Sound() || c.KeyInside {
		t.Errorf("%v, with a key inside: %v", c.Problems, c.KeyInside)
	}
	return c.Keys
}

// A capture names the keys of all who recorded into it, each once, in all its segments.
func TestKeysAreNamed(t *testing.T) {
	for name, size := range map[string]int64{"one file": 0, "many segments": 1} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			for i, key := range []string{"aaaaaaaa", "bbbbbbbb", "", "aaaaaaaa"} {
				s := mustOpen(t, path, Options{RedactionKey: key, SegmentSize: size, SecretsKept: key == ""})
				mustAppend(t, s, exchangeSteps(uint64(2*i+1), 100)...)
				s.Flush()
				mustAppend(t, s, exchangeSteps(uint64(2*i+2), 100)...)
				mustClose(t, s)
			}
			expect.Same(t, "", []string{"aaaaaaaa", "bbbbbbbb"}, keysOf(t, path))
		})
	}
}

// A recorder whose key is new each time does not make the list grow without end.
func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	for i := range layout.MaxKeyNames + 3 {
		mustClose(t, mustOpen(t, path, Options{RedactionKey: fmt.Sprintf("%08x", i)}))
	}
	keys := keysOf(t, path)
	if len(keys) != layout.MaxKeyNames || keys[0] != "00000003" || keys[layout.MaxKeyNames-1] != fmt.Sprintf("%08x", layout.MaxKeyNames+2) {
		t.Errorf("%d keys: %v", len(keys), keys)
	}
}

// age makes a capture of format 1 of one in the present format: each of its segments has a key inside.
func age(t *testing.T, path string, key []byte) {
	t.Helper()
	paths := must.Get(segments.Paths(path))(t)
	for _, p := range paths {
		db, err := bbolt.Open(p, 0o600, nil)
		must.Do(t, err)
		err = db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket(layout.BucketMeta)
			for k, v := range map[string][]byte{"format": binary.AppendUvarint(nil, 1), "key": key} {
				if err := b.Put([]byte(k), v); err != nil {
					return err
				}
			}
			return errors.Join(b.Delete(layout.MetaKeys), remote.SumAgain(tx))
		})
		for range 5 { // each commit leaves a copy of what is around the state
			if err == nil {
				err = db.Update(remote.SumAgain)
			}
		}
		must.Do(t, err)
		must.Do(t, db.Close())
		if n := bytes.Count(readFile(t, p), key); n < 2 {
			t.Fatalf("%s has %d copies of the key", p, n)
		}
	}
}

// A recorder that opens a capture with its key inside removes the key from all of its files, unused copies included.
// The recorded data stays unmodified.
func TestKeyInsideIsErased(t *testing.T) {
	t.Parallel()
	key := []byte("the key of a capture of format 1")
	for name, size := range map[string]int64{"one file": 0, "many segments": 1} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			s := mustOpen(t, path, Options{SegmentSize: size})
			for seq := range uint64(4) {
				mustAppend(t, s, exchangeSteps(seq+1, 10_000)...)
				s.Flush()
			}
			mustClose(t, s)
			age(t, path, key)

			c, err := Examine(t.Context(), path, nil)
			if err != nil || !c.Sound() || !c.KeyInside || len(c.Keys) > 0 {
				t.Fatalf("%+v, error %v", c, err)
			}
			want := exchangesOf(t, path)

			mustClose(t, mustOpen(t, path, Options{RedactionKey: "aaaaaaaa"}))
			expect.Same(t, "", []string{"aaaaaaaa"}, keysOf(t, path))
			paths, err := segments.Paths(path)
			if err != nil || len(paths) < int(1+3*size) {
				t.Fatalf("%d segments, error %v", len(paths), err)
			}
			for _, p := range paths {
				if n := bytes.Count(readFile(t, p), key); n > 0 {
					t.Errorf("%s has %d copies of the key", p, n)
				}
			}
			expect.Same(t, "", want, exchangesOf(t, path))
		})
	}
}

// If a reader has an old segment open, the upgrade fails with an error that names the reason.
func TestUpgradeWhileRead(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path, Options{SegmentSize: 1})
	for seq := range uint64(3) {
		mustAppend(t, s, exchangeSteps(seq+1, 100)...)
		s.Flush()
	}
	mustClose(t, s)
	age(t, path, []byte("the key of a capture of format 1"))
	reader := must.Get(segments.OpenReadOnly(segments.Name(path, 2)))(t)
	if s, err := Open(path, Options{}); !errors.Is(err, segments.ErrLocked) {
		t.Errorf("got %v, %v", s, err)
	}
	must.Do(t, reader.Close())
	mustClose(t, mustOpen(t, path, Options{}))
	keysOf(t, path)
}

// A page that is in use is not overwritten, whatever it holds.
func TestEraseSparesWhatIsUsed(t *testing.T) {
	path := newPath(t)
	value := bytes.Repeat([]byte("recorded"), 4)
	mustClose(t, mustOpen(t, path, Options{Tool: string(value)}))
	db := must.Get(segments.OpenDB(path, bbolt.Options{}))(t)
	s := &segments.Segment{Path: path, DB: db}
	expect.OK(t, s.Erase(value))
	must.Do(t, db.Close())
	if info, err := mustRead(t, path).Info(patient(t)); err != nil || info.Tool != string(value) {
		t.Errorf("tool %q, error %v", info.Tool, err)
	}
	expect.Equal(t, "the file has the value", 1, bytes.Count(readFile(t, path), value))
}

func exchangesOf(t *testing.T, path string) []*capture.Exchange {
	t.Helper()
	r := must.Get(Read(path))(t)
	defer r.Close() // a reader keeps finished segments open, and those could not be upgraded
	all := capturetest.ReadAll(t, r)
	if len(all) == 0 {
		t.Fatal("there are no exchanges")
	}
	return all
}
