package exchangejson

import (
	"fmt"
	"io"

	"a2atap/proxy/budget"
)

// A Limit reads a file, and fails where one record of it is longer than any may be. Next begins a record.
type Limit struct {
	r    io.Reader
	read int64 // since the record began
}

// NewLimit returns a reader of records.
func NewLimit(r io.Reader) *Limit { return &Limit{r: r} }

// ErrRecord says that a record is too long.
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

// Next begins a record.
func (l *Limit) Next() { l.read = 0 }
