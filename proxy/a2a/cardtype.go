package a2a

import "strings"

// A CardMember is a member of an agent card, or of an object in it, and the JSON type of its value.
type CardMember struct {
	Path  string // names after slashes; "*" means the elements of a list, "{}" the members of a map
	Shape Shape
	In    Dialects // dialects that have it
}

// cardMembers has the members of 0.1 §5.5, 0.2 §5.5, 0.3 §5.5 and 1.0 §4.4. Objects come before their members.
var cardMembers = [...]CardMember{
	{"/protocolVersion", TextShape, kindDialects},
	{"/name", TextShape, all},
	{"/description", TextShape, all},
	{"/url", TextShape, before1},
	{"/version", TextShape, all},
	{"/documentationUrl", TextShape, all},
	{"/iconUrl", TextShape, kindDialects | onlyV1_0},
	{"/preferredTransport", TextShape, kindDialects},
	{"/supportsAuthenticatedExtendedCard", BoolShape, kindDialects},
	{"/defaultInputModes", TextsShape, all},
	{"/defaultOutputModes", TextsShape, all},
	{"/additionalInterfaces", ObjectsShape, kindDialects},
	{"/additionalInterfaces/*/url", TextShape, kindDialects},
	{"/additionalInterfaces/*/transport", TextShape, kindDialects},
	{"/supportedInterfaces", ObjectsShape, onlyV1_0},
	{"/supportedInterfaces/*/url", TextShape, onlyV1_0},
	{"/supportedInterfaces/*/protocolBinding", TextShape, onlyV1_0},
	{"/supportedInterfaces/*/protocolVersion", TextShape, onlyV1_0},
	{"/supportedInterfaces/*/tenant", TextShape, onlyV1_0},
	{"/provider", ObjectShape, all},
	{"/provider/organization", TextShape, all},
	{"/provider/url", TextShape, all},
	{"/capabilities", ObjectShape, all},
	{"/capabilities/streaming", BoolShape, all},
	{"/capabilities/pushNotifications", BoolShape, all},
	{"/capabilities/stateTransitionHistory", BoolShape, before1},
	{"/capabilities/extendedAgentCard", BoolShape, onlyV1_0},
	{"/capabilities/extensions", ObjectsShape, kindDialects | onlyV1_0},
	{"/capabilities/extensions/*/uri", TextShape, kindDialects | onlyV1_0},
	{"/capabilities/extensions/*/description", TextShape, kindDialects | onlyV1_0},
	{"/capabilities/extensions/*/required", BoolShape, kindDialects | onlyV1_0},
	{"/capabilities/extensions/*/params", ObjectShape, kindDialects | onlyV1_0},
	{"/skills", ObjectsShape, all},
	{"/skills/*/id", TextShape, all},
	{"/skills/*/name", TextShape, all},
	{"/skills/*/description", TextShape, all},
	{"/skills/*/tags", TextsShape, all},
	{"/skills/*/examples", TextsShape, all},
	{"/skills/*/inputModes", TextsShape, all},
	{"/skills/*/outputModes", TextsShape, all},
	{"/skills/*/security", ObjectsShape, onlyV0_3},
	{"/skills/*/securityRequirements", ObjectsShape, onlyV1_0},
	{"/authentication", ObjectShape, onlyV0_1},
	{"/authentication/schemes", TextsShape, onlyV0_1},
	{"/security", ObjectsShape, kindDialects},
	{"/securityRequirements", ObjectsShape, onlyV1_0},
	{"/securitySchemes", ObjectShape, kindDialects | onlyV1_0},
	{"/securitySchemes/{}", ObjectShape, kindDialects | onlyV1_0},
	{"/signatures", ObjectsShape, onlyV0_3 | onlyV1_0},
	{"/signatures/*/header", ObjectShape, onlyV0_3 | onlyV1_0},
}

// schemeMembers are the members of a security scheme inside any wrapper.
var schemeMembers = [...]CardMember{
	{"/description", TextShape, kindDialects | onlyV1_0},
	{"/type", TextShape, kindDialects},
	{"/in", TextShape, kindDialects},
	{"/location", TextShape, kindDialects | onlyV1_0},
	{"/name", TextShape, kindDialects | onlyV1_0},
	{"/scheme", TextShape, kindDialects | onlyV1_0},
	{"/bearerFormat", TextShape, kindDialects | onlyV1_0},
	{"/openIdConnectUrl", TextShape, kindDialects | onlyV1_0},
	{"/oauth2MetadataUrl", TextShape, onlyV0_3 | onlyV1_0},
	{"/flows", ObjectShape, kindDialects | onlyV1_0},
}

