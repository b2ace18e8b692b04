package canonical

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/jsondoc"
	"a2atap/proxy/neighbor"
)

// A Sum identifies everything that counts of a request.
type Sum [16]byte

// A Form is a request in the form in which it is compared.
type Form struct {
	Call        *neighbor.Call // what kind of call it is; nil if unknown
	Place       string         // its method and path, in their normal form
	Exact       Sum
	Meaning     Sum
	Credentials string // what it proves its client's identity with; "" for nothing
	Session     string // of MCP
}

// Form returns the form of a request.
func (r *Rules) Form(q *Request) *Form {
	t := read(q)
	f := &Form{
		Call: brief(t.call), Place: r.Place(q), Credentials: credentials(q), Session: strings.Clone(q.Fields.Get("Mcp-Session-Id")),
	}
	exact := writer{rpc: t.dialect.rpc, dialect: t.dialect}
	exact.request(q.Method+" "+t.path, t)
	f.Exact = exact.sum()
	meaning := writer{rpc: t.dialect.rpc, dialect: t.dialect, rules: cmpRules(r)}
	meaning.request(f.Place, t)
	f.Meaning = meaning.sum()
	return f
}

// brief returns a call without what takes space: a Form of each recorded call is kept.
func brief(c *neighbor.Call) *neighbor.Call {
	if c == nil {
		return nil
	}
	return &neighbor.Call{Kind: c.Kind, Protocol: c.Protocol, Operation: c.Operation, Subject: c.Subject}
}

func cmpRules(r *Rules) *Rules {
	if r == nil {
		return &Rules{}
	}
	return r
}

// Place returns the method and the path of a request in their normal form.
func (r *Rules) Place(q *Request) string { return q.Method + " " + r.path(q.Target) }

// A writer writes values in an unambiguous form.
type writer struct {
	out     []byte
	rpc     bool
	dialect *dialect
	rules   *Rules // nil to write what is there, and else to write its meaning
	inside  bool   // the result of a tool call, where nothing is sorted
}

func (w *writer) sum() (s Sum) {
	whole := sha256.Sum256(w.out)
	copy(s[:], whole[:])
	return s
}

func (w *writer) request(place string, t *tree) {
	w.text(place)
	w.value("", t.query)
	w.value("", t.body)
}

// text writes a text with its length before it.
func (w *writer) text(s string) {
	w.out = strconv.AppendInt(append(w.out, '"'), int64(len(s)), 10)
	w.out = append(append(w.out, ':'), s...)
}

// value writes a value. name is the name of the member that has it, or the list that it is in; it may be empty.
func (w *writer) value(name string, v jsondoc.Value) {
	switch v.Kind() {
	case jsondoc.Absent:
		w.out = append(w.out, '-')
	case jsondoc.Null, jsondoc.Bool:
		w.out = append(w.out, v.Raw()...)
	case jsondoc.Number:
		w.out = append(jsondoc.AppendNumber(append(w.out, '#'), v), ';')
	case jsondoc.String:
		w.text(w.normal(name, v.Text()))
	case jsondoc.Array:
		w.out = append(w.out, '[')
		for _, e := range w.elements(v) {
			w.value(name, e)
		}
		w.out = append(w.out, ']')
	case jsondoc.Object:
		defer w.enter(v)()
		w.out = append(w.out, '{')
		for _, m := range w.members(v) {
			w.text(m.name)
			w.value(m.name, m.value)
		}
		w.out = append(w.out, '}')
	}
}

// enter notes that the members of an object follow. Its result ends that.
func (w *writer) enter(o jsondoc.Value) (leave func()) {
	before := w.inside
	w.inside = before || w.isResult(o)
	return func() { w.inside = before }
}

// isResult reports whether a value is the result of a tool call, if that makes a difference.
func (w *writer) isResult(v jsondoc.Value) bool {
	if w.rules == nil || w.dialect.result == nil {
		return false
	}
	_, ok := w.dialect.result(v)
	return ok
}

func (w *writer) normal(name, text string) string {
	if w.rules == nil {
		return text
	}
	return w.rules.normal(name, text)
}

// A member is a member of an object.
type member struct {
	name  string
	value jsondoc.Value
}

// members returns the members of an object that count, sorted by name.
func (w *writer) members(o jsondoc.Value) []member {
	message := w.rpc && o.Has("jsonrpc")
	cancels := message && o.Get("method").Is("notifications/cancelled")
	var list []member
	for name, v := range o.Members() {
		switch {
		case message && name == "id" && o.Has("method"): // the client's own
			continue
		case w.rpc && name == "progressToken" && !o.Has("progress"):
			continue
		case cancels && name == "params":
			v = v.Get("reason") // of a request with an id of the client
		}
		list = append(list, member{name, v})
	}
	slices.SortStableFunc(list, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return list
}

// elements returns the elements of an array. If only the meaning counts, results of tool calls that follow each other
// are sorted by the call, except in a result: that would take time exponential in the depth.
func (w *writer) elements(list jsondoc.Value) []jsondoc.Value {
	var all []jsondoc.Value
	for _, e := range list.Elems() {
		all = append(all, e)
	}
	if w.inside {
		return all
	}
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && w.isResult(all[end]) {
			end++
		}
		if end-i > 1 {
			w.sort(all[i:end])
		}
		i = max(end, i+1)
	}
	return all
}

// sort sorts the results of one turn's tool calls, by the call that they answer and then by their contents.
func (w *writer) sort(results []jsondoc.Value) {
	type keyed struct {
		call string
		text []byte
		v    jsondoc.Value
	}
	list := make([]keyed, len(results))
	for i, v := range results {
		call, _ := w.dialect.result(v)
		inner := *w
		inner.out = nil
		inner.value("", v)
		list[i] = keyed{call, inner.out, v}
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		if n := strings.Compare(a.call, b.call); n != 0 {
			return n
		}
		return bytes.Compare(a.text, b.text)
	})
	for i := range list {
		results[i] = list[i].v
	}
}
