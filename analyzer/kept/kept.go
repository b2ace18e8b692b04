// Package kept keeps what judging a capture came to, so that nobody has to judge it again: the reading of the capture.
//
// A reading is a row for each exchange (its summary, what caused it, which findings stand in it), the findings in the
// order in which they were made, and the result as a whole: coverage, calls by outcome, agents. A Writer makes it while
// an engine judges, and a Reading reads it. It is kept on a capture.Shelf: in the capture itself, in a file beside it,
// or in memory.
//
// A reading says of which steps it is (Head.Mark) and by which rules it was made (Digest). If either differs, the
// reading is ignored. Damage is an error that wraps capture.ErrDamagedEntry; the reader then judges the capture again.
//
// # Layout
//
// Keys are a letter and numbers of eight bytes, big endian, so that they sort. Values are compressed (zstd) but for the
// head.
//
//	h            the Head, as JSON
//	r            the result, as JSON
//	s NUMBER     the rows of exchanges NUMBER*256+1 to NUMBER*256+256: first what leads from each to its workflow
//	p SEQ COUNT  what is known better of a row since its chunk was written, in order
//	f NUMBER     the findings NUMBER*128 to NUMBER*128+127, in the order in which they were made
//	g NUMBER     a finding that takes the place of that one, or nothing if none does
//	i NUMBER     a kind of findings, and the exchanges that have one, of a reading that is whole
package kept

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// version is that of the layout, and of what the engine puts into it. It changes when either does.
const version = 10

// Sizes of what is kept together.
const (
	chunkRows     = 256
	chunkFindings = 128
)

// ErrNone says that a shelf holds no reading, or none that was made by these rules.
var ErrNone = errors.New("the capture was not judged by these rules")

// A Head says what a reading is of, and how far it goes.
type Head struct {
	Digest    string   // of the rules: see Digest
	Mark      []byte   // of the steps that were judged, once all were; nil before
	Ended     bool     // all steps were judged, and no more were to come
	Arrival   uint64   // the last step that was judged
	Rows      uint64   // exchanges that have a row
	Last      uint64   // the highest number of one
	Findings  uint64   // places for findings, those that were replaced included
	Kinds     uint64   // of findings, once the reading is whole
	Chunks    uint64   // of rows
	Version   uint64   // grows each time something of the reading is written
	Cards     []uint64 // exchanges that brought a card which was not known from there, in order
	MoreCards bool     // there are more such exchanges than Cards

	Counts *judgment.Counts `json:",omitempty"` // how much was judged, of a reading that grows; then the result has it
}

// Digest identifies what a list of rules finds: the rules, the code that applies them, and the version of the reading.
// Readings of another digest are not read.
func Digest(rules []*analysis.Rule) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "reading %d, code %s\n", version, code)
	for _, r := range rules {
		fmt.Fprintln(sum, r.ID)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// A Row is what is kept of one exchange. Of its Summary the ids of messages are not.
type Row struct {
	summary.Summary
	Parent   uint64            // the exchange that caused it; 0 if it begins a workflow
	By       workflow.Evidence // how that is known
	Maybe    workflow.Choice   // where nothing decides between causes
	Children int               // how many exchanges it has caused
	Found    []Found           // the findings that stand in it, in the order in which they were made
}

// Cause says what caused the exchange. To which workflow it belongs is not known of a row alone.
func (r *Row) Cause() workflow.Link {
	return workflow.Link{Exchange: r.Seq, Parent: r.Parent, By: r.By, Maybe: r.Maybe}
}

// A Found says in short what a finding is.
type Found struct {
	Number   uint64 // by which the finding is looked up
	Rule     string
	Also     []string
	Severity analysis.Severity
	Side     a2a.Side
}

// Worst returns the severity of the worst finding in the exchange, if there is one.
func (r *Row) Worst() (worst analysis.Severity, found bool) {
	for i := range r.Found {
		worst, found = max(worst, r.Found[i].Severity), true
	}
	return worst, found
}

var (
	keyHead   = []byte("h")
	keyResult = []byte("r")
)

// keySize is the length of a key with one number.
const keySize = 9

func chunkKey(letter byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{letter}, number)
}

func patchKey(seq, count uint64) []byte {
	return binary.BigEndian.AppendUint64(chunkKey('p', seq), count)
}

// chunkOf returns the chunk in which the row of an exchange is. Numbers of exchanges begin with 1.
func chunkOf(seq uint64) uint64 { return (seq - 1) / chunkRows }

// The coders of values are made once: each takes a megabyte. The level below takes a quarter of the time, a microsecond
// less for an exchange, and a fifth more of the file.
var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(256<<10), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(err) // the options are ours
		}
		return e
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxUnpacked))
		if err != nil {
			panic(err)
		}
		return d
	})
)

// maxUnpacked bounds what a value of a foreign file may unpack to.
const maxUnpacked = 64 << 20

func pack(raw []byte) []byte { return packer().EncodeAll(raw, nil) }

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", capture.ErrDamagedEntry, fmt.Sprintf(format, args...))
}

func (h *Head) encode() ([]byte, error) { return json.Marshal(h) }
