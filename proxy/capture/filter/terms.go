package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/spelling"
)

// properties are the values of the key "is".
var properties = []Key{
	{"open", "it had not ended when the recording ended, or has not ended yet", "is:open"},
	{"cut", "bytes are missing from the record, or a message ended early", "is:cut"},
	{"interrupted", "the recorder ended before it", "is:interrupted"},
	{"stream", "its answer is a stream of events", "is:stream"},
	{"refused", "the answer is an error: of the protocol, or an HTTP status of 400 or above", "is:refused"},
	{"failed", "refused, broken off, or its task failed or was rejected", "is:failed"},
	{"finding", "a rule is broken in it", "is:finding"},
	{"push", "a notification, or a call that configures them", "is:push"},
	{"card", "an agent card was asked for, or is the answer", "is:card"},
	{"rewritten", "the recorder changed an address in it", "is:rewritten"},
	{"marked", "it has a mark (inspector, page)", "is:marked"},
	{"replayed", "replay, send or probe sent it", "is:replayed"},
	{"faulted", "it has an injected fault", "is:faulted"},
	{"error", "refused or broken off; an older word for is:refused", "is:error"},
}

// Properties returns the values of the key "is", with their meanings.
func Properties() []Key { return slices.Clone(properties) }

// isWords are the names of the properties.
var isWords = names(properties)

func names(keys []Key) (list []string) {
	for _, k := range keys {
		list = append(list, k.Name)
	}
	return list
}

type (
	// nameTest holds a pattern against names or ids.
	nameTest struct {
		key     *keySpec
		pattern pattern
	}
	// numberTest compares numbers, durations in nanoseconds, or sizes in bytes.
	numberTest struct {
		key *keySpec
		comparison[int64]
	}
	// timeTest compares when the exchange began: in nanoseconds since 1970, or since midnight.
	timeTest struct {
		comparison[int64]
		daily bool
	}
	// codeTest compares error codes that are numbers.
	codeTest struct {
		key *keySpec
		comparison[int64]
	}
	headerTest struct {
		name  pattern
		value *pattern // nil: any
	}
	jsonTest struct {
		pointer capture.Pointer
		value   *pattern             // nil: any, or compared
		number  *comparison[float64] // of numbers
	}
	isTest string
)

func parseNameTest(p *parser, key *keySpec) (test, error) {
	if strings.ContainsRune("<>=", p.peek()) && key.place == nameLike {
		return nil, p.errorf(p.pos, "%s cannot be compared by size; quote the value if it begins with %q", key.Name,
			p.peek())
	}
	start := p.pos
	pat, err := p.pattern(key.place, "")
	if err != nil {
		return nil, err
	}
	if text, ok := pat.literal(); ok && text == "" {
		return nil, p.errorf(start, "%s has an empty value; write something like %s", key.Name, key.Example)
	}
	if word, ok := pat.literal(); ok && key.words != nil && !slices.Contains(key.words, strings.ToLower(word)) {
		return nil, p.errorf(start, "unknown word %q after %s:; %suse %s", word, key.Name, meant(word, key.words),
			strings.Join(key.words, " "))
	}
	return nameTest{key, pat}, nil
}

func parseLinkTest(p *parser, key *keySpec) (test, error) {
	t, err := parseNameTest(p, key)
	if err != nil {
		return nil, err
	}
	link := t.(nameTest)
	for i, part := range link.pattern.parts {
		for _, arrow := range []string{" → ", "→", " -> "} {
			part = strings.ReplaceAll(part, arrow, "->")
		}
		link.pattern.parts[i] = part
	}
	return link, nil
}

func parseNumber(p *parser, key *keySpec, read func(string) (bound[int64], error)) (comparison[int64], error) {
	start := p.pos
	text, err := p.text("")
	if err != nil {
		return comparison[int64]{}, err
	}
	c, err := parseComparison(text, read)
	if err != nil {
		return c, p.errorf(start, "%s %v", key.Name, err)
	}
	return c, nil
}

func parseTimeTest(p *parser, key *keySpec) (test, error) {
	start := p.pos
	text, err := p.text("")
	if err != nil {
		return nil, err
	}
	if c, err := parseComparison(text, readInstant); err == nil {
		return timeTest{comparison: c}, nil
	}
	// A range of times of the day may go over midnight.
	if from, to, ok := strings.Cut(text, ".."); ok && from != "" && to != "" {
		lo, err1 := readDaily(from)
		hi, err2 := readDaily(to)
		if err1 == nil && err2 == nil {
			return timeTest{comparison[int64]{op: "..", lo: lo, hi: hi}, true}, nil
		}
	}
	c, err := parseComparison(text, readDaily)
	if err != nil {
		return nil, p.errorf(start, "%s %v", key.Name, err)
	}
	return timeTest{c, true}, nil
}

func parseCodeTest(p *parser, key *keySpec) (test, error) {
	start := p.pos
	c, err := parseNumber(p, key, readInteger)
	if err == nil {
		return codeTest{key, c}, nil
	}
	p.pos = start
	return parseNameTest(p, key)
}

func parseHeaderTest(p *parser, key *keySpec) (test, error) {
	start := p.pos
	name, err := p.pattern(nameLike, "=")
	if err != nil {
		return nil, err
	}
	if name.re == nil && name.empty() && len(name.parts) == 1 {
		return nil, p.errorf(start, "%s has no name; write something like %s", key.Name, key.Example)
	}
	t := headerTest{name: name}
	if p.peek() != '=' {
		return t, nil
	}
	p.pos++
	if p.delimiter(p.pos) {
		return nil, p.errorf(p.pos, "%s has an empty value; leave out the equals sign, or write \"\" for an empty "+
			"header", key.Name)
	}
	value, err := p.pattern(pathLike, "")
	t.value = &value
	return t, err
}

