package redact

import (
	"bytes"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// json returns the edits that hide the secrets of a JSON text: at the places given and those of the user, of members
// whose names always say a secret, and in strings that are URLs. Only string tokens are replaced, and numbers where the
// user points at them, so that JSON stays JSON. Where the text is none, what follows is searched loosely, all of it.
func (m *mask) json(text []byte, places []secretPlace) []edit {
	if len(m.places) > 0 {
		places = slices.Concat(places, m.places)
	}
	w := jsonWalks.Get().(*jsonWalk)
	defer w.release()
	w.begin(m, text, places)
	for {
		w.active, w.follows = w.all, w.follows[:0]
		if err := w.value(hideNothing); err == io.EOF {
			return w.edits
		} else if err != nil {
			return append(w.edits, m.loose(text, places)...)
		}
	}
}

// hiding says what is hidden in a value and all beneath.
type hiding uint8

const (
	hideNothing hiding = iota
	hideStrings
	hideNumbers // and strings
)

// jsonGrammar makes a reader mind the grammar alone: neither doubled names nor bytes that are no UTF-8 stop it.
var jsonGrammar = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// jsonWalk reads a JSON text once, token by token, along all places at the same time.
type jsonWalk struct {
	m       *mask
	buffer  bytes.Buffer // over text, which the decoder reads in place
	d       *jsontext.Decoder
	text    []byte
	base    int           // what stands before text in the whole
	all     []activePlace // at the beginning
	active  []activePlace // those that may lie in the value that comes next
	follows []activePlace // room for those of all values around it
	edits   []edit
}

var jsonWalks = sync.Pool{New: func() any { return &jsonWalk{d: jsontext.NewDecoder(&bytes.Buffer{}, jsonGrammar...)} }}

func (w *jsonWalk) begin(m *mask, text []byte, places []secretPlace) {
	w.m, w.text = m, capture.TrimBOM(text)
	w.base = len(text) - len(w.text)
	w.buffer = *bytes.NewBuffer(w.text)
	w.d.Reset(&w.buffer, jsonGrammar...)
	for i := range places {
		w.all = append(w.all, activePlace{place: &places[i]})
	}
}

// release gives the walk back without what it read.
func (w *jsonWalk) release() {
	w.buffer = bytes.Buffer{}
	w.d.Reset(&w.buffer, jsonGrammar...)
	clear(w.all)
	clear(w.follows[:cap(w.follows)])
	*w = jsonWalk{d: w.d, all: w.all[:0], follows: w.follows[:0]}
	jsonWalks.Put(w)
}

// An activePlace is a place of which the first names have matched.
type activePlace struct {
	place *secretPlace
	depth int
}

// value reads the next value. Its error is io.EOF if there is none, and otherwise says that the text is no JSON.
func (w *jsonWalk) value(hide hiding) error {
	for _, a := range w.active {
		if a.depth == len(a.place.pointer.Names()) {
			hide = max(hide, hideStrings)
			if a.place.numbers {
				hide = hideNumbers
			}
		}
	}
	switch w.d.PeekKind() {
	case '{':
		return w.object(hide)
	case '[':
		return w.array(hide)
	}
	v, err := w.d.ReadValue()
	if err != nil {
		return err
	}
	start := w.base + int(w.d.InputOffset()) - len(v)
	switch {
	case v[0] == '"':
		w.str(v, start, hide)
	case hide == hideNumbers && (v[0] == '-' || '0' <= v[0] && v[0] <= '9') && string(v) != "0":
		w.edits = append(w.edits, edit{start, start + len(v), "0"})
	}
	return nil
}

func (w *jsonWalk) object(hide hiding) error {
	if _, err := w.d.ReadToken(); err != nil {
		return err
	}
	outer, mark := w.active, len(w.follows)
	for w.d.PeekKind() == '"' {
		name, err := w.name()
		if err != nil {
			return err
		}
		inner := hide
		if w.d.PeekKind() == '"' && credential.Member(name) {
			inner = max(inner, hideStrings)
		}
		w.follow(outer, name)
		if err := w.value(inner); err != nil {
			return noEOF(err)
		}
		w.follows = w.follows[:mark]
	}
	w.active = outer
	_, err := w.d.ReadToken()
	return noEOF(err)
}

func (w *jsonWalk) array(hide hiding) error {
	if _, err := w.d.ReadToken(); err != nil {
		return err
	}
	outer, mark := w.active, len(w.follows)
	var digits [20]byte
	for i := int64(0); w.d.PeekKind() != ']'; i++ {
		w.follow(outer, strconv.AppendInt(digits[:0], i, 10))
		if err := w.value(hide); err != nil {
			return noEOF(err)
		}
		w.follows = w.follows[:mark]
	}
	w.active = outer
	_, err := w.d.ReadToken()
	return noEOF(err)
}

// name reads the name of a member. It is a part of the text unless there are escapes in it, or what is no ASCII.
func (w *jsonWalk) name() ([]byte, error) {
	raw, err := w.d.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(w.d.InputOffset())
	raw = w.text[end-len(raw) : end]
	for _, c := range raw {
		if c == '\\' || c >= utf8.RuneSelf {
			return []byte(capture.ValueText(raw)), nil
		}
	}
	return raw[1 : len(raw)-1], nil
}

// follow makes those places active that go on with a name.
func (w *jsonWalk) follow(places []activePlace, name []byte) {
	start := len(w.follows)
	for _, a := range places {
		if names := a.place.pointer.Names(); a.depth < len(names) &&
			(names[a.depth] == string(name) || names[a.depth] == capture.AnyName) {
			w.follows = append(w.follows, activePlace{a.place, a.depth + 1})
		}
	}
	w.active = w.follows[start:]
}

// noEOF makes an end within a value what it is.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// mayHoldURL reports whether the text of a raw string may have "//" in it, be a slash of it escaped.
func mayHoldURL(raw []byte) bool {
	if bytes.IndexByte(raw, '\\') >= 0 && (bytes.Contains(raw, []byte(`\/`)) || bytes.Contains(raw, []byte(`\u`))) {
		return true
	}
	return bytes.Contains(raw, []byte("//"))
}

// str adds the edit that a string token needs.
func (w *jsonWalk) str(raw []byte, start int, hide hiding) {
	w.edits = w.m.str(w.edits, raw, start, hide)
}

// str appends the edit that a string token needs.
func (m *mask) str(edits []edit, raw []byte, start int, hide hiding) []edit {
	if hide == hideNothing && !mayHoldURL(raw) {
		return edits
	}
	was := capture.ValueText(raw)
	now := was
	switch {
	case hide != hideNothing:
		now = m.hide(was)
	case strings.Contains(was, "://") && !strings.ContainsAny(was, urlEnds):
		now = m.url(was)
	}
	if now == was {
		return edits
	}
	quoted, _ := jsontext.AppendQuote(nil, now) // the error is about bytes that are no UTF-8, which became U+FFFD
	return append(edits, edit{start, start + len(raw), string(quoted)})
}

// event returns the edits that hide the secrets of an event, in its data and in lines that are no fields of an event:
// JSON that was sent without "data:" in front is no less a secret.
func (m *mask) event(e *capture.Event, parsed *capture.Parsed, set *placeSet) []edit {
	if f := parsed.Fields; len(f.Ignored)+len(f.Comments) == 0 && len(m.parsed(parsed.Doc, f.Data, set)) == 0 {
		return nil
	}
	data, parts, stray := cutEvent(e.Raw)
	var edits []edit
	if len(data) > 0 {
		edits = onLines(m.json(data, set.list), parts)
	}
	places := slices.Concat(set.list, m.places)
	for _, s := range stray {
		for _, ed := range m.loose(e.Raw[s.start:s.end], places) {
			edits = append(edits, edit{s.start + ed.start, s.start + ed.end, ed.text})
		}
	}
	return edits
}

// A part is a run of an event's bytes, and where it stands in the joined data.
type part struct {
	start, end int // in Raw
	at         int // in the data
}

// cutEvent returns the data of an event as a client joins it, where its lines stand in raw, and the runs of lines that
// are neither data nor another field.
func cutEvent(raw []byte) (data []byte, parts, stray []part) {
	for line := range capture.EventLines(raw, len(raw)-len(capture.TrimBOM(raw))) {
		start, end := line.Start, line.End
		switch string(line.Name) {
		case "data":
			if len(parts) > 0 {
				data = append(data, '\n')
			}
			parts = append(parts, part{end - len(line.Value), end, len(data)})
			data = append(data, line.Value...)
		case "event", "id", "retry":
		case "":
			if end == start { // the blank line that ends the event
				break
			}
			fallthrough
		default:
			if last := len(stray) - 1; last >= 0 && stray[last].end >= start-2 {
				stray[last].end = end
			} else {
				stray = append(stray, part{start: start, end: end})
			}
		}
	}
	return data, parts, stray
}

// onLines moves edits of the joined data to where its lines stand. An edit that reaches over several lines, as only
// broken JSON can have it, leaves the lines that it empties.
func onLines(edits []edit, parts []part) []edit {
	var moved []edit
	for _, e := range edits {
		text := e.text
		first := sort.Search(len(parts), func(i int) bool { return parts[i].at+parts[i].end-parts[i].start > e.start })
		for _, p := range parts[first:] {
			start, end := max(e.start, p.at), min(e.end, p.at+p.end-p.start)
			if start >= end {
				break
			}
			moved = append(moved, edit{p.start + start - p.at, p.start + end - p.at, text})
			text = ""
		}
	}
	return moved
}
