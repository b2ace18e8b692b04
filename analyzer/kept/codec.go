package kept

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An encoder writes a value. A text that was written before is written as its number.
type encoder struct {
	b      []byte
	texts  map[string]uint64
	before last
}

// A last is what the next row is written as the difference to.
type last struct {
	Seq, Conn uint64
	Started   time.Time
}

var firstLast = last{Started: time.Unix(0, 0).UTC()}

func newEncoder() *encoder { return &encoder{texts: make(map[string]uint64), before: firstLast} }

// reset readies the encoder for something else. What it had encoded is gone.
func (e *encoder) reset() {
	clear(e.texts)
	e.b, e.before = e.b[:0], firstLast
}

func (e *encoder) number(n uint64)         { e.b = binary.AppendUvarint(e.b, n) }
func (e *encoder) signed(n int64)          { e.b = binary.AppendVarint(e.b, n) }
func (e *encoder) octet(n byte)            { e.b = append(e.b, n) }
func (e *encoder) count(n int)             { e.number(uint64(n)) }
func (e *encoder) took(d time.Duration)    { e.signed(int64(d)) }
func (e *encoder) link(l analysis.Link)    { e.text(l.Client); e.text(l.Agent) }
func (e *encoder) dialects(d a2a.Dialects) { e.octet(byte(d)) }

// flags writes up to 64 answers of yes or no.
func (e *encoder) flags(flags ...bool) {
	var set uint64
	for i, f := range flags {
		if f {
			set |= 1 << i
		}
	}
	e.number(set)
}

// text writes 0 and the text when it is new, else its number.
func (e *encoder) text(s string) {
	if n, known := e.texts[s]; known {
		e.number(n)
		return
	}
	e.texts[s] = uint64(len(e.texts)) + 1
	e.number(0)
	e.count(len(s))
	e.b = append(e.b, s...)
}

func (e *encoder) list(texts []string) {
	e.count(len(texts))
	for _, s := range texts {
		e.text(s)
	}
}

// A decoder reads what an encoder wrote. After the first thing that is wrong everything is zero, and err says so.
type decoder struct {
	b      string
	texts  []string
	before last
	err    error
}

func newDecoder(raw []byte) *decoder { return &decoder{b: string(raw), before: firstLast} }

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = damaged("%s", what)
	}
	d.b = ""
}

func (d *decoder) number() uint64 {
	var n uint64
	for i := range min(len(d.b), binary.MaxVarintLen64) {
		c := d.b[i]
		if i == binary.MaxVarintLen64-1 && c > 1 {
			break
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.b = d.b[i+1:]
			return n
		}
	}
	d.fail("a number is cut off")
	return 0
}

func (d *decoder) signed() int64 {
	n := d.number()
	return int64(n>>1) ^ -int64(n&1)
}

func (d *decoder) octet() byte {
	if d.b == "" {
		d.fail("a byte is missing")
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

// count reads how many things follow, each of at least one byte.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.fail("a list is longer than what holds it")
		return 0
	}
	return int(n)
}

// small reads a number that is an int.
func (d *decoder) small() int {
	n := d.number()
	if n > math.MaxInt32 {
		d.fail("a number is too large")
		return 0
	}
	return int(n)
}

func (d *decoder) took() time.Duration    { return time.Duration(d.signed()) }
func (d *decoder) dialects() a2a.Dialects { return a2a.Dialects(d.octet()) }
func (d *decoder) link() analysis.Link    { return analysis.Link{Client: d.text(), Agent: d.text()} }

func (d *decoder) flags(flags ...*bool) {
	set := d.number()
	for i, f := range flags {
		*f = set&(1<<i) != 0
	}
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.texts)) {
		d.fail("a text that was not written before")
		return ""
	}
	if n > 0 {
		return d.texts[n-1]
	}
	size := d.number()
	if size > uint64(len(d.b)) {
		d.fail("a text is cut off")
		return ""
	}
	s := d.b[:size]
	d.b = d.b[size:]
	if d.err == nil {
		d.texts = append(d.texts, s)
	}
	return s
}

func (d *decoder) list() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	texts := make([]string, n)
	for i := range texts {
		texts[i] = d.text()
	}
	return texts
}

// brief writes of a row what leads to its workflow.
func (e *encoder) brief(r *Row) {
	e.number(r.Seq - e.before.Seq)
	e.b = append(e.b, r.ID[:]...)
	e.cause(r.Parent, r.By, r.Maybe)
	e.signed(int64(r.Children))
	e.before.Seq = r.Seq
}

