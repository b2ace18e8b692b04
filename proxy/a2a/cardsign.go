package a2a

import (
	"encoding/base64"
	"iter"
	"slices"
)

// A presence tells when a member of a card is part of the signed text (A2A 1.0 §8.4.1, after the field presence of
// protocol buffers).
type presence uint8

const (
	implicit presence = iota // unless it has its default value
	explicit                 // if it is present
	required                 // always
)

// A signedField is a member of a message.
type signedField struct {
	presence presence
	of       *signedMessage // type of its value, of its elements, or of its values if it is a map; nil for scalars
	isMap    bool
	free     bool   // any JSON, without defaults
	zero     string // its default value as JSON
}

// A signedMessage has the members of a 1.0 message by name.
type signedMessage map[string]signedField

var (
	implicitText = signedField{zero: `""`}
	requiredText = signedField{presence: required, zero: `""`}
	explicitText = signedField{presence: explicit, zero: `""`}
	explicitBool = signedField{presence: explicit, zero: "false"}
	implicitBool = signedField{zero: "false"}
	implicitList = signedField{zero: "[]"}
	requiredList = signedField{presence: required, zero: "[]"}
	requiredMap  = signedField{presence: required, zero: "{}", isMap: true}
)

func one(m signedMessage) signedField { return signedField{presence: explicit, of: &m, zero: "{}"} }
func requiredOne(m signedMessage) signedField {
	return signedField{presence: required, of: &m, zero: "{}"}
}
func many(m signedMessage) signedField { return signedField{of: &m, zero: "[]"} }
func requiredMany(m signedMessage) signedField {
	return signedField{presence: required, of: &m, zero: "[]"}
}
func mapOf(m signedMessage) signedField { return signedField{of: &m, isMap: true, zero: "{}"} }

// cardMessage is the 1.0 card (§4.4, §4.5).
var cardMessage = signedMessage{
	"name": requiredText, "description": requiredText, "version": requiredText,
	"supportedInterfaces": requiredMany(signedMessage{
		"url": requiredText, "protocolBinding": requiredText,
		"tenant": implicitText, "protocolVersion": requiredText,
	}),
	"provider":         one(signedMessage{"url": requiredText, "organization": requiredText}),
	"documentationUrl": explicitText,
	"capabilities": requiredOne(signedMessage{
		"streaming": explicitBool, "pushNotifications": explicitBool,
		"extendedAgentCard": explicitBool, "extensions": many(extensionMessage),
	}),
	"securitySchemes":      mapOf(schemeMessage),
	"securityRequirements": many(requirementMessage),
	"defaultInputModes":    requiredList, "defaultOutputModes": requiredList,
	"skills": requiredMany(signedMessage{
		"id": requiredText, "name": requiredText, "description": requiredText, "tags": requiredList,
		"examples": implicitList, "inputModes": implicitList, "outputModes": implicitList,
		"securityRequirements": many(requirementMessage),
	}),
	"iconUrl": explicitText,
}

var extensionMessage = signedMessage{
	"uri": implicitText, "description": implicitText, "required": implicitBool,
	"params": {presence: explicit, free: true},
}

var requirementMessage = signedMessage{"schemes": mapOf(signedMessage{"list": implicitList})}

var schemeMessage = signedMessage{
	"apiKeySecurityScheme": one(signedMessage{
		"description": implicitText, "location": requiredText,
		"name": requiredText,
	}),
	"httpAuthSecurityScheme": one(signedMessage{
		"description": implicitText, "scheme": requiredText,
		"bearerFormat": implicitText,
	}),
	"oauth2SecurityScheme": one(signedMessage{
		"description": implicitText, "flows": requiredOne(flowsMessage),
		"oauth2MetadataUrl": implicitText,
	}),
	"openIdConnectSecurityScheme": one(signedMessage{"description": implicitText, "openIdConnectUrl": requiredText}),
	"mtlsSecurityScheme":          one(signedMessage{"description": implicitText}),
}

