package jsondoc

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/budget"
)

// Bounds of the input of Parse. Nesting deeper than 10000 levels is also rejected.
const (
	maxTextSize   = 1 << 30 // bytes
	maxNodes      = budget.ReadNodes
	maxDuplicates = 16 // that are remembered
)

// A Doc is a JSON text that was parsed, as well as it could be.
type Doc struct {
	Root        Value        // Absent if Err is not nil, unless the fault is only in what follows the value
	Err         *SyntaxError // nil if the text is one well-formed JSON value (RFC 8259 §2)
	Duplicates  []Duplicate  // members that repeat a name in their object; the first 16, inner objects first
	BOM         bool         // the text begins with a byte order mark, which is skipped (RFC 8259 §8.1)
	InvalidUTF8 int          // offset of the first byte that is not UTF-8, or -1
	Trailing    bool         // something other than white space follows the value
}

// Size is the approximate memory of a Doc in bytes, in addition to the text.
func (d *Doc) Size() int {
	if d.Root.tape == nil {
		return 0
	}
	return len(d.Root.tape.nodes) * int(unsafe.Sizeof(node{}))
}

// A SyntaxError is the reason why a text is not well-formed JSON.
type SyntaxError struct {
	Offset    int64  // in bytes, where the text stops making sense
	Reason    string // lower case, no final period
	Truncated bool   // it stops making sense because it ends: it may be the beginning of well-formed JSON
	Limit     bool   // it was not read to its end, since it is too large or too deep: it may be well-formed
}

// Error returns the reason and the offset.
func (e *SyntaxError) Error() string {
	return e.Reason + " at byte " + strconv.FormatInt(e.Offset, 10)
}

