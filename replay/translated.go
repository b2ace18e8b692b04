package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/replay/client"
	"a2atap/replay/compare"
	"a2atap/replay/internal/translate"
	"a2atap/replay/report"
)

// ErrNotOffered is wrapped by the error of Run where the card of a live agent does not offer the binding and dialect of
// the options.
var ErrNotOffered = errors.New("its card does not offer it")

// translated reports whether requests are to be sent in another binding or dialect than recorded.
func (p *player) translated() bool { return p.opts.Binding != a2a.NoBinding || !p.opts.Dialect.Empty() }

// meet reads the cards of the live agents to find the addresses of other bindings and dialects.
func (p *player) meet(ctx context.Context) error {
	for _, t := range p.order {
		card, err := client.Discover(ctx, t.url, client.Options{
			Dialer: p.opts.Dialer, Authorize: t.authorize, Timeout: p.opts.Timeout,
		})
		if err != nil {
			return fmt.Errorf("read the live card for the other binding or dialect: %w", err)
		}
		at, err := url.Parse(card.URL)
		if err != nil {
			return fmt.Errorf("read the live card for the other binding or dialect: %w", err)
		}
		t.interfaces = a2a.DecodeCard(a2a.Parse(card.Raw).Root).Interfaces
		for i := range t.interfaces {
			if t.interfaces[i].Binding == a2a.GRPC {
				t.interfaces[i].URL = client.GRPCURL(t.interfaces[i].URL, card.URL)
			} else if u, err := at.Parse(t.interfaces[i].URL); err == nil {
				t.interfaces[i].URL = u.String()
			}
		}
		asked := func(i a2a.Interface) bool {
			return (p.opts.Binding == a2a.NoBinding || i.Binding == p.opts.Binding) &&
				(p.opts.Dialect.Empty() || !i.Dialects.Intersect(p.opts.Dialect).Empty())
		}
		if !slices.ContainsFunc(t.interfaces, asked) {
			return fmt.Errorf("use %s with the agent at %s: %w; it offers %s", p.asked(), t.url, ErrNotOffered,
				offers(t.interfaces))
		}
	}
	return nil
}

// asked names the requested binding and dialect, such as "http+json 1.0".
func (p *player) asked() string {
	var words []string
	if p.opts.Binding != a2a.NoBinding {
		words = append(words, p.opts.Binding.String())
	}
	if !p.opts.Dialect.Empty() {
		words = append(words, p.opts.Dialect.String())
	}
	return strings.Join(words, " ")
}

// offers names the interfaces of a card, such as "jsonrpc 0.3, http+json 1.0".
func offers(interfaces []a2a.Interface) string {
	var names []string
	for _, i := range interfaces {
		if name := fmt.Sprintf("%s %s", i.Binding, i.Dialects); i.Binding != a2a.NoBinding && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no known interface"
	}
	return strings.Join(names, ", ")
}

// A wording is the form in which a request is sent: as recorded, or translated.
type wording struct {
	call *a2a.Call
	head capture.Head
	body []byte
	at   func(target string) address

	known *a2a.Known // facts about a translated request's destination; nil for others
}

// translate converts a recorded request to the protocol of the options. It returns a reason if it cannot.
func (p *player) translate(t *target, e *entry, w *wording) (reason string) {
	if w.call.Operation == a2a.GetCard {
		w.head.Target = p.cardTarget(w.head.Target)
		return ""
	}
	i, to, ok := t.interfaceFor(w.call, p.opts)
	switch {
	case !ok:
		return fmt.Sprintf("the live card does not offer %s %s; it offers %s", to.Binding,
			w.dialects(p.opts), offers(t.interfaces))
	case w.call.Binding == to.Binding && w.call.Dialects.Has(to.Dialect):
		return "" // as it was recorded
	}
	u, err := url.Parse(i.URL)
	if err != nil {
		return fmt.Sprintf("the live card has it at %q, which is not a URL", i.URL)
	}
	m, note := t.endpoints.follow(u)
	if note != "" {
		return note
	}
	r, err := translate.Call(w.call, to, translate.Options{
		Fields: ownFields(w.head.Fields), Tenant: i.Tenant, ID: fmt.Sprintf("request-%d", e.seq),
		Carry: func(_, value string) bool { return credential.HasPlaceholder([]byte(value)) },
	})
	if err != nil {
		return "it " + err.Error()
	}
	p.notes.once(fmt.Sprintf("requests were translated to %s: their answers are compared by meaning", to))
	w.say(r, i, m, u)
	return ""
}

// ownFields returns the fields of a head but for those that depend on how the recorded body was framed.
func ownFields(recorded capture.Fields) []translate.Field {
	var own []translate.Field
	for _, f := range recorded {
		switch strings.ToLower(f.Name) {
		case "content-length", "transfer-encoding", "content-encoding":
		default:
			own = append(own, translate.Field(f))
		}
	}
	return own
}

