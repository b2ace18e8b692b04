package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"time"

	"a2atap/proxy/capture"
)

// The protocol on a recorder's socket: frames of a big-endian length of four bytes and a body. The reader sends a
// request, the recorder one answer, and so on; a connection that says hello first learns whom it talks to. Numbers and
// strings are as in the steps of the file. docs/capture-format.md has it in outline.
const (
	wireVersion = 3
	maxRequest  = 64 << 10
	maxAnswer   = maxBlock + pageBytes + 16*maxPlaced
	frameHeader = 4
)

// What a reader asks: the first byte of a request.
const (
	askHello byte = 1 + iota
	askInfo
	askBlocks
	askFetch
	askLocate
	askFind
	askWait
	askKept
	askKeptRange
	askMark
)

// lastAsk is the last ask of this version, which the answer to hello names. A recorder that names none knows those up
// to askWait.
const lastAsk = askMark

// maxAsked bounds how many keys askKept may name.
const maxAsked = 512

// How the recorder answers: the first byte of an answer.
const (
	answerOK      byte = iota
	answerFailed       // the error's text follows
	answerEnded        // capture.ErrEnded
	answerNotYet       // to askWait: ask again
	answerDamaged      // the text of a capture.ErrDamagedEntry follows
)

// errBroken says that a connection ended or makes no sense; the recorder may have ended.
var errBroken = errors.New("the connection to the recorder broke")

// An encoder and a decoder of what travels: the values of the file, and lists of them.
type (
	wireEncoder struct{ encoder }
	wireDecoder struct{ decoder }
)

// A request is one question of a reader. Fields that the question does not have stay zero.
type request struct {
	ask    byte
	from   uint64   // an arrival or sequence number
	limit  int      // bytes of blocks, or a count
	firsts []uint64 // the blocks to fetch
	key    keyHash  // to find

	keys     [][]byte // to askKept
	low, end []byte   // to askKeptRange; a nil end is none
}

func (q *request) encode() []byte {
	e := wireEncoder{encoder{b: []byte{q.ask}}}
	e.number(q.from)
	e.number(uint64(q.limit))
	e.numbers(q.firsts)
	e.b = append(e.b, q.key[:]...)
	switch q.ask {
	case askKept:
		e.values(q.keys)
	case askKeptRange:
		e.bytes(q.low)
		e.bytes(q.end)
	}
	return e.b
}

func decodeRequest(b []byte) (request, error) {
	d := wireDecoder{decoder{b: b}}
	q := request{ask: d.octet(), from: d.number(), limit: int(min(d.number(), pageBytes)), firsts: d.numbers()}
	copy(q.key[:], d.take(hashSize))
	switch q.ask {
	case askKept:
		q.keys = d.values()
	case askKeptRange:
		q.low, q.end = d.bytes(), d.bytes()
	}
	if d.err == nil && (q.ask < askHello || q.ask > lastAsk || len(d.b) > 0 || len(q.keys) > maxAsked) {
		d.err = errDamaged
	}
	if d.err != nil {
		return request{}, fmt.Errorf("decode a reader's request: %w", d.err)
	}
	return q, nil
}

// A holder is the process that records into a capture.
type holder struct {
	version uint64 // of the protocol on its socket
	pid     uint64
	program string
	asks    byte // the last ask that it knows
}

func (h holder) String() string { return fmt.Sprintf("process %d (%s)", h.pid, h.program) }

func (e *wireEncoder) holder(h holder) {
	e.number(h.version)
	e.number(h.pid)
	e.text(h.program)
	e.number(uint64(h.asks))
}

func (d *wireDecoder) holder() holder {
	h := holder{version: d.number(), pid: d.number(), program: d.text(), asks: askWait}
	if h.version == wireVersion && len(d.b) > 0 {
		h.asks = byte(min(d.number(), math.MaxUint8))
	}
	return h
}

