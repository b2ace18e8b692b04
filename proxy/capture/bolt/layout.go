package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// Format is the version of the file format that this package writes. docs/capture-format.md describes it.
const Format = 3

// formatReading is the first format with bucketReading.
const formatReading = 3

// The buckets of a segment.
var (
	bucketMeta      = []byte("meta")      // what the capture is, and how far it has come
	bucketBlocks    = []byte("blocks")    // first arrival → block
	bucketExchanges = []byte("exchanges") // sequence number → row
	bucketParts     = []byte("parts")     // sequence number, first arrival of a block → nothing
	bucketOpen      = []byte("open")      // sequence number of an exchange that has not ended → nothing
	bucketIndex     = []byte("index")     // level, arrival number → run of entries
	bucketReading   = []byte("reading")   // key → what was worked out from the capture; from format 3 on

	buckets = [][]byte{
		bucketMeta, bucketBlocks, bucketExchanges, bucketParts, bucketOpen, bucketIndex, bucketReading,
	}
)

// The keys of the meta bucket.
var (
	metaFormat  = []byte("format")
	metaCapture = []byte("capture")
	metaCreated = []byte("created")
	metaTool    = []byte("tool")
	metaSecrets = []byte("secrets")
	metaAgents  = []byte("agents") // only where they were not verified
	metaKeys    = []byte("keys")
	metaKey     = []byte("key") // in format 1: the key itself
	metaSegment = []byte("segment")
	metaState   = []byte("state")
)

// nothing is the value of keys that say all themselves. It is not nil, which is what an absent key has.
var nothing = []byte{}

// sequential is how full pages of buckets are left that only grow at their end.
const sequential = 0.95

// unverified is the value of metaAgents.
const unverified = "unverified"

// A meta is what a segment says of the capture it belongs to. But for what it says of secrets and of trust in agents,
// nothing in it changes.
type meta struct {
	capture     uuid.UUID
	created     time.Time
	tool        string
	secretsKept bool
	insecure    bool     // agents were not verified
	keys        []string // fingerprints of the keys with which secrets were hidden, in the order of their first use
	segment     uint64   // its number in the capture, from 1
	arrivals    uint64   // how many steps the segments before it have
	exchanges   uint64   // the last sequence number of the segments before it
}

func (m *meta) put(tx *bbolt.Tx) error {
	secrets := []byte("redacted")
	if m.secretsKept {
		secrets = []byte("kept")
	}
	segment := binary.AppendUvarint(nil, m.segment)
	segment = binary.AppendUvarint(segment, m.arrivals)
	segment = binary.AppendUvarint(segment, m.exchanges)
	b := tx.Bucket(bucketMeta)
	for _, e := range []struct{ key, value []byte }{
		{metaFormat, binary.AppendUvarint(nil, Format)},
		{metaCapture, m.capture[:]},
		{metaCreated, []byte(m.created.Format(time.RFC3339Nano))},
		{metaTool, []byte(m.tool)},
		{metaSecrets, secrets},
		{metaKeys, []byte(strings.Join(m.keys, " "))},
		{metaSegment, segment},
	} {
		if err := b.Put(e.key, e.value); err != nil {
			return err
		}
	}
	if !m.insecure {
		return nil
	}
	return b.Put(metaAgents, []byte(unverified))
}

// maxKeyNames is how many fingerprints of keys a segment keeps, the newest: a recorder may have a new key each time.
const maxKeyNames = 64

// recordedAs notes how a recorder treats secrets, with the fingerprint of the key with which it hides them if it has one,
// and agents, and reports whether that is news.
func (m *meta) recordedAs(secretsKept, insecure bool, key string) bool {
	kept := secretsKept && !m.secretsKept
	m.secretsKept = m.secretsKept || kept
	named := key != "" && !slices.Contains(m.keys, key)
	if named {
		m.keys = append(slices.Clone(m.keys), key)
		m.keys = m.keys[max(0, len(m.keys)-maxKeyNames):]
	}
	trusting := insecure && !m.insecure
	m.insecure = m.insecure || trusting
	return kept || named || trusting
}

