//go:build !peers

package bolt

// damages is how many captures TestDamagedCaptures damages.
const damages = 40