// rest writes what brief does not of a row.
func (e *encoder) rest(r *Row) {
	e.signed(int64(r.Conn - e.before.Conn))
	e.link(r.Link)
	e.text(r.How)
	e.text(r.AgentURL)
	e.since(r.Started)
	e.took(r.Took)
	e.took(r.Took - r.Gap)
	e.octet(byte(r.Life))
	e.text(r.Method)
	e.text(r.Target)
	e.text(r.Host)
	e.text(r.Asked)
	e.text(r.Called)
	e.octet(byte(r.Operation))
	e.octet(byte(r.Binding))
	e.dialects(r.Dialects)
	e.signed(int64(r.Status))
	e.signed(r.RequestSize)
	e.signed(r.ResponseSize)
	e.signed(int64(r.Events))
	e.text(r.Task)
	e.octet(byte(r.State))
	e.list(r.Tasks)
	e.list(r.Contexts)
	octets(e, r.States)
	octets(e, r.Roles)
	octets(e, r.Kinds)
	e.list(r.Types)
	e.count(len(r.Errors))
	for i := range r.Errors {
		x := &r.Errors[i]
		e.flags(x.Known)
		e.signed(x.Code)
		e.signed(int64(x.Status))
		e.octet(byte(x.Name))
		e.text(x.Label)
		e.text(x.Reason)
		e.text(x.Message)
	}
	e.text(r.Text)
	e.list(r.Traces)
	e.flags(r.Stream, r.Partial, r.Judged, r.Call, r.Outcome.Succeeded, r.Unseen, r.Push, r.Card, r.Cut, r.Rewritten,
		r.Replayed, r.Fault != nil)
	e.text(r.Outcome.Failure)
	e.text(r.Said)
	if r.Fault != nil {
		e.text(r.Fault.Kind)
		e.text(r.Fault.Side)
		e.text(r.Fault.Detail)
	}
	e.text(r.FaultMade)
	e.list(r.Notes)
	e.text(r.Missing)
	e.text(r.Unusable)
	e.flags(r.NotHeard)
	e.count(len(r.Batch))
	for i := range r.Batch {
		m := &r.Batch[i]
		e.text(m.Asked)
		e.octet(byte(m.Operation))
		e.text(m.Task)
		e.flags(m.Outcome.Succeeded)
		e.text(m.Outcome.Failure)
		e.octet(byte(m.Error))
		e.text(m.Code)
		e.text(m.Text)
	}
	e.count(len(r.Ended))
	for i := range r.Ended {
		e.text(r.Ended[i].ID)
		e.octet(byte(r.Ended[i].State))
		e.text(r.Ended[i].Text)
	}
	e.count(len(r.Found))
	for i := range r.Found {
		e.found(&r.Found[i])
	}
	if !r.Started.IsZero() {
		e.before.Started = r.Started
	}
	e.before.Conn = r.Conn
}

// since writes an instant as what it is after that of the row before.
func (e *encoder) since(t time.Time) {
	e.flags(t.IsZero())
	if !t.IsZero() {
		e.took(t.Sub(e.before.Started))
	}
}

func (e *encoder) cause(parent uint64, by workflow.Evidence, maybe workflow.Choice) {
	e.number(parent)
	e.octet(byte(by))
	if by == workflow.Unknown {
		for _, n := range maybe.First {
			e.number(n)
		}
		e.count(maybe.More)
	}
}

func (d *decoder) cause() (parent uint64, by workflow.Evidence, maybe workflow.Choice) {
	parent, by = d.number(), workflow.Evidence(d.octet())
	if by == workflow.Unknown {
		for i := range maybe.First {
			maybe.First[i] = d.number()
		}
		maybe.More = d.small()
	}
	return parent, by, maybe
}

func (e *encoder) found(f *Found) {
	e.number(f.Number)
	e.text(f.Rule)
	e.list(f.Also)
	e.octet(byte(f.Severity))
	e.octet(byte(f.Side))
}

func octets[T ~uint8](e *encoder, list []T) {
	e.count(len(list))
	for _, v := range list {
		e.octet(byte(v))
	}
}

func octetsOf[T ~uint8](d *decoder) []T {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]T, n)
	for i := range list {
		list[i] = T(d.octet())
	}
	return list
}

func (d *decoder) id() (id uuid.UUID) {
	if len(d.b) < len(id) {
		d.fail("an id is cut off")
		return id
	}
	copy(id[:], d.b)
	d.b = d.b[len(id):]
	return id
}

// A brief is what leads from an exchange to its workflow. Those of a chunk stand before the rest of its rows.
type brief struct {
	seq, parent uint64
	id          uuid.UUID
	by          workflow.Evidence
	maybe       workflow.Choice
	children    int
}

