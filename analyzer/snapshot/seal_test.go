package snapshot_test

import (
	"context"
	"errors"
	"testing"

	"a2atap/analyzer/snapshot"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Only entries that were sealed with this key, for this capture, and under the current key, are read.
func TestSeal(t *testing.T) {
	ours, id := []byte("ours"), []byte("capture")
	sealed := func(secret, id, key, value []byte) []byte {
		shelf := &capture.MemoryShelf{}
		must.Do(t, snapshot.NewSeal(secret, id).Putting(shelf.Put)(capture.Entry{Key: key, Value: value}))
		return must.Get(shelf.Kept(t.Context(), key))(t)[0]
	}
	key, value := []byte("k"), []byte("value")
	changed := sealed(ours, id, key, value)
	changed[0] ^= 1
	for name, test := range map[string]struct {
		stored []byte
		want   error
	}{
		"sealed":              {sealed(ours, id, key, value), nil},
		"never sealed":        {value, snapshot.ErrSeal},
		"empty":               {[]byte{}, snapshot.ErrSeal},
		"changed":             {changed, snapshot.ErrSeal},
		"with another key":    {sealed([]byte("theirs"), id, key, value), snapshot.ErrSeal},
		"for another capture": {sealed(ours, []byte("another"), key, value), snapshot.ErrSeal},
		"for another entry":   {sealed(ours, id, []byte("j"), value), snapshot.ErrSeal},
	} {
		shelf := &capture.MemoryShelf{}
		must.Do(t, shelf.Put(capture.Entry{Key: key, Value: test.stored}))
		view := snapshot.NewSeal(ours, id).On(shelf)
		values, err := view.Kept(t.Context(), []byte("none"), key)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
		if err == nil {
			expect.Equal(t, name, "value", string(values[1]))
			expect.Equal(t, "an entry that does not exist", true, values[0] == nil)
		}
		expect.Equal(t, name+", in a range", test.want, firstError(t.Context(), view))
	}
}

func firstError(ctx context.Context, shelf capture.Shelf) (first error) {
	for _, err := range shelf.KeptRange(ctx, nil, nil) {
		if err != nil {
			return err
		}
	}
	return nil
}
