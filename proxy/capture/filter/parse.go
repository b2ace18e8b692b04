package filter

import (
	"strings"
	"unicode"
)

// maxFilterDepth bounds the recursion, far above the nesting of real filters.
const maxFilterDepth = 100

func (p *parser) alternatives() (node, error) {
	var list anyOf
	for {
		n, err := p.together()
		if err != nil {
			return nil, err
		}
		if inner, ok := n.(anyOf); ok {
			list = append(list, inner...)
		} else {
			list = append(list, n)
		}
		if p.operator() != "or" {
			break
		}
		p.pos += len("or")
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

func (p *parser) together() (node, error) {
	var list allOf
	for {
		n, err := p.negation()
		if err != nil {
			return nil, err
		}
		if inner, ok := n.(allOf); ok {
			list = append(list, inner...)
		} else {
			list = append(list, n)
		}
		p.blanks()
		op := p.operator()
		if op == "and" {
			p.pos += len(op)
		} else if op == "or" || p.end() || p.peek() == ')' {
			break
		}
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return list, nil
}

func (p *parser) negation() (node, error) {
	if p.depth++; p.depth > maxFilterDepth {
		return nil, p.errorf(p.pos, "the expression is nested too deep, more than %d times", maxFilterDepth)
	}
	defer func() { p.depth-- }()
	p.blanks()
	switch op := p.operator(); {
	case op == "not":
		p.pos += len(op)
	case op != "":
		return nil, p.errorf(p.pos, "there is nothing before %q; quote it to search for it", op)
	case p.peek() == '-' && p.pos+1 < len(p.in) && (p.in[p.pos+1] == '(' || !p.delimiter(p.pos+1)):
		p.pos++
	default:
		return p.primary()
	}
	n, err := p.negation()
	if err != nil {
		return nil, err
	}
	return negate{n}, nil
}

func (p *parser) primary() (node, error) {
	switch {
	case p.end():
		return nil, p.errorf(p.pos, "the expression ends where a word or a parenthesis should follow")
	case p.peek() == ')':
		return nil, p.errorf(p.pos, "there is no word before this parenthesis; quote it to search for it")
	case p.peek() == '(':
		return p.parenthesis()
	}
	start := p.pos
	if err := p.foreign(); err != nil {
		return nil, err
	}
	name := p.keyName()
	if name == "" {
		pat, err := p.pattern(pathLike, "")
		if err != nil {
			return nil, err
		}
		if pat.empty() {
			return nil, p.errorf(start, "an empty word matches everything; leave it out")
		}
		return textTerm{pat}, nil
	}
	key := findKey(name)
	if key == nil {
		return nil, p.errorf(start, "unknown key %q; %suse %s; quote the word to search for it literally", name,
			meant(name, keyNames), strings.Join(keyNames, " "))
	}
	if p.delimiter(p.pos) {
		return nil, p.errorf(p.pos, "%s has no value; write something like %s", key.Name, key.Example)
	}
	t, err := key.parse(p, key)
	if err != nil {
		return nil, err
	}
	if t == isTest("finding") { // any rule
		f, err := Parse("rule:*")
		return f.root, err
	}
	return keyTerm{key: key, test: t}, nil
}

func (p *parser) parenthesis() (node, error) {
	open := p.pos
	p.pos++
	n, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if p.peek() != ')' {
		return nil, p.errorf(open, "this parenthesis is not closed")
	}
	p.pos++
	return n, nil
}

// foreignSigns are operators of other tools, each with its equivalent here.
var foreignSigns = []struct{ sign, here string }{
	{"&&", "and between them, or nothing"},
	{"||", "or between them"},
	{"&", "and between them, or nothing"},
	{"|", "or between them"},
	{"==", "KEY:VALUE"},
	{"!", "-KEY:VALUE or not KEY:VALUE"},
	{"~", "KEY:VALUE, such as status:404"},
}

// foreign returns an error if a word begins as in other tools' filters, or has an operator after a key: as a plain text
// search, it would silently find nothing.
func (p *parser) foreign() error {
	rest := string(p.in[p.pos:])
	for _, f := range foreignSigns {
		if strings.HasPrefix(rest, f.sign) {
			return p.errorf(p.pos, "unknown operator %q; write %s; quote the word to search for it literally", f.sign,
				f.here)
		}
	}
	end := p.pos
	for end < len(p.in) && keyRune(p.in[end]) {
		end++
	}
	name, tail := strings.ToLower(string(p.in[p.pos:end])), string(p.in[end:])
	if findKey(name) == nil {
		return nil
	}
	for _, sign := range []string{"!=", "=", "<", ">"} {
		if !strings.HasPrefix(tail, sign) {
			continue
		}
		write := name + ":VALUE"
		switch sign {
		case "!=":
			write = "-" + write
		case "<", ">":
			write = name + ":" + sign + "VALUE"
		}
		return p.errorf(end, "unknown operator %q; write %s; quote the word to search for it literally", sign, write)
	}
	return nil
}

// keyName consumes the key and the colon that begin a word and returns the key, or "" if none does.
func (p *parser) keyName() string {
	end := p.pos
	for end < len(p.in) && keyRune(p.in[end]) {
		end++
	}
	if end == p.pos || end >= len(p.in) || p.in[end] != ':' {
		return ""
	}
	name := strings.ToLower(string(p.in[p.pos:end]))
	p.pos = end + 1
	return name
}

// keyRune reports whether r may be in a key. A word that begins with such characters and a colon has a key.
func keyRune(r rune) bool {
	return r == '_' || r == '-' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
