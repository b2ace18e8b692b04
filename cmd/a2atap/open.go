package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strings"

	"a2atap/analyzer"
	"a2atap/analyzer/kept"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/capture/notes"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/fleet"
)

// openCapture opens a capture by its name on the command line: a file in any known format, finished or still growing,
// or standard input for "-".
//
// It may also be the stream of a fleet: then it is what is in that now.
func openCapture(e cli.Env, name string) (capture.Source, error) {
	return (*sourceFlags)(nil).open(e, name)
}

// open is openCapture for a command that has the flags.
func (o *sourceFlags) open(e cli.Env, name string) (capture.Source, error) {
	return o.follow(e, name, snapshot)
}

// follow is open for a command that follows the capture. A file grows by itself.
func (o *sourceFlags) follow(e cli.Env, name string, follow following) (capture.Source, error) {
	if fleet.IsAddress(name) {
		return o.openFleet(context.Background(), e, name, follow)
	}
	if err := o.onlyStreams(name); err != nil {
		return nil, err
	}
	if name == "-" {
		return openStdin(e)
	}
	if scheme, _, is := strings.Cut(name, "://"); is && !strings.ContainsAny(scheme, `/\.`) {
		return nil, cli.Usage("%s is a URL, not a capture; record the traffic of an agent with a2atap record --agent NAME=URL, "+
			"or ask the agent with a2atap probe URL", credential.WithoutUserinfo(name))
	}
	if _, err := os.Stat(name); err != nil && cli.LikeAnAddress.MatchString(name) {
		return nil, cli.Usage("%s is no file; a stream is nats://HOST:PORT/NAME", cli.ShownName(name))
	}
	return openFile(name)
}

