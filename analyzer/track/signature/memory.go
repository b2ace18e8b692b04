package signature

import (
	"crypto/sha256"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/jws"
)

// Bounds of verification: anything beyond in a card stays unverified.
const (
	maxSignatures = 4       // of a card
	maxCandidates = 4       // keys of one id
	maxKeySets    = 100     // that were fetched, and that are waited for
	maxAwaiting   = 4       // cards that wait for one set
	maxChecked    = 500     // cards whose verdict is remembered
	maxSigned     = 1 << 20 // bytes of a card
)

// A Check is the result of verifying one signature of a card with a known key.
type Check struct {
	Index      int    // of the signature
	KeyID      string //
	Source     string // where the key comes from, as findings show it
	Valid      bool   // the signature is over one of the readings of the card, by one of the keys of that id
	Unstripped bool   // it is valid, but only over the card with all its default values
	Uncertain  bool   // the key was not fetched from the signature's URL, or before the card: it may differ by now
}

// A keySource is a set of keys and its source.
type keySource struct {
	name    string
	keys    jws.KeySet
	arrival uint64 // of the step that brought it; 0 if it was given
}

// Memory holds the keys that are known, and the cards that wait for keys.
type Memory struct {
	given   []keySource
	fetched *recent.Map[string, *keySource]             // by keyAddress
	awaited *recent.Map[string, []analysis.Observation] // the same: cards whose signatures name it
	checked *recent.Map[[sha256.Size]byte, []Check]
	changes uint64 // how often keys were fetched
}
