package bolt

import (
	"context"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// TestCheckFinds breaks each invariant of a capture.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(tx *bbolt.Tx) error
		says  string
	}{
		"a missing block": {func(tx *bbolt.Tx) error {
			k, _ := tx.Bucket(bucketBlocks).Cursor().Seek(number64(2))
			return tx.Bucket(bucketBlocks).Delete(k)
		}, "a block begins at arrival"},
		"a damaged block": {func(tx *bbolt.Tx) error {
			k, v := tx.Bucket(bucketBlocks).Cursor().First()
			broken := append([]byte(nil), v...)
			broken[len(broken)/2] ^= 1
			return tx.Bucket(bucketBlocks).Put(k, broken)
		}, "checksum is"},
		"a missing row": {func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketExchanges).Delete(number64(7))
		}, "exchange 7"},
		"a row too many": {func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketExchanges).Put(number64(9999), (&row{flags: rowClosed}).encode())
		}, "rows of exchanges"},
		"a part too many": {func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketParts).Put(partKey(7, 1), nothing)
		}, "parts of exchanges"},
		"an open exchange that is closed": {func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketOpen).Put(number64(7), nothing)
		}, "exchange 7 is closed in one list and open in another"},
		"an index of nothing": {func(tx *bbolt.Tx) error {
			return tx.Bucket(bucketIndex).Put(runKey(runMerged, 1), makeRun([]entry{hashKey(capture.Key{}).entry(9999)}))
		}, "the index has an entry for exchange 9999"},
		"wrong totals": {func(tx *bbolt.Tx) error {
			st, err := readState(tx)
			if err != nil {
				return err
			}
			st.lostBytes++
			return st.put(tx)
		}, "the state says"},
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/c.a2atap"
			s := mustOpen(t, path, Options{})
			for seq := uint64(1); seq <= 300; seq++ {
				mustAppend(t, s, exchangeSteps(seq, 2000)...)
			}
			mustClose(t, s)
			if err := Check(t.Context(), path); err != nil {
				t.Fatal("before:", err)
			}
			db, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Update(c.spoil); err != nil {
				t.Fatal(err)
			}
			db.Close()
			if err := Check(t.Context(), path); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("check: %v, want %q", err, c.says)
			}
		})
	}
}

func TestCheckCanBeCanceled(t *testing.T) {
	path := closedCapture(t, Options{}, 3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Check(ctx, path); err == nil {
		t.Error("a canceled check found nothing wrong")
	}
}