func (d *decoder) brief() brief {
	b := brief{seq: d.number() + d.before.Seq, id: d.id()}
	b.parent, b.by, b.maybe = d.cause()
	b.children = int(d.signed())
	d.known(b.seq > 0)
	d.before.Seq = b.seq
	return b
}

// rest reads a row that is zero. Its texts are parts of one string, that of the chunk.
func (d *decoder) rest(r *Row, b *brief) {
	r.Seq, r.ID, r.Parent, r.By, r.Maybe, r.Children = b.seq, b.id, b.parent, b.by, b.maybe, b.children
	r.Conn = uint64(d.signed()) + d.before.Conn
	r.Link, r.How, r.AgentURL = d.link(), d.text(), d.text()
	r.Started, r.Took = d.since(), d.took()
	r.Gap, r.Life = r.Took-d.took(), capture.State(d.octet())
	r.Method, r.Target, r.Host, r.Asked, r.Called = d.text(), d.text(), d.text(), d.text(), d.text()
	r.Operation, r.Binding, r.Dialects = a2a.Operation(d.octet()), a2a.Binding(d.octet()), d.dialects()
	r.Status, r.RequestSize, r.ResponseSize, r.Events = int(d.signed()), d.signed(), d.signed(), int(d.signed())
	r.Task, r.State = d.text(), a2a.State(d.octet())
	r.Tasks, r.Contexts = d.list(), d.list()
	r.States, r.Roles, r.Kinds = octetsOf[a2a.State](d), octetsOf[a2a.Role](d), octetsOf[a2a.PayloadKind](d)
	r.Types = d.list()
	if n := d.count(); n > 0 {
		r.Errors = make([]summary.ErrorSeen, n)
	}
	for i := range r.Errors {
		x := &r.Errors[i]
		d.flags(&x.Known)
		x.Code, x.Status, x.Name = d.signed(), int(d.signed()), a2a.ErrorName(d.octet())
		x.Label, x.Reason, x.Message = d.text(), d.text(), d.text()
	}
	r.Text, r.Traces = d.text(), d.list()
	var faulted bool
	d.flags(&r.Stream, &r.Partial, &r.Judged, &r.Call, &r.Outcome.Succeeded, &r.Unseen, &r.Push, &r.Card, &r.Cut,
		&r.Rewritten, &r.Replayed, &faulted)
	r.Outcome.Failure, r.Said = d.text(), d.text()
	if faulted {
		r.Fault = &capture.Fault{Kind: d.text(), Side: d.text(), Detail: d.text()}
	}
	r.FaultMade, r.Notes, r.Missing, r.Unusable = d.text(), d.list(), d.text(), d.text()
	d.flags(&r.NotHeard)
	if n := d.count(); n > 0 {
		r.Batch = make([]summary.Member, n)
	}
	for i := range r.Batch {
		m := &r.Batch[i]
		m.Asked, m.Operation, m.Task = d.text(), a2a.Operation(d.octet()), d.text()
		d.flags(&m.Outcome.Succeeded)
		m.Outcome.Failure, m.Error, m.Code, m.Text = d.text(), a2a.ErrorName(d.octet()), d.text(), d.text()
	}
	if n := d.count(); n > 0 {
		r.Ended = make([]summary.TaskEnd, n)
	}
	for i := range r.Ended {
		r.Ended[i] = summary.TaskEnd{ID: d.text(), State: a2a.State(d.octet()), Text: d.text()}
	}
	if n := d.count(); n > 0 {
		r.Found = make([]Found, n)
	}
	for i := range r.Found {
		r.Found[i] = d.found()
	}
	d.known(uint8(r.Life) <= uint8(capture.StateInterrupted))
	if !r.Started.IsZero() {
		d.before.Started = r.Started
	}
	d.before.Conn = r.Conn
}

func (d *decoder) since() (t time.Time) {
	var zero bool
	if d.flags(&zero); !zero {
		t = d.before.Started.Add(d.took())
	}
	return t
}

// known fails unless what was read makes sense.
func (d *decoder) known(ok bool) {
	if !ok {
		d.fail("a value that there is not")
	}
}

func (d *decoder) found() Found {
	f := Found{Number: d.number(), Rule: d.text(), Also: d.list(), Severity: analysis.Severity(d.octet()), Side: a2a.Side(d.octet())}
	d.known(f.Severity <= analysis.Error)
	return f
}

// A patch is what is known better of a row since its chunk was written.
type patch struct {
	row      *Row // the whole row, if it is that
	fact     *capture.Fact
	caused   bool // there is a cause
	parent   uint64
	by       workflow.Evidence
	maybe    workflow.Choice
	children int // how many more it has caused than was known
	found    []Found
	dropped  []uint64 // findings that were replaced
}

