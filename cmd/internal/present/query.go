package present

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/itchyny/gojq"

	"a2atap/cmd/internal/cli"
	"a2atap/tui/terminal"
	"a2atap/tui/text"
)

// A Query is a writer of JSON lines. It runs a jq program on each line, and writes one line per result, strings without
// quotes. The program cannot read files, the environment or the network.
type Query struct {
	w        io.Writer
	code     *gojq.Code
	terminal bool
	rest     []byte // of an incomplete line
}

// NewQuery compiles a program whose results are written to w.
func NewQuery(w io.Writer, program string) (*Query, error) {
	query, err := gojq.Parse(program)
	if err != nil {
		return nil, cli.Usage("--jq %q: %v", program, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return nil, cli.Usage("--jq %q: %v", program, err)
	}
	return &Query{w: w, code: code, terminal: terminal.Is(w)}, nil
}

// Write implements io.Writer.
func (q *Query) Write(data []byte) (int, error) {
	q.rest = append(q.rest, data...)
	for {
		line, rest, ended := bytes.Cut(q.rest, []byte("\n"))
		if !ended {
			return len(data), nil
		}
		if err := q.line(line); err != nil {
			return 0, err
		}
		q.rest = append(q.rest[:0], rest...)
	}
}

func (q *Query) line(line []byte) error {
	var input any
	numbers := json.NewDecoder(bytes.NewReader(line))
	numbers.UseNumber()
	if err := numbers.Decode(&input); err != nil {
		return fmt.Errorf("decode a line for --jq: %w", err)
	}
	for results := q.code.Run(input); ; {
		result, more := results.Next()
		if !more {
			return nil
		}
		if err, failed := result.(error); failed {
			return fmt.Errorf("--jq: %w", err)
		}
		out, is := result.(string)
		if !is {
			text, err := gojq.Marshal(result)
			if err != nil {
				return err
			}
			out = string(text)
		}
		if q.terminal {
			out = text.Clean(out)
		}
		if _, err := fmt.Fprintln(q.w, out); err != nil {
			return err
		}
	}
}
