// Package judged opens captures together with what judging them came to, and chooses exchanges by that.
//
// A capture is judged once. Open reads what that came to from where it is kept: in the capture, or in a file beside it.
// Where it is not there, or was made by other rules, the capture is judged now, and the reading kept for the next command.
// A Selection says which exchanges --filter and --agent choose; rows of the reading decide where they can, so that few
// exchanges are read.
package judged

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
	"sync"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// readingSuffix is what is behind the name of a capture in that of the file with its reading.
const readingSuffix = ".reading"

// smallForeign is the size of a file of another format up to which judging it costs less than to keep what it came to.
const smallForeign = 1 << 20

// formatOutside is the first format in which what is in a capture need not be changed to keep something beside it: those
// before have a key in them that goes when they are recorded into.
const formatOutside = 2

// spoolFrom is how many exchanges a capture has whose reading is put into a file before it is kept, and not in memory.
const spoolFrom = 20_000

// OpenWith returns what judging a capture with further options comes to. It is neither kept nor read.
func OpenWith(
	ctx context.Context, e cli.Env, command, name string, src capture.Source, options []engine.Option,
) (*Capture, error) {
	k := KeeperOf(ctx, e, command, name, src)
	k.Mark, k.options = nil, options
	return k.Judge(ctx)
}

// Open returns what judging a capture came to. If it was judged by these rules that is read; otherwise, or if again is
// true, the capture is judged now, and the reading kept: in the capture, in a file beside it, or for this call only. It
// says so in a line, which begins with the command.
func Open(ctx context.Context, e cli.Env, command, name string, src capture.Source, again bool) (*Capture, error) {
	k := KeeperOf(ctx, e, command, name, src)
	if !again {
		if j := k.Read(ctx); j != nil {
			return j, nil
		}
	}
	return k.Judge(ctx)
}

// A Keeper knows where the reading of a capture is, or goes.
type Keeper struct {
	e       cli.Env
	command string
	name    string
	src     capture.Source
	Info    capture.Info
	store   *bolt.Reader // of a capture of ours; nil for others
	beside  string       // the file beside it; empty if there is to be none
	Mark    []byte       // of the steps; nil if the reading is not kept
	seal    *kept.Seal   // of what is stored; nil if nothing stored can be believed
	options []engine.Option
	Quiet   bool // that it is made is said by somebody else
}

// KeeperOf finds out where the reading of a capture is, or goes.
func KeeperOf(ctx context.Context, e cli.Env, command, name string, src capture.Source) *Keeper {
	k := &Keeper{e: e, command: command, name: name, src: src, store: source.StoreOf(src)}
	var err error
	if k.Info, err = src.Info(ctx); err != nil {
		return k
	}
	if k.Info.Live {
		k.seal = redacted.Seal(k.Info, nil)
		return k
	}
	switch {
	case k.store != nil:
		if k.Mark, err = k.store.Mark(ctx); err == nil {
			k.beside = name + readingSuffix
		}
	case name != "-" && source.IsText(name):
		if file, err := os.Stat(name); err == nil && file.Size() > smallForeign {
			if k.Mark, err = markOfFile(name); err == nil {
				k.beside = name + readingSuffix
			}
		}
	}
	if k.seal = redacted.Seal(k.Info, k.Mark); k.seal == nil {
		k.Mark = nil
	}
	return k
}

// Read returns the reading that is kept of the steps as they are, nil if there is none.
func (k *Keeper) Read(ctx context.Context) *Capture {
	if k.Mark == nil {
		return nil
	}
	if k.store != nil {
		if r := k.open(ctx, k.store, k.name); r != nil {
			return &Capture{Reading: r, Source: k.src}
		}
	}
	shelf, err := openOwn(k.beside)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			k.e.Tell("%s: %s cannot be read and is rebuilt: %v", k.command, k.beside, err)
		}
		return nil
	}
	if r := k.open(ctx, shelf, k.beside); r != nil {
		return &Capture{Reading: r, Source: k.src, close: shelf.Close}
	}
	shelf.Close() //nolint:errcheck // it was only read
	return nil
}

