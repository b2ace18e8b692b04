package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// TestFormats reads captures that were written when their format was new, and continues to record into them. Each has
// two exchanges of exchangeSteps, the first with the key {"task", "t-1"}, and then each kind of step, in exchange 3.
// From format 3 on, they also have entries: two, and one that was removed.
func TestFormats(t *testing.T) {
	for format := 1; format <= layout.Format; format++ {
		t.Run(strconv.Itoa(format), func(t *testing.T) { testFormat(t, format) })
	}
}

func testFormat(t *testing.T, format int) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	writeFile(t, path, readFile(t, kept(format)))
	must.Do(t, Check(t.Context(), path))
	r := mustRead(t, path)
	info := must.Get(r.Info(patient(t)))(t)
	if info.Format != format || info.Tool != fmt.Sprintf("a2atap 0.%d", format) || info.Exchanges != 3 ||
		info.Arrivals != 29 ||
		info.LostBytes != 12 {
		t.Errorf("info %+v", info)
	}
	x, err := r.Exchange(patient(t), 1)
	if err != nil || x.State != capture.StateClosed ||
		!strings.HasPrefix(string(x.Response.Body.Data), `{"jsonrpc":"2.0","id":1`) {
		t.Errorf("exchange 1: %+v, error %v", x, err)
	}
	x, err = r.Exchange(patient(t), 3)
	if err != nil || x.State != capture.StateClosed || len(x.Response.Events) != 1 || x.Client.Name != "n" {
		t.Errorf("exchange 3: %+v, error %v", x, err)
	}
	var found []uint64
	for seq, err := range r.Find(patient(t), capture.Key{Kind: "task", Value: "t-1"}, 0) {
		must.Do(t, err)
		found = append(found, seq)
	}
	expect.Same(t, "", []uint64{1}, found)
	var entries map[string]string
	if format >= layout.FormatReading {
		entries = map[string]string{"x\x01": "first", "x\x02": ""}
	}
	sameKept(t, "kept", entries, keptOf(t, r))
	expect.OK(t, r.Sound(patient(t), nil))
	if !bytes.Equal(readFile(t, path), readFile(t, kept(format))) {
		t.Error("reading it changed it")
	}
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(4, 100)...)
	mustClose(t, s)
	expect.OK(t, Check(t.Context(), path))
	sameKept(t, "kept after more was recorded", entries, keptOf(t, r))
	if info, err = mustRead(t, path).Info(patient(t)); err != nil || info.Format != layout.Format {
		t.Errorf("after more was recorded into it the format is %d, error %v", info.Format, err)
	}
}

// kept returns the name of the capture that is kept of a format.
func kept(format int) string { return fmt.Sprintf("testdata/format-%d.a2atap", format) }

// TestFormatIsStable encodes what is in the kept captures again: the same steps are the same bytes. A change of the
// codec needs a new format.
func TestFormatIsStable(t *testing.T) {
	for format := 1; format <= layout.Format; format++ {
		t.Run(strconv.Itoa(format), func(t *testing.T) { testStable(t, format) })
	}
}

func testStable(t *testing.T, format int) {
	set := must.Get(remote.New(kept(format)).Open())(t)
	defer set.Close()
	found, _, err := set.Blocks(1, remote.PageBytes)
	if err != nil || len(found) == 0 {
		t.Fatalf("%d blocks, error %v", len(found), err)
	}
	for _, b := range found {
		want, err := b.Unseal()
		must.Do(t, err)
		var got []byte
		for rest := want; len(rest) > 0; {
			var one []byte
			if one, rest, err = layout.Split(rest); err != nil {
				t.Fatal(err)
			}
			step, err := layout.DecodeStep(one, false)
			must.Do(t, err)
			if got, err = layout.AppendStep(got, &step); err != nil {
				t.Fatal(err)
			}
		}
		expect.Same(t, "the same steps are encoded differently", want, got)
	}
}

// TestUpgradeStepByStep runs made-up upgrades on a segment that says it is of format 1.
func TestUpgradeStepByStep(t *testing.T) {
	path := closedCapture(t, Options{}, 1)
	db, err := segments.OpenDB(path, bbolt.Options{})
	must.Do(t, err)
	defer db.Close()
	format := func() (format uint64) {
		db.View(func(tx *bbolt.Tx) error {
			format, _ = binary.Uvarint(tx.Bucket(layout.BucketMeta).Get(layout.MetaFormat))
			return nil
		})
		return format
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(layout.BucketMeta).Put(layout.MetaFormat, binary.AppendUvarint(nil, 1))
	})
	must.Do(t, err)
	var ran []int
	broken := errors.New("broken")
	step := func(n int, err error) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			ran = append(ran, n)
			return errors.Join(tx.Bucket(layout.BucketMeta).Put([]byte("upgraded"), []byte{byte(n)}), err)
		}
	}
	if err := remote.Upgrade(db, []func(*bbolt.Tx) error{step(1, nil), step(2, broken)}); !errors.Is(err, broken) ||
		format() != 2 {
		t.Errorf("error %v, format %d; want the second step to fail", err, format())
	}
	if err := remote.Upgrade(db, []func(*bbolt.Tx) error{step(1, nil), step(2, nil), step(3, nil)}); err != nil ||
		format() != 4 {
		t.Errorf("error %v, format %d", err, format())
	}
	expect.Same(t, "", []int{1, 2, 2, 3}, ran)
	// Put it back for the check at the end of the test.
	err = db.Update(func(tx *bbolt.Tx) error {
		return errors.Join(tx.Bucket(layout.BucketMeta).Put(layout.MetaFormat, binary.AppendUvarint(nil, layout.Format)), remote.SumAgain(tx))
	})
	expect.OK(t, err)
}

func TestUpgradesAndFormatsAgree(t *testing.T) {
	if len(remote.Upgrades) != layout.Format-1 {
		t.Errorf("%d upgrades lead to format %d", len(remote.Upgrades), layout.Format)
	}
	for n := 1; n <= layout.Format; n++ {
		if _, err := os.Stat(kept(n)); err != nil {
			t.Error("a capture of each format is kept:", err)
		}
	}
}
