package fleet

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
