package fleet

import (
	"strings"

	"github.com/google/uuid"
)

// maxRun bounds the bytes that the parts of one block may have together.
const maxRun = 64 << 20

// An assembler puts the messages of one subject together that are parts of a block. A run of parts that does not end is
// dropped: its publisher begins it again, or what comes after it shows the gap.
type assembler struct {
	first, last uint64
	parts       int
	next        int // the part that is expected; 0 if no run has begun
	data        []byte
}

// add takes the next message and returns the data of whole blocks, if it completes any.
func (a *assembler) add(m *Message) (data []byte, complete bool) {
	if m.Parts == 1 {
		a.drop()
		return m.Data, true
	}
	if m.Part == 1 {
		*a = assembler{first: m.First, last: m.Last, parts: m.Parts, next: 1}
	}
	if m.Part != a.next || m.First != a.first || m.Last != a.last || m.Parts != a.parts ||
		len(a.data)+len(m.Data) > maxRun {
		a.drop()
		return nil, false
	}
	a.data = append(a.data, m.Data...)
	if a.next++; a.next <= a.parts {
		return nil, false
	}
	data = a.data
	a.drop()
	return data, true
}

func (a *assembler) drop() { *a = assembler{} }

// maxRuns bounds the bytes of all runs of parts that have not ended, of recorders and of whoever else publishes.
const maxRuns = 256 << 20

// add takes the next message of a run, and sees to it that all runs together stay within bounds: those of others are
// dropped then, which their next blocks show as a gap.
func (r *Reader) add(run *assembler, m *Message) (data []byte, complete bool) {
	before := len(run.data)
	data, complete = run.add(m)
	r.parts += len(run.data) - before
	if r.parts <= maxRuns {
		return data, complete
	}
	for _, other := range r.runs {
		if other != run {
			other.drop()
		}
	}
	r.parts = len(run.data)
	r.once("parts", "more blocks are begun, and not ended, than can be held; those of others than the last are left out")
	return data, complete
}

// sender returns the host that a subject is of, and whether a message may stand there: on the subject of its
// recorder and nowhere below or beside it, since a server can be told who may publish to which. A stream of no name
// may be a copy of any. The host of a message that cannot be read is a token of the subject.
func sender(stream, subject string, m *Message) (host string, own bool) {
	tokens := strings.Split(subject, ".")
	if len(tokens) < 3 {
		return subject, false
	}
	if host = tokens[2]; m == nil || m.Recorder.Host == "" {
		return host, true
	}
	if stream == "" {
		stream = tokens[1]
	}
	if m.Recorder.Subject(stream) != subject {
		return host, false
	}
	return m.Recorder.Host, true
}

// ofCapture returns the host, as a token, and the capture whose messages are on a subject; false for one of others.
func ofCapture(subject string) (host string, id uuid.UUID, ok bool) {
	tokens := strings.Split(subject, ".")
	if len(tokens) != 4 {
		return "", id, false
	}
	id, err := uuid.Parse(tokens[3])
	return tokens[2], id, err == nil && subject == subjectOf(tokens[1], tokens[2], id)
}
