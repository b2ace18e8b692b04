package exchangejson

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/budget"
)

// A Limit reads a file, and fails where one record of it is longer than any may be. Next begins a record.
type Limit struct {
	r    io.Reader
	read int64 // since the record began
}

// NewLimit returns a reader of records.
func NewLimit(r io.Reader) *Limit { return &Limit{r: r} }

// ErrRecord means that a record is too long.
var ErrRecord = fmt.Errorf("an exchange has more than %d MiB", budget.FileRecord>>20)

// Read implements io.Reader.
func (l *Limit) Read(p []byte) (int, error) {
	if l.read >= budget.FileRecord {
		return 0, ErrRecord
	}
	n, err := l.r.Read(p[:min(int64(len(p)), budget.FileRecord-l.read)])
	l.read += int64(n)
	return n, err
}

// errNodes means that a record would take too much memory, short as it is.
var errNodes = fmt.Errorf("an exchange has more than %d lists and objects", budget.FileNodes)

// CheckNodes returns an error if a record has more lists and objects than any may have.
func CheckNodes(record []byte) error {
	if len(record) < 2*budget.FileNodes {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(record), Lenient)
	for n := 0; n <= budget.FileNodes; {
		switch token, err := dec.ReadToken(); {
		case err != nil: // its end, or what reading it will report
			return nil
		case token.Kind() == '{', token.Kind() == '[':
			n++
		}
	}
	return errNodes
}

// Next begins a record.
func (l *Limit) Next() { l.read = 0 }
