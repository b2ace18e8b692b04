// Package card holds the rules about agent cards: what they say, how they are cached and signed, and whether requests
// and agents keep to them.
package card