// A Duplicate is a member of an object that repeats a name.
type Duplicate struct {
	Pointer string // of the member; it names the first one with that name just as well
	Name    string
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

var texts atomic.Uint64

// Texts returns the number of calls of Parse since the program started. It shows if a text is parsed twice.
func Texts() uint64 { return texts.Load() }

// Looks reports whether a text looks like an object or an array.
func Looks(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// Parse parses a JSON text. The bytes must not be changed while the Doc is in use.
func Parse(data []byte) Doc {
	texts.Add(1)
	doc := Doc{InvalidUTF8: invalidUTF8(data)}
	if len(data) > maxTextSize {
		doc.Err = &SyntaxError{Offset: maxTextSize, Reason: "text is larger than 1 GiB", Limit: true}
		return doc
	}
	p := parsers.Get().(*parser)
	defer p.release()
	p.data = data
	if doc.BOM = bytes.HasPrefix(data, byteOrderMark); doc.BOM {
		p.end = len(byteOrderMark)
	}
	p.mangled = doc.InvalidUTF8 >= 0
	if begin := p.end; !p.scan() {
		p.restart(begin)
		if doc.Err = p.decode(); doc.Err != nil {
			return doc
		}
	}
	doc.Root = Value{&tape{data, p.take()}, 0}
	doc.Duplicates = slices.Clone(p.duplicates)
	for i := p.end; i < len(data); i++ {
		if !isSpace(data[i]) {
			doc.Trailing = true
			doc.Err = &SyntaxError{Offset: int64(i), Reason: "more text after the JSON value"}
			break
		}
	}
	return doc
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// A parser puts the values of one text on a tape. Its parts are used again for the next text.
type parser struct {
	data       []byte
	buffer     bytes.Buffer      // over data, which the decoder reads in place
	decoder    *jsontext.Decoder // made when it is first needed
	end        int               // of the input read so far
	mangled    bool
	nodes      []node
	open       []frame
	names      []uint32
	duplicates []Duplicate
}

// A frame is an object or array that is not closed yet.
type frame struct {
	node  uint32
	name  uint32 // node of the last member name
	named bool   // the name was read, its value was not
	count int    // values so far
}

var parsers = sync.Pool{New: func() any { return &parser{} }}

// keptNodes is how many nodes a parser has room for at most when it is used again.
const keptNodes = 64 << 10

// reserve allocates the rest of the nodes at once if there are many: growing step by step would allocate and discard
// several times as much. Each value and name in the rest of the text comes after one of four characters, which may also
// occur in strings.
func (p *parser) reserve(from int) {
	if len(p.nodes) < keptNodes {
		return
	}
	p.nodes = slices.Grow(p.nodes, max(min(MostNodes(p.data[from:]), maxNodes-len(p.nodes)), 0)+1)
}

// MostNodes returns how many values and names a text may have at most, without a parse.
func MostNodes(text []byte) int {
	n := 1
	for _, sign := range []string{",", ":", "[", "{"} {
		n += bytes.Count(text, []byte(sign))
	}
	return n
}

// take returns the nodes in a separate slice. A long slice is returned without copying.
func (p *parser) take() []node {
	if len(p.nodes) <= keptNodes || len(p.nodes) < cap(p.nodes)/2 {
		return slices.Clone(p.nodes)
	}
	nodes := p.nodes
	p.nodes = nil
	return nodes
}

// release returns the parser to the pool without its data.
func (p *parser) release() {
	if cap(p.nodes) > keptNodes || cap(p.open) > keptNodes || cap(p.names) > keptNodes {
		return
	}
	if p.decoder != nil {
		p.buffer = bytes.Buffer{}
		p.decoder.Reset(&p.buffer)
	}
	p.restart(0)
	p.data = nil
	parsers.Put(p)
}

// restart discards the nodes, so that the text can be read again from end on.
func (p *parser) restart(end int) {
	p.end = end
	p.nodes, p.open, p.duplicates = p.nodes[:0], p.open[:0], p.duplicates[:0]
}

// decode does what scan does, more slowly, and reports the error in the text.
func (p *parser) decode() *SyntaxError {
	base := p.end
	p.buffer = *bytes.NewBuffer(p.data[base:len(p.data):len(p.data)])
	if p.decoder == nil {
		p.decoder = jsontext.NewDecoder(&p.buffer)
	}
	p.decoder.Reset(&p.buffer, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := p.decoder.ReadToken()
		if err != nil {
			return p.failed(err, base)
		}
		start := p.end
		for isSpace(p.data[start]) || p.data[start] == ',' || p.data[start] == ':' {
			start++
		}
		p.end = base + int(p.decoder.InputOffset())
		switch kind := token.Kind(); kind {
		case '}', ']':
			p.close()
		default:
			p.add(kindOf(kind), start)
		}
		if len(p.open) == 0 {
			return nil
		}
		if len(p.nodes) >= maxNodes {
			return &SyntaxError{Offset: int64(p.end), Reason: "text holds too many values", Limit: true}
		}
	}
}

func kindOf(k jsontext.Kind) Kind {
	switch k {
	case 'n':
		return Null
	case 't', 'f':
		return Bool
	case '"':
		return String
	case '0':
		return Number
	case '{':
		return Object
	}
	return Array
}

// add puts a value, the name of a member, or the beginning of an object or array on the tape.
func (p *parser) add(kind Kind, start int) {
	index := uint32(len(p.nodes))
	n := node{start: uint32(start), end: uint32(p.end), after: index + 1, kind: kind}
	if kind == String {
		n.escaped = p.mangled || bytes.IndexByte(p.data[start:p.end], '\\') >= 0
	}
	if len(p.nodes) == cap(p.nodes) {
		p.reserve(p.end)
	}
	p.nodes = append(p.nodes, n)
	if len(p.open) > 0 {
		f := &p.open[len(p.open)-1]
		if p.nodes[f.node].kind == Object && !f.named {
			f.name, f.named = index, true
		} else {
			f.named = false
			f.count++
		}
	}
	if kind == Object || kind == Array {
		p.open = append(p.open, frame{node: index})
	}
}

// close ends the innermost object or array.
func (p *parser) close() {
	f := p.open[len(p.open)-1]
	n := &p.nodes[f.node]
	n.end, n.after = uint32(p.end), uint32(len(p.nodes))
	if n.kind == Object && f.count > 1 {
		p.findDuplicates(f)
	}
	p.open = p.open[:len(p.open)-1]
}

// failed explains an error of the decoder, whose offsets count from base.
func (p *parser) failed(err error, base int) *SyntaxError {
	e := &SyntaxError{Offset: int64(len(p.data)), Reason: "the text ends before the value does"}
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		e.Truncated = true
		if len(bytes.TrimLeft(p.data[base:], " \t\r\n")) == 0 {
			e.Reason = "there is no value"
		}
		return e
	}
	e.Reason = err.Error()
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		e.Offset = int64(base) + syntactic.ByteOffset
		e.Reason = strings.TrimPrefix(syntactic.Err.Error(), "jsontext: ")
	}
	e.Limit = p.decoder.StackDepth() >= maxDepth
	return e
}

const maxDepth = 10000 // the decoder's own

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
