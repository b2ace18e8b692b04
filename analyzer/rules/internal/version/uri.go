package version

import (
	"regexp"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/card"
)

// versionPart is a part of a URI that is a version, or ends in one: name, version, and file type.
var versionPart = regexp.MustCompile(`(?i)^(?:(.*?)[-_])??(v?[0-9][0-9.]*(?:[-.]?(?:alpha|beta|rc|pre)[-.]?[0-9]*)?|` +
	`[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?)(\.(?:json|ya?ml|md|html))?$`)

// markedVersion matches text that is certainly a version: with a v, a dot or the dashes of a date.
var markedVersion = regexp.MustCompile(`(?i)^(?:v[0-9].*|[0-9]+\..*|[0-9]{4}-.*|20[0-9]{6})$`)

// otherVersion reports whether two URIs differ in nothing but a version, or in that only one of them has one.
func otherVersion(a, b string) bool {
	a, b = strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/")
	plainA, versionA := cutVersion(a)
	plainB, versionB := cutVersion(b)
	if plainA != plainB || versionA == versionB {
		return false
	}
	return versionA != "" && versionB != "" || markedVersion.MatchString(versionA+versionB)
}

// cutVersion returns a URI without the first part that looks like a version, and that part.
func cutVersion(uri string) (plain, version string) {
	const separators = "/:#?&=@"
	begin := 0
	if i := strings.Index(uri, "://"); i >= 0 { // the host may be numbers
		if begin = strings.IndexByte(uri[i+len("://"):], '/'); begin < 0 {
			return uri, ""
		}
		begin += i + len("://")
	}
	for begin < len(uri) {
		end := len(uri)
		if i := strings.IndexAny(uri[begin+1:], separators); i >= 0 {
			end = begin + 1 + i
		}
		part := strings.TrimLeft(uri[begin:end], separators)
		if m := versionPart.FindStringSubmatch(part); m != nil && looksLikeVersion(m[1], m[2]) {
			before := uri[:begin]
			if m[1] != "" {
				before = uri[:end-len(part)] + m[1]
			}
			return before + m[3] + uri[end:], m[2]
		}
		begin = end
	}
	return uri, ""
}

// looksLikeVersion reports whether a part of a URI is a version: behind a name one that is marked as such, alone a
// small number too.
func looksLikeVersion(name, version string) bool {
	return markedVersion.MatchString(version) || name == "" && len(version) <= 2
}

const (
	extensionsName   = "A2A-Extensions"
	extensionsName0x = "X-A2A-Extensions"
)

// olderThanActivation reports whether a card shows that the agent is older than 0.2.4, in which extensions got their
// header.
func olderThanActivation(p *analysis.Pass) bool {
	return slices.ContainsFunc(card.Of(p).Versions(p.Exchange), func(v string) bool {
		switch v {
		case "0.2", "0.2.0", "0.2.1", "0.2.2", "0.2.3":
			return true
		}
		return false
	})
}
