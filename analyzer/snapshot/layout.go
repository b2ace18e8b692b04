package snapshot

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/proxy/neighbor"

	"github.com/google/uuid"
)

// A brief has the path from an exchange to its workflow. The briefs of a chunk precede the rest of its rows.
type brief struct {
	seq, parent uint64
	id          uuid.UUID
	by          workflow.Evidence
	maybe       workflow.Choice
	children    int
}

func (r *Row) brief() brief { return brief{r.Seq, r.Parent, r.ID, r.By, r.Maybe, r.Children} }

// row returns an empty row.
func (b *brief) row() *Row {
	r := &Row{Parent: b.parent, By: b.by, Maybe: b.maybe, Children: b.children}
	r.Seq, r.ID = b.seq, b.id
	return r
}

func (c codec) brief(b *brief) {
	more := b.seq - c.before().Seq
	c.number(&more)
	b.seq = c.before().Seq + more
	c.id(&b.id)
	c.cause(&b.parent, &b.by, &b.maybe)
	c.int(&b.children)
	if c.r != nil {
		c.r.known(b.seq > 0)
	}
	c.before().Seq = b.seq
}

func (c codec) cause(parent *uint64, by *workflow.Evidence, maybe *workflow.Choice) {
	c.number(parent)
	if octet(c, by); *by == workflow.Unknown {
		for i := range maybe.First {
			c.number(&maybe.First[i])
		}
		c.small(&maybe.More)
	}
}

// rest encodes the parts of a row that brief does not. When reading, texts are parts of one string for the chunk.
// Writing never modifies the row, since others may read it meanwhile.
func (c codec) rest(r *Row) {
	before := c.before()
	conn := int64(r.Conn - before.Conn)
	c.signed(&conn)
	c.link(&r.Link)
	c.text(&r.How, &r.AgentURL)
	c.since(&r.Started)
	c.took(&r.Took)
	rest := r.Took - r.Gap
	c.took(&rest)
	if c.r != nil {
		r.Conn, r.Gap = before.Conn+uint64(conn), r.Took-rest
	}
	octet(c, &r.Life)
	c.text(&r.Method, &r.Target, &r.Host, &r.Asked, &r.Called)
	octet(c, &r.Operation)
	octet(c, &r.Binding)
	octet(c, &r.Dialects)
	c.int(&r.Status)
	c.signed(&r.RequestSize)
	c.signed(&r.ResponseSize)
	c.int(&r.Events)
	c.text(&r.Task)
	octet(c, &r.State)
	octet(c, &r.Credentials)
	c.texts(&r.Tasks)
	c.texts(&r.Contexts)
	octets(c, &r.States)
	octets(c, &r.Roles)
	octets(c, &r.Kinds)
	c.texts(&r.Types)
	each(c, &r.Errors, func(x *summary.ErrorSeen) {
		c.flags(&x.Known)
		c.signed(&x.Code)
		c.int(&x.Status)
		octet(c, &x.Name)
		c.text(&x.Label, &x.Reason, &x.Message)
	})
	c.text(&r.Text)
	c.texts(&r.Traces)
	faulted := r.Fault != nil
	c.flags(&r.Stream, &r.Partial, &r.Judged, &r.Call, &r.Outcome.Succeeded, &r.Unseen, &r.Push, &r.Card, &r.Cut,
		&r.InPart, &r.Rewritten, &r.Replayed, &faulted)
	c.text(&r.Outcome.Failure, &r.Said)
	if faulted {
		if c.r != nil {
			r.Fault = &capture.TransportFault{}
		}
		c.text(&r.Fault.Kind, &r.Fault.Side, &r.Fault.Detail)
	}
	c.text(&r.FaultMade)
	c.texts(&r.Notes)
	c.text(&r.Missing, &r.Unusable)
	octet(c, &r.Offered)
	c.texts(&r.Offers)
	near := r.Neighbor != nil
	if c.flags(&r.NotHeard, &r.LeftEarly, &near); near {
		if c.r != nil {
			r.Neighbor = &neighbor.Call{}
		}
		c.neighbor(r.Neighbor)
	}
	each(c, &r.Batch, func(m *summary.Member) {
		c.text(&m.Asked)
		octet(c, &m.Operation)
		c.text(&m.Task)
		c.flags(&m.Outcome.Succeeded)
		c.text(&m.Outcome.Failure)
		octet(c, &m.Error)
		c.text(&m.Code, &m.Text)
		c.small(&m.Others)
	})
	each(c, &r.Ended, func(t *summary.TaskEnd) {
		c.text(&t.ID)
		octet(c, &t.State)
		c.text(&t.Text)
	})
	each(c, &r.Found, c.found)
	if c.r != nil {
		c.r.known(uint8(r.Life) <= uint8(capture.StateInterrupted))
	}
	if !r.Started.IsZero() {
		before.Started = r.Started
	}
	before.Conn = r.Conn
}

