package mutation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A value is JSON that keeps the order of its members and the spelling of its strings and numbers.
type value struct {
	raw      string // of a string, a number, or a literal
	kind     jsontext.Kind
	members  []member
	elements []*value

	random *rand.Rand // of the whole text
	card   bool       // the text is a card
	typed  bool       // an object whose members the protocol names, as opposed to a map or to what is free
}

type member struct {
	name  string // as it is written, with its quotation marks
	value *value
}

// parseValue returns the JSON of a text, if it is nothing but an object or an array.
func parseValue(text string) (*value, bool) {
	dec := jsontext.NewDecoder(strings.NewReader(text))
	if k := dec.PeekKind(); k != '{' && k != '[' {
		return nil, false
	}
	v, err := readValue(dec)
	if err != nil {
		return nil, false
	}
	if _, err := dec.ReadToken(); err == nil {
		return nil, false
	}
	return v, true
}

func readValue(dec *jsontext.Decoder) (*value, error) {
	v := &value{kind: dec.PeekKind()}
	if v.kind != '{' && v.kind != '[' {
		raw, err := dec.ReadValue()
		v.raw = string(raw)
		return v, err
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		var name jsontext.Value
		if v.kind == '{' {
			raw, err := dec.ReadValue()
			if err != nil {
				return nil, err
			}
			name = raw.Clone()
		}
		inner, err := readValue(dec)
		if err != nil {
			return nil, err
		}
		if v.kind == '{' {
			v.members = append(v.members, member{string(name), inner})
		} else {
			v.elements = append(v.elements, inner)
		}
	}
	_, err := dec.ReadToken()
	return v, err
}

// text writes the value with space between its tokens.
func (v *value) text(space string) string {
	var b strings.Builder
	v.write(&b, space)
	return b.String()
}

func (v *value) write(b *strings.Builder, space string) {
	switch v.kind {
	case '{':
		b.WriteString("{" + space)
		for i, m := range v.members {
			if i > 0 {
				b.WriteString("," + space)
			}
			b.WriteString(m.name + space + ":" + space)
			m.value.write(b, space)
		}
		b.WriteString(space + "}")
	case '[':
		b.WriteString("[" + space)
		for i, e := range v.elements {
			if i > 0 {
				b.WriteString("," + space)
			}
			e.write(b, space)
		}
		b.WriteString(space + "]")
	default:
		b.WriteString(v.raw)
	}
}

// Where the names of members are the user's: maps, and what the protocol leaves free.
var (
	free = []string{
		"metadata", "data", "header", "error", "details", "authentication", "security", "securityRequirements",
		"state", "context",
	}
	maps = []string{"securitySchemes", "scopes", "schemes", "$defs"}
)

// open marks what is typed.
func (v *value) open(root *value) {
	v.random, v.card = root.random, root.card
	v.typed = v.kind == '{'
	for _, m := range v.members {
		switch name := strings.Trim(m.name, `"`); {
		case slices.Contains(free, name), name == "params" && v.has("uri"):
		case slices.Contains(maps, name):
			for _, entry := range m.value.members {
				if entry.value.kind == '{' {
					entry.value.open(root)
				}
			}
		default:
			m.value.open(root)
		}
	}
	for _, e := range v.elements {
		e.open(root)
	}
}

func (v *value) has(name string) bool { return v.get(name) != nil }

func (v *value) get(name string) *value {
	for _, m := range v.members {
		if m.name == strconv.Quote(name) {
			return m.value
		}
	}
	return nil
}

// each calls visit for all values in the value and for itself.
func (v *value) each(visit func(*value)) {
	for _, m := range v.members {
		m.value.each(visit)
	}
	for _, e := range v.elements {
		e.each(visit)
	}
	visit(v)
}

func (v *value) shuffle() {
	v.each(func(o *value) {
		v.random.Shuffle(len(o.members), func(i, j int) { o.members[i], o.members[j] = o.members[j], o.members[i] })
	})
}

// escape writes the first letter of strings and names as an escape.
func (v *value) escape() {
	v.each(func(o *value) {
		if o.kind == '"' {
			o.raw = escaped(o.raw)
		}
		for i := range o.members {
			o.members[i].name = escaped(o.members[i].name)
		}
	})
}

func escaped(s string) string {
	if len(s) < 3 || s[1] == '\\' || s[1] >= 0x80 {
		return s
	}
	return fmt.Sprintf(`"\u%04x%s`, s[1], s[2:])
}