// say replaces the recorded request with a translated one. The request goes to an interface of the live agent, which
// has a URL and is followed to an address.
func (w *wording) say(r *translate.Request, i a2a.Interface, m moved, u *url.URL) {
	path := m.path + r.Path
	if r.Path == "" { // a server may tell /rpc from /rpc/
		path = u.EscapedPath()
	}
	path = cmp.Or(path, "/")
	w.head = capture.Head{Method: r.Method, Target: path}
	for _, f := range r.Fields {
		w.head.Fields = append(w.head.Fields, capture.Field(f))
	}
	w.body = r.Body
	var known a2a.Known
	asked := *u
	asked.RawQuery, asked.Fragment, asked.RawPath = "", "", ""
	known.Add(i, strings.TrimRight(asked.String(), "/")+r.Path)
	if r.Query != "" {
		w.head.Target += "?" + r.Query
	}
	w.known = &known
	w.call = w.read(w.head.Target, w.body)
	w.at = func(target string) address { return address{scheme: m.scheme, host: m.host, target: target} }
}

// read returns the call of a translated request, given its target and its body.
func (w *wording) read(target string, body []byte) *a2a.Call {
	call := a2a.DecodeRequest(a2a.Request{
		Method: w.head.Method, Target: target, Header: w.head.Fields.Get, Body: body, HasBody: body != nil, BodyKept: true,
	}, *w.known)
	return &call
}

// dialects returns the dialects that suit a call.
func (w *wording) dialects(o Options) a2a.Dialects {
	if !o.Dialect.Empty() {
		return o.Dialect
	}
	return w.call.Dialects
}

// interfaceFor finds the interface of the live agent for a call, and facts about it. If it finds none, it returns a
// description of the required one.
func (t *target) interfaceFor(call *a2a.Call, o Options) (i a2a.Interface, to translate.Protocol, ok bool) {
	to.Binding = o.Binding
	if to.Binding == a2a.NoBinding {
		to.Binding = call.Binding
	}
	if to.Binding == a2a.NoBinding { // the extended card of 0.2 is next to the JSON-RPC URL
		to.Binding = a2a.JSONRPC
	}
	wanted := o.Dialect
	if wanted.Empty() {
		wanted = call.Dialects
	}
	for _, i := range t.interfaces {
		shared := i.Dialects.Intersect(wanted)
		if i.Binding != to.Binding || shared.Empty() {
			continue
		}
		if recorded := shared.Intersect(call.Dialects); !recorded.Empty() {
			shared = recorded
		}
		for d := range shared.All() {
			to.Dialect = d // the newest
		}
		return i, to, true
	}
	return a2a.Interface{}, to, false
}

// cardTarget returns where the card is looked for: up to 0.2 it has another name.
func (p *player) cardTarget(target string) string {
	d, ok := p.opts.Dialect.Single()
	if !ok {
		return target
	}
	path, query, found := strings.Cut(target, "?")
	now, before := a2a.WellKnownPaths[0], a2a.WellKnownPaths[1]
	if d < a2a.V0_3 {
		now, before = before, now
	}
	if base, is := strings.CutSuffix(path, before); is {
		path = base + now
	}
	if found {
		path += "?" + query
	}
	return path
}

// noteOffers notes if the live card no longer offers the recorded binding or dialect, and how to replay in another one.
func (p *player) noteOffers(t *target, recorded, live a2a.Card) {
	for _, was := range recorded.Interfaces {
		if _, ok := compare.SameInterface(was, live.Interfaces); ok || !p.speaks(t, was) {
			continue
		}
		p.notes.once(fmt.Sprintf("the live card no longer offers %s %s, which the recording uses; it offers %s: "+
			"--binding or --dialect plays the recording there", was.Binding, was.Dialects, offers(live.Interfaces)))
	}
}

// speaks reports whether requests to an agent were recorded in the binding and a dialect of an interface.
func (p *player) speaks(t *target, i a2a.Interface) bool {
	return slices.ContainsFunc(p.plan.entries, func(e *entry) bool {
		return p.targets[e.agent] == t && e.binding != a2a.NoBinding && e.binding == i.Binding &&
			!e.dialects.Intersect(i.Dialects).Empty()
	})
}

// dropForeign applies if another dialect was requested. It drops and notes the findings of rules that the recording
// could not break, since they do not apply to its dialects.
func (p *player) dropForeign(r *report.Report) {
	if p.opts.Dialect.Empty() {
		return
	}
	var recorded a2a.Dialects
	for _, e := range p.plan.entries {
		switch {
		case e.webhook || e.binding == a2a.NoBinding:
		case e.dialects.Empty():
			return // it may be any
		default:
			recorded |= e.dialects
		}
	}
	var foreign []string
	r.Findings = slices.DeleteFunc(r.Findings, func(f analysis.Finding) bool {
		if !f.Rule.Dialects().Intersect(recorded).Empty() {
			return false
		}
		if !slices.Contains(foreign, f.Rule.ID) {
			foreign = append(foreign, f.Rule.ID)
		}
		return true
	})
	if len(foreign) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("broken now, but not a difference, since %s has no such rule: %s", recorded,
			strings.Join(foreign, ", ")))
	}
}
