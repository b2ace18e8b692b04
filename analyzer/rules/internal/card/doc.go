// Package card holds the rules about agent cards: their contents, how they are cached and signed, and whether requests
// and agents conform to them.
package card
