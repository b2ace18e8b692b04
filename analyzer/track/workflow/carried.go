package workflow

import (
	"bytes"
	"math/bits"
	"slices"

	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
)

// Bounds of the parts of a message that are searched in other messages. If a message has more, no conclusion is drawn.
const (
	maxIDs      = 32
	maxPassages = 8
	maxPassage  = 4 << 10 // bytes
	maxScanned  = 64 << 10
	minID       = 8 // bytes, of which at least
	minDigits   = 4 // are digits: shorter ones may mean anything
	maxID       = 128
)

// A luggage has the ids and texts of a call that may reappear in calls that its agent makes to answer it. It is built
// on demand: most agents call no one, and most others answer one call at a time.
type luggage struct {
	message a2a.Value // of which nothing was taken yet
	names   []string  // by which the call is known, likewise

	ids   []digest.Digest // that it names, or by which it is known
	texts []passage       // of the parts of its message
	more  bool            // than was kept
}

// A passage is a text, as far as it is needed to find it within another text.
type passage struct {
	sum  uint64
	size int
}

// packed returns the luggage of a call.
func (c *call) packed() *luggage {
	l := c.luggage
	if l == nil {
		return &noLuggage
	}
	if l.message.Exists() {
		l.pack(a2a.Message{Value: l.message})
		l.message = a2a.Value{}
	}
	if l.names != nil { // otherwise it may be leftLuggage
		for _, name := range l.names {
			l.scan([]byte(name))
		}
		l.names = nil
	}
	return l
}

// leave drops the message of a finished call: its luggage will not be needed, or would not prove anything.
func (c *call) leave() {
	switch l := c.luggage; {
	case l == nil:
	case l.message.Exists():
		c.luggage = &leftLuggage
	default:
		l.names = nil
	}
}

// The luggage of calls without a message, and of those whose message was dropped. Engines share them, and never modify
// them.
var noLuggage, leftLuggage = luggage{}, luggage{more: true}

// pack collects the parts of a message that may reappear. Ids are words of letters and digits, such as ORD-2026-0042 or
// a UUID, anywhere except in files; dates are not ids.
func (l *luggage) pack(m a2a.Message) {
	budget := maxScanned
	for _, id := range [...]string{m.ID(), m.TaskID(), m.ContextID()} {
		l.scan([]byte(id))
	}
	l.walk(m.Get("metadata"), &budget)
	for text := range texts(m) {
		if budget -= len(text); budget < 0 {
			l.more = true
			break
		}
		l.scan(credential.Alike(text))
		switch text = bytes.TrimSpace(text); {
		case len(text) < minContent:
		case len(text) > maxPassage || len(l.texts) == maxPassages || credential.HasPlaceholder(text):
			l.more = true
		default:
			l.texts = append(l.texts, passage{sumOf(text), len(text)})
		}
	}
	for _, part := range m.Parts().All() {
		if part.PartKind() == a2a.DataPart {
			l.walk(part.Data(), &budget)
		}
	}
}

// texts yields the texts of a message's parts.
func texts(m a2a.Message) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for _, part := range m.Parts().All() {
			if part.PartKind() == a2a.TextPart && !yield(plain(part.Get("text"))) {
				return
			}
		}
	}
}

// plain returns the text of a string, which may lie in the body.
func plain(v a2a.Value) []byte {
	if text, ok := v.Literal(); ok {
		return text
	}
	return []byte(v.Text())
}

// walk takes the ids in the strings of a value, within a budget of bytes.
func (l *luggage) walk(v a2a.Value, budget *int) {
	if *budget -= len(v.Raw()); *budget < 0 {
		l.more = l.more || v.Exists()
		return
	}
	l.strings(v)
}

func (l *luggage) strings(v a2a.Value) {
	switch v.Kind() {
	case a2a.String:
		l.scan(credential.Alike(plain(v)))
	case a2a.Object:
		for _, member := range v.Pairs() {
			l.strings(member)
		}
	case a2a.Array:
		for _, element := range v.Elems() {
			l.strings(element)
		}
	}
}

// scan collects the ids in a text.
func (l *luggage) scan(text []byte) {
	for len(text) > 0 {
		end := 0
		for end < len(text) && inWord(text[end]) {
			end++
		}
		if isID(text[:end]) {
			l.name(text[:end])
		}
		text = text[min(end+1, len(text)):]
	}
}

// name adds an id.
func (l *luggage) name(id []byte) {
	d := digest.Empty.Bytes(id)
	switch {
	case slices.Contains(l.ids, d):
	case len(l.ids) == maxIDs:
		l.more = true
	default:
		l.ids = append(l.ids, d)
	}
}

// knownBy records an id that an agent gave to its work for the call.
func (c *call) knownBy(id string) {
	switch l := c.luggage; {
	case l == nil || l == &leftLuggage:
	case len(l.names) == maxIDs:
		l.more = true
	case !slices.Contains(l.names, id):
		l.names = append(l.names, id)
	}
}

