package replaytest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

// open reads a session.
func open(file string) (*capture.Memory, error) {
	t, err := transcript.ReadFile(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; a2atap export CAPTURE -o %s creates it", err, filepath.ToSlash(file))
		}
		return nil, err
	}
	if len(t.Exchanges) == 0 {
		return nil, fmt.Errorf("%s has no exchanges", file)
	}
	return t.Source(file)
}

// write writes the traffic to a transcript.
func write(file string, list []*capture.Exchange) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, transcript.Format(&transcript.Transcript{Exchanges: list}), 0o600)
}

// fileName returns a file name for the name of a test.
func fileName(test string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, c) || c < ' ' {
			return '_'
		}
		return c
	}, test)
}
