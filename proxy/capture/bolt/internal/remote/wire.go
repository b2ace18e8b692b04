package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// The protocol on a recorder's socket: frames with a big-endian length of four bytes and a body. The reader sends a
// request and the recorder one answer, repeatedly; a connection that begins with hello learns who the recorder is.
// Numbers and strings are as in the steps of the file. docs/capture-format.md has an outline.
const (
	WireVersion = 3
	MaxRequest  = 64 << 10
	MaxAnswer   = layout.MaxBlock + PageBytes + 16*segments.MaxPlaced
	frameHeader = 4
)

// What a reader asks: the first byte of a request.
const (
	AskHello byte = 1 + iota
	askInfo
	AskBlocks
	AskFetch
	AskLocate
	AskFind
	AskWait
	AskKept
	AskKeptRange
	askMark
)

// lastAsk is the last ask of this version, which the answer to hello names. A recorder that names none supports asks up
// to AskWait.
const lastAsk = askMark

// MaxAsked bounds how many keys AskKept may name.
const MaxAsked = 512

// How the recorder answers: the first byte of an answer.
const (
	AnswerOK      byte = iota
	answerFailed       // the error's text follows
	answerEnded        // capture.ErrEnded
	answerNotYet       // to AskWait: ask again
	answerDamaged      // the text of a capture.ErrDamagedEntry follows
)

// errBroken means that a connection ended or has invalid data; the recorder may have ended.
var errBroken = errors.New("the connection to the recorder broke")

// The encoder and decoder of messages: values of the file, and lists of them.
type (
	Encoder struct{ layout.Encoder }
	decoder struct{ layout.Decoder }
)

// A Request is one question of a reader. Fields that the question does not have stay zero.
type Request struct {
	Ask    byte
	From   uint64         // an arrival or sequence number
	Limit  int            // bytes of blocks, or a count
	Firsts []uint64       // the blocks to fetch
	key    layout.KeyHash // to find

	Keys     [][]byte // to AskKept
	Low, End []byte   // for AskKeptRange; a nil End means no end
}

// Encode returns the body of a request.
func (q *Request) Encode() []byte {
	e := Encoder{layout.Encoder{B: []byte{q.Ask}}}
	e.Number(q.From)
	e.Number(uint64(q.Limit))
	e.numbers(q.Firsts)
	e.B = append(e.B, q.key[:]...)
	switch q.Ask {
	case AskKept:
		e.values(q.Keys)
	case AskKeptRange:
		e.Bytes(q.Low)
		e.Bytes(q.End)
	}
	return e.B
}

func decodeRequest(b []byte) (Request, error) {
	d := decoder{layout.Decoder{B: b}}
	q := Request{Ask: d.Octet(), From: d.Number(), Limit: int(min(d.Number(), PageBytes)), Firsts: d.numbers()}
	copy(q.key[:], d.Take(layout.HashSize))
	switch q.Ask {
	case AskKept:
		q.Keys = d.values()
	case AskKeptRange:
		q.Low, q.End = d.Bytes(), d.Bytes()
	}
	if d.Err == nil && (q.Ask < AskHello || q.Ask > lastAsk || len(d.B) > 0 || len(q.Keys) > MaxAsked) {
		d.Err = layout.ErrDamaged
	}
	if d.Err != nil {
		return Request{}, fmt.Errorf("decode a reader's request: %w", d.Err)
	}
	return q, nil
}

// A Holder is the process that records into a capture.
type Holder struct {
	Version uint64 // of the protocol on its socket
	PID     uint64
	Program string
	asks    byte // the last ask that it knows
}

// String names the process, for people.
func (h Holder) String() string { return fmt.Sprintf("process %d (%s)", h.PID, h.Program) }

// Holder writes a holder.
func (e *Encoder) Holder(h Holder) {
	e.Number(h.Version)
	e.Number(h.PID)
	e.Text(h.Program)
	e.Number(uint64(h.asks))
}

func (d *decoder) holder() Holder {
	h := Holder{Version: d.Number(), PID: d.Number(), Program: d.Text(), asks: AskWait}
	if h.Version == WireVersion && len(d.B) > 0 {
		h.asks = byte(min(d.Number(), math.MaxUint8))
	}
	return h
}

// Info writes a capture's Info.
func (e *Encoder) Info(i *capture.Info) {
	e.B = append(e.B, i.ID[:]...)
	e.Instant(i.Created)
	e.Text(i.Tool)
	e.Number(uint64(i.Format))
	e.Flag(i.Live)
	e.Flag(i.SecretsKept)
	e.Number(i.Exchanges)
	e.Number(i.Arrivals)
	e.Signed(i.LostExchanges)
	e.Signed(i.LostBytes)
	e.Number(i.Crashes)
	e.Instant(i.Crash.After)
	e.Signed(int64(i.Crash.Within))
	e.Flag(i.Insecure)
}

