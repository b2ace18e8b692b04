package noise

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxLine bounds a line of a file, in bytes.
const maxLine = 1 << 16

// Read reads a file of rules: one a line, [OPERATION:]POINTER or [OPERATION:]POINTER=REGEXP. Empty lines are ignored,
// and a comment begins with # at the beginning of a line or after a blank; an expression that needs a blank and # has
// \x20#. The name is for error messages, which also have the line number.
func Read(r io.Reader, name string) ([]Rule, error) {
	var rules []Rule
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if !utf8.Valid(lines.Bytes()) {
			return nil, fmt.Errorf("%s:%d: the line is not UTF-8; is this a file of rules?", name, n)
		}
		text := withoutComment(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" {
			continue
		}
		rule, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		rule.origin = fmt.Sprintf("%s:%d", name, n)
		rules = append(rules, rule)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: the line has more than %d bytes; is this a file of rules?", name, n+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return rules, nil
}

// withoutComment returns a line without its comment.
func withoutComment(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') {
			line = line[:i]
			break
		}
	}
	return strings.TrimSpace(line)
}
