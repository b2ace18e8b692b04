package client

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
)

// maxEvent bounds the data of one server-sent event, in bytes.
const maxEvent = 16 << 20

var errEventTooLarge = errors.New("an event is larger than 16 MiB")

// A serverEvent is a server-sent event.
type serverEvent struct {
	name string // of its field event; empty if it has none
	data []byte // the caller's
}

// events yields each server-sent event that r dispatches (WHATWG HTML, section 9.2.6): fields other than event and data
// are skipped, and an event that no blank line ends is lost. An error comes last, with an empty event.
func events(r io.Reader) iter.Seq2[serverEvent, error] {
	return func(yield func(serverEvent, error) bool) {
		lines := &lineReader{r: bufio.NewReader(r)}
		var name string
		var data []byte
		seen := false // a data field: its content may be empty
		for {
			line, err := lines.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(serverEvent{}, err)
				return
			}
			if len(line) > 0 {
				switch field, value := field(line); field {
				case "data":
					data, seen = append(append(data, value...), '\n'), true
				case "event":
					name = string(value)
				}
				if len(data) > maxEvent {
					yield(serverEvent{}, errEventTooLarge)
					return
				}
				continue
			}
			if seen && !yield(serverEvent{name, data[:len(data)-1]}, nil) {
				return
			}
			name, data, seen = "", nil, false
		}
	}
}

// field returns the name and the value of a field.
func field(line []byte) (name string, value []byte) {
	before, value, _ := bytes.Cut(line, []byte(":"))
	return string(before), bytes.TrimPrefix(value, []byte(" "))
}

// A lineReader cuts a stream into lines, which end in CR, LF or both.
type lineReader struct {
	r       *bufio.Reader
	started bool
	afterCR bool // the previous line ended in CR: a LF now belongs to it
}

// next returns a line without its end. A last line without an end is not returned. The slice is valid until the
// next call, and is never longer than maxEvent and a little.
func (l *lineReader) next() ([]byte, error) {
	if !l.started {
		l.started = true
		if mark, err := l.r.Peek(3); err == nil && string(mark) == "\ufeff" {
			l.r.Discard(3) // the bytes are there
		}
	}
	var line []byte
	for {
		b, err := l.r.ReadByte()
		if err != nil {
			return nil, err
		}
		wasCR := l.afterCR
		l.afterCR = b == '\r'
		switch {
		case b == '\n' && wasCR:
		case b == '\n', b == '\r':
			return line, nil
		case len(line) > maxEvent:
			return nil, errEventTooLarge
		default:
			line = append(line, b)
		}
	}
}
