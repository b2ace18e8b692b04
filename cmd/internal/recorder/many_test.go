//go:build peers

package recorder

// oneIn says which part of the troubles and policies TestNothingIsLostUncounted brings together.
const oneIn = 1
