package intake

import "hash/maphash"

// sharedTexts makes equal ids within a short time share one string: much of the remembered state names a task, and each
// name would otherwise be a separate copy.
type sharedTexts struct {
	lately [4096]sharedText // each at the place of its hash
}

type sharedText struct {
	hash uint64 // of the text, which is compared only if the hashes are equal
	text string
}

// maxShared is the maximum length of a shared id. It bounds the memory of lately to half a megabyte.
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
