package cli

import (
	"fmt"
	"regexp"
	"strings"

	"a2atap/proxy/capture/credential"
	"a2atap/proxy/spelling"
)

// AgentName is what the name of an agent can look like: one that a user gave, or a host and a port.
var AgentName = regexp.MustCompile(`^[A-Za-z0-9._:\[\]%-]+$`)

// CheckScheme refuses what is given as the URL of an agent and has no scheme.
func CheckScheme(agent string) error {
	if strings.Contains(agent, "://") {
		return nil
	}
	return Usage("%q has no scheme; write http://%s", credential.WithoutUserinfo(agent), credential.WithoutUserinfo(agent))
}

// Nearest returns "; did you mean ...?" with up to three of the known words that come close to word, else "".
func Nearest(word string, known []string) string {
	near := spelling.Near(word, known, 3)
	for i := range near {
		near[i] = fmt.Sprintf("%q", near[i])
	}
	switch n := len(near); n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("; did you mean %s?", near[0])
	default:
		return fmt.Sprintf("; did you mean %s or %s?", strings.Join(near[:n-1], ", "), near[n-1])
	}
}

// Choose returns an error that lists the known words unless word is one of them.
func Choose(what, word string, known ...string) error {
	for _, k := range known {
		if word == k {
			return nil
		}
	}
	return Usage("unknown %s %q; use one of %s%s", what, word, strings.Join(known, ", "), Nearest(word, known))
}
