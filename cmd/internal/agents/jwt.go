package agents

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"a2atap/analyzer/jws"
	"a2atap/cmd/internal/cli"
)

// readTokenKeys reads the JWK Set that the JSON Web Tokens of clients are verified with.
func readTokenKeys(name string) (jws.KeySet, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("--auth jwt:%s: %w", name, cli.Cause(err))
	}
	keys, err := jws.ParseKeySet(text)
	if err != nil {
		return nil, cli.Usage("--auth jwt:%s: %w", name, err)
	}
	return keys, nil
}

// A keyFile is a JWK Set in a file, which is read again when it has changed. It is safe for concurrent use.
type keyFile struct {
	name string

	mu    sync.Mutex // guards the fields below
	keys  jws.KeySet
	state fileState // at the last read of keys
}

// A fileState shows whether a file has changed.
type fileState struct {
	modified time.Time
	size     int64
}

func stateOf(name string) fileState {
	info, err := os.Stat(name)
	if err != nil {
		return fileState{}
	}
	return fileState{info.ModTime(), info.Size()}
}

// openKeyFile reads the keys in a file for the first time.
func openKeyFile(name string) (*keyFile, error) {
	state := stateOf(name)
	keys, err := readTokenKeys(name)
	if err != nil {
		return nil, err
	}
	return &keyFile{name: name, keys: keys, state: state}, nil
}

// current returns the keys. If the file has changed to something that cannot be read, they are the previous ones.
func (f *keyFile) current() jws.KeySet {
	f.mu.Lock()
	defer f.mu.Unlock()
	if state := stateOf(f.name); state != f.state {
		f.state = state
		if keys, err := readTokenKeys(f.name); err == nil {
			f.keys = keys
		}
	}
	return f.keys
}

// A numericDate is a time in seconds since 1970 (RFC 7519 §2).
type numericDate float64

func (d numericDate) time() time.Time {
	seconds, fraction := math.Modf(float64(d))
	return time.Unix(int64(seconds), int64(fraction*1e9))
}

// verifyToken returns the user whom a JSON Web Token names: its issuer and subject. It fails unless one of the keys
// signed the token and the token is valid at that time (RFC 7519 §7.2). The audience is not compared with anything.
func verifyToken(keys jws.KeySet, token string, now time.Time) (user string, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errors.New("it is not a signed JSON Web Token")
	}
	var header struct {
		Alg  string          `json:"alg"`
		ID   string          `json:"kid"`
		Crit json.RawMessage `json:"crit"`
	}
	if err := decodePart(parts[0], &header); err != nil {
		return "", fmt.Errorf("read the header: %w", err)
	}
	if header.Crit != nil {
		return "", errors.New("its header has extensions that must be understood")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return "", fmt.Errorf("read the signature: %w", err)
	}
	if !signed(keys, header.Alg, header.ID, parts[0]+"."+parts[1], signature) {
		return "", errors.New("no key of the set signed it")
	}
	var claims struct {
		Issuer  string       `json:"iss"`
		Subject string       `json:"sub"`
		Ends    *numericDate `json:"exp"`
		Begins  *numericDate `json:"nbf"`
	}
	if err := decodePart(parts[1], &claims); err != nil {
		return "", fmt.Errorf("read the claims: %w", err)
	}
	switch {
	case claims.Subject == "":
		return "", errors.New("it names no subject")
	case claims.Ends != nil && !now.Before(claims.Ends.time()):
		return "", errors.New("it has expired")
	case claims.Begins != nil && now.Before(claims.Begins.time()):
		return "", errors.New("it is not valid yet")
	}
	return strings.TrimSpace(claims.Issuer + " " + claims.Subject), nil
}

// signed reports whether a key of the set made a signature. If the signature names no key, any key may match.
func signed(keys jws.KeySet, alg, id, input string, signature []byte) bool {
	if id != "" {
		keys = keys.Find(id)
	}
	for _, k := range keys {
		if k.Verify(alg, []byte(input), signature) == jws.Valid {
			return true
		}
	}
	return false
}

// decodePart reads a part of a token, which is one JSON object in base64url.
func decodePart(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return errors.New("it is not a JSON object")
	}
	return json.Unmarshal(text, into)
}
