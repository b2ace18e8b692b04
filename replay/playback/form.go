package playback

import (
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
	"a2atap/replay/canonical"
	"a2atap/replay/compare"
)

// A form is a request's contents independent of the binding: parameters by name, whether they came from a body, a path
// or a query. It omits what the client creates for each run: message ids, webhook URLs and their secrets.
type form struct {
	upstream string // where it was sent to; "" if that does not matter
	op       a2a.Operation
	method   string // of JSON-RPC, if the operation is unknown
	leaves   []leaf // scalar parameters, in the order of their places
	parts    string // the kinds of the message's parts, several of a kind in a row as one
	task     string
	ctx      string
	config   string
	page     string
	failed   bool   // it was answered with an error
	whole    uint64 // a checksum of the parameters, as they are
}

// A leaf is a parameter that is a string, a number or a truth value.
type leaf struct {
	at   string // JSON Pointer from the parameters
	kind a2a.Kind
	sum  uint64 // of what the text means; one for all that clients mint
	text string // of a recorded leaf; letGo drops it unless it has placeholders
}

// minted is the sum of texts that clients create for each run, and which are therefore interchangeable.
const minted = 0

var seed = maphash.MakeSeed()

func newLeaf(at, text string, kind a2a.Kind) leaf {
	l := leaf{at: at, kind: kind, sum: minted, text: text}
	if name := at[strings.LastIndexByte(at, '/')+1:]; canonical.Chooses(name) || !compare.Opaque(text) {
		l.sum = maphash.String(seed, canonical.ByForm(name, text)) | 1
	}
	return l
}

// fits reports whether a live parameter matches the recorded one. Any value matches a secret that the recording
// hides.
func (recorded *leaf) fits(live *leaf) bool {
	return recorded.sum == live.sum || recorded.hides() && credential.Fits(recorded.text, live.text)
}

func (l *leaf) hides() bool { return l.text != "" && credential.HasPlaceholder([]byte(l.text)) }

func newForm(call *a2a.Call) form {
	f := form{
		op: call.Operation, task: call.TaskID, ctx: contextOf(call), config: call.ConfigID, page: call.PageToken,
	}
	if f.op == a2a.NoOperation {
		f.method = call.Method + call.Route
	}
	if call.HasHistoryLength {
		f.add("/historyLength", strconv.FormatInt(call.HistoryLength, 10), 0)
	}
	if call.Tenant != "" {
		f.add("/tenant", call.Tenant, 0)
	}
	var parts []a2a.PartKind
	for _, p := range (a2a.Message{Value: call.Message}).Parts().All() {
		parts = append(parts, p.PartKind())
	}
	f.parts = words(slices.Compact(parts))
	f.value("", call.Params, call)
	if call.Binding == a2a.HTTPJSON {
		f.query(call.Query)
	}
	slices.SortStableFunc(f.leaves, func(a, b leaf) int { return strings.Compare(a.at, b.at) })
	slices.Reverse(f.leaves) // of several with one name the last counts
	f.leaves = slices.CompactFunc(f.leaves, func(a, b leaf) bool { return a.at == b.at })
	slices.Reverse(f.leaves)
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range f.leaves {
		l := &f.leaves[i]
		h.WriteString(l.at)
		if l.sum != minted {
			h.WriteString(l.text)
		}
		h.WriteByte(0)
	}
	f.whole = h.Sum64()
	return f
}

func (f *form) add(at, text string, kind a2a.Kind) {
	f.leaves = append(f.leaves, newLeaf(at, text, kind))
}

// letGo drops texts that the comparison does not need, and shares the texts of places.
func (f *form) letGo(places map[string]string) {
	leaves := make([]leaf, len(f.leaves))
	for i, l := range f.leaves {
		if !l.hides() {
			l.text = ""
		}
		if _, known := places[l.at]; !known {
			places[l.at] = l.at
		}
		l.at = places[l.at]
		leaves[i] = l
	}
	f.leaves = leaves
}

// sum returns a checksum of all parameters. Among forms without hidden parameters, equal sums mean equal parameters.
func (f *form) sum() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, l := range f.leaves {
		h.WriteString(l.at)
		maphash.WriteComparable(&h, l.sum)
	}
	return h.Sum64()
}

// hidden returns the parameters with redacted values; "" if no parameter has one.
func (f *form) hidden() string {
	var b strings.Builder
	for i := range f.leaves {
		if l := &f.leaves[i]; l.hides() {
			b.WriteString(l.at + "=" + l.text + "\n")
		}
	}
	return b.String()
}

// value adds the leaves at and below a value of the parameters.
func (f *form) value(at string, v a2a.Value, call *a2a.Call) {
	if call.PushConfig.Exists() && v.Exists() && v.Offset() == call.PushConfig.Offset() {
		f.add("/push", "yes", 0)
		return
	}
	switch kind := v.Kind(); kind {
	case a2a.Object:
		for name, member := range v.Members() {
			if !f.renamed(name, member, at) {
				f.value(a2a.Ptr(at, name), member, call)
			}
		}
	case a2a.Array:
		for i, e := range v.Elems() {
			f.value(a2a.Ptr(at, i), e, call)
		}
	case a2a.String:
		f.add(at, v.Text(), kind)
	case a2a.Number, a2a.Bool:
		f.add(at, string(v.Raw()), kind)
	}
}

