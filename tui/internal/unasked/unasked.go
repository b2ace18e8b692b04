// Package unasked keeps the terminal from being asked. The screen library asks it for its background colour as soon as it
// is linked, in every command, and waits for up to five seconds if no answer comes; somebody who only runs check in a
// terminal must neither see that question nor wait for it.
//
// Nobody asks where the variable CI is set, so this package sets it while packages are initialised, and whoever links the
// library calls Over when that is done. Packages are initialised in the order of their import paths, each as soon as
// those that it imports are (Go specification, "Package initialization"; cmd/link). The library waits for text/template,
// so this package comes before it as long as its path does, and it imports nothing but os.
package unasked

import "os"

var pretended, wasSet bool

func init() {
	value, set := os.LookupEnv("CI")
	if value == "" {
		pretended, wasSet = os.Setenv("CI", "true") == nil, set
	}
}

// Over leaves the environment as it was. It is for the initialisation of the package that imports the screen library: no
// other program is started, and nobody else looks, before that.
func Over() {
	if !pretended {
		return
	}
	pretended = false
	if wasSet {
		os.Setenv("CI", "") //nolint:errcheck // it could be set
		return
	}
	os.Unsetenv("CI") //nolint:errcheck // it could be set
}
