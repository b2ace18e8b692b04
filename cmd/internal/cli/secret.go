package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxSecret is the size in bytes of the longest secret that a file may hold.
const maxSecret = 64 << 10

// Secret returns what the value of a flag stands for that takes a secret: @FILE for the line in a file, env:NAME for
// the value of a variable, and everything else for itself. So the secret need not stand in a list of processes, or in
// the history of a shell. No message repeats what was read.
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
		return "", fmt.Errorf("%s @FILE: %w; a secret that begins with @ goes into a file", flag, err)
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
		return "", Usage("%s @%s: the file has more than %d bytes, so it is no secret", flag, name, maxSecret)
	case bytes.ContainsAny(text, "\r\n\x00"):
		return "", Usage("%s @%s: the file has more than one line; leave only the secret in it", flag, name)
	}
	return string(text), nil
}

// SecretHelp is the part of the help of a flag that says what Secret reads.
const SecretHelp = "@FILE or env:NAME for what should not be seen in a list of processes"
