package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"

	"a2atap/analyzer"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
)

// A judged is a capture together with what judging it came to.
type judged struct {
	*kept.Reading
	src    capture.Source
	close  func() error     // of what holds the reading, apart from the capture; nil if nothing does
	reader *reading.Reader  // nil until somebody asks
	links  *workflow.Index  // the same
	result *analyzer.Result // of judging it now, without findings; nil if it was read
}

// Close lets go of the reading, not of the capture.
func (j *judged) Close() error {
	if j == nil || j.close == nil {
		return nil
	}
	return j.close()
}

// readingSuffix is what is behind the name of a capture in that of the file with its reading.
const readingSuffix = ".reading"

// smallForeign is the size of a file of another format up to which judging it costs less than to keep what it came to.
const smallForeign = 1 << 20

// formatOutside is the first format in which what is in a capture need not be changed to keep something beside it: those
// before have a key in them that goes when they are recorded into.
const formatOutside = 2

// spoolFrom is how many exchanges a capture has whose reading is put into a file before it is kept, and not in memory.
const spoolFrom = 20_000

// openJudgedWith returns what judging a capture with further options comes to. It is neither kept nor read.
func openJudgedWith(
	ctx context.Context, e cli.Env, command, name string, src capture.Source, options []analyzer.EngineOption,
) (*judged, error) {
	k := keeperOf(ctx, e, command, name, src)
	k.mark, k.options = nil, options
	return k.judge(ctx)
}

// openJudged returns what judging a capture came to. If it was judged by these rules that is read; otherwise, or if again is
// true, the capture is judged now, and the reading kept: in the capture, in a file beside it, or for this call only. It
// says so in a line, which begins with the command.
func openJudged(ctx context.Context, e cli.Env, command, name string, src capture.Source, again bool) (*judged, error) {
	k := keeperOf(ctx, e, command, name, src)
	if !again {
		if j := k.read(ctx); j != nil {
			return j, nil
		}
	}
	return k.judge(ctx)
}

// A keeper knows where the reading of a capture is, or goes.
type keeper struct {
	e       cli.Env
	command string
	name    string
	src     capture.Source
	info    capture.Info
	store   *bolt.Reader // of a capture of ours; nil for others
	beside  string       // the file beside it; empty if there is to be none
	mark    []byte       // of the steps; nil if the reading is not kept
	options []analyzer.EngineOption
	quiet   bool // that it is made is said by somebody else
}

func keeperOf(ctx context.Context, e cli.Env, command, name string, src capture.Source) *keeper {
	k := &keeper{e: e, command: command, name: name, src: src, store: storeOf(src)}
	var err error
	if k.info, err = src.Info(ctx); err != nil || k.info.Live {
		return k
	}
	switch {
	case k.store != nil:
		if k.mark, err = k.store.Mark(ctx); err == nil {
			k.beside = name + readingSuffix
		}
	case name != "-" && isText(name):
		if file, err := os.Stat(name); err == nil && file.Size() > smallForeign {
			if k.mark, err = markOfFile(name); err == nil {
				k.beside = name + readingSuffix
			}
		}
	}
	return k
}

// storeOf returns the file of a capture of ours; nil for other sources.
func storeOf(src capture.Source) *bolt.Reader {
	switch src := src.(type) {
	case *bolt.Reader:
		return src
	case hiddenReader:
		return src.reader
	case *cli.Progress:
		return storeOf(src.Source)
	}
	return nil
}

// read returns the reading that is kept of the steps as they are, nil if there is none.
func (k *keeper) read(ctx context.Context) *judged {
	if k.mark == nil {
		return nil
	}
	if k.store != nil {
		if r := k.open(ctx, k.store, k.name); r != nil {
			return &judged{Reading: r, src: k.src}
		}
	}
	shelf, err := bolt.OpenShelf(k.beside)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			k.e.Tell("%s: %s cannot be read and is made anew: %v", k.command, k.beside, err)
		}
		return nil
	}
	if r := k.open(ctx, shelf, k.beside); r != nil {
		return &judged{Reading: r, src: k.src, close: shelf.Close}
	}
	shelf.Close() //nolint:errcheck // it was only read
	return nil
}

// open opens a reading, if it is that of the steps as they are.
func (k *keeper) open(ctx context.Context, shelf capture.Shelf, where string) *kept.Reading {
	r, err := kept.Open(ctx, shelf, rules.All)
	switch {
	case errors.Is(err, capture.ErrDamagedEntry):
		k.e.Tell("%s: %s: %v; it is judged anew", k.command, where, err)
	case err == nil && r.Head().Ended && bytes.Equal(r.Head().Mark, k.mark):
		return r
	}
	return nil
}

