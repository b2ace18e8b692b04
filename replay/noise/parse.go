package noise

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// ParseIgnore reads a rule that excludes a value from the comparison: [OPERATION:]POINTER.
func ParseIgnore(text string) (Rule, error) {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "=") {
		return Rule{}, fmt.Errorf("%q has an expression, which only --match accepts; write * for a name with = in it", text)
	}
	return parsePlace(text)
}

// ParseMatch reads a rule that requires an entire live value to match an expression: [OPERATION:]POINTER=REGEXP.
// Expressions have the syntax of package regexp.
func ParseMatch(text string) (Rule, error) {
	text = strings.TrimSpace(text)
	at, expression, found := strings.Cut(text, "=")
	if !found || expression == "" {
		return Rule{}, fmt.Errorf("%q has no expression; write [OPERATION:]POINTER=REGEXP", text)
	}
	r, err := parsePlace(at)
	if err != nil {
		return Rule{}, err
	}
	if _, err = regexp.Compile(expression); err != nil { // by itself, so that its parentheses are its own
		return Rule{}, fmt.Errorf("%w; expressions are written as in Go, see https://pkg.go.dev/regexp/syntax", err)
	}
	if r.want, err = regexp.Compile(`\A(?:` + expression + `)\z`); err != nil {
		return Rule{}, err
	}
	r.text, r.wanted = text, expression
	return r, nil
}

// parse reads a rule of either kind: an equals sign begins an expression.
func parse(text string) (Rule, error) {
	if strings.Contains(text, "=") {
		return ParseMatch(text)
	}
	return ParseIgnore(text)
}

// place is a place as reports print it.
var place = regexp.MustCompile(`^([0-9]+)\.(request|response)(?:\.body|\.event\[[0-9]+\])?(.*)$`)

// parsePlace reads [OPERATION:]POINTER or a whole place.
func parsePlace(text string) (Rule, error) {
	r := Rule{text: text}
	rest := text
	if m := place.FindStringSubmatch(text); m != nil {
		var err error
		if r.exchange, err = strconv.ParseUint(m[1], 10, 64); err != nil || r.exchange == 0 {
			return Rule{}, fmt.Errorf("%q: exchanges are numbered from 1", text)
		}
		if r.part = response; m[2] == "request" {
			r.part = request
		}
		rest = strings.TrimPrefix(m[3], ".")
	} else if operation, pointer, found := strings.Cut(text, ":"); found && !begins(text) {
		if rest = pointer; operation != "*" {
			var err error
			if r.operation, err = a2a.ParseOperation(operation); err != nil {
				return Rule{}, err
			}
		}
	}
	return r, r.readPointer(rest)
}

// begins reports whether a text begins like a place without an operation.
func begins(text string) bool {
	return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "header[")
}

// readPointer reads a JSON Pointer, header[NAME] or status.
func (r *Rule) readPointer(text string) error {
	if name, ok := strings.CutPrefix(text, "header["); ok {
		if r.header, ok = strings.CutSuffix(name, "]"); !ok || r.header == "" {
			return fmt.Errorf("%q: write header[NAME], such as header[Content-Type]", r.text)
		}
		return nil
	}
	if r.status = text == "status"; r.status {
		return nil
	}
	text = strings.TrimPrefix(text, "#")
	if text == "" || text == "/" {
		return fmt.Errorf("%q names whole answers; name a member, such as /metadata/took, "+
			"or leave exchanges out with --filter", r.text)
	}
	if text[0] != '/' {
		return fmt.Errorf("%q: a JSON Pointer begins with a slash; write %q, OPERATION:POINTER, header[NAME] or status",
			r.text, "/"+text)
	}
	var err error
	r.pointer, err = capture.ParsePointer(text)
	return err
}
