package present

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/tui/text"
)

// A column is a column of a table of exchanges, with the name that selects it.
type column struct {
	name  string
	right bool // a number
	of    func(*snapshot.Row) string
}

// columns are all columns. Unknown and missing values are empty.
var columns = []column{
	{"n", true, func(r *snapshot.Row) string { return strconv.FormatUint(r.Seq, 10) }},
	{"time", false, func(r *snapshot.Row) string { return r.Started.UTC().Format("2006-01-02T15:04:05.000Z") }},
	{"client", false, func(r *snapshot.Row) string { return r.Link.Client }},
	{"agent", false, func(r *snapshot.Row) string { return r.Link.Agent }},
	{"op", false, func(r *snapshot.Row) string { return r.Asked }},
	{"method", false, func(r *snapshot.Row) string { return r.Method }},
	{"target", false, func(r *snapshot.Row) string { return r.Target }},
	{"binding", false, func(r *snapshot.Row) string {
		if r.Binding == a2a.NoBinding {
			return ""
		}
		return r.Binding.String()
	}},
	{"status", true, func(r *snapshot.Row) string { return known(int64(r.Status), r.Status != 0) }},
	{"ms", true, func(r *snapshot.Row) string {
		if r.Took == capture.NotKnown {
			return ""
		}
		return strconv.FormatFloat(float64(r.Took)/float64(time.Millisecond), 'f', 1, 64)
	}},
	{"sent", true, func(r *snapshot.Row) string { return known(r.RequestSize, true) }},
	{"received", true, func(r *snapshot.Row) string { return known(r.ResponseSize, r.ResponseSize != capture.NotKnown) }},
	{"events", true, func(r *snapshot.Row) string { return known(int64(r.Events), r.Events != capture.NotKnown) }},
	{"task", false, func(r *snapshot.Row) string { return strings.Join(r.Tasks, " ") }},
	{"context", false, func(r *snapshot.Row) string { return strings.Join(r.Contexts, " ") }},
	{"state", false, func(r *snapshot.Row) string {
		if r.State == a2a.NoState {
			return ""
		}
		return r.State.String()
	}},
	{"error", false, func(r *snapshot.Row) string {
		if failure := r.Failure(); failure != "" || r.Fault == nil {
			return failure
		}
		return r.Faulted()
	}},
	{"outcome", false, func(r *snapshot.Row) string { return r.OutcomeText() }},
	{"severity", false, func(r *snapshot.Row) string {
		if worst, found := r.Worst(); found {
			return worst.String()
		}
		return ""
	}},
	{"rules", false, func(r *snapshot.Row) string {
		var ids []string
		for i := range r.Found {
			ids = append(ids, r.Found[i].Rule)
		}
		return strings.Join(ids, " ")
	}},
	{"trace", false, func(r *snapshot.Row) string { return r.TraceID() }},
	{"kind", false, func(r *snapshot.Row) string { return r.Kind().String() }},
	{"tokens", true, func(r *snapshot.Row) string {
		return known(tokensOf(r), tokensOf(r) > 0)
	}},
	{"first", true, func(r *snapshot.Row) string { // ms until the first chunk
		if r.Neighbor == nil || r.Neighbor.First == 0 {
			return ""
		}
		return strconv.FormatFloat(float64(r.Neighbor.First)/float64(time.Millisecond), 'f', 1, 64)
	}},
	{"parent", true, func(r *snapshot.Row) string { return known(int64(r.Parent), r.Parent != 0) }},
}

func tokensOf(r *snapshot.Row) int64 {
	if r.Neighbor == nil {
		return 0
	}
	return r.Neighbor.Input + r.Neighbor.Output
}