// judge judges the capture, and keeps the reading.
func (k *keeper) judge(ctx context.Context) (*judged, error) {
	if k.info.Exchanges < spoolFrom {
		return k.inMemory(ctx)
	}
	spool, err := os.CreateTemp("", "a2atap-reading-*")
	if err != nil {
		return k.inMemory(ctx)
	}
	spool.Close() //nolint:errcheck // only its name is wanted
	done := func() error { return os.Remove(spool.Name()) }
	var result *analyzer.Result
	err = bolt.WriteShelf(spool.Name(), func(put func(...capture.Entry) error) error {
		var w *kept.Writer
		var err error
		if result, w, err = k.run(ctx, put); err == nil {
			err = w.Err()
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, done())
	}
	shelf, err := bolt.OpenShelf(spool.Name())
	if err != nil {
		return nil, errors.Join(err, done())
	}
	if kept := k.keep(ctx, shelf); kept != nil {
		return kept.with(result), errors.Join(shelf.Close(), done())
	}
	return k.of(ctx, shelf, result, func() error { return errors.Join(shelf.Close(), done()) })
}

func (k *keeper) inMemory(ctx context.Context) (*judged, error) {
	shelf := &capture.MemoryShelf{}
	result, w, err := k.run(ctx, shelf.Put)
	if err == nil {
		err = w.Err()
	}
	if err != nil {
		return nil, err
	}
	k.keep(ctx, shelf)
	return k.of(ctx, shelf, result, nil)
}

func (k *keeper) of(
	ctx context.Context, shelf capture.Shelf, result *analyzer.Result, done func() error,
) (*judged, error) {
	r, err := kept.Open(ctx, shelf, rules.All)
	if err != nil {
		return nil, err
	}
	return &judged{Reading: r, src: k.src, close: done, result: result}, nil
}

func (j *judged) with(result *analyzer.Result) *judged {
	j.result = result
	return j
}

func (k *keeper) run(ctx context.Context, put func(...capture.Entry) error) (*analyzer.Result, *kept.Writer, error) {
	return kept.Judge(ctx, rules.All, k.e.WithProgress(ctx, k.command+" "+k.name+": judging", k.src), put, k.mark, k.options...)
}

// keep puts a reading where the next command finds it, and returns it as it lies there; nil if it could not be kept.
func (k *keeper) keep(ctx context.Context, shelf capture.Shelf) *judged {
	if k.mark == nil {
		return nil
	}
	var inside error
	if k.store != nil && k.info.Format >= formatOutside {
		inside = k.store.Replace(ctx, func(put func(...capture.Entry) error) error { return copyShelf(ctx, shelf, put) })
		if inside == nil {
			os.Remove(k.beside) //nolint:errcheck // what it has is in the capture now
			k.say("%s: %s was judged; what it came to is kept in it", k.command, k.name)
			return k.read(ctx)
		}
	}
	beside := bolt.WriteShelf(k.beside, func(put func(...capture.Entry) error) error { return copyShelf(ctx, shelf, put) })
	if beside == nil {
		k.say("%s: %s was judged; what it came to is kept in %s", k.command, k.name, k.beside)
		return k.read(ctx)
	}
	if inside == nil {
		inside = beside
	}
	k.say("%s: %s was judged; what it came to cannot be kept, so the next look judges it again: %v", k.command, k.name, inside)
	return nil
}

func (k *keeper) say(format string, args ...any) {
	if !k.quiet {
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

// keepReading judges a capture that a command has written, so that whoever looks at it need not.
func keepReading(ctx context.Context, e cli.Env, command, name string) {
	src, err := openFile(name)
	if err != nil {
		return // whoever opens it next is told
	}
	defer src.Close()
	k := keeperOf(ctx, e, command, name, src)
	k.quiet = true
	if k.mark == nil || k.read(ctx) != nil {
		return
	}
	if j, err := k.judge(ctx); err == nil {
		j.Close() //nolint:errcheck // nothing is lost with it
	}
}

// Reader returns what reads single exchanges of the capture, with the cards that it holds.
func (j *judged) Reader(ctx context.Context) (*reading.Reader, error) {
	if j.reader != nil {
		return j.reader, nil
	}
	head := j.Head()
	if head.MoreCards {
		reader, err := newReader(ctx, j.src)
		j.reader = reader
		return reader, err
	}
	reader := &reading.Reader{}
	for _, seq := range head.Cards {
		x, err := j.src.Exchange(ctx, seq)
		if err != nil {
			return nil, err
		}
		reader.Read(x)
	}
	j.reader = reader
	return reader, nil
}

// AllLinks returns what caused what.
func (j *judged) AllLinks(ctx context.Context) (*workflow.Index, error) {
	if j.links != nil {
		return j.links, nil
	}
	var err error
	j.links, err = j.Links(ctx)
	return j.links, err
}

// Facts returns what a filter or a printer asks of an exchange that was read.
func (j *judged) Facts(ctx context.Context, x *capture.Exchange, row *kept.Row) (reading.Facts, error) {
	reader, err := j.Reader(ctx)
	if err != nil {
		return reading.Facts{}, err
	}
	found, err := j.FindingsOf(ctx, row)
	return reading.Facts{Reading: reader.Read(x), Findings: found}, err
}

// findingsIn returns what the rules find in a capture, from its reading.
func findingsIn(ctx context.Context, e cli.Env, command, name string, src capture.Source) ([]analyzer.Finding, error) {
	for again := false; ; again = true {
		j, err := openJudged(ctx, e, command, name, src, again)
		if err != nil {
			return nil, err
		}
		result, err := j.Complete(ctx, src)
		err = errors.Join(err, j.Close())
		switch {
		case err == nil:
			return result.Findings, nil
		case again || !damagedReading(err):
			return nil, err
		}
		e.Tell("%s: %s: %v; it is judged anew", command, name, err)
	}
}

// readingWhile returns the reading that a recorder is making of a capture that it records, as far as it has come; nil if
// there is none.
func readingWhile(ctx context.Context, src capture.Source) *kept.Reading {
	store := storeOf(src)
	if store == nil {
		return nil
	}
	r, err := kept.Open(ctx, store, rules.All)
	if err != nil {
		return nil
	}
	if h, is := src.(hiddenReader); is {
		r.Mask(h.hideRow)
	}
	return r
}

// damagedReading reports whether an error is about a reading, which can be made anew.
func damagedReading(err error) bool { return errors.Is(err, capture.ErrDamagedEntry) }

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
