package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/noise"
)

// A Request is a client's request.
type Request struct {
	Seq  uint64 // number of its exchange
	Call *a2a.Call
	Head capture.Head
}

// Requests compares the requests of two clients in the same place of a workflow, by meaning. It is for one goroutine.
type Requests struct {
	Values   *Values
	Profile  Profile
	Recorded Request
	Live     Request
	Noise    *noise.Rules // what may differ; nil if nothing may
	noise    *noise.Scope
	diffs    []Difference
}

// Run pairs the values of the requests, and returns the differences. Places are in the recorded request, or in the
// live one if only that has the value.
func (c *Requests) Run() []Difference {
	rec, live := c.Recorded.Call, c.Live.Call
	c.noise = c.Noise.OfRequest(rec.Operation, c.Recorded.Seq, c.Live.Seq)
	if asks := [2]string{Asks(rec), Asks(live)}; asks[0] != asks[1] {
		c.pairNamed()
		c.diffs = nil // the operations differ: other differences follow from that
		c.add(Difference{
			Kind: DifferentOperation, Place: c.at(c.Recorded), Want: asks[0], Got: asks[1],
			Message: fmt.Sprintf("the client calls %s, recorded %s", asks[1], asks[0]),
		})
		return c.diffs
	}
	c.pairNamed()
	if wordingOf(rec, live) != sameWords {
		c.options()
		c.partKinds()
		return c.diffs
	}
	c.pairSites()
	if len(c.diffs) == 0 {
		c.texts()
	}
	if len(c.diffs) == 0 {
		c.options()
		c.heads()
	}
	c.expect()
	return c.diffs
}

// text returns the body of a request in the form in which noise rules name its places.
func (r *Request) text() noise.Text {
	return noise.Text{Root: r.Call.Doc.Root, Payload: r.Call.Params.Pointer()}
}

func (r *Request) noted() noise.Head { return noise.Head{Header: r.Head.Fields.Values} }

// expect adds a difference for each rule whose expression the live request does not match, and counts where the rules
// applied.
func (c *Requests) expect() {
	if c.noise == nil {
		return
	}
	was, now := []noise.Text{c.Recorded.text()}, []noise.Text{c.Live.text()}
	wrong := append(c.noise.Check(was, now), c.noise.CheckHead(c.Recorded.noted(), c.Live.noted())...)
	for _, m := range wrong {
		at := c.at(c.Recorded) + "." + m.Named()
		if m.Pointer != "" {
			at = c.body(c.Recorded, m.Pointer)
		}
		c.add(Difference{
			Kind: DifferentMatch, Place: at, Want: m.Expected(), Got: m.Now, Message: unmatched(&m),
		})
	}
	c.noise.Note(was, now, c.Recorded.noted(), c.Live.noted())
}

// hides reports whether a parameter may differ.
func (c *Requests) hides(name string) bool {
	return c.noise.Covers(c.Recorded.text(), a2a.Ptr(c.Recorded.Call.Params.Pointer(), name))
}

// Asks names the subject of a request, the same for all ids: its operation, or else its JSON-RPC method or its route.
func Asks(call *a2a.Call) string {
	if call.Operation != a2a.NoOperation {
		return call.Operation.String()
	}
	route := RewriteTarget("/"+call.Route, call, func(role Role, text string) (string, bool) {
		return "ID", role != NoRole || Opaque(text)
	})
	return call.Method + strings.TrimPrefix(route, "/")
}

func (c *Requests) add(d Difference) {
	d.Exchange, d.Live, d.Side = c.Recorded.Seq, c.Live.Seq, Client
	c.diffs = append(c.diffs, d)
}

func (c *Requests) at(r Request) string { return fmt.Sprintf("%d.request", r.Seq) }

// pairNamed pairs the ids in the requests, regardless of their position in binding and dialect.
func (c *Requests) pairNamed() {
	rec, live := c.Recorded.Call, c.Live.Call
	for _, p := range []Pairing{
		{Role: TaskID, Recorded: rec.TaskID, Live: live.TaskID},
		{Role: ContextID, Recorded: rec.ContextID, Live: live.ContextID},
		{Role: MessageID, Recorded: rec.MessageID, Live: live.MessageID},
		{Role: ConfigID, Recorded: rec.ConfigID, Live: live.ConfigID},
		{Role: PageToken, Recorded: rec.PageToken, Live: live.PageToken},
	} {
		p.RecordedTask, p.LiveTask = rec.TaskID, live.TaskID
		switch {
		case p.Recorded == "" && p.Live == "":
		case p.Recorded == "" || p.Live == "":
			if p.Role == TaskID || p.Role == ContextID || p.Role == PageToken {
				c.named(p)
			}
		case !c.Values.Pair(&p) && (p.Role == TaskID || p.Role == ContextID || p.Role == ConfigID):
			c.contradiction(c.at(c.Recorded), "", p)
		}
	}
}

