package filter

import (
	"fmt"
	"strings"
	"unicode"
)

// parser reads a filter expression:
//
//	alternatives = together { "or" together }
//	together     = negation { [ "and" ] negation }
//	negation     = { "not" | "-" } ( "(" alternatives ")" | word )
//	word         = [ key ":" ] value
type parser struct {
	in    []rune
	pos   int
	depth int // of parentheses and negations
}

func (p *parser) errorf(at int, format string, args ...any) error {
	return &Error{Column: at + 1, Message: fmt.Sprintf(format, args...)}
}

// An Error is a syntax error in a filter expression, with its position. Parse returns it.
type Error struct {
	Column  int // in characters, from 1
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("filter: column %d: %s", e.Column, e.Message)
}

func (p *parser) end() bool { return p.pos >= len(p.in) }

// peek returns the next character, 0 at the end.
func (p *parser) peek() rune {
	if p.end() {
		return 0
	}
	return p.in[p.pos]
}

func (p *parser) blanks() {
	for !p.end() && unicode.IsSpace(p.in[p.pos]) {
		p.pos++
	}
}

// delimiter reports whether a word ends before position i.
func (p *parser) delimiter(i int) bool {
	return i >= len(p.in) || unicode.IsSpace(p.in[i]) || p.in[i] == '(' || p.in[i] == ')'
}

// operator returns the operator at the current position, in lower case, or "".
func (p *parser) operator() string {
	end := p.pos
	for !p.delimiter(end) {
		end++
	}
	return operatorWord(string(p.in[p.pos:end]))
}

func operatorWord(word string) string {
	switch word = strings.ToLower(word); word {
	case "or", "and", "not":
		return word
	}
	return ""
}
