// Package viewer prints exchanges of a capture in the formats of package present, and follows a growing capture. It
// reads no more than a format needs: lists and trees need only rows of the reading, not exchanges.
package viewer

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"a2atap/analyzer/analysis"

	"a2atap/analyzer/reading"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/tui/document"
	"a2atap/tui/print"
	"a2atap/tui/terminal"
)

// Options are the flags of show.
type Options struct {
	From   source.Flags
	Format string // "" is detail for numbers, and list without
	// Columns are comma-separated columns of a list or of CSV; "" for the defaults.
	Columns string
	Query   string // a jq program for each line of JSON; "" for none
	Filter  string
	Agent   string
	Raw     bool
	Head    count
	Tail    count
	Follow  bool
}

// Formats are the output formats of exchanges.
var Formats = []string{"list", "detail", "tree", "ladder", "transcript", "curl", "csv", "json"}

// A count is a flag with a number. Without a value, it sets no limit.
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

// check rejects invalid combinations of flags, and sets the default format.
func (o *Options) check(name string, wanted []span) error {
	switch {
	case o.Format != "":
		if err := cli.Choose("format", o.Format, Formats...); err != nil {
			return err
		}
	case len(wanted) > 0 && o.Columns == "" && o.Query == "":
		o.Format = "detail"
	case o.Query != "":
		o.Format = "json"
	default:
		o.Format = "list"
	}
	part := ""
	for _, s := range wanted {
		if s.part != (document.Section{}) {
			part = strconv.FormatUint(s.from, 10)
		}
	}
	switch {
	case o.Columns != "" && o.Format != "list" && o.Format != "csv":
		return cli.Usage("--columns is for --format list and csv; leave out --format %s", o.Format)
	case o.Query != "" && o.Format != "json":
		return cli.Usage("--jq reads what --format json prints; leave out --format %s", o.Format)
	case o.Head.given && o.Tail.given:
		return cli.Usage("--head and --tail exclude each other; --filter 'n:3..9' prints a range")
	case o.Head.given && o.Head.n == 0:
		return cli.Usage("--head 0 prints nothing; write a number from 1")
	case o.Tail.given && o.Tail.n == 0 && !o.Follow:
		return cli.Usage("--tail 0 prints nothing without --follow, which continues with exchanges that end later")
	case part != "" && o.Format != "detail":
		return cli.Usage("--format %s prints whole exchanges; write %s, or leave out --format", o.Format, part)
	case o.Follow && len(wanted) > 0:
		return cli.Usage("--follow prints exchanges as they end, whatever their numbers; leave out one of the two, or "+
			"write --filter 'n:%d..'", wanted[0].from)
	case o.Follow && name == "-":
		return cli.Usage("--follow needs a capture file: standard input is read to its end first")
	case o.Follow && o.Format == "tree":
		return cli.Usage("--follow prints no tree: the parent of an exchange may end after it; a2atap tui %s draws the "+
			"tree as it grows", name)
	}
	return nil
}

// Run prints exchanges of a capture: those with the given numbers, or all that match.
func Run(ctx context.Context, e cli.Env, o Options, name string, numbers []string) error {
	wanted, err := parseNumbers(numbers)
	if err != nil {
		return err
	}
	switch {
	case o.Raw && o.Format != "":
		return cli.Usage("--raw writes the bytes of bodies and nothing else; leave out --format %s", o.Format)
	case o.Raw && o.Columns != "":
		return cli.Usage("--raw writes the bytes of bodies and nothing else; leave out --columns")
	case o.Raw && o.Query != "":
		return cli.Usage("--raw writes the bytes of bodies and nothing else; leave out --jq")
	}
	if err := o.check(name, wanted); err != nil {
		return err
	}
	if o.Raw {
		o.Format = "raw"
	}
	var table *present.Table
	if o.Columns != "" || o.Format == "csv" {
		if table, err = present.ParseTable(o.Columns); err != nil {
			return err
		}
	}
	if o.Query != "" {
		if e.Out, err = present.NewQuery(e.Out, o.Query); err != nil {
			return err
		}
	}
	keep, err := verdict.ParseSelection(o.Filter, o.Agent)
	if err != nil {
		return err
	}
	following := source.Snapshot
	if o.Follow {
		following = source.UntilEnded
	}
	src, err := o.From.Follow(e, name, following)
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
	s := &showing{e: e, o: o, name: name, src: src, keep: keep, wanted: wanted, table: table}
	if err := s.run(ctx); err != nil {
		if _, ok := errors.AsType[*cli.Exit](err); ok {
			return err
		}
		return fmt.Errorf("show %s: %w", name, err)
	}
	return nil
}