func known(n int64, is bool) string {
	if !is {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// ColumnNames returns the names of all columns that a table can have.
func ColumnNames() []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// usual are the default columns of a table.
const usual = "n,time,client,agent,op,status,ms,task,state,error"

// A Table is the selected columns and their widths.
type Table struct {
	columns []column
	widths  []int
}

// ParseTable parses comma-separated names of columns; "" selects the default columns.
func ParseTable(names string) (*Table, error) {
	if names == "" {
		names = usual
	}
	t := &Table{}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		if err := cli.Choose("column", name, ColumnNames()...); err != nil {
			return nil, err
		}
		for _, c := range columns {
			if c.name == name {
				t.columns, t.widths = append(t.columns, c), append(t.widths, len(name))
			}
		}
	}
	return t, nil
}

// NeedsParents reports whether a column needs the causes of exchanges.
func (t *Table) NeedsParents() bool {
	return slices.ContainsFunc(t.columns, func(c column) bool { return c.name == "parent" })
}

// See adds an exchange that will be printed to the widths of the columns.
func (t *Table) See(row *snapshot.Row) {
	for i, c := range t.columns {
		t.widths[i] = max(t.widths[i], min(text.Columns(cell(c, row)), mostNames))
	}
}

// Names returns the names of the columns.
func (t *Table) Names() []string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return names
}

// Cells returns the cells of an exchange, made safe for terminals.
func (t *Table) Cells(row *snapshot.Row) []string {
	var cells []string
	for _, c := range t.columns {
		cells = append(cells, cell(c, row))
	}
	return cells
}

func cell(c column, row *snapshot.Row) string {
	return text.Clean(credential.WithoutUserinfo(c.of(row)))
}

// A TablePrinter prints the columns of a table, for people.
type TablePrinter struct {
	W       io.Writer
	Table   *Table
	Colours bool
	Width   int // of the terminal; 0 without one
	headed  bool
}

// Print implements Printer.
func (p *TablePrinter) Print(one *Shown) error {
	if !p.headed {
		p.headed = true
		if err := p.line(inkDim, func(c column) string { return strings.ToUpper(c.name) }); err != nil {
			return err
		}
	}
	return p.line(inkPlain, func(c column) string { return cell(c, one.Row) })
}

func (p *TablePrinter) line(i ink, of func(column) string) error {
	var line []piece
	for k, c := range p.Table.columns {
		words := of(c)
		blanks := strings.Repeat(" ", max(p.Table.widths[k]-text.Columns(words), 0))
		if c.right {
			words = blanks + words
		} else {
			words += blanks
		}
		if k > 0 {
			words = "  " + words
		}
		line = append(line, piece{words, i})
	}
	_, err := fmt.Fprintln(p.W, paint(p.Colours, fit(line, p.Width)...))
	return err
}

// End implements Printer.
func (p *TablePrinter) End() error { return nil }

// A CSVPrinter prints the columns of a table as CSV (RFC 4180), with a header line.
type CSVPrinter struct {
	Table *Table
	w     *csv.Writer
	named bool
}

// NewCSVPrinter returns a printer that writes into w.
func NewCSVPrinter(w io.Writer, t *Table) *CSVPrinter {
	return &CSVPrinter{Table: t, w: csv.NewWriter(w)}
}

// Print implements Printer.
func (p *CSVPrinter) Print(one *Shown) error {
	if err := p.head(); err != nil {
		return err
	}
	return p.write(func(c column) string { return cell(c, one.Row) })
}

func (p *CSVPrinter) head() error {
	if p.named {
		return nil
	}
	p.named = true
	return p.write(func(c column) string { return c.name })
}

func (p *CSVPrinter) write(of func(column) string) error {
	var record []string
	for _, c := range p.Table.columns {
		record = append(record, of(c))
	}
	return p.w.Write(record)
}

// End implements Printer. Without exchanges, it prints only the header line.
func (p *CSVPrinter) End() error {
	if err := p.head(); err != nil {
		return err
	}
	return p.Flush()
}

// Flush writes buffered output.
func (p *CSVPrinter) Flush() error {
	p.w.Flush()
	return p.w.Error()
}
