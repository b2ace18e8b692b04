package a2a

import (
	"bytes"
	"strings"
)

// A Mark is a value in a message that indicates its dialect.
type Mark struct {
	Dialects Dialects // possible dialects
	At       Value    // the value
}

// The marks of a message by weight: the first one present decides, and later ones refine the result if they agree with
// it.
const (
	byShape = iota // "kind", a wrapper, or neither
	byState
	byRole
	byPart
	markCount
)

// marks collects the evidence for the dialect of one message, answer or event.
type marks struct {
	rpc      bool // over gRPC: the service determines the dialect
	in       Dialects
	rest     bool // over HTTP+JSON, in which the proto JSON of 0.x resembles 1.0
	names1_0 bool // the client names version 1.0, or calls one of its methods; or a card declares only 1.0
	older    bool // it is over JSON-RPC, and the method is one of 0.2 or 0.3
	gets     bool // the result is a bare Task in every dialect
	wrapped  bool // it is an answer inside another object
	found    [markCount]Mark
}

func (m *marks) add(weight int, in Dialects, at Value) {
	if m.found[weight].Dialects.Empty() {
		m.found[weight] = Mark{in, at}
	}
}

// dialects returns the dialects that all marks indicate, and the first mark that contradicts them, or a zero Mark.
func (m *marks) dialects() (Dialects, Mark) {
	var said Dialects
	var contrary Mark
	for _, mark := range m.found {
		switch {
		case mark.Dialects.Empty():
		case said.Empty():
			said = mark.Dialects
		case said.Intersect(mark.Dialects).Empty():
			if !contrary.At.Exists() {
				contrary = mark
			}
		default:
			said = said.Intersect(mark.Dialects)
		}
	}
	return said, contrary
}

// spelling weighs the spelling of a state or role.
func (m *marks) spelling(weight int, v Value, prefix string, known bool, lower Dialects) {
	switch {
	case hasPrefix(v, prefix):
		if !m.rest {
			m.add(weight, onlyV1_0, v)
		} else if v.Is(cancelled) && !m.names1_0 {
			m.add(weight, kindDialects, v)
		}
	case !known || m.names1_0 && !m.rest:
		// An agent from before the release of 1.0 wrote lowercase states with the method names of 1.0.
	case m.rest && m.names1_0 && m.found[byShape].Dialects.Empty():
		// 0.x uses lower case only together with "kind": this is 1.0 with the wrong spelling.
	case m.rest:
		m.add(weight, kindDialects, v)
	default:
		m.add(weight, lower, v)
	}
}

func (m *marks) status(s Status) {
	state, known := ParseState(s.StateText())
	m.spelling(byState, s.StateValue(), "TASK_STATE_", known, states[state].in&before1)
	m.message(s.Message())
}

func (m *marks) message(msg Message) {
	if msg.Kind() != Object {
		return
	}
	_, known := ParseRole(msg.RoleText())
	m.spelling(byRole, msg.Get("role"), "ROLE_", known, before1)
	if content := msg.Get("content"); m.rest && content.Kind() == Array {
		m.add(byPart, kindDialects, content)
	}
	m.parts(msg.Parts())
}

func (m *marks) artifact(a Artifact) { m.parts(a.Parts()) }

func (m *marks) task(t Task) {
	m.status(t.Status())
	for _, msg := range t.History() {
		m.message(msg)
		break
	}
	for _, a := range t.Artifacts() {
		m.artifact(a)
		break
	}
}

// parts weighs the first part of a list; one is enough.
func (m *marks) parts(p Parts) {
	part := p.Elem(0)
	if part.Kind() != Object {
		return
	}
	switch kind, typ := part.Get("kind"), part.Get("type"); {
	case kind.Kind() == String:
		m.add(byPart, kindDialects, kind)
	case m.rest:
		file := part.Get("file")
		if mark := first(file, "fileWithUri", "fileWithBytes"); mark.Exists() {
			m.add(byPart, kindDialects, mark)
		}
	case typ.Kind() == String: // the examples of 0.2.0 and 0.2.1 print it too
		m.add(byPart, Of(V0_1, V0_2), typ)
	case first(part, "raw", "url", "mediaType", "filename").Exists():
		m.add(byPart, onlyV1_0, part)
	case first(part, "text", "data").Exists(): // 0.1 may leave "type" out
		m.add(byPart, onlyV0_1|onlyV1_0, part)
	}
}

// bodyMarks returns the dialects that the message in the parameters of a JSON-RPC request indicates.
func (c *Call) bodyMarks() (Dialects, Evidence) {
	m := marks{names1_0: VersionDialects(c.Version).Has(V1_0)}
	m.message(Message{first(c.Params, "message", "request")})
	in, _ := m.dialects()
	if in.Empty() {
		return 0, NoEvidence
	}
	return in, Decisive
}

// restMarks returns the dialects that the shape of an HTTP+JSON request indicates, and those that the spelling of its
// role indicates.
func (c *Call) restMarks() (shape, spelling Dialects) {
	m := marks{rest: true}
	message := first(c.Params, "message", "request")
	// 0.x with "kind" writes roles in lower case.
	leftover := VersionDialects(c.Version).Has(V1_0) && hasPrefix(message.Get("role"), "ROLE_")
	if kind := message.Get("kind"); kind.Is("message") && !leftover {
		m.add(byShape, kindDialects, kind)
	}
	if request := c.Params.Get("request"); isMessage(request) {
		m.add(byShape, kindDialects, request)
	}
	if name := c.Params.Get("name"); hasPrefix(name, "tasks/") {
		m.add(byShape, kindDialects, name)
	}
	m.message(Message{message})
	spelling = m.found[byRole].Dialects
	m.found[byRole] = Mark{}
	shape, _ = m.dialects()
	return shape, spelling
}

// Mixed returns the dialects of a call according to its method or shape, and the first value in its message that
// contradicts them, or a zero Mark.
func (c *Call) Mixed() (Dialects, Mark) {
	if c.Evidence != Decisive || c.Message.Kind() != Object {
		return 0, Mark{}
	}
	m := marks{rest: c.Binding == HTTPJSON, names1_0: c.Dialects == onlyV1_0}
	m.add(byShape, c.Dialects, c.Message)
	m.message(Message{c.Message})
	return m.dialects()
}

func hasPrefix(v Value, prefix string) bool {
	raw := v.Raw()
	if v.Kind() != String || len(raw) <= len(prefix) {
		return false
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		return strings.HasPrefix(v.Text(), prefix)
	}
	return string(raw[1:1+len(prefix)]) == prefix
}
