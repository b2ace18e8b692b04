package fleet

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/safetext"
)

// Version is the version of the message format.
const Version = 1

// The headers of a message.
const (
	headerVersion  = "A2atap-Version"  // of the message format
	headerRecorder = "A2atap-Recorder" // a Recorder in JSON
	headerArrivals = "A2atap-Arrivals" // FIRST-LAST, arrival numbers
	headerPart     = "A2atap-Part"     // I/N, if a block is cut into N messages
)

// A Recorder describes a message's capture and the program that records it. Each message carries one.
type Recorder struct {
	Host          string    `json:"host"`
	Capture       uuid.UUID `json:"capture"`
	Name          string    `json:"name"` // of the file, without its folder
	Tool          string    `json:"tool"` // that ships it
	Format        int       `json:"format"`
	Created       time.Time `json:"created"`
	Sent          time.Time `json:"sent"`               // when the message was made
	Live          bool      `json:"live"`               // it was being recorded, or more data was waiting to be shipped
	Committed     uint64    `json:"committed"`          // the last arrival number it had then
	SecretsKept   bool      `json:"secretsKept"`        // as capture.Info
	Insecure      bool      `json:"insecure,omitempty"` // the same
	LostExchanges int64     `json:"lostExchanges,omitempty"`
	LostBytes     int64     `json:"lostBytes,omitempty"`
	Crashes       uint64    `json:"crashes,omitempty"`
	CrashAfter    time.Time `json:"crashAfter,omitzero"`
	CrashWithin   int64     `json:"crashWithinNs,omitempty"`
}

// NewRecorder describes a capture that a program ships from a host.
func NewRecorder(host, tool, name string, info *capture.Info) Recorder {
	return Recorder{
		Host: nameOf(host), Capture: info.ID, Name: nameOf(name), Tool: nameOf(tool), Format: info.Format,
		Created: info.Created, Live: info.Live, Committed: info.Arrivals, SecretsKept: info.SecretsKept, Insecure: info.Insecure,
		LostExchanges: info.LostExchanges, LostBytes: info.LostBytes,
		Crashes: info.Crashes, CrashAfter: info.Crash.After, CrashWithin: int64(info.Crash.Within),
	}
}

// Info returns a recorder's capture, as far as known without reading it.
func (r *Recorder) Info() capture.Info {
	return capture.Info{
		ID: r.Capture, Name: r.Name, Created: r.Created, Tool: r.Tool, Format: r.Format, Live: r.Live,
		Arrivals: r.Committed, SecretsKept: r.SecretsKept, Insecure: r.Insecure,
		LostExchanges: r.LostExchanges, LostBytes: r.LostBytes,
		Crashes: r.Crashes, Crash: capture.Crash{After: r.CrashAfter, Within: time.Duration(r.CrashWithin)},
	}
}

// grow adopts the values of another message of the same capture that only grow, since clocks do not show which message
// is newer.
func (r *Recorder) grow(other *Recorder) {
	r.Committed = max(r.Committed, other.Committed)
	r.LostExchanges = max(r.LostExchanges, other.LostExchanges)
	r.LostBytes = max(r.LostBytes, other.LostBytes)
	r.SecretsKept = r.SecretsKept || other.SecretsKept
	r.Insecure = r.Insecure || other.Insecure
	if other.Crashes > r.Crashes {
		r.Crashes, r.CrashAfter, r.CrashWithin = other.Crashes, other.CrashAfter, other.CrashWithin
	}
}

// A Message is a piece of one capture: consecutive blocks, or a part of a block that is too long for one message. A
// message without blocks reports only the recorder's state; First is then Last+1.
type Message struct {
	Recorder    Recorder
	First, Last uint64 // arrival numbers of its steps; for a part, those of the whole block
	Part, Parts int    // part number, from 1, and number of parts; 1 of 1 if the block is not split
	Data        []byte // the blocks, each preceded by its length and first arrival number; or a part of one block
}

// Subject returns the subject of a recorder's messages: a2atap.STREAM.HOST.CAPTURE, with the host as a token.
func (r *Recorder) Subject(stream string) string {
	return subjectOf(stream, hostToken(r.Host), r.Capture)
}

func subjectOf(stream, host string, capture uuid.UUID) string {
	return "a2atap." + stream + "." + host + "." + strings.ReplaceAll(capture.String(), "-", "")
}

// Subjects returns the prefix of the subjects of a host's recorders.
func Subjects(stream, host string) string { return "a2atap." + stream + "." + hostToken(host) + "." }

// allSubjects returns the pattern of a stream's subjects.
func allSubjects(stream string) string { return "a2atap." + stream + ".>" }

// hostToken converts a host's name to a token of a subject. Two names may get the same token; the capture's id
// distinguishes them.
func hostToken(host string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '.' && r != '*' && r != '>' {
			return r
		}
		return '-'
	}, host)
}

// blockPrefix is the size of the data before each block in a message: its length and its first arrival number.
const blockPrefix = 4 + 8

