package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/capture/credential"
	"a2atap/proxy/fleet"
	"a2atap/proxy/spelling"
)

// AgentName matches the names of agents: names given by the user, and HOST:PORT.
var AgentName = regexp.MustCompile(`^[A-Za-z0-9._:\[\]%-]+$`)

// CheckScheme returns an error if the URL of an agent has no scheme.
func CheckScheme(agent string) error {
	if strings.Contains(agent, "://") {
		return nil
	}
	return Usage("%q has no scheme; write http://%s", credential.WithoutUserinfo(agent), credential.WithoutUserinfo(agent))
}

// Choose returns an error that lists the known words unless word is one of them.
func Choose(what, word string, known ...string) error {
	for _, k := range known {
		if word == k {
			return nil
		}
	}
	return Usage("unknown %s %q; use one of %s%s", what, word, strings.Join(known, ", "), spelling.Hint(word, known))
}

// endings maps the endings of file names to formats of reports.
var endings = map[string]string{
	".html": "html", ".htm": "html", ".md": "markdown", ".json": "json", ".xml": "junit", ".sarif": "sarif",
}

// ChooseFormat is Choose for a format. It derives an empty format from the output file's extension, or else uses text.
// An extension of a format that the command does not write is an error.
func ChooseFormat(what string, format *string, output string, known ...string) error {
	if *format == "" {
		ending := strings.ToLower(filepath.Ext(output))
		switch name := endings[ending]; {
		case name == "":
			*format = "text"
		case !slices.Contains(known, name):
			return Usage("-o %s: this command does not write %s; use another ending, or choose --format: %s",
				output, name, strings.Join(known, ", "))
		default:
			*format = name
		}
	}
	return Choose(what, *format, known...)
}

// SizeWords formats a number of bytes.
func SizeWords(n int64) string {
	for _, u := range units[:3] {
		if u.name == "KiB" && n < 1<<20 && n >= 1<<10 || u.name == "MiB" && n < 1<<30 && n >= 1<<20 ||
			u.name == "GiB" && n >= 1<<30 {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(u.bytes)), ".0") + " " + u.name
		}
	}
	return fmt.Sprintf("%d B", n)
}

// units are the endings of a size, the longer ones first.
var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
}

// ParseSize parses a number of bytes such as 4096, 64kB or 16MiB. The empty text is 0.
func ParseSize(flag, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	number, unit := text, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n <= 0 || n > (1<<62)/unit {
		return 0, Usage("%s: invalid size %q; write a number and B, kB, MB, GB, KiB, MiB or GiB, such as 16MiB", flag, text)
	}
	return n * unit, nil
}

// maxSecret is the size in bytes of the longest secret that a file may hold.
const maxSecret = 64 << 10

// Secret returns the secret that a flag's value denotes: @FILE is the line in a file, env:NAME the value of a variable,
// anything else the secret itself. It keeps secrets out of process lists and shell histories. No message repeats the
// secret.
func (e Env) Secret(flag, value string) (string, error) {
	if name, ok := strings.CutPrefix(value, "env:"); ok {
		text := e.Getenv(name)
		if text == "" {
			return "", Usage("%s env:%s: the variable is not set, or empty", flag, name)
		}
		return text, nil
	}
	name, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("%s @FILE: %w; put a secret that begins with @ into a file", flag, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", fmt.Errorf("%s @FILE: %w", flag, err)
	}
	switch text = bytes.TrimRight(text, "\r\n"); {
	case len(text) == 0:
		return "", Usage("%s @%s: the file is empty", flag, name)
	case len(text) > maxSecret:
		return "", Usage("%s @%s: the file has more than %d bytes, so it is not a secret", flag, name, maxSecret)
	case bytes.ContainsAny(text, "\r\n\x00"):
		return "", Usage("%s @%s: the file has more than one line; leave only the secret in it", flag, name)
	}
	return string(text), nil
}

// SecretHelp is the part of a flag's help about the forms that Secret accepts.
const SecretHelp = "@FILE or env:NAME to keep it out of the process list"

// Beside returns the base name for the user's files next to a capture: notes, and requests that were sent again. For a
// stream, they are in the current folder, named after the stream and its server.
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

// ShownName returns the name of a capture for messages. It removes credentials, even from invalid addresses.
func ShownName(capture string) string {
	if a, err := fleet.ParseAddress(capture); err == nil {
		return a.String()
	}
	if m := LikeAnAddress.FindStringSubmatch(capture); m != nil {
		return m[1] + "…@" + m[2]
	}
	return capture
}

// LikeAnAddress matches texts that were probably meant as an address with user information.
var LikeAnAddress = regexp.MustCompile(`^((?i:nats|tls|https?)[:/]+).*@([^@]*)$`)

// NotAStream returns an error if the name of an output is a stream's address.
func NotAStream(output string) error {
	if fleet.IsAddress(output) {
		return Usage("%s is a stream, not a file; name a file, and publish it with --ship %[1]s while recording, or later "+
			"with a2atap ship FILE %[1]s", ShownName(output))
	}
	return nil
}
