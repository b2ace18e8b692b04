package object

import (
	"bytes"
	"strconv"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// element returns the place of an element of a list in the current entity.
func element(p *analysis.Pass, name string, index int) analysis.Place {
	return p.Here(name, strconv.Itoa(index))
}

// hasScheme reports whether a value is a string with a URI that includes its scheme. It may be long, such as a file.
func hasScheme(v a2a.Value) bool {
	if v.Kind() != a2a.String {
		return false
	}
	const longest = 32
	text := content(v)
	i := bytes.IndexByte(text[:min(len(text), longest)], ':')
	return i > 0 && rule.IsScheme(string(text[:i]))
}

// content returns the text of a string, in place unless it has escapes.
func content(v a2a.Value) []byte {
	raw := v.Raw()
	if bytes.IndexByte(raw, '\\') >= 0 {
		return []byte(v.Text())
	}
	return raw[1 : len(raw)-1]
}