// named reports ids that only one of the requests has.
func (c *Requests) named(p Pairing) {
	d := Difference{Kind: DifferentMember, Place: c.at(c.Recorded), Want: p.Recorded, Got: p.Live}
	if d.Message = fmt.Sprintf("the client names no %s", p.Role); p.Live != "" {
		d.Message = fmt.Sprintf("the client names a %s, %s", p.Role, analysis.Clip(p.Live))
	}
	c.add(d)
}

// pairSites pairs the other values at the same places in both bodies.
func (c *Requests) pairSites() {
	rec, live := c.Recorded.Call, c.Live.Call
	sites := placed(live.Doc.Root, live, func(s Site) string { return s.Pointer })
	for s := range Sites(rec.Doc.Root, rec) {
		other, ok := sites.next(s.Pointer)
		if !ok || other.Role != s.Role || s.Role == ResourceName || s.Role == RequestID {
			continue
		}
		if s.Role == NoRole && (!Opaque(s.Text()) || !Opaque(other.Text()) || s.Text() == other.Text()) {
			continue
		}
		p := Pairing{
			Role: s.Role, Recorded: s.Text(), Live: other.Text(), RecordedTask: rec.TaskID, LiveTask: live.TaskID,
		}
		if p.Recorded != "" && p.Live != "" && !c.Values.Pair(&p) && enforced(s) && len(c.diffs) == 0 {
			c.contradiction(c.body(c.Recorded, s.Pointer), s.Pointer, p)
		}
	}
}

func (c *Requests) contradiction(at, pointer string, p Pairing) {
	d := p.contradiction(fmt.Sprintf("the client names %s", p.Role))
	d.Place = at
	if pointer != "" {
		d.Changes = []Change{{Pointer: pointer, Was: analysis.Clip(p.Wanted), Now: analysis.Clip(p.Live)}}
	}
	c.add(d)
}

func (c *Requests) body(r Request, pointer string) string { return c.at(r) + ".body#" + pointer }

// texts compares the bodies and the query parameters, as closely as the profile requires.
func (c *Requests) texts() {
	rec, live := c.Recorded.Call, c.Live.Call
	if was, now := rec.Doc.Root.Exists(), live.Doc.Root.Exists(); was != now {
		d := Difference{Kind: DifferentStructure, Place: c.at(c.Recorded), Message: "the client sends no JSON"}
		if now {
			d.Message = "the client sends JSON, and did not when it was recorded"
		}
		c.add(d)
		return
	}
	f := &forms{}
	was, now := c.noise.Without(c.Recorded.text()), c.noise.Without(c.Live.text())
	f.compare("", []located{{was, 0}}, []located{{now, 0}})
	if len(f.founds) > 0 {
		c.deviate(f.founds)
		return
	}
	c.query()
	switch c.Profile {
	case Shape:
		c.differ(DifferentStructure, sameShape(false))
	case Exact:
		c.differ(DifferentValue, sameValue(false))
	}
}

func (c *Requests) deviate(founds []deviation) {
	first, d := founds[0], together(founds, maxChanges, " in the request")
	if d.Place = c.body(c.Recorded, first.at.Pointer()); first.onlyNow {
		d.Place = c.body(c.Live, first.at.Pointer())
	}
	c.add(d)
}

func (c *Requests) differ(kind Kind, same func(string, a2a.Value, a2a.Value) bool) {
	rec, live := c.Recorded.Call, c.Live.Call
	renamed := RewriteJSON(c.noise.Without(c.Live.text()).Raw(), live, func(role Role, text string) (string, bool) {
		return c.Values.recordedFor(role, live.TaskID, text)
	})
	changes := Diff(c.noise.Without(c.Recorded.text()), a2a.Parse(renamed).Root,
		func(pointer string, was, now a2a.Value) bool {
			return pointer == "/id" && rec.Binding == a2a.JSONRPC || same(pointer, was, now)
		})
	if len(changes) == 0 {
		return
	}
	c.add(Difference{
		Kind: kind, Place: c.body(c.Recorded, changes[0].Pointer), Want: changes[0].Was, Got: changes[0].Now,
		Message: fmt.Sprintf("%s of the request is %s, recorded %s",
			changes[0].Pointer, cmp.Or(changes[0].Now, "absent"), cmp.Or(changes[0].Was, "absent")),
		Changes: changes,
	})
}

