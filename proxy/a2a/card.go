package a2a

import (
	"iter"
	"strings"
)

// WellKnownPaths are the paths of agent cards: agent.json up to 0.2, agent-card.json since 0.3 (0.2 §5.3, 0.3 §5.3, 1.0
// §14.3). Both may also appear below the path of an agent.
var WellKnownPaths = [...]string{"/.well-known/agent-card.json", "/.well-known/agent.json"}

// IsCardPath reports whether an escaped path is, or ends in, one of WellKnownPaths. Servers of several agents, such as
// Mastra and VoltAgent, serve cards at /.well-known/NAME/agent-card.json; this counts, too.
func IsCardPath(path string) bool { return wellKnown(path) >= 0 }

// wellKnown returns the index in WellKnownPaths of the path that a path ends in, with or without a NAME; -1 for others.
func wellKnown(path string) int {
	const folder = "/.well-known"
	for i, known := range WellKnownPaths {
		if rest, ok := strings.CutSuffix(path, known[len(folder):]); ok {
			name := strings.LastIndexByte(rest, '/')
			if strings.HasSuffix(rest, folder) || name > 0 && name < len(rest)-1 && strings.HasSuffix(rest[:name], folder) {
				return i
			}
		}
	}
	return -1
}

// cardPathDialects returns the dialects that a card's path suggests.
func cardPathDialects(path string) Dialects {
	switch wellKnown(path) {
	case 1:
		return Of(V0_1, V0_2)
	case 0:
		return onlyV0_3 | onlyV1_0
	}
	return 0
}

// A Card is an agent card. It has up to two faces: the members of 0.x, whose exact dialect is not always known, and
// those of 1.0. A hybrid card has both, for both kinds of clients. The shape does not show which protocol version the
// agent's URLs serve; see Interfaces.
type Card struct {
	Value
	Shapes     Dialects // Legacy, with 1.0 if Modern; empty if unknown
	Legacy     Dialects // possible dialects of its 0.x face; empty without that face
	Modern     bool     // it has a 1.0 face
	Interfaces []Interface

	Streaming    Flag // the agent streams
	Push         Flag // the agent sends notifications
	ExtendedCard Flag // an extended card exists
	Signed       bool // it has a signature, which any change would invalidate

	// Blank means that missing strings and lists may be present and empty: gRPC does not distinguish the two.
	Blank bool
}

// Name returns the name of the agent.
func (c Card) Name() string { return c.Get("name").Text() }

// Version returns the agent's own version, not the protocol's.
func (c Card) Version() string { return c.Get("version").Text() }

// LegacyVersion returns the protocolVersion of the card's 0.x face, as written.
func (c Card) LegacyVersion() string { return c.Get("protocolVersion").Text() }

// An Interface is an address of an agent that its card declares.
type Interface struct {
	URL       string
	Transport string // as written: "JSONRPC", "GRPC", "HTTP+JSON", a URI; "" if 0.x leaves it to the default, JSONRPC
	Binding   Binding
	Version   string   // as written; in 0.x the card's
	Dialects  Dialects // dialects served there; several if the card does not tell
	Tenant    string   // tenant that every request must name, or ""
	Main      bool     // the preferred interface of its face
	Pointer   string   // of the URL, in the card
}

// DecodeCard reads an agent card of any dialect.
func DecodeCard(v Value) Card {
	c := Card{Value: v}
	var modern Dialects
	c.Legacy, modern = cardFaces(v)
	c.Modern = !modern.Empty()
	c.Shapes = c.Legacy | modern
	capabilities := v.Get("capabilities")
	c.Streaming = capability(capabilities, "streaming")
	c.Push = capability(capabilities, "pushNotifications")
	c.ExtendedCard = capability(capabilities, "extendedAgentCard")
	if c.ExtendedCard == NotSaid { // before 1.0
		c.ExtendedCard = flagOf(first(v, "supportsAuthenticatedExtendedCard", "supportsExtendedAgentCard"))
	}
	c.Signed = v.Get("signatures").Len() > 0
	for i, entry := range v.Get("supportedInterfaces").Elems() {
		c.Interfaces = append(c.Interfaces, modernInterface(entry, i))
	}
	if url := v.Get("url").Text(); url != "" {
		c.addLegacyInterfaces(url)
	}
	return c
}

// Holds reports whether a rule for the given dialects applies to this card: the dialects include 1.0 and the card has a
// 1.0 face, or they include every possible dialect of its 0.x face. For a card without a face, the dialects must be
// all, and the card must otherwise look like a card.
func (c Card) Holds(in Dialects) bool {
	if c.Shapes.Empty() {
		return in == allDialects && c.looksLikeOne()
	}
	return c.Modern && in.Has(V1_0) || !c.Legacy.Empty() && c.Legacy.Intersect(in) == c.Legacy
}

// looksLikeOne reports whether an object has two members of cards, at least one of them rare elsewhere.
func (c Card) looksLikeOne() bool {
	n, own := 0, false
	for i, name := range [...]string{
		"name", "version", "capabilities", "skills", "defaultInputModes", "defaultOutputModes", "securitySchemes",
		"preferredTransport", "additionalInterfaces", "signatures", "supportsAuthenticatedExtendedCard",
	} {
		if c.Has(name) {
			n++
			own = own || i > 1
		}
	}
	return own && n > 1
}

