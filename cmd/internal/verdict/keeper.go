// Package verdict opens captures with the results of checking them, and selects exchanges by those results.
//
// A capture is checked once. Its View loads the stored results: from the capture, or from a file next to it. If no results
// are stored, or other rules made them, the View checks the capture and stores the results for the next command. A
// Selection holds the exchanges that --filter and --agent select. It decides by rows of the results where it can, so
// that few exchanges are read.
package verdict

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// readingSuffix is the suffix of the file with a capture's reading.
const readingSuffix = ".reading"

// smallForeign is the maximum size of a file in another format whose reading is not stored, because checking it again
// costs less.
const smallForeign = 1 << 20

// formatOutside is the first format for which a reading can be kept outside the capture without changing the capture:
// earlier ones contain a key that is removed when they are recorded into.
const formatOutside = 2

// A keeper loads and stores the results of checking a capture. It implements view.Store.
type keeper struct {
	name    string
	say     func(format string, args ...any) // prints a line for the user
	info    capture.Info
	store   *bolt.Reader // the capture, if it is in a2atap's format; nil for others
	hides   func(context.Context) bool
	sidecar string         // path of the results next to the capture; "" if they may not be stored there
	mark    []byte         // of the steps; nil if the results are not stored
	seal    *snapshot.Seal // of the stored results; nil if no stored results can be trusted
	rules   []*analysis.Rule
}

// keeperOf returns the keeper of a capture as it is now. It passes lines for the user to say.
func keeperOf(
	ctx context.Context, name string, src capture.Source, by []*analysis.Rule, say func(format string, args ...any),
) *keeper {
	k := &keeper{name: name, say: say, rules: by, store: source.StoreOf(src)}
	if h, is := src.(interface{ Hides(context.Context) bool }); is {
		k.hides = h.Hides
	}
	var err error
	if k.info, err = src.Info(ctx); err != nil {
		return k
	}
	if k.info.Live {
		k.seal = redacted.Seal(k.info, nil)
		return k
	}
	switch {
	case k.store != nil:
		if k.mark, err = k.store.Mark(ctx); err == nil {
			k.sidecar = name + readingSuffix
		}
	case name != "-" && source.IsText(name):
		if file, err := os.Stat(name); err == nil && file.Size() > smallForeign {
			if k.mark, err = markOfFile(name); err == nil {
				k.sidecar = name + readingSuffix
			}
		}
	}
	if k.seal = redacted.Seal(k.info, k.mark); k.seal == nil {
		k.mark = nil
	}
	return k
}

// Mark implements view.Store.
func (k *keeper) Mark() []byte { return k.mark }

// Snapshot implements view.Store.
func (k *keeper) Snapshot(ctx context.Context) (*snapshot.Results, func() error, error) {
	if k.mark == nil {
		return nil, nil, nil
	}
	if k.store != nil {
		if r, err := k.open(ctx, k.store, k.name); r != nil || err != nil {
			return r, nil, err
		}
	}
	shelf, err := openOwn(k.sidecar)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s cannot be read: %w", k.sidecar, err)
	}
	r, err := k.open(ctx, shelf, k.sidecar)
	if r == nil {
		shelf.Close() //nolint:errcheck // it was only read
		return nil, nil, err
	}
	return r, shelf.Close, nil
}

// Recorder implements view.Store. It returns nil if the recorder does not apply all of these rules, or if hidden values
// make the shown capture differ from the checked one.
func (k *keeper) Recorder(ctx context.Context) *snapshot.Results {
	if !k.info.Live || k.store == nil || k.info.Crashes > 0 || k.seal == nil {
		return nil
	}
	r, err := snapshot.Open(ctx, k.seal.On(k.store), k.rules)
	if err != nil || r.Head().Ended { // from an earlier recording
		return nil
	}
	if k.hides != nil && k.hides(ctx) {
		return nil
	}
	return r
}

// openOwn opens a file of stored results. It refuses a file that belongs to another user, that others may write, or that
// is not a regular file.
func openOwn(name string) (*bolt.ShelfFile, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || !cli.OnlyOurs(info) {
		return nil, fmt.Errorf("other users may have written it (mode %v)", info.Mode())
	}
	return bolt.OpenShelf(name)
}

// open opens results if they belong to the current steps. Its error is the reason why results cannot be used.
func (k *keeper) open(ctx context.Context, shelf capture.Shelf, where string) (*snapshot.Results, error) {
	r, err := snapshot.Open(ctx, k.seal.On(shelf), k.rules)
	switch {
	case errors.Is(err, snapshot.ErrSeal):
		return nil, fmt.Errorf("%s was checked by another user or on another machine", where)
	case errors.Is(err, capture.ErrDamagedEntry):
		return nil, fmt.Errorf("%s: %w", where, err)
	case err == nil && r.Head().Ended && bytes.Equal(r.Head().Mark, k.mark):
		return r, nil
	}
	return nil, nil
}

// Keep implements view.Store: it stores results where the next command finds them.
func (k *keeper) Keep(ctx context.Context, results capture.Shelf) {
	if k.info.Exchanges >= spoolFrom {
		debug.FreeOSMemory() // memory of the rules, before the capture's pages need it
		defer debug.FreeOSMemory()
	}
	var inside error
	if k.store != nil && k.info.Format >= formatOutside {
		inside = k.store.Replace(ctx, k.copying(ctx, results))
		if inside == nil {
			os.Remove(k.sidecar) //nolint:errcheck // its contents are now in the capture
			k.say("checked %s and stored the result in it", k.name)
			return
		}
	}
	outside := bolt.WriteShelf(k.sidecar, k.copying(ctx, results))
	if outside == nil {
		k.say("checked %s and stored the result in %s", k.name, k.sidecar)
		return
	}
	k.say("checked %s, but could not store the result, so it is checked again next time: %v", k.name, cmp.Or(inside, outside))
}

// copying returns a function that seals results and passes them to put.
func (k *keeper) copying(ctx context.Context, results capture.Shelf) func(put func(...capture.Entry) error) error {
	return func(put func(...capture.Entry) error) error {
		put = k.seal.Putting(put)
		for entry, err := range results.KeptRange(ctx, nil, nil) {
			if err != nil {
				return err
			}
			if err := put(entry); err != nil {
				return err
			}
		}
		return nil
	}
}

// markOfFile returns a digest of a file's contents.
func markOfFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return sum.Sum(nil), err
}
