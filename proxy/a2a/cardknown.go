package a2a

import (
	"bytes"
	"strings"
)

// IsCard reports whether an object is certainly an agent card of some dialect, wherever it was found. It is strict,
// since lists of agents, server descriptions of other protocols and status pages have members with the same names. A
// card has a name, capabilities as an object, skills as a list of objects with an id or a name, a member that only
// descriptions of a version have, and an address in the form of one of the two faces.
//
// Anything served at a well-known path counts as a card; IsCard is for all other locations. Source: 0.1 to 0.3 §5.5,
// 1.0 §4.4.1.
func IsCard(v Value) bool {
	switch {
	case v.Kind() != Object, v.Has("jsonrpc"):
		return false
	case v.Get("name").Text() == "", v.Get("capabilities").Kind() != Object, !isSkillList(v.Get("skills")):
		return false
	case v.Get("version").Kind() != String && v.Get("protocolVersion").Kind() != String &&
		v.Get("defaultInputModes").Kind() != Array:
		return false
	}
	return isAbsoluteURL(v.Get("url")) || isInterfaceList(v.Get("supportedInterfaces"))
}

// MayHoldCard reports quickly, without parsing, whether a text can contain a card that IsCard accepts. It does not find
// member names that are written with escapes, which do not occur in practice.
func MayHoldCard(text []byte) bool {
	if !MayBeginCard(text) {
		return false
	}
	for _, name := range [...]string{`"name"`, `"capabilities"`, `"skills"`} {
		if !bytes.Contains(text, []byte(name)) {
			return false
		}
	}
	return true
}

// MayBeginCard reports whether a text may begin an object: after an optional byte order mark and white space, it has an
// opening brace or nothing yet.
func MayBeginCard(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\ufeff")), " \t\r\n")
	return len(text) == 0 || text[0] == '{' || bytes.HasPrefix([]byte("\ufeff"), text)
}

func isSkillList(v Value) bool {
	if v.Kind() != Array {
		return false
	}
	for _, skill := range v.Elems() {
		if skill.Get("id").Kind() != String && skill.Get("name").Kind() != String {
			return false
		}
	}
	return true
}

func isInterfaceList(v Value) bool {
	if v.Kind() != Array || v.Len() == 0 {
		return false
	}
	for _, entry := range v.Elems() {
		if entry.Get("url").Text() == "" || entry.Get("protocolBinding").Kind() != String {
			return false
		}
	}
	return true
}

func isAbsoluteURL(v Value) bool {
	scheme, rest, found := strings.Cut(v.Text(), "://")
	return found && scheme != "" && rest != "" && !strings.ContainsAny(scheme, "/?# ")
}
