package setup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// A Mask hides secrets in output. It is safe for concurrent use.
type Mask struct {
	mu      sync.Mutex
	secrets []string // the longest first, so that none shows the rest of another
}

// minSecret is the minimum length in bytes of a masked secret. Shorter secrets occur in words by chance.
const minSecret = 4

// Add hides these secrets from now on, and their forms in JSON and in queries.
func (m *Mask) Add(secrets ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range secrets {
		inJSON, _ := json.Marshal(s) // a string is JSON
		for _, form := range []string{s, strings.Trim(string(inJSON), `"`), url.QueryEscape(s), url.PathEscape(s)} {
			if len(form) >= minSecret && !slices.Contains(m.secrets, form) {
				m.secrets = append(m.secrets, form)
			}
		}
	}
	slices.SortFunc(m.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
}

// Text replaces each secret in a text with ….
func (m *Mask) Text(text string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.secrets {
		text = strings.ReplaceAll(text, s, "…")
	}
	return text
}

// Blank returns bytes in which each secret is as many asterisks, so that lengths stay true, and whether there was one.
// They are those that were given if there was none.
func (m *Mask) Blank(p []byte) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := false
	for _, s := range m.secrets {
		if bytes.Contains(p, []byte(s)) {
			p = bytes.ReplaceAll(p, []byte(s), bytes.Repeat([]byte("*"), len(s)))
			found = true
		}
	}
	return p, found
}

// Writer returns a writer that hides the secrets in output to w. Each write is searched separately, and writes to w are
// serialized.
func (m *Mask) Writer(w io.Writer) io.Writer { return &maskedWriter{mask: m, to: w} }

type maskedWriter struct {
	mask *Mask
	mu   sync.Mutex // guards to
	to   io.Writer
}

func (w *maskedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := io.WriteString(w.to, w.mask.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Error returns an error with the same causes whose text holds no secret.
func (m *Mask) Error(err error) error {
	if err == nil {
		return nil
	}
	return maskedError{err, m.Text(err.Error())}
}

type maskedError struct {
	err  error
	text string
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.err }

// Masks hide the secrets of each of several.
type Masks []*Mask

// Text applies the Text of each mask in turn. Writer and Error do the same.
func (list Masks) Text(text string) string {
	for _, m := range list {
		text = m.Text(text)
	}
	return text
}

func (list Masks) Writer(w io.Writer) io.Writer {
	for _, m := range list {
		w = m.Writer(w)
	}
	return w
}

func (list Masks) Error(err error) error {
	for _, m := range list {
		err = m.Error(err)
	}
	return err
}