// A showing is the state of one call of show.
type showing struct {
	e      cli.Env
	o      Options
	name   string
	src    capture.Source
	keep   verdict.Selection
	wanted []span // none for all

	j       *verdict.Capture // its results; nil if no output needs them, or if the capture is followed
	widths  present.Widths   // of the exchanges to print
	table   *present.Table   // if columns were selected, or the format has columns; otherwise nil
	p       present.Printer
	seen    int // number of exchanges that could have been printed
	matched int
	caused  bool // each exchange is printed with its cause
}

func (s *showing) run(ctx context.Context) (err error) {
	if s.keep.Linked = s.keep.Linked || s.o.Format == "tree" || s.table != nil && s.table.NeedsParents(); s.o.Follow {
		err = s.follow(ctx)
	} else {
		err = s.all(ctx)
	}
	if err != nil {
		return err
	}
	switch {
	case s.seen == 0 && len(s.wanted) > 0:
		return fmt.Errorf("no exchange %s in it; without numbers all exchanges are shown", numbersOf(s.wanted))
	case s.seen == 0 && !s.o.Follow:
		s.e.Tell("show: %s contains no exchange yet", s.name)
	case s.seen > 0 && s.matched == 0 && !s.keep.All():
		s.e.Tell("show: %s", s.keep.Nothing(ctx, s.src))
	}
	if err := s.p.End(); err != nil {
		return err
	}
	if t, is := s.p.(*present.TreePrinter); is {
		if left := t.Left(); len(left) > 0 {
			s.e.Tell("show: these may also have caused %s that %s not listed", someNumbers(left), isOrAre(len(left)))
		}
		if t.Doubts > 0 {
			how := "pass traceparent on in each call"
			if t.Unknown > 0 {
				how += ", or say who calls with record --client PATTERN=NAME"
			}
			s.e.Tell("show: the cause of %s is uncertain; to make it certain, %s", analysis.Plural(t.Doubts, "exchange"), how)
		}
	}
	return nil
}

// judges reports whether the output includes findings or outcomes.
func (s *showing) judges() bool {
	switch s.o.Format {
	case "list", "csv", "detail", "tree", "ladder":
		return true
	}
	return false
}

// reads reports whether exchanges must be read to print them.
func (s *showing) reads() bool {
	return s.o.Format != "list" && s.o.Format != "csv" && s.o.Format != "tree"
}

// all prints the current contents of the capture.
func (s *showing) all(ctx context.Context) error {
	show := s.judged
	switch plain := !s.judges() && s.keep.All(); {
	case plain && s.o.Format == "json":
		show = s.withCauses
	case plain:
		return s.plain(ctx)
	}
	return verdict.Use(ctx, s.e, "show", s.name, s.src, verdict.How{}, func(j *verdict.Capture) error {
		s.j, s.seen, s.matched = j, 0, 0
		err := show(ctx)
		if s.p != nil && errors.Is(err, capture.ErrDamagedEntry) {
			return errors.New(err.Error()) // printed exchanges are not printed again
		}
		return err
	})
}

// withCauses prints exchanges as they were recorded, and the cause of each.
func (s *showing) withCauses(ctx context.Context) error {
	s.caused = true
	return s.plain(ctx)
}