// cardFaces returns the possible dialects of a card's 0.x face, and 1.0 if it has a 1.0 face.
func cardFaces(v Value) (legacy, modern Dialects) {
	hasURL := present(v.Get("url"))
	switch {
	case v.Has("supportedInterfaces"):
		modern = onlyV1_0
	case !hasURL &&
		(v.Has("securityRequirements") || v.Get("capabilities").Has("extendedAgentCard") || wrapsSchemes(v)):
		modern = onlyV1_0 // the proto JSON of 0.x writes schemes the same way, next to a URL
	}
	if hasURL || modern.Empty() && v.Get("protocolVersion").Kind() == String {
		legacy = legacyShape(v)
	}
	return legacy, modern
}

// legacyShape returns which of 0.1, 0.2 and 0.3 a card may have.
func legacyShape(v Value) Dialects {
	if named := VersionDialects(v.Get("protocolVersion").Text()) & kindDialects; !named.Empty() {
		return named
	}
	if v.Has("signatures") {
		return onlyV0_3
	}
	for _, name := range [...]string{
		"protocolVersion", "preferredTransport", "additionalInterfaces", "securitySchemes",
		"security", "supportsAuthenticatedExtendedCard", "iconUrl",
	} {
		if v.Has(name) {
			return kindDialects
		}
	}
	switch {
	case v.Get("capabilities").Has("extensions"):
		return kindDialects
	case v.Get("authentication").Has("schemes"):
		return onlyV0_1
	}
	return before1 // cards of 0.1, and of 0.2 up to 0.2.4, have no version
}

func wrapsSchemes(v Value) bool {
	for _, s := range SecuritySchemes(v) {
		if s.Wrapped {
			return true
		}
	}
	return false
}

func modernInterface(v Value, i int) Interface {
	entry := Interface{
		URL:       v.Get("url").Text(),
		Transport: v.Get("protocolBinding").Text(),
		Version:   v.Get("protocolVersion").Text(),
		Tenant:    v.Get("tenant").Text(),
		Main:      i == 0,
		Pointer:   Ptr("/supportedInterfaces", i, "url"),
	}
	entry.Binding, _ = ParseBinding(entry.Transport)
	if entry.Dialects = VersionDialects(entry.Version); entry.Dialects.Empty() {
		entry.Dialects = onlyV0_3 | onlyV1_0
	}
	return entry
}

// addLegacyInterfaces adds the URL of a 0.x card and its additional interfaces, which often repeat that URL (0.3 §5.6).
func (c *Card) addLegacyInterfaces(url string) {
	version := c.Get("protocolVersion").Text()
	in := VersionDialects(version)
	if version == "" || in.Empty() {
		in = c.Legacy
	}
	main := Interface{
		URL: url, Transport: c.Get("preferredTransport").Text(), Version: version, Dialects: in,
		Main: true, Pointer: "/url",
	}
	if main.Binding = JSONRPC; main.Transport != "" {
		main.Binding, _ = ParseBinding(main.Transport)
	}
	c.Interfaces = append(c.Interfaces, main)
	for i, v := range c.Get("additionalInterfaces").Elems() {
		other := Interface{
			URL: v.Get("url").Text(), Transport: v.Get("transport").Text(), Version: version,
			Dialects: in, Pointer: Ptr("/additionalInterfaces", i, "url"),
		}
		other.Binding, _ = ParseBinding(other.Transport)
		c.Interfaces = append(c.Interfaces, other)
	}
}

// A Flag is a capability that a card may declare, deny or leave out.
type Flag uint8

// The values of a flag.
const (
	NotSaid Flag = iota // which means no
	No
	Yes
	Unclear // it is present, but its value cannot be interpreted
)

// True reports whether the flag is Yes or may mean yes.
func (f Flag) True() bool { return f == Yes || f == Unclear }

// flagOf reads a flag. A value of the wrong type is reported separately, and is read by its evident meaning.
func flagOf(v Value) Flag {
	value, ok := v.Bool()
	switch {
	case ok && value, v.Is("true"):
		return Yes
	case ok, v.Is("false"):
		return No
	case present(v):
		return Unclear
	}
	return NotSaid
}

// capability reads a flag of the capabilities, which may have any type.
func capability(capabilities Value, name string) Flag {
	if present(capabilities) && capabilities.Kind() != Object {
		return Unclear
	}
	return flagOf(capabilities.Get(name))
}

// An Extension is an extension that a card declares (A2A 1.0 §4.6).
type Extension struct{ Value }

// URI returns the name of the extension.
func (e Extension) URI() string { return e.Get("uri").Text() }

// Required reports whether clients must use the extension.
func (e Extension) Required() bool {
	required, _ := e.Get("required").Bool()
	return required
}

// Extensions yields the extensions that the card declares.
func (c Card) Extensions() iter.Seq[Extension] {
	return func(yield func(Extension) bool) {
		for _, v := range c.Get("capabilities").Get("extensions").Elems() {
			if !yield(Extension{v}) {
				return
			}
		}
	}
}

// Unsigned returns the JSON text of the card without its signatures and otherwise unchanged.
func (c Card) Unsigned() []byte {
	return appendObject(nil, c.Value, func(name string, _ Value) bool { return name != "signatures" })
}

// appendObject appends an object with the members that keep selects. Names and values keep their original text.
func appendObject(dst []byte, v Value, keep func(name string, v Value) bool) []byte {
	if v.Kind() != Object {
		return append(dst, v.Raw()...)
	}
	dst = append(dst, '{')
	first := true
	for name, value := range v.Pairs() {
		if !keep(name.Text(), value) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(dst, name.Raw()...), ':')
		dst = append(dst, value.Raw()...)
	}
	return append(dst, '}')
}
