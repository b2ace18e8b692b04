package transcript

import (
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// The functions below process the kinds of values in a meta section. When reading, each sets the value, to its default
// if it is missing; when writing, each writes the value unless it is the default.

// metaValue is a value of one word.
func metaValue[T comparable](m metaIO, key string, p *T, byDefault T, format func(T) string,
	parse func(string) (T, error),
) {
	m.line(key, func() [][]string {
		if *p == byDefault {
			return nil
		}
		return [][]string{{format(*p)}}
	}, func(lines [][]string) error {
		if *p = byDefault; len(lines) == 0 {
			return nil
		}
		words, err := oneLine(lines)
		if err != nil {
			return err
		}
		if len(words) != 1 {
			return fmt.Errorf("%d words, want one", len(words))
		}
		v, err := parse(words[0])
		if err == nil {
			*p = v
		}
		return err
	})
}

func oneLine(lines [][]string) ([]string, error) {
	if len(lines) > 1 {
		return nil, fmt.Errorf("it occurs %d times", len(lines))
	}
	return lines[0], nil
}

func metaOffset(m metaIO, key string, p *time.Duration, byDefault time.Duration) {
	metaValue(m, key, p, byDefault, offsetText, parseOffset)
}

func offsetText(d time.Duration) string {
	if d == capture.NotKnown {
		return "unknown"
	}
	return d.String()
}

func parseOffset(s string) (time.Duration, error) {
	if s == "unknown" {
		return capture.NotKnown, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is neither an offset such as 12.5ms nor unknown", s)
	}
	return d, nil
}

func metaNumber(m metaIO, key string, p *int64, byDefault int64) {
	metaValue(m, key, p, byDefault, func(n int64) string {
		if n == capture.NotKnown {
			return "unknown"
		}
		return strconv.FormatInt(n, 10)
	}, func(s string) (int64, error) {
		if s == "unknown" {
			return capture.NotKnown, nil
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q is neither a number nor unknown", s)
		}
		return n, nil
	})
}

// metaSerial is a number that is 0 if unknown.
func metaSerial[N uint32 | uint64](m metaIO, key string, p *N) {
	metaValue(m, key, p, 0, func(n N) string { return strconv.FormatUint(uint64(n), 10) },
		func(s string) (N, error) {
			n, err := strconv.ParseUint(s, 10, 64)
			if err != nil || uint64(N(n)) != n {
				return 0, fmt.Errorf("%q is not a number", s)
			}
			return N(n), nil
		})
}

func metaYes(m metaIO, key string, p *bool, byDefault bool) {
	metaValue(m, key, p, byDefault, func(yes bool) string {
		if yes {
			return "yes"
		}
		return "no"
	}, func(s string) (bool, error) {
		if s != "yes" && s != "no" {
			return false, fmt.Errorf("%q is neither yes nor no", s)
		}
		return s == "yes", nil
	})
}

func metaState(m metaIO, p *capture.State, byDefault capture.State) {
	metaValue(m, "state", p, byDefault, capture.State.String, capture.ParseState)
}

func metaID(m metaIO, p *uuid.UUID, byDefault uuid.UUID) {
	metaValue(m, "id", p, byDefault, uuid.UUID.String, uuid.Parse)
}

// metaStarted is an instant, or how long after another.
func metaStarted(m metaIO, p *time.Time, byDefault, before time.Time) {
	m.line("started", func() [][]string {
		if p.Equal(byDefault) {
			return nil
		}
		return [][]string{{p.UTC().Format(time.RFC3339Nano)}}
	}, func(lines [][]string) error {
		if *p = byDefault; len(lines) == 0 {
			return nil
		}
		words, err := oneLine(lines)
		if err != nil {
			return err
		}
		if len(words) != 1 {
			return fmt.Errorf("%d words, want one", len(words))
		}
		if after, err := time.ParseDuration(words[0]); err == nil && words[0][0] == '+' {
			*p = before.Add(after)
			return nil
		}
		at, err := time.Parse(time.RFC3339Nano, words[0])
		if err != nil {
			return fmt.Errorf("%q is neither a time such as 2026-01-01T00:00:00Z nor +DURATION", words[0])
		}
		*p = at.UTC()
		return nil
	})
}

// metaPeer is a name and the other known facts about a peer.
func metaPeer(m metaIO, key string, p *capture.Peer, byDefault capture.Peer) {
	m.line(key, func() [][]string {
		if *p == byDefault {
			return nil
		}
		words := []string{p.Name}
		for _, f := range []struct{ name, value string }{{"addr", p.Addr}, {"url", p.URL}, {"how", p.How}} {
			if f.value != "" {
				words = append(words, f.name, f.value)
			}
		}
		return [][]string{words}
	}, func(lines [][]string) error {
		if *p = byDefault; len(lines) == 0 {
			return nil
		}
		words, err := oneLine(lines)
		if err != nil {
			return err
		}
		if len(words)%2 == 0 {
			return fmt.Errorf("want a name, then addr, url or how, each with its value")
		}
		*p, err = peerOf(words)
		return err
	})
}

// peerOf reads a name and pairs of words.
func peerOf(words []string) (capture.Peer, error) {
	p := capture.Peer{Name: words[0]}
	for i := 1; i < len(words); i += 2 {
		switch words[i] {
		case "addr":
			p.Addr = words[i+1]
		case "url":
			p.URL = words[i+1]
		case "how":
			p.How = words[i+1]
		default:
			return p, fmt.Errorf("unknown word %q; use addr, url or how", words[i])
		}
	}
	return p, nil
}

// metaRaw processes a list of raw bytes, each quoted on a separate line.
func metaRaw(m metaIO, key string, p *[][]byte) {
	m.line(key, func() [][]string {
		var lines [][]string
		for _, raw := range *p {
			lines = append(lines, []string{string(raw)})
		}
		return lines
	}, func(lines [][]string) error {
		*p = nil
		for _, words := range lines {
			if len(words) != 1 {
				return fmt.Errorf("%d words, want one; quote values with spaces", len(words))
			}
			*p = append(*p, []byte(words[0]))
		}
		return nil
	})
}

// metaTrailer processes raw fields; nil means no fields.
func metaTrailer(m metaIO, key string, p *[]byte) {
	m.line(key, func() [][]string {
		if *p == nil {
			return nil
		}
		return [][]string{{string(*p)}}
	}, func(lines [][]string) error {
		if len(lines) == 0 {
			return nil
		}
		words, err := oneLine(lines)
		if err == nil && len(words) != 1 {
			err = fmt.Errorf("%d words, want one; quote values with spaces", len(words))
		}
		if err == nil {
			*p = []byte(words[0])
		}
		return err
	})
}

// metaWords is a list of lines of so many words each.
func metaWords(m metaIO, key string, each int, lines *[][]string) {
	m.line(key, func() [][]string { return *lines }, func(read [][]string) error {
		for _, words := range read {
			if len(words) != each {
				return fmt.Errorf("%d words, want %d; quote values with spaces", len(words), each)
			}
		}
		*lines = read
		return nil
	})
}