var flowsMessage = signedMessage{
	"authorizationCode": one(signedMessage{
		"authorizationUrl": requiredText, "tokenUrl": requiredText,
		"refreshUrl": implicitText, "scopes": requiredMap, "pkceRequired": implicitBool,
	}),
	"clientCredentials": one(signedMessage{
		"tokenUrl": requiredText, "refreshUrl": implicitText,
		"scopes": requiredMap,
	}),
	"deviceCode": one(signedMessage{
		"deviceAuthorizationUrl": requiredText, "tokenUrl": requiredText,
		"refreshUrl": implicitText, "scopes": requiredMap,
	}),
	"implicit": one(signedMessage{
		"authorizationUrl": implicitText, "refreshUrl": implicitText,
		"scopes": {isMap: true, zero: "{}"},
	}),
	"password": one(signedMessage{
		"tokenUrl": implicitText, "refreshUrl": implicitText,
		"scopes": {isMap: true, zero: "{}"},
	}),
}

// A stripping defines which members the signed text omits. The text of 1.0 contradicts itself (§8.4.1 against §8.4.2
// and §8.4.3), and signers differ in how far they go.
type stripping uint8

const (
	keepPresent       stripping = iota // by the presence of each member: §8.4.1
	keepFilled                         // the same, with missing required members added
	keepAll                            // everything, as received
	dropDefaults                       // omits members that have their default value
	dropDefaultsDeep                   // the same, and then also empty values
	dropEmpties                        // empty texts, lists and objects, and null
	dropEmptiesDeep                    // the same, and then also empty values
	dropEmptiesFilled                  // the same, but keeps required members and adds missing ones
)

// A signing is one interpretation of the signed text.
type signing struct {
	strip stripping
	known bool // omits members that 1.0 does not define, like a parser that drops them
}

// SignedTexts yields the JSON texts that a signature of the card may cover, one for each interpretation of A2A 1.0
// §8.4, the most likely first, and whether that interpretation omits at least some default values, as the section
// requires. The texts are not in canonical form yet, and several may be equal.
func (c Card) SignedTexts() iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		for _, known := range [...]bool{false, true} {
			for strip := keepPresent; strip <= dropEmptiesFilled; strip++ {
				s := signing{strip, known}
				if !yield(s.object(nil, c.Value, cardMessage, "signatures"), strip != keepAll) {
					return
				}
			}
		}
	}
}

// object appends an object of a known message, without the given member.
func (s signing) object(dst []byte, v Value, m signedMessage, without string) []byte {
	dst = append(dst, '{')
	for name, value := range v.Pairs() {
		field, known := m[name.Text()]
		if name.Is(without) && without != "" || s.known && !known {
			continue
		}
		if !known {
			field = signedField{presence: explicit, free: true}
		}
		dst = s.member(dst, name, value, field)
	}
	if s.strip == keepFilled || s.strip == dropEmptiesFilled {
		dst = fill(dst, v, m)
	}
	return append(dst, '}')
}

