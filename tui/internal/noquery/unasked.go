// Package noquery prevents a query to the terminal. The screen library queries the background color as soon as it is
// linked, in every command, and waits up to five seconds for an answer; users who only run check in a terminal must
// neither see that query nor wait for it.
//
// The library does not query if the variable CI is set. This package therefore sets CI while packages are initialized,
// and programs that link the library call Over afterward. Packages are initialized in the order of their import paths,
// each as soon as its imports are (Go specification, "Package initialization"; cmd/link). The library waits for
// text/template. This package comes before it because of its path, and because it imports only os.
package noquery

import "os"

var pretended, wasSet bool

func init() {
	value, set := os.LookupEnv("CI")
	if value == "" {
		pretended, wasSet = os.Setenv("CI", "true") == nil, set
	}
}

// Over restores the environment. The package that imports the screen library calls it during initialization, before any
// other program is started or code reads the variable.
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
