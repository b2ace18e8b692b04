package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/transcript"
	"a2atap/tui"
)

type showOptions struct {
	format string
	filter string
	agent  string
}

func newShow(e env) *cobra.Command {
	o := showOptions{}
	cmd := &cobra.Command{
		Use:   "show CAPTURE [N...]",
		Short: "Print exchanges of a capture",
		Long: `Show prints exchanges: all, those with the given numbers (3, 3..9), or those that match a filter. A capture
that is still being recorded is printed up to its newest exchange. Formats: list (one line each), tree (what one
request of a user has caused is indented under it), ladder (arrows between client and agent, with findings marked),
transcript (HTTP as text, which other commands read), curl (the request as a command), json (one line each).`,
		Example: `  a2atap show c.a2atap
  a2atap show c.a2atap --format tree
  a2atap show c.a2atap 3 --format transcript
  a2atap show c.a2atap --format ladder --filter 'task:t-1'
  a2atap show c.a2atap --format ladder --filter 'workflow:3'
  a2atap show c.a2atap --filter 'is:error dur:>2s'`,
		RunE: func(cmd *cobra.Command, args []string) error { return show(cmd.Context(), e, o, args[0], args[1:]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "list", "print as `FORMAT`: list, tree, ladder, transcript, curl or json")
	f.StringVar(&o.filter, "filter", "", "print the exchanges that match `EXPR`")
	f.StringVar(&o.agent, "agent", "", "print the exchanges of the agent `NAME`")
	return withArgs(cmd, 1, -1)
}

func show(ctx context.Context, e env, o showOptions, name string, numbers []string) error {
	if err := choose("format", o.format, "list", "tree", "ladder", "transcript", "curl", "json"); err != nil {
		return err
	}
	keep, err := parseSelection(o.filter, o.agent)
	if err != nil {
		return err
	}
	wanted, err := parseNumbers(numbers)
	if err != nil {
		return err
	}
	src, err := openCapture(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := e.tellGaps(ctx, "show", src); err != nil {
		return err
	}
	if keep.notes, err = e.readNotes(ctx, "show", src); err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	src = e.withProgress(ctx, "show "+name, src)
	reader, err := newReader(ctx, src)
	if err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	p, err := newPrinter(o.format, e, annotator{reader, keep.notes})
	if err != nil {
		return err
	}
	t, isTree := p.(*treePrinter)
	keep.linked = keep.linked || isTree
	if err := keep.readLinks(ctx, src); err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	if isTree {
		t.links = keep.links
	}
	keep.judged = keep.judged || isTree || o.format == "ladder"
	findings, err := keep.judge(ctx, src)
	if err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	matched := 0
	shown, err := each(ctx, src, wanted, func(x *capture.Exchange) error {
		facts := analyzer.Facts{Reading: reader.Read(x), Findings: findings[x.Seq]}
		if !keep.match(x, facts) {
			return nil
		}
		matched++
		return p.print(x, facts)
	})
	if err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	if shown == 0 && len(numbers) == 0 {
		e.tell("show: %s holds no exchange yet", name)
	}
	if shown == 0 && len(numbers) > 0 {
		return fmt.Errorf("show %s: no exchange %s in it; without numbers all are shown", name, strings.Join(numbers, " "))
	}
	if shown > 0 && matched == 0 {
		e.tell("show: %s", keep.nothing(ctx, src))
	}
	return p.end()
}

// A span is a run of sequence numbers, both ends included.
type span struct{ from, to uint64 }

func parseNumbers(args []string) ([]span, error) {
	var spans []span
	for _, arg := range args {
		from, to, isRange := strings.Cut(arg, "..")
		if !isRange {
			to = from
		}
		a, errA := strconv.ParseUint(from, 10, 64)
		b, errB := strconv.ParseUint(to, 10, 64)
		if errA != nil || errB != nil || a == 0 || b < a {
			return nil, usage("invalid exchange number %q; write 3 or 3..9, counting from 1", arg)
		}
		spans = append(spans, span{a, b})
	}
	return spans, nil
}

// each calls f with the wanted exchanges, all if none are named, and returns how many there were.
func each(ctx context.Context, src capture.Source, wanted []span, f func(*capture.Exchange) error) (int, error) {
	if len(wanted) == 0 {
		wanted = []span{{1, ^uint64(0)}}
	}
	n := 0
	for _, s := range wanted {
		for x, err := range src.Exchanges(ctx, s.from) {
			if err != nil {
				return n, err
			}
			if x.Seq > s.to {
				break
			}
			n++
			if err := f(x); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// A printer prints exchanges in one format.
type printer interface {
	print(x *capture.Exchange, facts analyzer.Facts) error
	end() error
}

func newPrinter(format string, e env, a annotator) (printer, error) {
	switch format {
	case "tree":
		return newTreePrinter(e.Out), nil
	case "ladder":
		return &ladderPrinter{w: e.Out}, nil
	case "transcript":
		return &exportPrinter{w: transcript.NewWriter(e.Out)}, nil
	case "curl":
		return &curlPrinter{w: e.Out}, nil
	case "json":
		return &exportPrinter{w: jsonl.NewWriter(e.Out, a)}, nil
	}
	return &listPrinter{w: e.Out}, nil
}

type ladderPrinter struct {
	w      io.Writer
	arrows []tui.Arrow
}

func (p *ladderPrinter) print(x *capture.Exchange, facts analyzer.Facts) error {
	p.arrows = append(p.arrows, tui.Arrows(x, facts.Reading, facts.Findings)...)
	return nil
}

func (p *ladderPrinter) end() error {
	tui.SortArrows(p.arrows)
	for _, line := range tui.Ladder(p.arrows, 100) {
		if _, err := fmt.Fprintln(p.w, line); err != nil {
			return err
		}
	}
	return nil
}
