package intake

import "hash/maphash"

// sharedTexts makes equal ids that come within a short time one string: much that is remembered of a task names it, and
// each name would have a copy of its own.
type sharedTexts struct {
	lately [4096]string // each at the place of its hash
}

// maxShared is the length up to which ids are shared, so that what lately holds is bounded: half a megabyte.
const maxShared = 128

var textSeed = maphash.MakeSeed()

func (t *sharedTexts) one(id string) string {
	if len(id) > maxShared {
		return id
	}
	at := &t.lately[maphash.String(textSeed, id)%uint64(len(t.lately))]
	if *at == id {
		return *at
	}
	*at = id
	return id
}