// appendBlock appends a block to the data of a message.
func appendBlock(data []byte, b *bolt.Block) []byte {
	data = binary.LittleEndian.AppendUint32(data, uint32(len(b.Packed)))
	data = binary.LittleEndian.AppendUint64(data, b.First)
	return append(data, b.Packed...)
}

// errMessage means that a message cannot be from a2atap.
var errMessage = errors.New("the message is damaged, or not from a recorder")

// splitBlocks splits the data of a message, with all parts joined, into blocks. The blocks share its bytes.
func splitBlocks(data []byte) ([]bolt.Block, error) {
	var blocks []bolt.Block
	for len(data) > 0 {
		if len(data) < blockPrefix {
			return nil, errMessage
		}
		n := uint64(binary.LittleEndian.Uint32(data))
		first := binary.LittleEndian.Uint64(data[4:])
		data = data[blockPrefix:]
		if n == 0 || n > uint64(len(data)) || first == 0 {
			return nil, errMessage
		}
		blocks = append(blocks, bolt.Block{First: first, Packed: data[:n:n]})
		data = data[n:]
	}
	return blocks, nil
}

// encode returns the message to publish.
func (m *Message) encode(stream string) (*nats.Msg, error) {
	recorder, err := json.Marshal(&m.Recorder)
	if err != nil {
		return nil, err
	}
	msg := &nats.Msg{Subject: m.Recorder.Subject(stream), Header: nats.Header{}, Data: m.Data}
	msg.Header.Set(headerVersion, strconv.Itoa(Version))
	msg.Header.Set(headerRecorder, string(recorder))
	msg.Header.Set(headerArrivals, fmt.Sprintf("%d-%d", m.First, m.Last))
	if m.Parts > 1 {
		msg.Header.Set(headerPart, fmt.Sprintf("%d/%d", m.Part, m.Parts))
	}
	return msg, nil
}

// decodeMessage reads a message. If a later version wrote it, the error wraps capture.ErrFuture and names the recorder
// if possible. Any bytes are safe.
func decodeMessage(header nats.Header, data []byte) (*Message, error) {
	m := &Message{Part: 1, Parts: 1, Data: data}
	version, versionErr := strconv.Atoi(header.Get(headerVersion))
	err := json.Unmarshal([]byte(header.Get(headerRecorder)), &m.Recorder)
	if versionErr != nil || version < 1 {
		return nil, errMessage
	}
	if version > Version || err == nil && m.Recorder.Format > bolt.Format {
		return m, fmt.Errorf("recorder %s (%s) uses a format that this version of a2atap cannot read: %w",
			nameOf(m.Recorder.Host), nameOf(m.Recorder.Tool), capture.ErrFuture)
	}
	if err != nil || !m.Recorder.plausible() {
		return nil, errMessage
	}
	first, last, ok := pair(header.Get(headerArrivals), "-")
	if !ok || first == 0 || last+1 < first || !plausibleCount(last) {
		return nil, errMessage
	}
	m.First, m.Last = first, last
	if part := header.Get(headerPart); part != "" {
		i, n, ok := pair(part, "/")
		if !ok || i == 0 || i > n || n > maxParts {
			return nil, errMessage
		}
		m.Part, m.Parts = int(i), int(n)
	}
	return m, nil
}

// maxParts bounds the number of messages for one block: 32 MiB in parts of at least 1 KiB.
const maxParts = 1 << 15

func pair(text, between string) (a, b uint64, ok bool) {
	left, right, _ := strings.Cut(text, between)
	a, errA := strconv.ParseUint(left, 10, 63)
	b, errB := strconv.ParseUint(right, 10, 63)
	return a, b, errA == nil && errB == nil
}

// maxName bounds, in bytes, each of a recorder's names: host, file and program.
const maxName = 255

// plausible reports whether a real recorder can have these values. Anyone who may publish can write anything, and the
// values are shown on terminals, kept in memory and added up.
func (r *Recorder) plausible() bool {
	return r.Capture != uuid.Nil && r.Host != "" && r.Host == nameOf(r.Host) && r.Name == nameOf(r.Name) &&
		r.Tool == nameOf(r.Tool) && r.Format >= 0 && plausibleCount(r.Committed) && plausibleCount(r.Crashes) &&
		plausibleLost(capture.Lost{Exchanges: r.LostExchanges, Bytes: r.LostBytes}) && r.CrashWithin >= 0
}

// maxCount is more than any recorder counts, and small enough for sums of many.
const maxCount = 1 << 50

func plausibleCount(n uint64) bool { return n <= maxCount }

func plausibleLost(lost capture.Lost) bool {
	return lost.Exchanges >= 0 && lost.Exchanges <= maxCount && lost.Bytes >= 0 && lost.Bytes <= maxCount
}

// nameOf makes a text safe to show as a name: one line of bounded length, without control sequences.
func nameOf(text string) string {
	return safetext.Cut(strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return utf8.RuneError
		}
		return r
	}, safetext.Plain(text)), maxName)
}
