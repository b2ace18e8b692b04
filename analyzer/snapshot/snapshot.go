// Package snapshot stores the results of checking a capture, called its reading, so that the capture need not be checked
// again.
//
// A reading has a row for each exchange (its summary, its cause, its findings), the findings in order of detection, and
// the overall result: coverage, calls by outcome, agents. A Writer makes it while an engine checks, and Results reads
// it. It is stored on a capture.Shelf: in the capture itself, in a file next to it, or in memory.
//
// A reading identifies its steps (Head.Mark) and its rules (Digest). If either differs, the reading is ignored. Damage
// is an error that wraps capture.ErrDamagedEntry; the reader then checks the capture again.
//
// # Layout
//
// Keys are a letter and numbers of eight bytes, big endian, so that they sort. Values are compressed (zstd) but for the
// head.
//
//	h            the Head, as JSON
//	r            the result, as JSON
//	s NUMBER     the rows of exchanges NUMBER*256+1 to NUMBER*256+256: first the path from each to its workflow
//	p SEQ COUNT  updates of a row since its chunk was written, in order
//	f NUMBER     the findings NUMBER*128 to NUMBER*128+127, in the order in which they were made
//	g NUMBER     a finding that replaces that one, or nothing
//	i NUMBER     a kind of findings, and the exchanges that have one, of a reading that is whole
package snapshot

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

// version is the version of the results: of the reports of engine and rules, and of the layout. Raise it with every
// change to either; TestVersion fails otherwise. Stored results of another version are not read.
const version = 16

// Sizes of the groups that are stored together.
const (
	chunkRows     = 256
	chunkFindings = 128
)

// ErrNone means that a shelf has no reading by these rules.
var ErrNone = errors.New("the capture was not checked with these rules")

// ErrSeal means that stored results were not sealed with this user's key for this capture. It wraps
// capture.ErrDamagedEntry.
var ErrSeal = fmt.Errorf("%w: sealed with another key, or for another capture", capture.ErrDamagedEntry)

// A Head identifies a reading's capture and rules, and its progress.
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
	Cards     []uint64 // exchanges with a card that was not known before, in order
	MoreCards bool     // there are more such exchanges than Cards
	Replaced  uint64   `json:",omitempty"` // how often a finding replaced earlier ones
	Linked    uint64   `json:",omitempty"` // the highest number of an exchange whose cause was looked up

	Counts *judgment.Counts `json:",omitempty"` // how much was judged, of a reading that grows; then the result has it
}

// Digest identifies the results of a list of rules: the rules, and the version of the results. Readings with another
// digest are not read.
func Digest(rules []*analysis.Rule) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "reading %d\n", version)
	for _, r := range rules {
		fmt.Fprintln(sum, r.ID)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// A Row is the stored record of one exchange. Its Summary lacks the ids of messages, and Cause and Asks.
type Row struct {
	summary.Summary
	Parent   uint64            // the exchange that caused it; 0 if it begins a workflow
	By       workflow.Evidence // how that is known
	Maybe    workflow.Choice   // where nothing decides between causes
	Children int               // how many exchanges it has caused
	Found    []Found           // its findings, in order of detection
}

// Cause returns the exchange's cause. The row alone does not determine its workflow.
func (r *Row) Cause() workflow.Link {
	return workflow.Link{Exchange: r.Seq, Parent: r.Parent, By: r.By, Maybe: r.Maybe}
}

// A Found is a short form of a finding.
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

// maxUnpacked bounds the unpacked size of a value in a foreign file.
const maxUnpacked = 64 << 20

func pack(raw []byte) []byte { return packer().EncodeAll(raw, nil) }

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", capture.ErrDamagedEntry, fmt.Sprintf(format, args...))
}

func (h *Head) encode() ([]byte, error) { return json.Marshal(h) }
