package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/tui"
)

type showOptions struct {
	format string // "" is detail for numbers, and list without
	filter string
	agent  string
	raw    bool
	head   count
	tail   count
	follow bool
}

// showFormats are what exchanges are printed as.
var showFormats = []string{"list", "detail", "tree", "ladder", "transcript", "curl", "json"}

func newShow(e env) *cobra.Command {
	o := showOptions{}
	cmd := &cobra.Command{
		Use:   "show CAPTURE [N...]",
		Short: "Print exchanges of a capture",
		Long: `Show prints the exchanges of a capture: all, those that match a filter, or those with the given numbers (3,
3..9). Of an exchange it can be asked for a part: 3.request, 3.response, 3.response.event[2].

Formats: list (a line for each exchange; the default), detail (heads, and bodies laid out for people; the default for
numbers), tree (what one request of a user has caused is indented under it), ladder (arrows between client and agent),
transcript (HTTP as text, which other commands read), curl (the request as a command), json (a line for each).

A line of the list begins with the sign of the worst finding: ! for an error, ? for a warning, · for a note. Short ids
of tasks are taken back by filters: task:2f1e9c04, or task:*9f3c2a1b where the beginning was left out.

--raw writes the bytes of bodies as they were recorded, a request's before the answer's, for a file or another program.

--follow prints what is there and then each exchange when it ends, until the recording ends or an interrupt comes. A
transcript and a ladder stand in the order of numbers, so there an exchange waits for those before it. A capture that is
still being recorded is otherwise printed up to its newest exchange.`,
		Example: `  a2atap show c.a2atap
  a2atap show c.a2atap 3
  a2atap show c.a2atap --filter 'is:error dur:>2s' --tail 10
  a2atap show c.a2atap --format ladder --filter 'task:t-1'
  a2atap show c.a2atap --format tree
  a2atap show c.a2atap 3.response --raw > answer.json
  a2atap show c.a2atap --tail 0 --follow`,
		RunE: func(cmd *cobra.Command, args []string) error { return show(cmd.Context(), e, o, args[0], args[1:]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "print as `FORMAT`: "+strings.Join(showFormats[:6], ", ")+" or json")
	f.StringVar(&o.filter, "filter", "", "print the exchanges that match `EXPR`")
	f.StringVar(&o.agent, "agent", "", "print the exchanges of the agent `NAME`")
	f.BoolVar(&o.raw, "raw", false, "write the bytes of bodies, and nothing else")
	f.Var(&o.head, "head", "print only the first `N` of those that match")
	f.Var(&o.tail, "tail", "print only the last `N` of those that match")
	f.BoolVar(&o.follow, "follow", false, "go on with each exchange that ends, until the recording ends")
	e.readsFleets(f, nil)
	return withArgs(cmd, 1, -1)
}

// A count is a flag that says how many; one that is not given is no limit.
type count struct {
	n     int
	given bool
}

func (c *count) String() string {
	if !c.given {
		return ""
	}
	return strconv.Itoa(c.n)
}

// Set implements pflag.Value.
func (c *count) Set(text string) error {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return errors.New("write a whole number")
	}
	c.n, c.given = int(n), true
	return nil
}

// Type implements pflag.Value.
func (c *count) Type() string { return "number" }

// check refuses what makes no sense, and chooses the format where none is given.
func (o *showOptions) check(name string, wanted []span) error {
	switch {
	case o.format != "":
		if err := choose("format", o.format, showFormats...); err != nil {
			return err
		}
	case len(wanted) > 0:
		o.format = "detail"
	default:
		o.format = "list"
	}
	part := ""
	for _, s := range wanted {
		if s.part != (tui.Part{}) {
			part = strconv.FormatUint(s.from, 10)
		}
	}
	switch {
	case o.head.given && o.tail.given:
		return usage("--head and --tail exclude each other; --filter 'n:3..9' prints what is between")
	case o.head.given && o.head.n == 0:
		return usage("--head 0 prints nothing; write how many, from 1")
	case o.tail.given && o.tail.n == 0 && !o.follow:
		return usage("--tail 0 prints nothing but with --follow, which goes on with what ends from now on")
	case part != "" && o.format != "detail":
		return usage("--format %s prints whole exchanges; write %s, or leave out --format", o.format, part)
	case o.follow && len(wanted) > 0:
		return usage("--follow waits for exchanges that end, whatever their numbers are; leave out one or the other, or "+
			"write --filter 'n:%d..'", wanted[0].from)
	case o.follow && name == "-":
		return usage("--follow reads a capture file, not standard input, which is read to its end first")
	case o.follow && o.format == "tree":
		return usage("--follow prints no tree: what an exchange stands under may end after it; a2atap tui %s draws the "+
			"tree as it grows", name)
	}
	return nil
}

func show(ctx context.Context, e env, o showOptions, name string, numbers []string) error {
	wanted, err := parseNumbers(numbers)
	if err != nil {
		return err
	}
	if o.raw && o.format != "" {
		return usage("--raw writes the bytes of bodies and nothing else; leave out --format %s", o.format)
	}
	if err := o.check(name, wanted); err != nil {
		return err
	}
	if o.raw {
		o.format = "raw"
	}
	keep, err := parseSelection(o.filter, o.agent)
	if err != nil {
		return err
	}
	following := snapshot
	if o.follow {
		following = untilEnded
	}
	src, err := openFollowed(e, name, following)
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
	s := &showing{e: e, o: o, name: name, src: src, keep: keep, wanted: wanted}
	if err := s.run(ctx); err != nil {
		var x *exit
		if errors.As(err, &x) {
			return err
		}
		return fmt.Errorf("show %s: %w", name, err)
	}
	return nil
}

// A showing is what one call of show is about.
type showing struct {
	e      env
	o      showOptions
	name   string
	src    capture.Source
	keep   selection
	wanted []span // none for all

	reader  *reading.Reader
	book    *ledger
	p       printer
	seen    int // exchanges that could have been shown
	matched int
}

func (s *showing) run(ctx context.Context) (err error) {
	if !s.o.follow {
		s.src = s.e.withProgress(ctx, "show "+s.name, s.src)
	}
	if s.reader, err = newReader(ctx, s.src); err != nil {
		return err
	}
	s.book = newLedger(s.keepsFindings())
	if s.keep.linked = s.keep.linked || s.o.format == "tree"; s.keep.linked {
		s.book.links = &workflow.Index{}
		s.keep.links = s.book.links
	}
	if s.o.follow {
		err = s.follow(ctx)
	} else {
		err = s.all(ctx)
	}
	if err != nil {
		return err
	}
	switch {
	case s.seen == 0 && len(s.wanted) > 0:
		return fmt.Errorf("no exchange %s in it; without numbers all are shown", numbersOf(s.wanted))
	case s.seen == 0 && !s.o.follow:
		s.e.tell("show: %s holds no exchange yet", s.name)
	case s.seen > 0 && s.matched == 0 && !s.keep.all():
		s.e.tell("show: %s", s.keep.nothing(ctx, s.src))
	}
	return s.p.end()
}

// judges reports whether the rules have to run.
func (s *showing) judges() bool {
	switch s.o.format {
	case "list", "detail", "tree", "ladder":
		return true
	}
	return s.keep.judged
}

// keepsFindings tells of which exchanges the findings are kept. For the list it is enough how severe the worst is.
func (s *showing) keepsFindings() func(uint64) bool {
	if !s.keep.judged && (s.o.format == "list" || !s.judges()) {
		return func(uint64) bool { return false }
	}
	return func(seq uint64) bool {
		for i := range s.wanted {
			if s.wanted[i].has(seq) {
				return true
			}
		}
		return len(s.wanted) == 0
	}
}

// all prints what is in the capture now.
func (s *showing) all(ctx context.Context) error {
	if s.judges() {
		if _, err := analyzer.Run(ctx, rules.All, s.src, s.book.take, s.book.options()...); err != nil {
			return err
		}
	} else if err := s.keep.readLinks(ctx, s.src); err != nil {
		return err
	}
	s.p = s.newPrinter()
	return s.printAll(ctx, func(uint64) bool { return true })
}

// errEnough ends the reading of a capture of which enough was printed.
var errEnough = errors.New("enough")

// printAll prints the exchanges that are there, are wanted and match, and that a condition holds for: the first or the
// last of them, if so many are asked for.
func (s *showing) printAll(ctx context.Context, holds func(seq uint64) bool) error {
	var last []found
	err := each(ctx, s.src, s.wanted, func(x *capture.Exchange, part tui.Part) error {
		if !holds(x.Seq) {
			return nil
		}
		s.seen++
		if !s.o.tail.given {
			return s.take(x, part)
		}
		if s.keep.all() || s.keep.match(x, s.facts(x)) {
			s.matched++
			if last = append(last, found{x.Seq, part}); len(last) > 2*s.o.tail.n+1 {
				last = append(last[:0], last[len(last)-s.o.tail.n:]...)
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return s.printLast(ctx, last[max(len(last)-s.o.tail.n, 0):])
}

// found is an exchange that matches.
type found struct {
	seq  uint64
	part tui.Part
}

func (s *showing) printLast(ctx context.Context, last []found) error {
	if len(s.wanted) > 0 {
		for _, f := range last {
			x, err := s.src.Exchange(ctx, f.seq)
			if err != nil {
				return err
			}
			if err := s.print(x, f.part); err != nil {
				return err
			}
		}
		return nil
	}
	seqs := make([]uint64, len(last))
	for i := range last {
		seqs[i] = last[i].seq
	}
	var failed error
	err := eachOf(ctx, s.src, seqs, func(x *capture.Exchange) {
		if failed == nil {
			failed = s.print(x, tui.Part{})
		}
	})
	return errors.Join(err, failed)
}

func (s *showing) facts(x *capture.Exchange) reading.Facts {
	return reading.Facts{Reading: s.reader.Read(x), Findings: s.book.of(x.Seq)}
}

// take prints an exchange if it matches. It returns errEnough if no other one is asked for.
func (s *showing) take(x *capture.Exchange, part tui.Part) error {
	facts := s.facts(x)
	if !s.keep.match(x, facts) {
		return nil
	}
	s.matched++
	if err := s.printWith(x, facts, part); err != nil {
		return err
	}
	if s.enough() {
		return errEnough
	}
	return nil
}

// enough reports whether the first exchanges, if only they are asked for, were printed.
func (s *showing) enough() bool { return s.o.head.given && s.matched >= s.o.head.n }

func (s *showing) print(x *capture.Exchange, part tui.Part) error {
	return s.printWith(x, s.facts(x), part)
}

func (s *showing) printWith(x *capture.Exchange, facts reading.Facts, part tui.Part) error {
	if p, ok := s.p.(partPrinter); ok {
		if err := hasEvent(x, part); err != nil {
			return err
		}
		p.only(part)
	}
	return s.p.print(x, facts)
}

// each calls f with the wanted exchanges, all if none are named, and the part that is wanted of each.
func each(ctx context.Context, src capture.Source, wanted []span, f func(*capture.Exchange, tui.Part) error) error {
	if len(wanted) == 0 {
		wanted = []span{{from: 1, to: ^uint64(0)}}
	}
	for _, s := range wanted {
		for x, err := range src.Exchanges(ctx, s.from) {
			if err != nil {
				return err
			}
			if x.Seq > s.to {
				break
			}
			if err := f(x, s.part); err != nil {
				return err
			}
		}
	}
	return nil
}