// isID reports whether a word looks like an id: a date, a number and a name do not.
func isID(word []byte) bool {
	if len(word) < minID || len(word) > maxID {
		return false
	}
	digits, letters := 0, 0
	for _, b := range word {
		switch {
		case isDigit(b):
			digits++
		case isLetter(b) && b != 'T' && b != 'Z': // which dates have
			letters++
		}
	}
	return digits >= minDigits && letters > 0
}

func inWord(b byte) bool   { return isDigit(b) || isLetter(b) || b == '-' || b == '_' }
func isDigit(b byte) bool  { return '0' <= b && b <= '9' }
func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// carriedOf finds, among several possible causes of a call, the one whose contents the call carries: everything that it
// carries of any other cause, and more. It returns nil without such a cause, else also the evidence. message is the
// call's message.
func carriedOf(calls []*call, c *call, message a2a.Value) (*call, Evidence) {
	if c.packed().more || slices.ContainsFunc(calls, func(o *call) bool { return o.packed().more }) {
		same := slices.DeleteFunc(slices.Clone(calls), func(o *call) bool { return !handsOn(o, c) })
		return only(same), ByContent // contents as a whole are known of all
	}
	var found [][]item
	in := newSearch(a2a.Message{Value: message}, calls)
	for _, o := range calls {
		found = append(found, carried(o, c, in))
	}
	for i := range calls {
		if by := beyond(found, i); by != None {
			return calls[i], by
		}
	}
	return nil, None
}

// An item is something that a call carries over from another call.
type item struct {
	by  Evidence
	key uint64
}

// carried returns the parts of another call that a call carries.
func carried(o, c *call, in *search) (list []item) {
	for _, d := range o.contents {
		if slices.Contains(c.contents, d) {
			list = append(list, item{ByContent, uint64(d)})
		}
	}
	for _, p := range o.packed().texts {
		if in.has(p) {
			list = append(list, item{ByText, p.sum})
		}
	}
	for _, d := range o.packed().ids {
		if slices.Contains(c.packed().ids, d) {
			list = append(list, item{ByID, uint64(d)})
		}
	}
	return list
}

// beyond returns the best evidence that is carried from call i and from no other call. It returns None if anything is
// carried from another call and not from call i, or if nothing comes from call i alone.
func beyond(found [][]item, i int) Evidence {
	by := None
	for _, it := range found[i] {
		alone := true
		for j, others := range found {
			alone = alone && (j == i || !slices.Contains(others, it))
		}
		if alone && (by == None || it.by < by) {
			by = it.by
		}
	}
	for j, others := range found {
		if j != i && slices.ContainsFunc(others, func(it item) bool { return !slices.Contains(found[i], it) }) {
			return None
		}
	}
	return by
}

// A search has the sums of a message's passages of the searched length.
type search struct {
	texts [][]byte
	known map[int]map[uint64]bool // sums, by their lengths
}

func newSearch(m a2a.Message, calls []*call) *search {
	s := &search{known: make(map[int]map[uint64]bool)}
	for text := range texts(m) {
		s.texts = append(s.texts, text)
	}
	for _, o := range calls {
		for _, p := range o.packed().texts {
			if s.known[p.size] == nil {
				s.known[p.size] = make(map[uint64]bool)
				s.sum(p.size)
			}
		}
	}
	return s
}

func (s *search) has(p passage) bool { return s.known[p.size][p.sum] }

// sum takes the passages of one length that do not begin or end within a word.
func (s *search) sum(size int) {
	top := uint64(1) // the weight of a byte that leaves the window
	for range size - 1 {
		top = times(top, base)
	}
	for _, text := range s.texts {
		if len(text) < size {
			continue
		}
		sum := sumOf(text[:size])
		for at := 0; ; at++ {
			if !within(text, at) && !within(text, at+size) {
				s.known[size][sum] = true
			}
			if at+size == len(text) {
				break
			}
			sum = plus(times(plus(sum, prime-times(top, uint64(text[at])+1)), base), uint64(text[at+size])+1)
		}
	}
}

// within reports whether a place in a text is between two letters or digits of one word.
func within(text []byte, at int) bool {
	inside := func(b byte) bool { return isDigit(b) || isLetter(b) }
	return at > 0 && at < len(text) && inside(text[at-1]) && inside(text[at])
}

// Sums are rolling hashes (Karp-Rabin): the sum of a passage follows from the sum of the previous one.
const (
	prime = 1<<61 - 1
	base  = 0x1d8af066a51c3f35 % prime
)

func sumOf(text []byte) (sum uint64) {
	for _, b := range text {
		sum = plus(times(sum, base), uint64(b)+1)
	}
	return sum
}

func plus(a, b uint64) uint64 {
	if a += b; a >= prime {
		a -= prime
	}
	return a
}

func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return plus(low&prime, (high<<3|low>>61)%prime)
}