// openFile opens a file in any known format.
func openFile(name string) (capture.Source, error) {
	if isText(name) {
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
	return hideNamed(context.Background(), src), nil
}

// captureEndings is what to do where a file is not what its name says.
const captureEndings = "see that its name ends as what it is: .a2atap, .har, .jsonl or .txtar"

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// tellGaps says what a capture lacks of the traffic that passed, for a command that does not judge it. Other formats
// than ours do not say.
func tellGaps(ctx context.Context, e cli.Env, command string, src capture.Source) error {
	if !isOurs(src) {
		return nil
	}
	info, err := src.Info(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	if n := info.LostExchanges; n > 0 {
		e.Tell("%s: %s lacks %s that passed and could not be recorded", command, info.Name, analyzer.Plural(n, "exchange"))
	}
	if info.Insecure {
		e.Tell("%s: %s: %s", command, info.Name, capture.InsecureText)
	}
	if info.Crashes > 0 {
		e.Tell("%s: %s: %s", command, info.Name, info.Crash)
	}
	return nil
}

func isText(name string) bool {
	for _, ending := range []string{".har", ".jsonl", ".txtar"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// openStdin copies standard input to a file, since sources read their file more than once.
func openStdin(e cli.Env) (capture.Source, error) {
	tmp, err := os.CreateTemp("", "a2atap-stdin-*")
	if err != nil {
		return nil, fmt.Errorf("copy standard input to a file: %w", err)
	}
	defer tmp.Close()
	if _, err := io.Copy(tmp, e.In); err != nil {
		return nil, errors.Join(fmt.Errorf("read standard input: %w", err), os.Remove(tmp.Name()))
	}
	src, err := openFile(tmp.Name())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("standard input: %w", err), os.Remove(tmp.Name()))
	}
	return &temporary{Source: src, path: tmp.Name()}, nil
}

// temporary is a source whose file is removed with it.
type temporary struct {
	capture.Source
	path string
}

func (t *temporary) Close() error { return errors.Join(t.Source.Close(), os.Remove(t.path)) }

// A selection is the exchanges that --filter and --agent select.
type selection struct {
	filter *filter.Filter
	agent  string
	judged bool // the filter asks for findings, so the rules have to run first
	linked bool // it asks for workflows, so the links have to be read first
	noted  bool // it may ask for marks, so the notes have to be read first

	links *workflow.Index // nil until they were, or if nobody asks
	notes *notes.Notes    // the same
}

func parseSelection(expr, agent string) (selection, error) {
	f, err := filter.Parse(expr)
	if err != nil {
		return selection{}, cli.Usage("--filter %q: %w", expr, err)
	}
	if agent != "" && !cli.AgentName.MatchString(agent) {
		return selection{}, cli.Usage("--agent %q cannot be the name of an agent, which is made of letters, digits, '.', '_' "+
			"and '-', or is a host and a port", agent)
	}
	return selection{
		filter: f, agent: agent, judged: f.Asks("rule", "severity", "side"), linked: f.Asks("workflow"),
		noted: f.Asks("is"),
	}, nil
}

// all reports whether everything is chosen.
func (s selection) all() bool { return s.filter.String() == "" && s.agent == "" }

// match reports whether an exchange that was read is chosen.
func (s selection) match(x *capture.Exchange, facts reading.Facts) bool {
	if s.links != nil {
		facts.Workflow = s.links.Of(x.Seq).Workflow
	}
	facts.Marked = s.notes.Of(x.Seq, x.ID).Marked
	return (s.agent == "" || x.Agent.Name == s.agent) && s.filter.Match(x, facts)
}

// chooser returns which exchanges of a source are chosen. Command and name are what is said if it has to be judged.
func (s selection) chooser(
	ctx context.Context, e cli.Env, command, name string, src capture.Source,
) (func(*capture.Exchange) bool, error) {
	if s.all() {
		return func(*capture.Exchange) bool { return true }, nil
	}
	j, err := openJudged(ctx, e, command, name, src, false)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	var chosen cli.Set
	err = j.choose(ctx, s, 1, math.MaxUint64, func(row *kept.Row, is bool) bool {
		if is {
			chosen.Add(row.Seq)
		}
		return true
	})
	return func(x *capture.Exchange) bool { return chosen.Has(x.Seq) }, err
}

// choose calls f with the rows of exchanges from..to, in order, and whether each is chosen, until f returns false. Where
// an index of the capture knows which exchanges can be chosen, f is not called with others.
func (j *judged) choose(
	ctx context.Context, s selection, from, to uint64, f func(row *kept.Row, chosen bool) bool,
) (err error) {
	if err := s.readNotes(ctx, j.src); err != nil {
		return err
	}
	if s.linked {
		if s.links, err = j.AllLinks(ctx); err != nil {
			return err
		}
	}
	take := func(row *kept.Row) (more bool, err error) {
		is, err := j.match(ctx, s, row)
		return err == nil && f(row, is), err
	}
	if from == to {
		row, err := j.Row(ctx, from)
		if err == nil && row != nil {
			_, err = take(row)
		}
		return err
	}
	if seqs, ok := s.candidates(ctx, j.src, from); ok {
		for seq, err := range seqs {
			if err != nil || seq > to {
				return err
			}
			row, err := j.Row(ctx, seq)
			if err != nil {
				return err
			}
			if row == nil {
				continue
			}
			if more, err := take(row); err != nil || !more {
				return err
			}
		}
		return nil
	}
	for row, err := range j.Rows(ctx, from) {
		if err != nil || row.Seq > to {
			return err
		}
		if more, err := take(row); err != nil || !more {
			return err
		}
	}
	return nil
}

// candidates returns which exchanges can be chosen, if the capture has an index that knows.
func (s selection) candidates(
	ctx context.Context, src capture.Source, from uint64,
) (seqs iter.Seq2[uint64, error], ok bool) {
	if p, is := src.(*cli.Progress); is {
		src = p.Source
	}
	index, ok := src.(capture.Index)
	keys := s.filter.Keys()
	if !ok || len(keys) == 0 {
		return nil, false
	}
	key := keys[0]
	if key.Kind == "operation" {
		key.Value = reading.Normalise("op", key.Value)
	}
	return index.Find(ctx, key, from), true
}

// match reports whether an exchange is chosen. It is read only where its row does not tell.
func (j *judged) match(ctx context.Context, s selection, row *kept.Row) (bool, error) {
	if s.agent != "" && row.Link.Agent != s.agent {
		return false, nil
	}
	facts := kept.Facts{Row: row, Marked: s.notes.Of(row.Seq, row.ID).Marked}
	if s.links != nil {
		facts.Workflow = s.links.Of(row.Seq).Workflow
	}
	if match, certain := facts.Decide(s.filter); certain {
		return match, nil
	}
	x, err := j.src.Exchange(ctx, row.Seq)
	if err != nil {
		return false, err
	}
	whole, err := j.Facts(ctx, x, row)
	return err == nil && s.match(x, whole), err
}

// eachOf calls f with the exchanges of these sequence numbers, which are in order. Looking one up costs as much as
// reading a block of others, so if there are many the capture is read through.
func eachOf(ctx context.Context, src capture.Source, seqs []uint64, f func(*capture.Exchange) error) error {
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

func groupFindings(findings []analyzer.Finding) map[uint64][]analyzer.Finding {
	groups := make(map[uint64][]analyzer.Finding)
	for _, f := range findings {
		groups[f.Place.Exchange] = append(groups[f.Place.Exchange], f)
	}
	return groups
}
