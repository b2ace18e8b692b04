package main

import (
	"path/filepath"
	"strings"
)

// program returns how the user calls this program, for commands that are suggested to be typed.
func (e env) program() string {
	if e.Program == "" {
		return "a2atap"
	}
	return e.Program
}

// shellSigns are characters that a shell does not take as they are.
const shellSigns = " \t\n'\"$&;|<>()*?[]{}!#~\\`"

// calledAs returns how a program was called whose first argument this is: by its name, by its path, or from source,
// where what go run has built is gone as soon as it ends.
func calledAs(arg0 string) string {
	path := filepath.ToSlash(arg0)
	switch {
	case strings.Contains(path, "/go-build"):
		return "go run ./cmd/a2atap"
	case strings.ContainsAny(arg0, shellSigns):
		return quote(arg0)
	case strings.Contains(path, "/"):
		return arg0
	}
	return "a2atap"
}