func parseJSONTest(p *parser, key *keySpec) (test, error) {
	start := p.pos
	text, err := p.text("=<>")
	if err != nil {
		return nil, err
	}
	pointer, err := capture.ParsePointer(text)
	if err != nil || text == "" {
		return nil, p.errorf(start, "%s wants a JSON Pointer, not %q; write something like %s", key.Name, text,
			key.Example)
	}
	t := jsonTest{pointer: pointer}
	op := p.peek()
	switch {
	case p.delimiter(p.pos):
		return t, nil
	case op == '=':
		p.pos++
		if p.delimiter(p.pos) {
			return nil, p.errorf(p.pos, "%s has an empty value; leave out the equals sign, or write \"\" for an "+
				"empty string", key.Name)
		}
		value, err := p.pattern(pathLike, "")
		t.value = &value
		return t, err
	}
	start = p.pos
	if text, err = p.text(""); err != nil {
		return nil, err
	}
	c, err := parseComparison(text, readNumber)
	if err != nil {
		return nil, p.errorf(start, "%s %v", key.Name, err)
	}
	t.number = &c
	return t, nil
}

func parseIsTest(p *parser, key *keySpec) (test, error) {
	start := p.pos
	word, err := p.text("")
	if err != nil {
		return nil, err
	}
	word = strings.ToLower(word)
	if !slices.Contains(isWords, word) {
		return nil, p.errorf(start, "unknown word %q after %s:; %suse %s",
			word, key.Name, meant(word, isWords), strings.Join(isWords, " "))
	}
	return isTest(word), nil
}

func (t nameTest) holds(s *subject) bool {
	values := t.key.texts(s)
	for _, v := range values {
		if t.pattern.matches(v, t.key.exact) {
			return true
		}
	}
	word, ok := t.pattern.literal()
	if ok && t.key.exact && beginsUUID(word) {
		return slices.ContainsFunc(values, func(v string) bool { return isUUID(v) && strings.HasPrefix(v, word) })
	}
	if !ok || !t.key.asks || s.facts == nil || len(values) == 0 {
		return false
	}
	word = s.facts.Normalize(t.key.Name, word)
	return slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, word) })
}

func (t numberTest) holds(s *subject) bool { return slices.ContainsFunc(t.key.numbers(s), t.holdsFor) }

func (t timeTest) holds(s *subject) bool {
	started := s.x.Started
	if started.IsZero() {
		return false
	}
	if !t.daily {
		return t.holdsFor(started.UnixNano())
	}
	v := sinceMidnight(started)
	if t.op == ".." && t.lo.text != "" && t.hi.text != "" && t.hi.top < t.lo.first {
		return v >= t.lo.first || v <= t.hi.top
	}
	return t.holdsFor(v)
}

func (t codeTest) holds(s *subject) bool {
	for _, v := range t.key.texts(s) {
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && t.holdsFor(n) {
			return true
		}
	}
	return false
}

func (t headerTest) holds(s *subject) bool {
	for _, fields := range s.fields() {
		for _, f := range fields {
			if t.name.matches(f.Name, false) && (t.value == nil || t.value.matches(f.Value, false)) {
				return true
			}
		}
	}
	return false
}

func (t jsonTest) holds(s *subject) bool {
	for text := range s.contents() {
		for raw := range t.pointer.Values(capture.TrimBOM(text)) {
			if t.holdsFor(raw) {
				return true
			}
		}
	}
	return false
}

func (t jsonTest) holdsFor(raw []byte) bool {
	switch {
	case t.number != nil:
		v, err := strconv.ParseFloat(string(raw), 64)
		return err == nil && t.number.holdsFor(v)
	case t.value != nil:
		return t.value.matches(capture.ValueText(raw), true)
	}
	return true
}

func (t isTest) holds(s *subject) bool { return s.is(string(t)) }

func (t nameTest) String() string { return t.pattern.format(t.key.place) }
func (t isTest) String() string   { return string(t) }

func (t headerTest) String() string {
	if t.value == nil {
		return t.name.format(nameLike)
	}
	return t.name.format(nameLike) + "=" + t.value.format(pathLike)
}

func (t jsonTest) String() string {
	pointer := t.pointer.String()
	if strings.ContainsFunc(pointer,
		func(r rune) bool { return strings.ContainsRune(`=<>()"`, r) || r <= ' ' || r > '~' }) {
		pointer = quote(pointer)
	}
	switch {
	case t.number != nil:
		return pointer + t.number.String()
	case t.value != nil:
		return pointer + "=" + t.value.format(pathLike)
	}
	return pointer
}

// otherNames are names that users of other tools may try for a key or a property.
var otherNames = map[string]string{
	"ctx": "context", "contextid": "context", "taskid": "task", "msg": "message", "messageid": "message",
	"operation": "op", "rpc": "op", "url": "path", "uri": "path", "duration": "dur", "latency": "dur",
	"server": "agent", "upstream": "agent", "source": "client", "from": "client", "to": "agent",
	"sev": "severity", "level": "severity", "ev": "event", "number": "n", "date": "time", "version": "dialect",
	"truncated": "cut", "running": "open", "sse": "stream", "webhook": "push",
}

// meant returns "did you mean ...? " with the name that the user most likely meant by word, or "" if none comes close.
func meant(word string, names []string) string {
	name, ok := otherNames[word]
	if !ok || !slices.Contains(names, name) {
		near := spelling.Near(word, names, 1)
		if len(near) == 0 {
			return ""
		}
		name = near[0]
	}
	return fmt.Sprintf("did you mean %q? ", name)
}
