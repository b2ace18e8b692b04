package card

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// A tagger marks the entity tags of rewritten cards. A rewritten card is another representation and must not share its
// validator with the agent's (RFC 9110 section 8.8.1). The mark depends on the inserted addresses, so that a cached
// card is not confirmed after a tap has moved.
type tagger struct{ suffix string }

// tagMark begins the mark of any tap at any time.
const tagMark = "-a2atap-"

// newTagger returns a tagger for the state of things that the parts describe.
func newTagger(parts ...string) tagger {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return tagger{tagMark + hex.EncodeToString(sum[:4])}
}

// mark returns an entity tag, strong or weak, with the mark. Anything that is not an entity tag stays unchanged.
func (t tagger) mark(tag string) string {
	if len(tag) < 2 || !strings.HasSuffix(tag, `"`) {
		return tag
	}
	return tag[:len(tag)-1] + t.suffix + `"`
}

// unmark removes the mark from each entity tag of an If-None-Match field: RFC 9110 section 13.1.2. Tags without it, and
// "*", stay unchanged. It reports whether it removed any.
func (t tagger) unmark(list string) (string, bool) {
	now := strings.ReplaceAll(list, t.suffix+`"`, `"`)
	return now, now != list
}