func (e *encoder) patch(p *patch) {
	e.flags(p.row != nil, p.fact != nil, p.caused)
	if p.row != nil {
		e.brief(p.row)
		e.rest(p.row)
	}
	if f := p.fact; f != nil {
		e.text(f.Client.Name)
		e.text(f.Client.How)
		e.flags(len(f.Rewrites) > 0, f.Replayed)
		e.text(f.Note)
	}
	if p.caused {
		e.cause(p.parent, p.by, p.maybe)
	}
	e.signed(int64(p.children))
	e.count(len(p.found))
	for i := range p.found {
		e.found(&p.found[i])
	}
	e.count(len(p.dropped))
	for _, n := range p.dropped {
		e.number(n)
	}
}

func (d *decoder) patch() *patch {
	p := &patch{}
	var row, fact bool
	d.flags(&row, &fact, &p.caused)
	if row {
		p.row = &Row{}
		b := d.brief()
		d.rest(p.row, &b)
	}
	if fact {
		f := &capture.Fact{}
		f.Client.Name, f.Client.How = d.text(), d.text()
		var rewritten bool
		d.flags(&rewritten, &f.Replayed)
		if rewritten {
			f.Rewrites = make([]capture.Rewrite, 1)
		}
		f.Note, p.fact = d.text(), f
	}
	if p.caused {
		p.parent, p.by, p.maybe = d.cause()
	}
	p.children = int(d.signed())
	for range d.count() {
		p.found = append(p.found, d.found())
	}
	for range d.count() {
		p.dropped = append(p.dropped, d.number())
	}
	return p
}

// apply puts what a patch says into a row, and returns the row.
func (p *patch) apply(r *Row) *Row {
	if p.row != nil {
		whole := *p.row
		if r != nil {
			whole.Found, whole.Children = append(r.Found, whole.Found...), r.Children+whole.Children
			if whole.Parent == 0 {
				whole.Parent, whole.By, whole.Maybe = r.Parent, r.By, r.Maybe
			}
		}
		r = &whole
	}
	if r == nil {
		return nil
	}
	if p.fact != nil {
		r.Note(p.fact)
	}
	if p.caused {
		r.Parent, r.By, r.Maybe = p.parent, p.by, p.maybe
	}
	r.Children += p.children
	r.Found = append(r.Found, p.found...)
	for _, n := range p.dropped {
		r.drop(n)
	}
	return r
}

// drop takes a finding away that was replaced.
func (r *Row) drop(number uint64) {
	kept := r.Found[:0]
	for _, f := range r.Found {
		if f.Number != number {
			kept = append(kept, f)
		}
	}
	r.Found = kept
}

// finding writes a finding, but for what its capture, its workflow and the id of its exchange are.
func (e *encoder) finding(f *analysis.Finding) {
	e.text(f.Rule.ID)
	e.octet(byte(f.Severity))
	e.octet(byte(f.Side))
	e.dialects(f.Dialects)
	e.octet(byte(f.Binding))
	e.octet(byte(f.Operation))
	e.link(f.Link)
	e.number(f.Place.Exchange)
	e.flags(f.Place.Response, f.Place.HasPointer, f.Weight != nil)
	e.text(f.Place.Part)
	e.text(f.Place.Pointer)
	e.text(f.Seen)
	e.text(f.Expected)
	e.list(f.Also)
	if f.Weight != nil {
		e.text(f.Weight.ID)
	}
	e.dialects(f.Within)
}

// finding reads a finding; rules leads from an id to its rule.
func (d *decoder) finding(rules map[string]*analysis.Rule) *analysis.Finding {
	f := &analysis.Finding{Rule: d.rule(rules)}
	f.Severity, f.Side = analysis.Severity(d.octet()), a2a.Side(d.octet())
	f.Dialects, f.Binding, f.Operation = d.dialects(), a2a.Binding(d.octet()), a2a.Operation(d.octet())
	f.Link, f.Place.Exchange = d.link(), d.number()
	var weighs bool
	d.flags(&f.Place.Response, &f.Place.HasPointer, &weighs)
	f.Place.Part, f.Place.Pointer = d.text(), d.text()
	f.Seen, f.Expected, f.Also = d.text(), d.text(), d.list()
	if weighs {
		f.Weight = d.rule(rules)
	}
	f.Within = d.dialects()
	d.known(f.Severity <= analysis.Error)
	return f
}

func (d *decoder) rule(rules map[string]*analysis.Rule) *analysis.Rule {
	r := rules[d.text()]
	if r == nil {
		d.fail("a rule that there is not")
		return &analysis.Rule{}
	}
	return r
}
