package transcript

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A metaIO reads or writes the lines of a meta section. One description of an exchange (describe) serves both
// directions, so that they always agree.
type metaIO interface {
	// reading reports whether a transcript is being read, not written.
	reading() bool
	// line is one key. When reading, set receives the words of each line with the key; when writing, get returns the
	// words of each line to write, or none for the defaults.
	line(key string, get func() [][]string, set func(lines [][]string) error)
	// content returns a section's content when reading; nil if it is missing.
	content(kind string) []byte
	// wrong reports an unreadable section.
	wrong(kind string, err error)
}

// A metaWriter writes the lines of a meta section.
type metaWriter struct{ b bytes.Buffer }

func (w *metaWriter) reading() bool         { return false }
func (w *metaWriter) content(string) []byte { return nil }
func (w *metaWriter) wrong(string, error)   {}

func (w *metaWriter) line(key string, get func() [][]string, _ func([][]string) error) {
	for _, words := range get() {
		w.b.WriteString(key)
		w.b.WriteByte(':')
		for _, word := range words {
			w.b.WriteByte(' ')
			w.b.WriteString(quoteWord(word))
		}
		w.b.WriteByte('\n')
	}
}

// quoteWord returns a word unmodified if it needs no quotes, and quoted as in Go otherwise.
func quoteWord(word string) string {
	bare := word != "" && utf8.ValidString(word) && strings.IndexFunc(word, func(r rune) bool {
		return r == '"' || r == unicode.ReplacementChar || unicode.IsSpace(r) || !unicode.IsPrint(r)
	}) < 0
	if bare {
		return word
	}
	return strconv.Quote(word)
}

// A metaReader reads the lines of a meta section, and knows the other sections of the exchange.
type metaReader struct {
	m     *messages
	name  string     // of the section
	lines []metaLine // unused lines
	known []string   // the keys in use
	err   error      // the first thing wrong
}

type metaLine struct {
	key   string
	words []string
	n     int // number of the line in the file
}

func newMetaReader(m *messages) (*metaReader, error) {
	r := &metaReader{m: m, name: strconv.FormatUint(m.seq, 10) + ".meta"}
	if m.request == nil && m.response == nil {
		return nil, fmt.Errorf("%d: section \"%d.meta\": there is no %d.request or %d.response", m.metaLine, m.seq,
			m.seq, m.seq)
	}
	return r, r.read(m.meta, m.metaLine)
}

// read cuts a section into its lines; n is the number of the line before them.
func (r *metaReader) read(text []byte, n int) error {
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		key, rest, found := strings.Cut(line, ":")
		if !found {
			return r.at(n, fmt.Errorf("%q has no colon", line))
		}
		words, err := splitWords(rest)
		if err != nil {
			return r.at(n, fmt.Errorf("%s: %w", key, err))
		}
		r.lines = append(r.lines, metaLine{key, words, n})
	}
	return nil
}

// splitWords cuts a line into words and takes their quotes off.
func splitWords(rest string) ([]string, error) {
	var words []string
	for {
		rest = strings.TrimLeft(rest, " \t")
		switch {
		case rest == "":
			return words, nil
		case rest[0] == '"':
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("an unclosed quote in %s", rest)
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("a bad quote: %s", quoted)
			}
			words = append(words, word)
			if rest = rest[len(quoted):]; rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				return nil, fmt.Errorf("%s follows a quote without a space", rest)
			}
		default:
			var word string
			word, rest, _ = strings.Cut(strings.ReplaceAll(rest, "\t", " "), " ")
			words = append(words, word)
		}
	}
}

func (r *metaReader) reading() bool { return true }

// at adds the line to an error.
func (r *metaReader) at(line int, err error) error {
	return fmt.Errorf("%d: section %q: %w", line, r.name, err)
}

func (r *metaReader) line(key string, _ func() [][]string, set func([][]string) error) {
	r.known = append(r.known, key)
	var lines [][]string
	n := 0
	r.lines = slices.DeleteFunc(r.lines, func(l metaLine) bool {
		if l.key != key {
			return false
		}
		n = l.n
		lines = append(lines, l.words)
		return true
	})
	if err := set(lines); err != nil && r.err == nil {
		r.err = r.at(n, fmt.Errorf("%s: %w", key, err))
	}
}

func (r *metaReader) content(kind string) []byte {
	if kind == "request" {
		return r.m.request
	}
	return r.m.response
}

func (r *metaReader) wrong(kind string, err error) {
	line := r.m.responseLine
	if kind == "request" {
		line = r.m.requestLine
	}
	if r.err == nil {
		r.err = fmt.Errorf("%d: section \"%d.%s\": %w", line, r.m.seq, kind, err)
	}
}

// finish returns what is wrong with the section, if anything.
func (r *metaReader) finish() error {
	if r.err == nil && len(r.lines) > 0 {
		l := r.lines[0]
		r.err = r.at(l.n, fmt.Errorf("unknown key %q; use %s", l.key, strings.Join(r.known, ", ")))
	}
	return r.err
}
