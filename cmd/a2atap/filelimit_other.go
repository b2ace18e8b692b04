//go:build !unix

package main

// surviveFileLimit does nothing: these systems do not limit file sizes.
func surviveFileLimit() {}