// renamed reports whether the form has a member under another name, or not at all.
func (f *form) renamed(name string, v a2a.Value, at string) bool {
	top := at == "" || at == "/message" || at == "/request" || at == "/configuration"
	switch name {
	case "messageId":
		return true
	case "historyLength", "tenant", "pageToken", "A2A-Version":
		return top
	case "id", "taskId", "contextId", "sessionId", "pushNotificationConfigId":
		text := v.Text()
		return top && (text == f.task || text == f.ctx || text == f.config)
	case "name":
		return at == "" && strings.HasPrefix(v.Text(), "tasks/")
	}
	return false
}

func (f *form) query(query string) {
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "", "contextId", "pageToken", "historyLength", "tenant", "A2A-Version":
			continue
		}
		if text, err := url.QueryUnescape(value); err == nil {
			f.add(a2a.Ptr("", name), text, 0)
		}
	}
}

// beneath reports whether a JSON Pointer points to the same value as another, or into it.
func beneath(pointer, above string) bool {
	rest, ok := strings.CutPrefix(pointer, above)
	return ok && (rest == "" || rest[0] == '/')
}

// pointers converts JSON Pointers to the form of a form's parameters. It returns an error for a pointer that matches no
// value in any recorded request.
func (s *recording) pointers(list []string) ([]string, error) {
	var out []string
	for _, pointer := range list {
		at := pointer
		switch at {
		case "/configuration/historyLength", "/configuration/tenant":
			at = strings.TrimPrefix(at, "/configuration")
		}
		if !strings.HasPrefix(at, "/") || !s.has(at) {
			return nil, fmt.Errorf("%w %q; values that can be compared are at %s", ErrNoValue, pointer, s.places())
		}
		out = append(out, at)
	}
	return out, nil
}

// ErrNoValue is wrapped by the error of New for a pointer of Options that leads nowhere.
var ErrNoValue = errors.New("no recorded request has a value at")

func (s *recording) has(pointer string) bool {
	for at := range s.leaves() {
		if beneath(at, pointer) {
			return true
		}
	}
	return false
}

// leaves yields the places of all recorded parameters.
func (s *recording) leaves() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, a := range s.exchanges {
			for i := range a.form.leaves {
				if !yield(a.form.leaves[i].at) {
					return
				}
			}
		}
	}
}

// places names up to five places of values, as an example.
func (s *recording) places() string {
	seen := map[string]bool{}
	for at := range s.leaves() {
		seen[at] = true
	}
	list := slices.Sorted(maps.Keys(seen))
	if len(list) == 0 {
		return "no place"
	}
	if len(list) > 5 {
		return strings.Join(list[:5], ", ") + ", …"
	}
	return strings.Join(list, ", ")
}

// values yields the parameters that differ, in the order of their places; nil for one that only the other form has.
func (recorded *form) values(live *form) iter.Seq2[*leaf, *leaf] {
	return func(yield func(was, now *leaf) bool) {
		for i, j := 0, 0; i < len(recorded.leaves) || j < len(live.leaves); {
			var was, now *leaf
			switch {
			case j == len(live.leaves) || i < len(recorded.leaves) && recorded.leaves[i].at < live.leaves[j].at:
				was = &recorded.leaves[i]
			case i == len(recorded.leaves) || live.leaves[j].at < recorded.leaves[i].at:
				now = &live.leaves[j]
			default:
				was, now = &recorded.leaves[i], &live.leaves[j]
			}
			if was != nil {
				i++
			}
			if now != nil {
				j++
			}
			if (was == nil || now == nil || !was.fits(now)) && !yield(was, now) {
				return
			}
		}
	}
}

// differ returns how many parameters differ.
func (recorded *form) differ(live *form) (n int) {
	for range recorded.values(live) {
		n++
	}
	return n
}

// words names the kinds of parts.
func words(kinds []a2a.PartKind) string {
	names := map[a2a.PartKind]string{
		a2a.UnknownPart: "unknown", a2a.TextPart: "text", a2a.RawPart: "bytes", a2a.URLPart: "url", a2a.DataPart: "data",
		a2a.FilePart: "file",
	}
	var list []string
	for _, k := range kinds {
		list = append(list, names[k])
	}
	return strings.Join(list, ", ")
}

// shown returns a value for display.
func shown(s string) string {
	if s == "" {
		return ""
	}
	return analysis.QuoteText(s)
}

// contextOf returns the context that a request names: in 0.1 its session (A2A 0.1 §7).
func contextOf(call *a2a.Call) string {
	if call.ContextID == "" && call.Dialects.Has(a2a.V0_1) {
		return call.Params.Get("sessionId").Text()
	}
	return call.ContextID
}
