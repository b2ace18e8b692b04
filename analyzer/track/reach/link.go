package reach

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// A Refusal is a call whose answer is an error of an agent that did not understand the call.
type Refusal struct {
	Exchange *analysis.Exchange // without its bodies
	Version  bool               // the error says that the version is not supported
	NoRoute  bool               // the agent reports that it does not have the path

	dialects a2a.Dialects // of the answer
}

// RefusalsOf returns the calls of a LinkRefused, at least one, in the order of their answers.
func RefusalsOf(p *analysis.Pass) []Refusal { return p.Detail.([]Refusal) }

// answered records the answer to a call.
func (m *Memory) answered(o *analysis.Observation) {
	x := o.Exchange
	if x.Endpoint == nil || !x.Outcome.Known() {
		return
	}
	l := m.link(x)
	switch {
	case l.succeeded:
	case x.Outcome.Succeeded:
		l.succeeded, l.refusals = true, nil
	case o.Answer.Err != nil && NotUnderstood(o) && !l.has(x) && len(l.refusals) < maxRefusals:
		l.refusals = append(l.refusals, Refusal{
			Exchange: x.WithoutBodies(), Version: o.Answer.Err.RefusesVersion(), NoRoute: NoRoute(o), dialects: o.Dialects,
		})
	}
}

// link returns the known facts about the link of an exchange.
func (m *Memory) link(x *analysis.Exchange) *link {
	l, ok := m.links.Get(x.Link)
	if !ok {
		l = &link{}
		m.links.Put(x.Link, l)
	}
	return l
}

// has reports whether a call to the same interface in the same dialect has been refused.
func (l *link) has(x *analysis.Exchange) bool {
	for i := range l.refusals {
		if r := l.refusals[i].Exchange; r.Endpoint == x.Endpoint && r.Call.Dialects == x.Call.Dialects {
			return true
		}
	}
	return false
}

// refused observes, at the end of a capture, the links on which calls were refused and none succeeded.
func (m *Memory) refused(p *analysis.Pass) {
	for _, l := range m.links.All() {
		if l.succeeded || len(l.refusals) == 0 {
			continue
		}
		x := l.refusals[0].Exchange
		p.Observe(analysis.Observation{
			Kind: analysis.LinkRefused, Exchange: x, Dialects: orAll(l.refusals[0].dialects),
			Place: x.RequestPlace(), Detail: l.refusals,
		})
	}
}

// orAll returns dialects; all if none is known.
func orAll(in a2a.Dialects) a2a.Dialects {
	if in.Empty() {
		return a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0)
	}
	return in
}

// NotUnderstood reports whether an error means that the agent does not understand the method or path, the shape of the
// request, or its version.
func NotUnderstood(o *analysis.Observation) bool {
	switch o.Answer.Err.Name {
	case a2a.MethodNotFound, a2a.InvalidRequest, a2a.InvalidParams, a2a.UnsupportedOperation:
		return true
	}
	return o.Answer.Err.RefusesVersion() || NoRoute(o)
}

// NoRoute reports whether an agent reports that it lacks a path, rather than the object that the path names.
func NoRoute(o *analysis.Observation) bool {
	x := o.Exchange
	if x.Call.Binding != a2a.HTTPJSON || o.Answer.Err == nil || o.Answer.Err.Name.A2A() {
		return false
	}
	status := x.Response.Status
	return status == 405 || status == 404 && !SpeaksOfTask(o.Answer.Doc.Root, x.Path)
}

// SpeaksOfTask reports whether an error's text is about a task or a config, and does not just repeat the requested
// path, as frameworks do for an unknown route.
func SpeaksOfTask(v a2a.Value, path string) bool {
	text := strings.ToLower(strings.ReplaceAll(string(v.Raw()), path, ""))
	return strings.Contains(text, "task") || strings.Contains(text, "config")
}