// plain prints exchanges as they were recorded, without results.
func (s *showing) plain(ctx context.Context) error {
	s.src = s.e.WithProgress(ctx, "show "+s.name, s.src)
	s.p = s.newPrinter(ctx)
	if s.o.Tail.given && len(s.wanted) == 0 {
		info, err := s.src.Info(ctx)
		if err != nil {
			return err
		}
		last, err := lastNumbers(ctx, s.src, info.Exchanges, s.o.Tail.n)
		if err != nil {
			return err
		}
		s.seen = len(last)
		return source.EachOf(ctx, s.src, last, func(x *capture.Exchange) error { return s.printPlain(ctx, x, document.Section{}) })
	}
	var tail []found
	err := each(ctx, s.src, s.wanted, func(x *capture.Exchange, part document.Section) error {
		s.seen++
		if s.o.Tail.given {
			tail = append(tail, found{x.Seq, part})
			return nil
		}
		if err := s.printPlain(ctx, x, part); err != nil {
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
	for _, f := range tail[max(len(tail)-s.o.Tail.n, 0):] {
		x, err := s.src.Exchange(ctx, f.seq)
		if err == nil {
			err = s.printPlain(ctx, x, f.part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lastNumbers returns the last n numbers of exchanges up to to. Numbers may have gaps.
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

func (s *showing) printPlain(ctx context.Context, x *capture.Exchange, part document.Section) error {
	s.matched++
	one := &present.Shown{X: x}
	if s.caused {
		var err error
		if one.Row, err = s.j.Row(ctx, x.Seq); err != nil {
			return err
		}
	}
	return s.print(one, part)
}

// judged prints exchanges with their results. It reads the rows of the selected exchanges. It reads the exchanges
// themselves only if the format prints them, or if a filter needs data that no row has.
func (s *showing) judged(ctx context.Context) error {
	s.src = s.e.WithProgress(ctx, "show "+s.name, s.src)
	list, err := s.chosen(ctx)
	if err != nil {
		return err
	}
	if len(s.wanted) == 0 { // an index may have skipped exchanges
		s.seen = int(s.j.Head().Rows)
	}
	if s.o.Format == "tree" {
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

// chosen returns the exchanges to print, and computes their widths.
func (s *showing) chosen(ctx context.Context) ([]found, error) {
	var list []found
	take := func(row *snapshot.Row, part document.Section) (more bool) {
		s.matched++
		if s.widths.See(&row.Summary); s.table != nil {
			s.table.See(row)
		}
		list = append(list, found{row.Seq, part})
		if s.o.Tail.given && len(list) > 2*s.o.Tail.n+1 {
			list = append(list[:0], list[len(list)-s.o.Tail.n:]...)
		}
		return !s.enough()
	}
	wanted := s.wanted
	if len(wanted) == 0 {
		wanted = []span{{from: 1, to: ^uint64(0)}}
		if s.o.Tail.given && s.keep.All() {
			rows, err := s.j.LastRows(ctx, s.o.Tail.n)
			for _, row := range rows {
				s.seen++
				take(row, document.Section{})
			}
			return list, err
		}
	}
	for _, w := range wanted {
		more := true
		err := s.j.Choose(ctx, s.keep, w.from, w.to, func(row *snapshot.Row, chosen bool) bool {
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
	if s.o.Tail.given {
		list = list[max(len(list)-s.o.Tail.n, 0):]
	}
	return list, nil
}

// A found is an exchange to print.
type found struct {
	seq  uint64
	part document.Section
}

// errEnough ends the reading of a capture once enough is printed.
var errEnough = errors.New("enough")

// enough reports whether --head has been reached.
func (s *showing) enough() bool { return s.o.Head.given && s.matched >= s.o.Head.n }

// printRow prints an exchange. It reads the exchange if its format needs that.
func (s *showing) printRow(ctx context.Context, row *snapshot.Row, part document.Section) (err error) {
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

func (s *showing) print(one *present.Shown, part document.Section) error {
	if p, ok := s.p.(present.PartPrinter); ok {
		if err := present.HasEvent(one.X, part); err != nil {
			return err
		}
		p.Only(part)
	}
	return s.p.Print(one)
}

// each calls f with the wanted exchanges, or all if none are named, and the wanted part of each.
func each(ctx context.Context, src capture.Source, wanted []span, f func(*capture.Exchange, document.Section) error) error {
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

func (s *showing) newPrinter(ctx context.Context) present.Printer {
	e, colours, width := s.e, s.e.Colours(s.e.Out), cli.ColumnsOf(s.e.Out)
	switch s.o.Format {
	case "csv":
		return present.NewCSVPrinter(e.Out, s.table)
	case "tree":
		t := present.NewTreePrinter(e.Out, colours, width)
		t.Links = s.keep.Links
		return t
	case "ladder":
		return &present.LadderPrinter{P: print.New(e.Out, width, present.PrintTheme(e))}
	case "transcript":
		return &present.ExportPrinter{W: transcript.NewWriter(e.Out)}
	case "curl":
		return &present.CurlPrinter{W: e.Out}
	case "json":
		return present.NewJSONPrinter(e.Out, present.Annotator{Reader: s.reader(ctx), Notes: s.keep.Notes})
	case "raw":
		return &present.RawPrinter{E: e, Terminal: terminal.Is(e.Out)}
	}
	if s.table != nil {
		return &present.TablePrinter{W: e.Out, Table: s.table, Colours: colours, Width: width}
	}
	list := &present.ListPrinter{W: e.Out, Colours: colours, Columns: s.widths.Columns(width)}
	if s.o.Format == "detail" {
		return &present.DetailPrinter{List: list, P: print.New(e.Out, width, present.PrintTheme(e))}
	}
	return list
}

// reader returns a reader of single exchanges that knows the cards of the capture.
func (s *showing) reader(ctx context.Context) *reading.Reader {
	if s.j == nil {
		s.j = verdict.Stored(ctx, s.name, s.src)
	}
	if s.j != nil {
		if r, err := s.j.Reader(ctx); err == nil {
			return r
		}
	}
	if r, err := source.NewReader(ctx, s.src); err == nil {
		return r
	}
	return &reading.Reader{} // reading the exchange reports the error
}
