package redact

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"a2atap/proxy/capture/credential"
)

// Sizes of the sources of a key, in bytes. Anyone who has a capture and can guess the key can test guesses of secrets,
// so a password is not a key.
const (
	minKeyText = 32
	maxKeyText = 4096
)

const makeKey = "make one with openssl rand -hex 32"

// NewKey makes a random key.
func NewKey() []byte {
	key := make([]byte, sha256.Size)
	rand.Read(key) //nolint:errcheck // it never fails
	return key
}

// Fingerprint names a key. It shows only whether two keys are equal.
func Fingerprint(key []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("the fingerprint of a key for placeholders"))
	return hex.EncodeToString(mac.Sum(nil)[:credential.FingerprintDigits/2])
}

// ParseKey returns the key in a text without the white space around it: 32 bytes or more that cannot be guessed, in any
// form.
func ParseKey(text []byte) ([]byte, error) {
	text = bytes.TrimSpace(text)
	switch n := len(text); {
	case n == 0:
		return nil, fmt.Errorf("it is empty; %s", makeKey)
	case n < minKeyText:
		return nil, fmt.Errorf("it has %d bytes, and a key needs at least %d; %s", n, minKeyText, makeKey)
	case n > maxKeyText:
		return nil, fmt.Errorf("it has more than %d bytes, so it is not a key; %s", maxKeyText, makeKey)
	}
	key := sha256.Sum256(text)
	return key[:], nil
}

// ReadKey returns the key in a file that a team shares: a file of text as for ParseKey, or a pipe. Only its owner and
// group may have access to it.
func ReadKey(name string) ([]byte, error) {
	key, err := readKey(name, 0o007)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; %s > %s, and chmod 600 it", err, makeKey, name)
	}
	return key, err
}

// UserKey returns the key in the user's own file. If the file is missing, UserKey creates the key, the file and the
// folder. If several processes call it at once, one of them creates the key, and all return the same key. Other users
// must not have access to the file.
func UserKey(name string) ([]byte, error) {
	key, err := readKey(name, 0o077)
	if errors.Is(err, fs.ErrNotExist) {
		if err = storeKey(name); err != nil {
			return nil, err
		}
		return readKey(name, 0o077)
	}
	return key, err
}

func readKey(name string, others fs.FileMode) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the redaction key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the redaction key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&others != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("read the redaction key %s: other users have access to it (mode %#o); run chmod 600 %s, "+
			"or make a new one if someone may have read it", name, mode, name)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyText+2))
	if err != nil {
		return nil, fmt.Errorf("read the redaction key: %w", err)
	}
	key, err := ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("read the redaction key %s: %w", name, err)
	}
	return key, nil
}

// storeKey writes a new key to a file that appears whole or not at all. If another process has written one in the
// meantime, that one stays.
func storeKey(name string) error {
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err != nil {
		return fmt.Errorf("make a redaction key: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*") // with mode 0600
	if err != nil {
		return fmt.Errorf("make a redaction key: %w", err)
	}
	defer os.Remove(tmp.Name())
	_, err = fmt.Fprintf(tmp, "%x\n", NewKey())
	if err == nil {
		err = tmp.Sync() // a name for an empty file would last
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Link(tmp.Name(), name) // unlike a rename it does not replace
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make a redaction key: %w", err)
	}
	return nil
}
