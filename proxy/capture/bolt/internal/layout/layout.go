package layout

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

// FormatReading is the first format with BucketReading.
const FormatReading = 3

// The Buckets of a segment.
var (
	BucketMeta      = []byte("meta")      // the capture's description and progress
	BucketBlocks    = []byte("blocks")    // first arrival → block
	BucketExchanges = []byte("exchanges") // sequence number → row
	BucketParts     = []byte("parts")     // sequence number, first arrival of a block → nothing; and young lists of those
	BucketOpen      = []byte("open")      // sequence number of an exchange that has not ended → nothing
	BucketIndex     = []byte("index")     // level, arrival number → run of entries
	BucketReading   = []byte("reading")   // key → a value derived from the capture; from format 3 on

	Buckets = [][]byte{
		BucketMeta, BucketBlocks, BucketExchanges, BucketParts, BucketOpen, BucketIndex, BucketReading,
	}
)

// The keys of the meta bucket.
var (
	MetaFormat  = []byte("format")
	metaCapture = []byte("capture")
	metaCreated = []byte("created")
	metaTool    = []byte("tool")
	metaSecrets = []byte("secrets")
	metaAgents  = []byte("agents") // only where they were not verified
	metaCopied  = []byte("copied") // only where it was copied while it was recorded
	MetaKeys    = []byte("keys")
	MetaKey     = []byte("key") // in format 1: the key itself
	MetaSegment = []byte("segment")
	MetaState   = []byte("state")
)

// Nothing is the value of keys that need no value. It is not nil, which marks an absent key.
var Nothing = []byte{}

// Sequential is how full pages of buckets are left that only grow at their end.
const Sequential = 0.95

// The values of metaAgents and metaCopied.
const (
	unverified = "unverified"
	unfinished = "unfinished"
)

// A Meta is a segment's description of its capture. Only the flags about secrets and unverified agents ever change.
type Meta struct {
	Capture     uuid.UUID
	Created     time.Time
	Tool        string
	SecretsKept bool
	Insecure    bool     // agents were not verified
	Unfinished  bool     // it is a copy of a capture that was still being recorded
	Keys        []string // fingerprints of the keys with which secrets were hidden, in the order of their first use
	Segment     uint64   // its number in the capture, from 1
	Arrivals    uint64   // how many steps the segments before it have
	Exchanges   uint64   // the last sequence number of the segments before it
}

// Put writes all entries of the meta bucket but the state.
func (m *Meta) Put(tx *bbolt.Tx) error {
	secrets := []byte("redacted")
	if m.SecretsKept {
		secrets = []byte("kept")
	}
	segment := binary.AppendUvarint(nil, m.Segment)
	segment = binary.AppendUvarint(segment, m.Arrivals)
	segment = binary.AppendUvarint(segment, m.Exchanges)
	b := tx.Bucket(BucketMeta)
	for _, e := range []struct{ key, value []byte }{
		{MetaFormat, binary.AppendUvarint(nil, Format)},
		{metaCapture, m.Capture[:]},
		{metaCreated, []byte(m.Created.Format(time.RFC3339Nano))},
		{metaTool, []byte(m.Tool)},
		{metaSecrets, secrets},
		{MetaKeys, []byte(strings.Join(m.Keys, " "))},
		{MetaSegment, segment},
	} {
		if err := b.Put(e.key, e.value); err != nil {
			return err
		}
	}
	if m.Unfinished {
		if err := b.Put(metaCopied, []byte(unfinished)); err != nil {
			return err
		}
	}
	if !m.Insecure {
		return nil
	}
	return b.Put(metaAgents, []byte(unverified))
}

// MaxKeyNames is how many fingerprints of keys a segment keeps, the newest ones: a recorder may have a new key each
// time.
const MaxKeyNames = 64

// RecordedAs records how a recorder treats secrets, with the fingerprint of its redaction key, if any, and whether it
// verifies agents. It reports whether this changes the segment.
func (m *Meta) RecordedAs(secretsKept, insecure bool, key string) bool {
	kept := secretsKept && !m.SecretsKept
	m.SecretsKept = m.SecretsKept || kept
	named := key != "" && !slices.Contains(m.Keys, key)
	if named {
		m.Keys = append(slices.Clone(m.Keys), key)
		m.Keys = m.Keys[max(0, len(m.Keys)-MaxKeyNames):]
	}
	trusting := insecure && !m.Insecure
	m.Insecure = m.Insecure || trusting
	return kept || named || trusting
}

// ReadFormat returns the format of a segment, or 0 for an empty database, as left by a recorder that was killed while
// creating the file.
func ReadFormat(tx *bbolt.Tx) (uint64, error) {
	b := tx.Bucket(BucketMeta)
	if b == nil {
		if name, _ := tx.Cursor().First(); name != nil {
			return 0, fmt.Errorf("a database of another program: %w", capture.ErrFormat)
		}
		return 0, nil
	}
	d := Decoder{B: b.Get(MetaFormat)}
	format := d.Number()
	if d.Err != nil || format == 0 {
		return 0, fmt.Errorf("a database of another program: %w", capture.ErrFormat)
	}
	if format > Format {
		return 0, fmt.Errorf("format %d, this build reads up to %d; update a2atap: %w", format, Format,
			capture.ErrFuture)
	}
	for _, name := range Buckets {
		if format < FormatReading && bytes.Equal(name, BucketReading) {
			continue
		}
		if format > 1 && tx.Bucket(name) == nil {
			return 0, fmt.Errorf("bucket %q is missing: %w", name, capture.ErrFormat)
		}
	}
	return format, nil
}

// ReadMeta reads a segment's Meta.
func ReadMeta(tx *bbolt.Tx) (Meta, error) { return ParseMeta(tx.Bucket(BucketMeta).Get) }

// ParseMeta reads the entries that get returns.
func ParseMeta(get func(key []byte) []byte) (Meta, error) {
	var m Meta
	var err error
	if m.Capture, err = uuid.FromBytes(get(metaCapture)); err != nil {
		return m, fmt.Errorf("the capture's id is damaged: %w", capture.ErrFormat)
	}
	if m.Created, err = time.Parse(time.RFC3339Nano, string(get(metaCreated))); err != nil {
		return m, fmt.Errorf("the time of creation is damaged: %w", capture.ErrFormat)
	}
	m.Tool = string(get(metaTool))
	m.SecretsKept = string(get(metaSecrets)) == "kept"
	m.Insecure = string(get(metaAgents)) == unverified
	m.Unfinished = string(get(metaCopied)) == unfinished
	m.Keys = strings.Fields(string(get(MetaKeys)))
	d := Decoder{B: get(MetaSegment)}
	m.Segment, m.Arrivals, m.Exchanges = d.Number(), d.Number(), d.Number()
	if d.Err != nil || m.Segment == 0 {
		return m, fmt.Errorf("the segment's number is damaged: %w", capture.ErrFormat)
	}
	return m, nil
}

// Number64 is a key that sorts by number.
func Number64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
