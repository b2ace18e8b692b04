// Package source opens any capture that a user can name: an a2atap file, finished or still growing, a HAR, JSON Lines
// or transcript file, standard input, and the stream of a fleet, nats://HOST:PORT/NAME.
//
// The result is a capture.Source. It hides credentials that the cards of a capture have named only after they were
// recorded. Data read from a stream is kept in a temporary file, which Close removes. TellGaps prints what a capture
// lacks. Notes and ReadNotes read the users' notes from the file next to it. The package checks nothing.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/fleet"
)

// Open opens a capture by its name on the command line: a file in any known format, finished or still growing,
// or standard input for "-".
//
// If the name is the stream of a fleet, Open reads the stream's current contents.
func Open(e cli.Env, name string) (capture.Source, error) {
	return (*Flags)(nil).Open(e, name)
}

// Open is the function Open with the flags.
func (o *Flags) Open(e cli.Env, name string) (capture.Source, error) {
	return o.Follow(e, name, Snapshot)
}

// Follow opens a capture to follow it. Files are read as they grow.
func (o *Flags) Follow(e cli.Env, name string, follow Following) (capture.Source, error) {
	if fleet.IsAddress(name) {
		return o.OpenStream(context.Background(), e, name, follow)
	}
	if err := o.onlyStreams(name); err != nil {
		return nil, err
	}
	if name == "-" {
		return openStdin(e)
	}
	if scheme, _, is := strings.Cut(name, "://"); is && !strings.ContainsAny(scheme, `/\.`) {
		return nil, cli.Usage("%s is a URL, not a capture; record the traffic of an agent with a2atap record --agent NAME=URL, "+
			"or test the agent with a2atap probe URL", credential.WithoutUserinfo(name))
	}
	if _, err := os.Stat(name); err != nil && cli.LikeAnAddress.MatchString(name) {
		return nil, cli.Usage("%s is not a file; a stream is nats://HOST:PORT/NAME", cli.ShownName(name))
	}
	return OpenFile(name)
}

// OpenFile opens a file in any known format.
func OpenFile(name string) (capture.Source, error) {
	if IsText(name) {
		src, err := open.File(name)
		if errors.Is(err, capture.ErrFormat) {
			err = fmt.Errorf("%w; %s", err, captureEndings)
		}
		return src, err
	}
	src, err := bolt.Read(name)
	if errors.Is(err, capture.ErrFormat) {
		text, textErr := open.File(name)
		if textErr == nil || errors.Is(textErr, capture.ErrFormat) && !isFolder(name) {
			return text, textErr
		}
	}
	if err != nil {
		return nil, err
	}
	return Hide(context.Background(), src), nil
}

// captureEndings is the advice for a file whose format does not match its extension.
const captureEndings = "check that its extension matches its format: .a2atap, .har, .jsonl or .txtar"

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// TellGaps prints what a capture lacks of the traffic, for a command that does not check the capture. Only a2atap's
// format has that information.
func TellGaps(ctx context.Context, e cli.Env, command string, src capture.Source) error {
	if !isOurs(src) {
		return nil
	}
	info, err := src.Info(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	if n := info.LostExchanges; n > 0 {
		e.Tell("%s: %s lacks %s that were forwarded and could not be recorded", command, info.Name, analysis.Plural(n, "exchange"))
	}
	if info.Insecure {
		e.Tell("%s: %s: %s", command, info.Name, capture.InsecureText)
	}
	if info.Crashes > 0 {
		e.Tell("%s: %s: %s", command, info.Name, info.Crash)
	}
	return nil
}

// IsText reports whether a file's name shows a capture in another format than a2atap's.
func IsText(name string) bool {
	return slices.Contains([]string{".har", ".jsonl", ".txtar"}, filepath.Ext(name))
}

// openStdin copies standard input to a file, since sources read their file more than once.
func openStdin(e cli.Env) (capture.Source, error) {
	tmp, err := os.CreateTemp("", "a2atap-stdin-*")
	if err != nil {
		return nil, fmt.Errorf("copy standard input to a file: %w", err)
	}
	defer tmp.Close()
	t := &temporary{path: tmp.Name(), forget: e.Temporary(tmp.Name())}
	stop := e.ExitWhenInterrupted()
	n, err := io.Copy(tmp, io.LimitReader(e.In, budget.FileWhole+1))
	stop()
	if err == nil && n > budget.FileWhole {
		err = fmt.Errorf("it has more than %d MiB; write it to a file, and name that", budget.FileWhole>>20)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read standard input: %w", err), t.remove())
	}
	if t.Source, err = OpenFile(tmp.Name()); err != nil {
		if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "open "+tmp.Name()+": ") {
			err = inner // omits the name, which means nothing to the user
		}
		return nil, errors.Join(fmt.Errorf("standard input: %w", err), t.remove())
	}
	return t, nil
}

// A temporary is a source whose Close also removes its file.
type temporary struct {
	capture.Source
	path   string
	forget func()
}

func (t *temporary) Close() error { return errors.Join(t.Source.Close(), t.remove()) }

func (t *temporary) remove() error {
	defer t.forget()
	return os.Remove(t.path)
}

// Each calls f with all exchanges, in order.
func Each(ctx context.Context, src capture.Source, f func(*capture.Exchange) error) error {
	for x, err := range src.Exchanges(ctx, 1) {
		if err == nil {
			err = f(x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// EachOf calls f with the exchanges of these sequence numbers, which are in order. A lookup costs as much as reading a
// block of others. For many numbers, EachOf therefore reads the whole capture.
func EachOf(ctx context.Context, src capture.Source, seqs []uint64, f func(*capture.Exchange) error) error {
	const many = 100
	if len(seqs) < many {
		for _, seq := range seqs {
			x, err := src.Exchange(ctx, seq)
			if err == nil {
				err = f(x)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for x, err := range src.Exchanges(ctx, seqs[0]) {
		if err != nil {
			return err
		}
		if x.Seq == seqs[0] {
			if err := f(x); err != nil {
				return err
			}
			if seqs = seqs[1:]; len(seqs) == 0 {
				break
			}
		}
	}
	return nil
}
