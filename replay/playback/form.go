package playback

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
	"a2atap/replay/compare"
)

// A form is what a request asks, free of its binding: parameters by name, whether they stood in a body, a path or a
// query. What the client makes anew each time (message ids, webhook URLs and their secrets) is not in it.
type form struct {
	op     a2a.Operation
	method string            // of JSON-RPC, where the operation is not known
	leaves map[string]string // scalar parameters by JSON Pointer from the parameters
	kinds  map[string]a2a.Kind
	parts  []a2a.PartKind // of the message, several of a kind in a row as one
	task   string
	ctx    string
	config string
	page   string
	failed bool // it was answered with an error
}

func newForm(call *a2a.Call) form {
	f := form{
		op: call.Operation, leaves: map[string]string{}, kinds: map[string]a2a.Kind{},
		task: call.TaskID, ctx: contextOf(call), config: call.ConfigID, page: call.PageToken,
	}
	if f.op == a2a.NoOperation {
		f.method = call.Method + call.Route
	}
	if call.HasHistoryLength {
		f.leaves["/historyLength"] = strconv.FormatInt(call.HistoryLength, 10)
	}
	if call.Tenant != "" {
		f.leaves["/tenant"] = call.Tenant
	}
	for _, p := range (a2a.Message{Value: call.Message}).Parts().All() {
		f.parts = append(f.parts, p.PartKind())
	}
	f.parts = slices.Compact(f.parts)
	f.value("", call.Params, call)
	if call.Binding == a2a.HTTPJSON {
		f.query(call.Query)
	}
	return f
}

// value adds the leaves at and below a value of the parameters.
func (f *form) value(at string, v a2a.Value, call *a2a.Call) {
	if call.PushConfig.Exists() && v.Exists() && v.Offset() == call.PushConfig.Offset() {
		f.leaves["/push"] = "yes"
		return
	}
	switch f.kinds[at] = v.Kind(); v.Kind() {
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
		f.leaves[at] = v.Text()
	case a2a.Number, a2a.Bool:
		f.leaves[at] = string(v.Raw())
	}
}

// renamed reports whether a member is in the form under another name, or not at all.
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
			f.leaves[a2a.Ptr("", name)] = text
		}
	}
}

// beneath reports whether a JSON Pointer points to the same value as another, or into it.
func beneath(pointer, above string) bool {
	rest, ok := strings.CutPrefix(pointer, above)
	return ok && (rest == "" || rest[0] == '/')
}

// pointers returns JSON Pointers in the form in which parameters stand in forms, or an error where one leads to no
// value of any recorded request.
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
	for _, a := range s.exchanges {
		for at := range a.form.leaves {
			if beneath(at, pointer) {
				return true
			}
		}
	}
	return false
}

// places names up to five places of values, as an example.
func (s *recording) places() string {
	seen := map[string]bool{}
	for _, a := range s.exchanges {
		for at := range a.form.leaves {
			seen[at] = true
		}
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

// shapes returns the parameters that only one form has, or that are of another type.
func (recorded *form) shapes(live *form) (changes []compare.Change) {
	for _, c := range recorded.values(live) {
		_, was := recorded.leaves[c.Pointer]
		_, is := live.leaves[c.Pointer]
		if was != is || recorded.kinds[c.Pointer] != live.kinds[c.Pointer] {
			changes = append(changes, c)
		}
	}
	return changes
}

// values returns the parameters that differ, in the order of their places. Where the recording hides a secret, any other
// is as good.
func (recorded *form) values(live *form) (changes []compare.Change) {
	for at, was := range recorded.leaves {
		now, isThere := live.leaves[at]
		if !isThere || !credential.Fits(was, now) && !(compare.Opaque(was) && compare.Opaque(now)) {
			changes = append(changes, compare.Change{Pointer: at, Was: was, Now: now})
		}
	}
	for at, now := range live.leaves {
		if _, wasThere := recorded.leaves[at]; !wasThere {
			changes = append(changes, compare.Change{Pointer: at, Now: now})
		}
	}
	slices.SortFunc(changes, func(a, b compare.Change) int { return strings.Compare(a.Pointer, b.Pointer) })
	return changes
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

// quoted returns the changes with their values as they are shown. Every recorded request is compared with a live one,
// and only one of them is shown.
func quoted(changes []compare.Change) []compare.Change {
	for i := range changes {
		c := &changes[i]
		c.Was, c.Now = shown(c.Was), shown(c.Now)
	}
	return changes
}

func shown(s string) string {
	if s == "" {
		return ""
	}
	return analyzer.QuoteText(s)
}
