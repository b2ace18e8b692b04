package intake

import "hash/maphash"

// sharedTexts makes equal ids that come within a short time one string: much that is remembered of a task names it, and
// each name would have a copy of its own.
type sharedTexts struct {
	lately [4096]sharedText // each at the place of its hash
}

type sharedText struct {
	hash uint64 // of the text, which is not looked at where this is another one
	text string
}

// maxShared is the length up to which ids are shared, so that what lately holds is bounded: half a megabyte.
const maxShared = 128

var textSeed = maphash.MakeSeed()

func (t *sharedTexts) one(id string) string {
	if len(id) > maxShared {
		return id
	}
	hash := maphash.String(textSeed, id)
	at := &t.lately[hash%uint64(len(t.lately))]
	if at.hash != hash || at.text != id {
		*at = sharedText{hash, id}
	}
	return at.text
}