// readFormat returns the format of a segment; 0 if the database has nothing in it yet, which is what a recorder leaves
// that was killed while it created the file.
func readFormat(tx *bbolt.Tx) (uint64, error) {
	b := tx.Bucket(bucketMeta)
	if b == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return 0, fmt.Errorf("a database of another program: %w", capture.ErrFormat)
		}
		return 0, nil
	}
	d := decoder{b: b.Get(metaFormat)}
	format := d.number()
	if d.err != nil || format == 0 {
		return 0, fmt.Errorf("a database of another program: %w", capture.ErrFormat)
	}
	if format > Format {
		return 0, fmt.Errorf("its format is %d, this program reads up to %d; use a newer a2atap: %w", format, Format,
			capture.ErrFuture)
	}
	for _, name := range buckets {
		if format < formatReading && bytes.Equal(name, bucketReading) {
			continue
		}
		if format > 1 && tx.Bucket(name) == nil {
			return 0, fmt.Errorf("bucket %q is missing: %w", name, capture.ErrFormat)
		}
	}
	return format, nil
}

func readMeta(tx *bbolt.Tx) (meta, error) { return parseMeta(tx.Bucket(bucketMeta).Get) }

// parseMeta reads the entries that get returns.
func parseMeta(get func(key []byte) []byte) (meta, error) {
	var m meta
	var err error
	if m.capture, err = uuid.FromBytes(get(metaCapture)); err != nil {
		return m, fmt.Errorf("the capture's id is damaged: %w", capture.ErrFormat)
	}
	if m.created, err = time.Parse(time.RFC3339Nano, string(get(metaCreated))); err != nil {
		return m, fmt.Errorf("the time of creation is damaged: %w", capture.ErrFormat)
	}
	m.tool = string(get(metaTool))
	m.secretsKept = string(get(metaSecrets)) == "kept"
	m.insecure = string(get(metaAgents)) == unverified
	m.keys = strings.Fields(string(get(metaKeys)))
	d := decoder{b: get(metaSegment)}
	m.segment, m.arrivals, m.exchanges = d.number(), d.number(), d.number()
	if d.err != nil || m.segment == 0 {
		return m, fmt.Errorf("the segment's number is damaged: %w", capture.ErrFormat)
	}
	return m, nil
}

// Flags of a row.
const (
	rowClosed      byte = 1 << iota // its Closed is in the capture
	rowInterrupted                  // its Closed says so
	rowFault                        // its Closed has a fault
	rowContinued                    // steps of it are in earlier segments
)

// A row is what is known of an exchange without reading its blocks.
type row struct {
	flags   byte
	first   uint64        // the first block in this segment that has steps of it
	started time.Time     // zero if its Opened is not in this segment
	ended   time.Duration // offset of its Closed; capture.NotKnown without

	// Not stored, and known to the writer only:
	last uint64    // the last block of the batch with steps of it
	keys []keyHash // what the index has of an open exchange

	stored bool   // in this segment
	sum    uint64 // then: its entrySum
}

// unknown reports whether the capture has nothing of the exchange.
func (r *row) unknown() bool { return r.first == 0 && r.flags&rowContinued == 0 }

func (r *row) encode() []byte {
	var e encoder
	e.b = append(make([]byte, 0, 32), r.flags)
	e.number(r.first)
	e.instant(r.started)
	e.signed(int64(r.ended))
	return e.b
}

func decodeRow(b []byte) (row, error) {
	d := decoder{b: b}
	r := row{flags: d.octet(), first: d.number(), started: d.instant(), ended: time.Duration(d.signed())}
	if d.err != nil {
		return r, fmt.Errorf("decode the row of an exchange: %w", d.err)
	}
	return r, nil
}

// number64 is a key that sorts by number.
func number64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func partKey(seq, first uint64) []byte {
	return binary.BigEndian.AppendUint64(number64(seq), first)
}

// learn reports whether a key is new. Every event of a stream names its task again.
func (r *row) learn(h keyHash) bool {
	if slices.Contains(r.keys, h) {
		return false
	}
	if len(r.keys) < maxKeys {
		r.keys = append(r.keys[:len(r.keys):len(r.keys)], h)
	}
	return true
}

func (r *row) close(c *capture.Closed, s *capture.Step) {
	r.flags |= rowClosed
	if c.Interrupted {
		r.flags |= rowInterrupted
	}
	if c.Fault != nil {
		r.flags |= rowFault
	}
	r.ended = s.Offset
}
