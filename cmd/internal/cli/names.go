package cli

import (
	"path/filepath"
	"regexp"
	"strings"

	"a2atap/proxy/fleet"
)

// Beside returns the name of a capture beside which files of the user's own stand: notes, and what was sent again. Of a
// stream they are in the current folder, and called after it and its server.
func Beside(capture string) string {
	if !fleet.IsAddress(capture) {
		return capture
	}
	a, err := fleet.ParseAddress(capture)
	if err != nil {
		return filepath.Base(capture)
	}
	_, server, _ := strings.Cut(strings.TrimSuffix(a.String(), "/"+a.Stream()), "://")
	return a.Stream() + "@" + strings.NewReplacer(":", "-", "[", "", "]", "").Replace(server)
}

// ShownName is how a capture is called in messages: without credentials, also where it is no address that can be read.
func ShownName(capture string) string {
	if a, err := fleet.ParseAddress(capture); err == nil {
		return a.String()
	}
	if m := LikeAnAddress.FindStringSubmatch(capture); m != nil {
		return m[1] + "…@" + m[2]
	}
	return capture
}

// LikeAnAddress is what was probably meant as one, with something before its host.
var LikeAnAddress = regexp.MustCompile(`^((?i:nats|tls|https?)[:/]+).*@([^@]*)$`)

// NotAStream returns an error if what a command writes is called like a stream.
func NotAStream(output string) error {
	if fleet.IsAddress(output) {
		return Usage("%s is a stream and no file; name a file, and publish it with --ship %[1]s where it is recorded, or later "+
			"with a2atap ship FILE %[1]s", ShownName(output))
	}
	return nil
}