// query compares the names of the parameters in a query.
func (c *Requests) query() {
	was, now := parameters(c.Recorded.Call), parameters(c.Live.Call)
	for _, name := range was {
		if !slices.Contains(now, name) {
			c.add(Difference{
				Kind: DifferentMember, Place: c.at(c.Recorded) + ".line", Want: name,
				Message: fmt.Sprintf("the client does not send the parameter %q", name),
			})
		}
	}
	for _, name := range now {
		if !slices.Contains(was, name) {
			c.add(Difference{
				Kind: DifferentMember, Place: c.at(c.Live) + ".line", Got: name,
				Message: fmt.Sprintf("the client sends a parameter %q", name),
			})
		}
	}
}

func parameters(call *a2a.Call) []string {
	var names []string
	for name := range call.QueryValues() {
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// options compares the client's options besides its message.
func (c *Requests) options() {
	rec, live := c.Recorded.Call, c.Live.Call
	if was, now := length(rec), length(live); was != now && !c.hides("historyLength") {
		c.option("history length", was, now)
	}
	if rec.Operation == a2a.SendMessage {
		if was, now := blocking(rec), blocking(live); was != now && wordingOf(rec, live) == sameWords {
			c.option("call", waits(was), waits(now))
		}
	}
	if was, now := rec.PushConfig.Exists(), live.PushConfig.Exists(); was != now {
		c.option("push config", given(was), given(now))
	}
}

func length(call *a2a.Call) string {
	if !call.HasHistoryLength {
		return "not given"
	}
	return fmt.Sprint(call.HistoryLength)
}

func waits(blocking bool) string {
	if blocking {
		return "waiting for the task"
	}
	return "not waiting for the task"
}

func given(there bool) string {
	if there {
		return "given"
	}
	return "not given"
}

func (c *Requests) option(what, was, now string) {
	c.add(Difference{
		Kind: DifferentContent, Place: c.at(c.Recorded), Want: was, Got: now,
		Message: fmt.Sprintf("the %s of the client is %s, recorded %s", what, now, was),
	})
}

// partKinds compares the kinds of sent parts if a comparison of names does not cover them.
func (c *Requests) partKinds() {
	was, now := kindsSent(c.Recorded.Call), kindsSent(c.Live.Call)
	if was != now {
		c.add(Difference{
			Kind: DifferentPart, Place: c.at(c.Recorded), Want: was, Got: now,
			Message: fmt.Sprintf("the client sends parts %s, recorded %s", cmp.Or(now, "absent"), cmp.Or(was, "absent")),
		})
	}
}

func kindsSent(call *a2a.Call) string {
	var kinds []string
	for _, p := range (a2a.Message{Value: call.Message}).Parts().All() {
		switch kind := p.PartKind(); kind {
		case a2a.RawPart, a2a.URLPart:
			kinds = append(kinds, partNames[a2a.FilePart])
		default:
			kinds = append(kinds, partNames[kind])
		}
	}
	return strings.Join(slices.Compact(kinds), ", ")
}

// headerNames are the header fields that the protocol defines.
var headerNames = []string{"Content-Type", "A2A-Version", "A2A-Extensions", "X-A2A-Extensions"}

// heads compares the header fields that the protocol defines.
func (c *Requests) heads() {
	for _, name := range headerNames {
		was, now := listed(&c.Recorded.Head, name), listed(&c.Live.Head, name)
		if slices.Equal(was, now) || c.noise.HidesHeader(name) {
			continue
		}
		kind := DifferentContent
		if name == "Content-Type" {
			kind = DifferentMediaType
		}
		a, b := strings.Join(was, ", "), strings.Join(now, ", ")
		c.add(Difference{
			Kind: kind, Place: c.at(c.Recorded) + ".header[" + name + "]", Want: a, Got: b,
			Message: fmt.Sprintf("%s of the client is %s, recorded %s",
				name, cmp.Or(analysis.Clip(b), "absent"), cmp.Or(analysis.Clip(a), "absent")),
		})
	}
}

// listed returns the members of a field in a fixed order; for Content-Type, only the media type.
func listed(h *capture.Head, name string) []string {
	if name == "Content-Type" {
		return []string{h.Fields.MediaType()}
	}
	var all []string
	for _, value := range h.Fields.Values(name) {
		for one := range strings.SplitSeq(value, ",") {
			all = append(all, strings.TrimSpace(one))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