// fill appends the required members that an object lacks.
func fill(dst []byte, v Value, m signedMessage) []byte {
	var missing []string
	for name, field := range m {
		if field.presence == required && !present(v.Get(name)) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	for _, name := range missing {
		dst = append(append(comma(dst), '"'), name...)
		dst = append(append(dst, `":`...), m[name].zero...)
	}
	return dst
}

// member appends a member unless it is omitted.
func (s signing) member(dst []byte, name, value Value, field signedField) []byte {
	if s.leavesOut(value, field) {
		return dst
	}
	mark := len(dst)
	dst = append(append(comma(dst), name.Raw()...), ':')
	start := len(dst)
	dst = s.value(dst, value, field)
	if s.deep() && isEmpty(dst[start:]) && !s.keepsEmpty(field) {
		return dst[:mark]
	}
	return dst
}

// keepsEmpty reports whether a member is kept although it is empty.
func (s signing) keepsEmpty(field signedField) bool {
	return s.strip == dropEmptiesFilled && field.presence == required
}

// comma appends a comma unless it would be the first thing in an object or array.
func comma(dst []byte) []byte {
	if last := dst[len(dst)-1]; last == '{' || last == '[' {
		return dst
	}
	return append(dst, ',')
}

func (s signing) deep() bool {
	return s.strip == dropDefaultsDeep || s.strip == dropEmptiesDeep || s.strip == dropEmptiesFilled
}

func isEmpty(text []byte) bool {
	return string(text) == "{}" || string(text) == "[]" || string(text) == `""`
}

// leavesOut reports whether the signed text omits a member.
func (s signing) leavesOut(v Value, field signedField) bool {
	switch s.strip {
	case keepAll:
		return false
	case keepPresent, keepFilled:
		return !field.free && (v.IsNull() || field.presence == implicit && isDefault(v))
	case dropEmpties, dropEmptiesDeep, dropEmptiesFilled:
		return v.IsNull() || isEmptyValue(v) && !s.keepsEmpty(field)
	}
	return v.IsNull() || isDefault(v)
}

func isEmptyValue(v Value) bool {
	switch v.Kind() {
	case String:
		return v.Is("")
	case Array, Object:
		return v.Len() == 0
	}
	return false
}

func isDefault(v Value) bool {
	switch v.Kind() {
	case Bool:
		set, _ := v.Bool()
		return !set
	case Number:
		n, ok := v.Int()
		return ok && n == 0
	}
	return isEmptyValue(v)
}

// value appends a value according to its field.
func (s signing) value(dst []byte, v Value, field signedField) []byte {
	switch {
	case s.strip == keepAll && !s.known, field.free && (s.strip <= keepAll):
		return append(dst, v.Raw()...)
	case v.Kind() == Object && field.isMap, v.Kind() == Object && field.of == nil:
		return s.free(dst, v, field)
	case v.Kind() == Object:
		return s.object(dst, v, *field.of, "")
	case v.Kind() == Array:
		dst = append(dst, '[')
		for _, e := range v.Elems() {
			dst = s.element(dst, e, field)
		}
		return append(dst, ']')
	}
	return append(dst, v.Raw()...)
}

// free appends an object that is not a message: a map, or any JSON.
func (s signing) free(dst []byte, v Value, field signedField) []byte {
	inner := signedField{presence: explicit, of: field.of, free: field.free}
	dst = append(dst, '{')
	for name, value := range v.Pairs() {
		dst = s.member(dst, name, value, inner)
	}
	return append(dst, '}')
}

// element appends an element of an array unless it is omitted: signers that omit empty values do so in arrays, too.
func (s signing) element(dst []byte, v Value, field signedField) []byte {
	mark := len(dst)
	dst = comma(dst)
	start := len(dst)
	dst = s.value(dst, v, signedField{presence: explicit, of: field.of, free: field.free})
	if s.deep() && (v.IsNull() || isEmpty(dst[start:])) {
		return dst[:mark]
	}
	return dst
}

// A Signature is one signature of a card: a JWS whose payload is the card itself (RFC 7515, A2A 1.0 §8.4).
type Signature struct {
	Value
	Protected string // as received; "" if it is missing or not a string
	Header    Value  // decoded Protected; Absent if that is not base64url without padding, or not JSON
	Bytes     []byte // the signature itself; nil if it is missing, or not base64url without padding
}

// Signatures yields the signatures of a card.
func (c Card) Signatures() iter.Seq2[int, Signature] {
	return func(yield func(int, Signature) bool) {
		for i, v := range c.Get("signatures").Elems() {
			s := Signature{Value: v, Protected: v.Get("protected").Text()}
			if text, ok := decodeURL(s.Protected); ok {
				if doc := Parse(text); doc.Err == nil {
					s.Header = doc.Root
				}
			}
			if bytes, ok := decodeURL(v.Get("signature").Text()); ok {
				s.Bytes = bytes
			}
			if !yield(i, s) {
				return
			}
		}
	}
}

// decodeURL decodes base64url without padding (RFC 7515 §2). It rejects the empty string.
func decodeURL(text string) ([]byte, bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return b, err == nil && len(b) > 0
}
