package credential

import "regexp"

// userinfo matches a URL in a text up to its host.
var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*:(?:\\?/){2})[^\s/?#"'<>` + "`" + `]*@`)

// WithoutUserinfo returns a text for messages in which the user information of all URLs is replaced with a mark, to
// keep passwords out of messages.
func WithoutUserinfo(text string) string { return userinfo.ReplaceAllString(text, "${1}…@") }