// OfRecorder returns the reading that the recorder of the capture writes while it judges, as far as that has come. It
// returns nil where nobody records, where these rules do not judge all of it, and where what is shown is not what was
// judged, since something of it is hidden.
func (k *Keeper) OfRecorder(ctx context.Context) *Capture {
	if !k.Info.Live || k.store == nil || k.Info.Crashes > 0 || k.seal == nil {
		return nil
	}
	r, err := kept.Open(ctx, k.seal.On(k.store), rules.All)
	if err != nil || r.Head().Ended { // that of an earlier recording
		return nil
	}
	if src, is := k.src.(interface{ Hides(context.Context) bool }); is && src.Hides(ctx) {
		return nil
	}
	return Growing(r, k.src)
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

// open opens a reading, if it is that of the steps as they are.
func (k *Keeper) open(ctx context.Context, shelf capture.Shelf, where string) *kept.Reading {
	r, err := kept.Open(ctx, k.seal.On(shelf), rules.All)
	switch {
	case errors.Is(err, kept.ErrSeal):
		k.e.Tell("%s: %s was checked by another user or on another machine, so it is checked again", k.command, where)
	case errors.Is(err, capture.ErrDamagedEntry):
		k.e.Tell("%s: %s: %v; it is judged again", k.command, where, err)
	case err == nil && r.Head().Ended && bytes.Equal(r.Head().Mark, k.Mark):
		return r
	}
	return nil
}

// Judge judges the capture, and keeps the reading.
func (k *Keeper) Judge(ctx context.Context) (*Capture, error) {
	if k.Info.Exchanges < spoolFrom {
		return k.inMemory(ctx)
	}
	spool, err := os.CreateTemp("", "a2atap-reading-*")
	if err != nil {
		return k.inMemory(ctx)
	}
	spool.Close() //nolint:errcheck // only its name is wanted
	done := func() error { return os.Remove(spool.Name()) }
	var result *judgment.Result
	err = bolt.WriteShelf(spool.Name(), func(put func(...capture.Entry) error) error {
		var w *kept.Writer
		var err error
		if result, w, err = k.Run(ctx, put); err == nil {
			err = w.Err()
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, done())
	}
	debug.FreeOSMemory() // of what the rules remembered, before the capture's pages take its place
	shelf, err := bolt.OpenShelf(spool.Name())
	if err != nil {
		return nil, errors.Join(err, done())
	}
	kept := k.keep(ctx, shelf)
	debug.FreeOSMemory() // of what was written
	if kept != nil {
		return kept.with(result), errors.Join(shelf.Close(), done())
	}
	return k.of(ctx, shelf, result, func() error { return errors.Join(shelf.Close(), done()) })
}

func (k *Keeper) inMemory(ctx context.Context) (*Capture, error) {
	shelf := &capture.MemoryShelf{}
	result, w, err := k.Run(ctx, shelf.Put)
	if err == nil {
		err = w.Err()
	}
	if err != nil {
		return nil, err
	}
	k.keep(ctx, shelf).Close() //nolint:errcheck // who reads it has the one in memory
	return k.of(ctx, shelf, result, nil)
}

// WhileRead judges the capture beside whoever reads what that comes to. What it returns second is closed when the capture
// was judged and the reading kept, or when that failed: then the reading is not whole. Closing the reading ends it.
func (k *Keeper) WhileRead(ctx context.Context) (*Capture, <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	shelf := &capture.MemoryShelf{}
	begun, ended := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	go func() {
		defer close(ended)
		defer begin()
		// A rule that panics must not leave the terminal of the inspector as it is. The inspector then judges by itself,
		// where a panic is told.
		defer func() { recover() }() //nolint:errcheck // the reading is not whole, which says it
		err := kept.JudgeWhileRead(ctx, rules.All, k.src, shelf.Put, k.Mark, begin)
		if err == nil {
			k.keep(ctx, shelf).Close() //nolint:errcheck // who reads it has the one in memory
		}
	}()
	<-begun
	stop := func() error {
		cancel()
		<-ended
		return nil
	}
	j, err := k.of(ctx, shelf, nil, stop)
	if err != nil {
		stop() //nolint:errcheck // it returns none
		return nil, nil
	}
	return j, ended
}

func (k *Keeper) of(
	ctx context.Context, shelf capture.Shelf, result *judgment.Result, done func() error,
) (*Capture, error) {
	r, err := kept.Open(ctx, shelf, rules.All)
	if err != nil {
		return nil, err
	}
	return &Capture{Reading: r, Source: k.src, close: done, result: result}, nil
}

func (k *Keeper) Run(ctx context.Context, put func(...capture.Entry) error) (*judgment.Result, *kept.Writer, error) {
	return kept.Judge(ctx, rules.All, k.e.WithProgress(ctx, k.command+" "+k.name+": judging", k.src), put, k.Mark, k.options...)
}

// keep puts a reading where the next command finds it, and returns it as it lies there; nil if it could not be kept.
func (k *Keeper) keep(ctx context.Context, shelf capture.Shelf) *Capture {
	if k.Mark == nil {
		return nil
	}
	var inside error
	if k.store != nil && k.Info.Format >= formatOutside {
		inside = k.store.Replace(ctx, func(put func(...capture.Entry) error) error { return copyShelf(ctx, shelf, k.seal.Putting(put)) })
		if inside == nil {
			os.Remove(k.beside) //nolint:errcheck // what it has is in the capture now
			k.say("%s: %s was judged; what it came to is kept in it", k.command, k.name)
			return k.Read(ctx)
		}
	}
	beside := bolt.WriteShelf(k.beside, func(put func(...capture.Entry) error) error { return copyShelf(ctx, shelf, k.seal.Putting(put)) })
	if beside == nil {
		k.say("%s: %s was judged; what it came to is kept in %s", k.command, k.name, k.beside)
		return k.Read(ctx)
	}
	k.say("%s: %s was judged; what it came to cannot be kept, so the next look judges it again: %v", k.command, k.name,
		cmp.Or(inside, beside))
	return nil
}

func (k *Keeper) say(format string, args ...any) {
	if !k.Quiet {
		k.e.Tell(format, args...)
	}
}

func copyShelf(ctx context.Context, from capture.Shelf, put func(...capture.Entry) error) error {
	for entry, err := range from.KeptRange(ctx, nil, nil) {
		if err != nil {
			return err
		}
		if err := put(entry); err != nil {
			return err
		}
	}
	return nil
}

// KeepReading judges a capture that a command has written, so that whoever looks at it need not.
func KeepReading(ctx context.Context, e cli.Env, command, name string) {
	src, err := source.OpenFile(name)
	if err != nil {
		return // whoever opens it next is told
	}
	defer src.Close()
	k := KeeperOf(ctx, e, command, name, src)
	k.Quiet = true
	if k.Mark == nil || k.Read(ctx) != nil {
		return
	}
	if j, err := k.Judge(ctx); err == nil {
		j.Close() //nolint:errcheck // nothing is lost with it
	}
}

// FindingsIn returns what the rules find in a capture, from its reading.
func FindingsIn(ctx context.Context, e cli.Env, command, name string, src capture.Source) ([]analysis.Finding, error) {
	for again := false; ; again = true {
		j, err := Open(ctx, e, command, name, src, again)
		if err != nil {
			return nil, err
		}
		result, err := j.Complete(ctx, src)
		err = errors.Join(err, j.Close())
		switch {
		case err == nil:
			return result.Findings, nil
		case again || !DamagedReading(err):
			return nil, err
		}
		e.Tell("%s: %s: %v; it is judged again", command, name, err)
	}
}

// DamagedReading reports whether an error is about a reading, which can be made anew.
func DamagedReading(err error) bool { return errors.Is(err, capture.ErrDamagedEntry) }

// markOfFile stands for all that is in a file.
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
