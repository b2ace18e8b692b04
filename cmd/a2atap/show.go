package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer/kept"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/tui"
)

type showOptions struct {
	from   source.Flags
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

func newShow(e cli.Env) *cobra.Command {
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
	o.from.Register(f, nil)
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
		if err := cli.Choose("format", o.format, showFormats...); err != nil {
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
		return cli.Usage("--head and --tail exclude each other; --filter 'n:3..9' prints what is between")
	case o.head.given && o.head.n == 0:
		return cli.Usage("--head 0 prints nothing; write how many, from 1")
	case o.tail.given && o.tail.n == 0 && !o.follow:
		return cli.Usage("--tail 0 prints nothing but with --follow, which goes on with what ends from now on")
	case part != "" && o.format != "detail":
		return cli.Usage("--format %s prints whole exchanges; write %s, or leave out --format", o.format, part)
	case o.follow && len(wanted) > 0:
		return cli.Usage("--follow waits for exchanges that end, whatever their numbers are; leave out one or the other, or "+
			"write --filter 'n:%d..'", wanted[0].from)
	case o.follow && name == "-":
		return cli.Usage("--follow reads a capture file, not standard input, which is read to its end first")
	case o.follow && o.format == "tree":
		return cli.Usage("--follow prints no tree: what an exchange stands under may end after it; a2atap tui %s draws the "+
			"tree as it grows", name)
	}
	return nil
}

func show(ctx context.Context, e cli.Env, o showOptions, name string, numbers []string) error {
	wanted, err := parseNumbers(numbers)
	if err != nil {
		return err
	}
	if o.raw && o.format != "" {
		return cli.Usage("--raw writes the bytes of bodies and nothing else; leave out --format %s", o.format)
	}
	if err := o.check(name, wanted); err != nil {
		return err
	}
	if o.raw {
		o.format = "raw"
	}
	keep, err := judged.ParseSelection(o.filter, o.agent)
	if err != nil {
		return err
	}
	following := source.Snapshot
	if o.follow {
		following = source.UntilEnded
	}
	src, err := o.from.Follow(e, name, following)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := source.TellGaps(ctx, e, "show", src); err != nil {
		return err
	}
	if keep.Notes, err = source.ReadNotes(ctx, e, "show", src); err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	s := &showing{e: e, o: o, name: name, src: src, keep: keep, wanted: wanted}
	if err := s.run(ctx); err != nil {
		var x *cli.Exit
		if errors.As(err, &x) {
			return err
		}
		return fmt.Errorf("show %s: %w", name, err)
	}
	return nil
}

// A showing is what one call of show is about.
type showing struct {
	e      cli.Env
	o      showOptions
	name   string
	src    capture.Source
	keep   judged.Selection
	wanted []span // none for all

	j       *judged.Capture // what judging it came to; nil if nothing asks for it, or if it is followed
	widths  present.Widths  // of what will be printed
	p       present.Printer
	seen    int // exchanges that could have been shown
	matched int
}

func (s *showing) run(ctx context.Context) (err error) {
	if s.keep.Linked = s.keep.Linked || s.o.format == "tree"; s.o.follow {
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
		s.e.Tell("show: %s holds no exchange yet", s.name)
	case s.seen > 0 && s.matched == 0 && !s.keep.All():
		s.e.Tell("show: %s", s.keep.Nothing(ctx, s.src))
	}
	return s.p.End()
}

// judges reports whether what the rules found is printed, or what came of an exchange.
func (s *showing) judges() bool {
	switch s.o.format {
	case "list", "detail", "tree", "ladder":
		return true
	}
	return false
}

// reads reports whether an exchange has to be read to be printed.
func (s *showing) reads() bool { return s.o.format != "list" && s.o.format != "tree" }

// all prints what is in the capture now.
func (s *showing) all(ctx context.Context) error {
	if !s.judges() && s.keep.All() {
		return s.plain(ctx)
	}
	for again := false; ; again = true {
		err := s.judged(ctx, again)
		if again || !judged.DamagedReading(err) || s.p != nil {
			return err
		}
		s.e.Tell("show: %s: %v; it is judged anew", s.name, err)
	}
}

// plain prints exchanges as they were recorded: nothing of what they came to is needed.
func (s *showing) plain(ctx context.Context) error {
	s.src = s.e.WithProgress(ctx, "show "+s.name, s.src)
	s.p = s.newPrinter(ctx)
	if s.o.tail.given && len(s.wanted) == 0 {
		info, err := s.src.Info(ctx)
		if err != nil {
			return err
		}
		last, err := lastNumbers(ctx, s.src, info.Exchanges, s.o.tail.n)
		if err != nil {
			return err
		}
		s.seen = len(last)
		return source.EachOf(ctx, s.src, last, func(x *capture.Exchange) error { return s.printPlain(x, tui.Part{}) })
	}
	var tail []found
	err := each(ctx, s.src, s.wanted, func(x *capture.Exchange, part tui.Part) error {
		s.seen++
		if s.o.tail.given {
			tail = append(tail, found{x.Seq, part})
			return nil
		}
		if err := s.printPlain(x, part); err != nil {
			return err
		}
		if s.enough() {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	for _, f := range tail[max(len(tail)-s.o.tail.n, 0):] {
		x, err := s.src.Exchange(ctx, f.seq)
		if err == nil {
			err = s.printPlain(x, f.part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lastNumbers returns the numbers of the last exchanges of a capture, up to one, which may have gaps.
func lastNumbers(ctx context.Context, src capture.Source, to uint64, n int) ([]uint64, error) {
	var list []uint64
	for room := uint64(n); ; room *= 2 {
		list = list[:0]
		from := to - min(to, room) + 1
		for x, err := range src.Ends(ctx, from, 1) {
			if err != nil {
				return nil, err
			}
			list = append(list, x.Seq)
		}
		if len(list) >= n || from <= 1 {
			return list[max(len(list)-n, 0):], nil
		}
	}
}

func (s *showing) printPlain(x *capture.Exchange, part tui.Part) error {
	s.matched++
	return s.print(&present.Shown{X: x}, part)
}

// judged prints exchanges with what they came to. It reads the rows of those that are wanted, and the exchanges
// themselves only where a format prints them, or a filter asks for what no row has.
func (s *showing) judged(ctx context.Context, again bool) (err error) {
	s.src = s.e.WithProgress(ctx, "show "+s.name, s.src)
	if s.j, err = judged.Open(ctx, s.e, "show", s.name, s.src, again); err != nil {
		return err
	}
	defer s.j.Close()
	s.seen, s.matched = 0, 0
	list, err := s.chosen(ctx)
	if err != nil {
		return err
	}
	if len(s.wanted) == 0 { // an index may have known which to look at
		s.seen = int(s.j.Head().Rows)
	}
	if s.o.format == "tree" {
		if s.keep.Links, err = s.j.AllLinks(ctx); err != nil {
			return err
		}
	}
	s.p = s.newPrinter(ctx)
	for _, f := range list {
		row, err := s.j.Row(ctx, f.seq)
		if err == nil {
			err = s.printRow(ctx, row, f.part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chosen returns which exchanges are to be printed, and takes their widths.
func (s *showing) chosen(ctx context.Context) ([]found, error) {
	var list []found
	take := func(row *kept.Row, part tui.Part) (more bool) {
		s.matched++
		s.widths.See(&row.Summary)
		list = append(list, found{row.Seq, part})
		if s.o.tail.given && len(list) > 2*s.o.tail.n+1 {
			list = append(list[:0], list[len(list)-s.o.tail.n:]...)
		}
		return !s.enough()
	}
	wanted := s.wanted
	if len(wanted) == 0 {
		wanted = []span{{from: 1, to: ^uint64(0)}}
		if s.o.tail.given && s.keep.All() {
			rows, err := s.j.LastRows(ctx, s.o.tail.n)
			for _, row := range rows {
				s.seen++
				take(row, tui.Part{})
			}
			return list, err
		}
	}
	for _, w := range wanted {
		more := true
		err := s.j.Choose(ctx, s.keep, w.from, w.to, func(row *kept.Row, chosen bool) bool {
			s.seen++
			if chosen {
				more = take(row, w.part)
			}
			return more
		})
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
	}
	if s.o.tail.given {
		list = list[max(len(list)-s.o.tail.n, 0):]
	}
	return list, nil
}

// found is an exchange that is to be printed.
type found struct {
	seq  uint64
	part tui.Part
}

// errEnough ends the reading of a capture of which enough was printed.
var errEnough = errors.New("enough")

// enough reports whether the first exchanges, if only they are asked for, were printed.
func (s *showing) enough() bool { return s.o.head.given && s.matched >= s.o.head.n }

// printRow prints an exchange, which is read if its format needs it.
func (s *showing) printRow(ctx context.Context, row *kept.Row, part tui.Part) (err error) {
	one := &present.Shown{Row: row}
	if s.reads() {
		if one.X, err = s.src.Exchange(ctx, row.Seq); err != nil {
			return err
		}
		if one.Facts, err = s.j.Facts(ctx, one.X, row); err != nil {
			return err
		}
	}
	return s.print(one, part)
}

func (s *showing) print(one *present.Shown, part tui.Part) error {
	if p, ok := s.p.(present.PartPrinter); ok {
		if err := present.HasEvent(one.X, part); err != nil {
			return err
		}
		p.Only(part)
	}
	return s.p.Print(one)
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