// neighbor encodes a call that is not A2A, without the arguments of its tool calls.
func (c codec) neighbor(n *neighbor.Call) {
	octet(c, &n.Kind)
	c.text(&n.Protocol, &n.Operation, &n.Subject, &n.Finish, &n.Server, &n.Version, &n.Session, &n.Failure)
	c.small(&n.Messages, &n.Tools)
	c.signed(&n.Input)
	c.signed(&n.Output)
	c.took(&n.First)
	c.flags(&n.Failed, &n.Answered)
	each(c, &n.Asked, func(t *neighbor.ToolCall) { c.text(&t.ID, &t.Name) })
	c.texts(&n.Answers)
	c.texts(&n.Requests)
}

func (c codec) found(f *Found) {
	c.number(&f.Number)
	c.text(&f.Rule)
	c.texts(&f.Also)
	octet(c, &f.Severity)
	octet(c, &f.Side)
	if c.r != nil {
		c.r.known(f.Severity <= analysis.Error)
	}
}

// A patch is an update of a row after its chunk was written.
type patch struct {
	row      *Row // the whole row, if the patch replaces it
	fact     *capture.Fact
	caused   bool // there is a cause
	parent   uint64
	by       workflow.Evidence
	maybe    workflow.Choice
	children int // how many more it has caused than was known
	found    []Found
	dropped  []uint64 // findings that were replaced
}

func (c codec) patch(p *patch) {
	row, fact := p.row != nil, p.fact != nil
	c.flags(&row, &fact, &p.caused)
	if row {
		b := brief{}
		if c.w != nil {
			b = p.row.brief()
		}
		if c.brief(&b); c.r != nil {
			p.row = b.row()
		}
		c.rest(p.row)
	}
	if fact {
		if c.r != nil {
			p.fact = &capture.Fact{}
		}
		rewritten := len(p.fact.Rewrites) > 0
		c.text(&p.fact.Client.Name, &p.fact.Client.How)
		if c.flags(&rewritten, &p.fact.Replayed); c.r != nil && rewritten {
			p.fact.Rewrites = make([]capture.Rewrite, 1)
		}
		c.text(&p.fact.Note)
	}
	if p.caused {
		c.cause(&p.parent, &p.by, &p.maybe)
	}
	c.int(&p.children)
	each(c, &p.found, c.found)
	c.numbers(&p.dropped)
}

// apply applies a patch to a row, and returns the row.
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

// drop removes a finding that was replaced.
func (r *Row) drop(number uint64) {
	kept := r.Found[:0]
	for _, f := range r.Found {
		if f.Number != number {
			kept = append(kept, f)
		}
	}
	r.Found = kept
}

// finding encodes a finding without its capture, its workflow and the id of its exchange.
func (c codec) finding(f *analysis.Finding) {
	c.rule(&f.Rule)
	octet(c, &f.Severity)
	octet(c, &f.Side)
	octet(c, &f.Dialects)
	octet(c, &f.Binding)
	octet(c, &f.Operation)
	c.link(&f.Link)
	c.number(&f.Place.Exchange)
	weighs := f.Weight != nil
	c.flags(&f.Place.Response, &f.Place.HasPointer, &weighs)
	c.text(&f.Place.Part, &f.Place.Pointer, &f.Seen, &f.Expected)
	c.texts(&f.Also)
	if weighs {
		c.rule(&f.Weight)
	}
	octet(c, &f.Within)
	if c.r != nil {
		c.r.known(f.Severity <= analysis.Error)
	}
}