// flowMembers are the members of OAuth flows.
var flowMembers = [...]CardMember{
	{"/authorizationUrl", TextShape, kindDialects | onlyV1_0},
	{"/tokenUrl", TextShape, kindDialects | onlyV1_0},
	{"/refreshUrl", TextShape, kindDialects | onlyV1_0},
	{"/deviceAuthorizationUrl", TextShape, onlyV1_0},
	{"/pkceRequired", BoolShape, onlyV1_0},
	{"/scopes", ObjectShape, kindDialects | onlyV1_0},
	{"/scopes/{}", TextShape, kindDialects | onlyV1_0},
}

// A Mistyped is a value in a card with a JSON type other than its member's.
type Mistyped struct {
	Value
	Name  string // the member's name, or a phrase for its element
	Shape Shape  // the shape that it should have
}

// Mistyped returns the values in the card with a wrong type in each of the card's dialects; null counts as missing. It
// ignores the contents of extensions and signatures.
func (c Card) Mistyped() []Mistyped {
	m := mistypings{in: c.Shapes, modern: c.Modern}
	if m.in.Empty() {
		m.in = all
	}
	for i := range cardMembers {
		m.member(c.Value, &cardMembers[i])
	}
	m.requirements(c.Value, c.Value)
	for _, skill := range c.Get("skills").Elems() {
		m.requirements(c.Value, skill)
	}
	for _, scheme := range SecuritySchemes(c.Value) {
		m.scheme(scheme)
	}
	return m.found
}

// mistypings collects values of the wrong type.
type mistypings struct {
	in     Dialects
	modern bool
	found  []Mistyped
}

// member checks the values at a member's path in an object.
func (m *mistypings) member(object Value, member *CardMember) {
	if !member.In.Intersect(m.in).Empty() {
		m.walk(object, member.Path, "", member.Shape)
	}
}

func (m *mistypings) walk(v Value, path, name string, shape Shape) {
	token, rest, deeper := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch token {
	case "*":
		name = "an element of " + name
		for _, e := range v.Elems() {
			m.next(e, rest, name, shape, deeper)
		}
	case "{}":
		for name, e := range v.Members() {
			m.next(e, rest, name, shape, deeper)
		}
	default:
		m.next(v.Get(token), rest, token, shape, deeper)
	}
}

func (m *mistypings) next(v Value, path, name string, shape Shape, deeper bool) {
	if deeper {
		m.walk(v, path, name, shape)
	} else {
		m.judge(v, name, shape)
	}
}

// judge checks one value, and the elements of a list.
func (m *mistypings) judge(v Value, name string, shape Shape) {
	switch {
	case !present(v), shape.fits(v, m.modern):
	case v.Kind() != Array || shape != TextsShape && shape != ObjectsShape:
		m.found = append(m.found, Mistyped{v, name, shape})
	default:
		element := shape.element()
		for _, e := range v.Elems() {
			if !element.fits(e, m.modern) {
				m.found = append(m.found, Mistyped{e, "an element of " + name, element})
			}
		}
	}
}

// requirements checks the security requirements of the card or of one of its skills, in either form. In the 0.x form a
// scheme may be named "schemes".
func (m *mistypings) requirements(card, object Value) {
	for _, list := range [...]string{"security", "securityRequirements"} {
		for _, r := range object.Get(list).Elems() {
			wrapped := r.Get("schemes")
			if !wrapped.Exists() || card.Get("securitySchemes").Has("schemes") && wrapped.Kind() != Object {
				for name, scopes := range r.Members() {
					m.judge(scopes, name, TextsShape)
				}
				continue
			}
			m.judge(wrapped, "schemes", ObjectShape)
			for name, scopes := range wrapped.Members() {
				m.judge(scopes, name, ObjectShape)
				m.judge(scopes.Get("list"), "list", TextsShape)
			}
		}
	}
}

func (m *mistypings) scheme(s SecurityScheme) {
	if s.Wrapped {
		m.judge(s.Value, "the scheme", ObjectShape)
	}
	for i := range schemeMembers {
		m.member(s.Value, &schemeMembers[i])
	}
	for _, f := range flowFields {
		flow := s.Get("flows").Get(f.flow)
		m.judge(flow, f.flow, ObjectShape)
		for i := range flowMembers {
			m.member(flow, &flowMembers[i])
		}
	}
}