// add puts a member behind the others, if it does not exist of its name.
func (v *value) add(name, text string) {
	if v.has(name) {
		return
	}
	inner, ok := parseValue(text)
	if !ok {
		inner = &value{raw: text, kind: jsontext.Value(text).Kind()}
	}
	v.members = append(v.members, member{strconv.Quote(name), inner})
}

// extend adds members that no version knows to whatever is not a map. What is signed stays as it is.
func (v *value) extend() {
	if v.has("signatures") {
		return
	}
	v.each(func(o *value) {
		if o.typed && len(o.members) > 0 {
			o.add("x-note", `{"of":["us",null]}`)
		}
	})
}

// addNulls adds optional members without a value. The tasks of a list have no artifacts, and not null either.
func (v *value) addNulls() {
	if v.has("signatures") {
		return
	}
	list := v.has("tasks")
	if result := v.get("result"); result != nil {
		list = result.has("tasks")
	}
	v.each(func(o *value) {
		switch {
		case !o.typed:
		case o.isMessage():
			for _, name := range []string{"metadata", "taskId", "contextId", "extensions", "referenceTaskIds"} {
				o.add(name, "null")
			}
		case o.isTask():
			o.add("metadata", "null")
			o.add("history", "null")
			if !list {
				o.add("artifacts", "null")
			}
		case o.has("artifactId"):
			for _, name := range []string{"metadata", "name", "description", "extensions"} {
				o.add(name, "null")
			}
		case o.has("state"):
			o.add("message", "null")
			o.add("timestamp", "null")
		case o.has("supportedInterfaces"), o.has("protocolVersion") && o.has("skills"):
			for _, name := range []string{"provider", "documentationUrl", "iconUrl", "securitySchemes"} {
				o.add(name, "null")
			}
		case o.has("tags"):
			o.add("examples", "null")
			o.add("inputModes", "null")
		case o.has("method"):
			if p := o.get("params"); p != nil && p.has("message") {
				p.add("configuration", "null")
				p.add("metadata", "null")
			}
		}
	})
}

func (v *value) isMessage() bool { return v.has("messageId") || v.has("role") && v.has("parts") }
func (v *value) isTask() bool    { return v.has("id") && v.has("status") && !v.has("final") }

// addMetadata adds empty metadata where there can be some.
func (v *value) addMetadata() {
	v.each(func(o *value) {
		if !o.typed {
			return
		}
		p := o.get("params")
		switch {
		case o.isMessage(), o.isTask(), o.has("artifactId"), o.has("text") && !o.has("state"):
			o.add("metadata", "{}")
		case o.has("method") && p != nil && p.has("message"):
			p.add("metadata", "{}")
		}
	})
}

// leaveOut removes optional members.
func (v *value) leaveOut() {
	if v.has("signatures") {
		return
	}
	v.each(func(o *value) {
		if !o.typed {
			return
		}
		o.members = slices.DeleteFunc(o.members, func(m member) bool {
			switch strings.Trim(m.name, `"`) {
			case "metadata", "iconUrl", "documentationUrl", "provider", "examples", "historyLength":
				return true
			case "name", "description":
				return o.has("artifactId")
			case "timestamp":
				return o.has("state")
			}
			return false
		})
	})
}

// detail adds details to an error.
func (v *value) detail() {
	e := v.get("error")
	if e == nil || e.kind != '{' {
		return
	}
	for _, name := range []string{"details", "data"} {
		list := e.get(name)
		if list == nil || list.kind != '[' {
			continue
		}
		for _, text := range []string{
			`{"@type":"type.googleapis.com/google.rpc.Help","links":[{"description":"more",` +
				`"url":"https://help.example/"}]}`,
			`{"@type":"type.googleapis.com/google.rpc.RequestInfo","requestId":"5"}`,
			`{"@type":"type.example/own.Detail","note":null}`,
		} {
			inner, _ := parseValue(text)
			list.elements = append(list.elements, inner)
		}
	}
}

// renumber makes the ids of JSON-RPC strings, or numbers.
func (v *value) renumber(texts bool) {
	envelopes := []*value{v}
	if v.kind == '[' {
		envelopes = v.elements
	}
	for _, o := range envelopes {
		id := o.get("id")
		switch {
		case !o.has("jsonrpc") || id == nil:
		case texts && id.kind == '0':
			id.kind, id.raw = '"', `"`+id.raw+`"`
		case !texts && id.kind == '"':
			n := uint64(0)
			for _, c := range []byte(id.raw) {
				n = n*131 + uint64(c)
			}
			id.kind, id.raw = '0', strconv.FormatUint(n%(1<<53), 10)
		}
	}
}
