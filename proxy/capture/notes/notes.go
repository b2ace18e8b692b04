// Package notes keeps users' marks and comments on exchanges. They are in a text file next to the capture, which itself
// is never changed.
//
// People can read and edit the file: each line has an exchange's number, its id, x if it is marked (else -), and the
// comment. A comment that does not fit on a line unchanged is quoted like a Go string. Lines that begin with # are
// ignored.
//
//	# Marks (x) and comments of the exchanges in the capture next to this file.
//	3 0190a5c4-0000-7000-8000-000000000001 x the first one that fails
//	7 0190a5c4-0000-7000-8000-000000000002 - why is there no artifact?
//
// Notes identify an exchange by its id, so they stay right however a capture was copied. They use the number only if
// the exchange has no id. Unreadable lines stay in the file unmodified, and Bad names them.
package notes

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"a2atap/proxy/safetext"
)

// suffix ends the name of a file of notes, behind the name of its capture.
const suffix = ".notes"

// maxComment bounds a comment, in bytes. What is longer is cut.
const maxComment = 16 << 10

// Path returns where the notes on a capture are.
func Path(capture string) string { return capture + suffix }

// A Note is a user's note on one exchange. A note without a mark and a comment is empty.
type Note struct {
	Seq     uint64    // number of the exchange in its capture, when the note was made
	ID      uuid.UUID // of the exchange; uuid.Nil if it has none
	Marked  bool
	Comment string
}

// Empty reports whether the note has neither a mark nor a comment.
func (n Note) Empty() bool { return !n.Marked && n.Comment == "" }

// Marks returns the marks of the exchange, by name.
func (n Note) Marks() []string {
	if n.Marked {
		return []string{"marked"}
	}
	return nil
}

// key is what an exchange is known by.
type key struct {
	id  uuid.UUID
	seq uint64 // 0 if there is an id
}

func keyOf(seq uint64, id uuid.UUID) key {
	if id == uuid.Nil {
		return key{seq: seq}
	}
	return key{id: id}
}

// Notes are the notes on one capture. They do not change, so any number of goroutines may read them; the zero value and
// nil have none.
type Notes struct {
	lines []line
	of    map[key]int    // index of the line
	by    map[uint64]int // the same by number
	bad   []Bad
}

// A line is a note, or a text that is kept as it is.
type line struct {
	note  Note
	plain string // without its end
	is    bool   // a note
}

// A Bad is a line that cannot be read.
type Bad struct {
	Line int // from 1
	Why  string
}

const preface = "# Marks (x) and comments of the exchanges in the capture next to this file: number, id, x or -, comment."

// parse reads a file of notes. It takes any bytes. Of two lines about one exchange the last counts.
func parse(data []byte) *Notes {
	n := &Notes{}
	for text := range bytes.Lines(data) {
		l, why := parseLine(string(bytes.TrimSuffix(text, []byte("\n"))))
		if why != "" {
			n.bad = append(n.bad, Bad{len(n.lines) + 1, why})
		}
		n.lines = append(n.lines, l)
	}
	n.index()
	return n
}

func (n *Notes) index() {
	n.of, n.by = make(map[key]int), make(map[uint64]int)
	for i := range n.lines {
		if note := n.lines[i].note; n.lines[i].is {
			n.of[keyOf(note.Seq, note.ID)] = i
			n.by[note.Seq] = i
		}
	}
}

// parseLine parses a line, or returns why it cannot.
func parseLine(text string) (l line, why string) {
	l.plain = text
	text = strings.TrimSuffix(text, "\r")
	if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "#") {
		return l, ""
	}
	words := strings.SplitN(text, " ", 4)
	if len(words) < 3 {
		return l, "write a number, an id, x or -, and a comment"
	}
	seq, err := strconv.ParseUint(words[0], 10, 64)
	if err != nil || seq == 0 {
		return l, fmt.Sprintf("%.20q is not the number of an exchange", words[0])
	}
	var id uuid.UUID
	if words[1] != "-" {
		if id, err = uuid.Parse(words[1]); err != nil || len(words[1]) != 36 {
			return l, fmt.Sprintf("%.40q is not the id of an exchange", words[1])
		}
	}
	if words[2] != "x" && words[2] != "-" {
		return l, fmt.Sprintf("%.20q is neither x, marked, nor -, not marked", words[2])
	}
	note := Note{Seq: seq, ID: id, Marked: words[2] == "x"}
	if len(words) == 4 {
		if note.Comment, why = parseComment(words[3]); why != "" {
			return l, why
		}
	}
	return line{note: note, is: true}, ""
}