func (e *wireEncoder) info(i *capture.Info) {
	e.b = append(e.b, i.ID[:]...)
	e.instant(i.Created)
	e.text(i.Tool)
	e.number(uint64(i.Format))
	e.flag(i.Live)
	e.flag(i.SecretsKept)
	e.number(i.Exchanges)
	e.number(i.Arrivals)
	e.signed(i.LostExchanges)
	e.signed(i.LostBytes)
	e.number(i.Crashes)
	e.instant(i.Crash.After)
	e.signed(int64(i.Crash.Within))
	e.flag(i.Insecure)
}

func (d *wireDecoder) info() capture.Info {
	return capture.Info{
		ID: d.uuid(), Created: d.instant(), Tool: d.text(), Format: int(d.number()), Live: d.flag(),
		SecretsKept: d.flag(),
		Exchanges:   d.number(), Arrivals: d.number(), LostExchanges: d.signed(), LostBytes: d.signed(),
		Crashes: d.number(), Crash: capture.Crash{After: d.instant(), Within: time.Duration(d.signed())},
		Insecure: d.flag(),
	}
}

func (e *wireEncoder) blocks(blocks []block) {
	e.number(uint64(len(blocks)))
	for _, b := range blocks {
		e.number(b.first)
		e.bytes(b.value)
	}
}

func (d *wireDecoder) blocks() []block {
	blocks := make([]block, 0, d.count())
	for range cap(blocks) {
		blocks = append(blocks, block{first: d.number(), value: d.bytes()})
	}
	return blocks
}

// values writes a list of values of which some may be nil.
func (e *wireEncoder) values(list [][]byte) {
	e.number(uint64(len(list)))
	for _, v := range list {
		e.bytes(v)
	}
}

func (d *wireDecoder) values() [][]byte {
	list := make([][]byte, 0, d.count())
	for range cap(list) {
		list = append(list, d.bytes())
	}
	return list
}

func (e *wireEncoder) entries(list []keptEntry) {
	e.number(uint64(len(list)))
	for _, k := range list {
		e.bytes(k.key)
		e.bytes(k.sealed)
	}
}

func (d *wireDecoder) entries() []keptEntry {
	list := make([]keptEntry, 0, d.count())
	for range cap(list) {
		list = append(list, keptEntry{d.bytes(), d.bytes()})
	}
	return list
}

func (e *wireEncoder) places(at *places) {
	e.number(at.last)
	e.flag(at.crashed)
	e.number(uint64(len(at.found)))
	for _, p := range at.found {
		e.number(p.seq)
		e.numbers(p.blocks)
	}
}

func (d *wireDecoder) places() places {
	at := places{last: d.number(), crashed: d.flag()}
	at.found = make([]place, d.count())
	for i := range at.found {
		at.found[i] = place{seq: d.number(), blocks: d.numbers()}
	}
	return at
}

// numbers writes a list that mostly grows as the differences in it.
func (e *wireEncoder) numbers(list []uint64) {
	e.number(uint64(len(list)))
	var before uint64
	for _, n := range list {
		e.signed(int64(n - before))
		before = n
	}
}

func (d *wireDecoder) numbers() []uint64 {
	list := make([]uint64, d.count())
	var before uint64
	for i := range list {
		before += uint64(d.signed())
		list[i] = before
	}
	return list
}

// count takes the length of a list whose elements have at least one byte each: one that cannot be true allocates
// nothing.
func (d *wireDecoder) count() int {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.fail(errDamaged)
		return 0
	}
	return int(n)
}

func writeFrame(w io.Writer, body []byte) error {
	frame := net.Buffers{binary.BigEndian.AppendUint32(nil, uint32(len(body))), body}
	_, err := frame.WriteTo(w)
	return err
}

func readFrame(r io.Reader, limit int) ([]byte, error) {
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

// Times on the socket. A reader that does not take an answer is disconnected; it asks again, or goes to the file, when
// it comes back.
const (
	dialTimeout  = time.Second
	writeTimeout = 30 * time.Second
	closeTimeout = 250 * time.Millisecond
	waitRound    = 5 * time.Second // after which askWait gets answerNotYet, so that a reader that left shows
)
