package credential

import "regexp"

// userinfo is what stands before the host in a URL that is somewhere in a text.
var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*:(?:\\?/){2})[^\s/?#"'<>` + "`" + `]*@`)

// WithoutUserinfo returns a text with the user information taken out of all URLs in it, for messages: whoever reads
// those need not know passwords. A mark stays in its place.
func WithoutUserinfo(text string) string { return userinfo.ReplaceAllString(text, "${1}…@") }