func parseComment(text string) (comment, why string) {
	if !strings.HasPrefix(text, `"`) {
		if !plain(text) {
			return "", "the comment has characters that must be written as a quoted Go string"
		}
		return safetext.Cut(text, maxComment), ""
	}
	comment, err := strconv.Unquote(text)
	if err != nil {
		return "", "the quotes around the comment do not match"
	}
	return safetext.Cut(comment, maxComment), ""
}

// plain reports whether a comment needs no quotes.
func plain(comment string) bool {
	return utf8.ValidString(comment) && !strings.HasPrefix(comment, `"`) && strings.TrimSpace(comment) == comment &&
		!strings.ContainsFunc(comment, func(r rune) bool { return !unicode.IsPrint(r) })
}

// String returns the line of a note.
func (n Note) String() string {
	id, mark, comment := "-", "-", safetext.Cut(n.Comment, maxComment)
	if n.ID != uuid.Nil {
		id = n.ID.String()
	}
	if n.Marked {
		mark = "x"
	}
	if !plain(comment) {
		comment = strconv.Quote(comment)
	}
	return strings.TrimSuffix(fmt.Sprintf("%d %s %s %s", n.Seq, id, mark, comment), " ")
}

// Format returns the file.
func (n *Notes) Format() []byte {
	var b bytes.Buffer
	for i := range n.lines {
		if n.lines[i].is {
			b.WriteString(n.lines[i].note.String())
		} else {
			b.WriteString(n.lines[i].plain)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Of returns the note on an exchange; may be empty.
func (n *Notes) Of(seq uint64, id uuid.UUID) Note {
	if n != nil {
		if i, there := n.of[keyOf(seq, id)]; there {
			return n.lines[i].note
		}
	}
	return Note{Seq: seq, ID: id}
}

// Numbered returns the note on the exchange with that number; may be empty. Unlike Numbered, Of also works for partial
// copies of a capture.
func (n *Notes) Numbered(seq uint64) Note {
	if n != nil {
		if i, there := n.by[seq]; there {
			return n.lines[i].note
		}
	}
	return Note{Seq: seq}
}

// All returns the notes that say something, in order of their numbers.
func (n *Notes) All() []Note {
	if n == nil {
		return nil
	}
	var all []Note
	for _, i := range n.of {
		if note := n.lines[i].note; !note.Empty() {
			all = append(all, note)
		}
	}
	slices.SortFunc(all, func(a, b Note) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return all
}

// Bad returns the lines that cannot be read.
func (n *Notes) Bad() []Bad {
	if n == nil {
		return nil
	}
	return n.bad
}

// With returns the notes with these in the place of those on the same exchanges. An empty one takes a note away.
func (n *Notes) With(changed ...Note) *Notes {
	out := &Notes{}
	if n != nil {
		out.lines, out.bad = slices.Clone(n.lines), n.bad
	}
	if len(out.lines) == 0 {
		out.lines = []line{{plain: preface}}
	}
	for _, note := range changed {
		out.put(note)
	}
	out.index()
	return out
}

// put replaces the last note on the same exchange. Without one, it inserts the note before the first greater number. An
// empty note deletes the notes on its exchange.
func (n *Notes) put(note Note) {
	note.Comment = safetext.Cut(note.Comment, maxComment)
	of := keyOf(note.Seq, note.ID)
	same := func(l line) bool { return l.is && keyOf(l.note.Seq, l.note.ID) == of }
	if note.Empty() {
		n.lines = slices.DeleteFunc(n.lines, same)
		return
	}
	for i, l := range slices.Backward(n.lines) {
		if same(l) {
			n.lines[i].note = note
			return
		}
	}
	at := slices.IndexFunc(n.lines, func(l line) bool { return l.is && l.note.Seq > note.Seq })
	if at < 0 {
		at = len(n.lines)
	}
	n.lines = slices.Insert(n.lines, at, line{note: note, is: true})
}