func (d *decoder) info() capture.Info {
	return capture.Info{
		ID: d.UUID(), Created: d.Instant(), Tool: d.Text(), Format: int(d.Number()), Live: d.Flag(),
		SecretsKept: d.Flag(),
		Exchanges:   d.Number(), Arrivals: d.Number(), LostExchanges: d.Signed(), LostBytes: d.Signed(),
		Crashes: d.Number(), Crash: capture.Crash{After: d.Instant(), Within: time.Duration(d.Signed())},
		Insecure: d.Flag(),
	}
}

func (e *Encoder) blocks(blocks []layout.Block) {
	e.Number(uint64(len(blocks)))
	for _, b := range blocks {
		e.Number(b.First)
		e.Bytes(b.Value)
	}
}

func (d *decoder) blocks() []layout.Block {
	blocks := make([]layout.Block, 0, d.count())
	for range cap(blocks) {
		blocks = append(blocks, layout.Block{First: d.Number(), Value: d.Bytes()})
	}
	return blocks
}

// values writes a list of values of which some may be nil.
func (e *Encoder) values(list [][]byte) {
	e.Number(uint64(len(list)))
	for _, v := range list {
		e.Bytes(v)
	}
}

func (d *decoder) values() [][]byte {
	list := make([][]byte, 0, d.count())
	for range cap(list) {
		list = append(list, d.Bytes())
	}
	return list
}

func (e *Encoder) entries(list []layout.KeptEntry) {
	e.Number(uint64(len(list)))
	for _, k := range list {
		e.Bytes(k.Key)
		e.Bytes(k.Sealed)
	}
}

func (d *decoder) entries() []layout.KeptEntry {
	list := make([]layout.KeptEntry, 0, d.count())
	for range cap(list) {
		list = append(list, layout.KeptEntry{Key: d.Bytes(), Sealed: d.Bytes()})
	}
	return list
}

func (e *Encoder) places(at *segments.Places) {
	e.Number(at.Last)
	e.Flag(at.Crashed)
	e.Number(uint64(len(at.Found)))
	for _, p := range at.Found {
		e.Number(p.Seq)
		e.numbers(p.Blocks)
	}
}

func (d *decoder) places() segments.Places {
	at := segments.Places{Last: d.Number(), Crashed: d.Flag()}
	at.Found = make([]segments.Place, d.count())
	for i := range at.Found {
		at.Found[i] = segments.Place{Seq: d.Number(), Blocks: d.numbers()}
	}
	return at
}

// numbers writes a list that mostly grows as the differences in it.
func (e *Encoder) numbers(list []uint64) {
	e.Number(uint64(len(list)))
	var before uint64
	for _, n := range list {
		e.Signed(int64(n - before))
		before = n
	}
}

func (d *decoder) numbers() []uint64 {
	list := make([]uint64, d.count())
	var before uint64
	for i := range list {
		before += uint64(d.Signed())
		list[i] = before
	}
	return list
}

// count decodes the length of a list whose elements have at least one byte each. An impossible length allocates
// nothing.
func (d *decoder) count() int {
	n := d.Number()
	if n > uint64(len(d.B)) {
		d.Fail(layout.ErrDamaged)
		return 0
	}
	return int(n)
}

// WriteFrame sends the body of a request or of an answer.
func WriteFrame(w io.Writer, body []byte) error {
	frame := net.Buffers{binary.BigEndian.AppendUint32(nil, uint32(len(body))), body}
	_, err := frame.WriteTo(w)
	return err
}

// ReadFrame receives a body of at most limit bytes.
func ReadFrame(r io.Reader, limit int) ([]byte, error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(header[:])
	if uint64(n) > uint64(limit) {
		return nil, fmt.Errorf("a frame of %d bytes is over the limit of %d", n, limit)
	}
	body := make([]byte, n)
	_, err := io.ReadFull(r, body)
	return body, err
}

// Time limits on the socket. A reader that does not receive an answer is disconnected; it asks again, or uses the file,
// when it comes back.
const (
	dialTimeout  = time.Second
	writeTimeout = 30 * time.Second
	closeTimeout = 250 * time.Millisecond
	waitRound    = 5 * time.Second // after which AskWait gets answerNotYet, so that the recorder notices a reader that left
)
