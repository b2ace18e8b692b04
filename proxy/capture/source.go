package capture

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/jsondoc"
)

// A Sink stores steps in the given order. It assigns their arrival numbers.
//
// Append takes ownership of the steps, including their bytes; the caller must not touch them again. It may keep them in
// memory for a moment (see the store's flush interval). An error means that these steps are not in the capture and
// never will be; the caller counts them as lost and continues. One goroutine at a time calls Append.
type Sink interface {
	Append(steps ...Step) error
	// Close stores pending data. If it returns nil, the capture is complete.
	Close() error
}

// A Source reads a finished or growing capture, in this process or in another one. All methods may be called
// concurrently. The caller owns the results.
type Source interface {
	// Info describes the capture as it is now.
	Info(ctx context.Context) (Info, error)

	// Steps yields the steps that are in the capture now, from arrival number from on (1 is the first), in order of
	// arrival.
	Steps(ctx context.Context, from uint64) iter.Seq2[Step, error]

	// Wait returns nil when a step with arrival number from or later exists, ErrEnded if none will come because the
	// recording has ended, or the context's error.
	Wait(ctx context.Context, from uint64) error

	// Exchanges yields the current exchanges from sequence number from on (1 is the first), in order of Seq, each with
	// the steps recorded so far.
	Exchanges(ctx context.Context, from uint64) iter.Seq2[*Exchange, error]

	// Exchange returns one exchange with the steps recorded so far, or an error that wraps ErrNotFound.
	Exchange(ctx context.Context, seq uint64) (*Exchange, error)

	// Ends yields what Exchanges does, but for a long stream it guarantees only the first and the last n events, n from
	// 1. Other steps recorded between those may also be missing.
	Ends(ctx context.Context, from uint64, n int) iter.Seq2[*Exchange, error]

	// StepsOf yields the current steps of one exchange from arrival number from on, in order. Use it to read an
	// exchange of any length in pieces. An exchange that a killed recorder left open ends with an interrupted Closed
	// with arrival number 0, since that step is not in the capture. A missing exchange yields an error that wraps
	// ErrNotFound. For files of other formats, whose arrival numbers are synthetic, StepsOf and Steps may differ in
	// these numbers.
	StepsOf(ctx context.Context, seq, from uint64) iter.Seq2[Step, error]

	Close() error
}

// An Index is a Source that can find exchanges by key without reading them.
type Index interface {
	// Find yields, in order, the sequence numbers from from on of the exchanges that have the key.
	Find(ctx context.Context, key Key, from uint64) iter.Seq2[uint64, error]
}

// Errors that callers branch on.
var (
	ErrEnded    = errors.New("the recording has ended")    // returned by Source.Wait
	ErrNotFound = errors.New("no such exchange")           // returned by Source.Exchange
	ErrFormat   = errors.New("not a capture")              // returned where a file is opened that is not a capture
	ErrFuture   = errors.New("written by a newer version") // returned if a capture's format is newer than this build's
)

// Info describes a capture as a whole.
type Info struct {
	ID            uuid.UUID // of the capture; zero for a file without an id
	Name          string    // the file's name as the user gave it
	Created       time.Time
	Tool          string // name and version of the program that wrote it
	Format        int    // version of the file format, from 1; 0 if it has none
	Live          bool   // a recorder is writing it now
	Imported      bool   // it came from another format, whose omissions are unknown
	SecretsKept   bool   // redaction was turned off
	Unfinished    bool   // it is a copy of a capture that was still being recorded: see Provisional
	Insecure      bool   // agents on TLS were not verified: another server may have answered
	Exchanges     uint64 // number of exchanges, which is also the last sequence number
	Arrivals      uint64 // number of steps, which is also the last arrival number
	LostExchanges int64  // exchanges of which nothing was recorded
	LostBytes     int64  // bytes that passed unrecorded
	Crashes       uint64 // recorders of it that were killed: traffic in the moment before is missing
	Crash         Crash  // the last of those
}

// Provisional reports whether more of the traffic may be known elsewhere or later: the recording continues, or continued
// when the capture was copied.
func (i *Info) Provisional() bool { return i.Live || i.Unfinished }

// InsecureText explains Info.Insecure.
const InsecureText = "INSECURE: agents on TLS were not verified (--insecure), so another server may have answered"

// A Crash is the end of a recorder that was killed.
type Crash struct {
	After  time.Time     // traffic before it is in the capture; zero if unknown
	Within time.Duration // how long before the end traffic may be missing
}

// Equal reports whether two crashes are equal.
func (c Crash) Equal(other Crash) bool { return c.After.Equal(other.After) && c.Within == other.Within }

// Lost returns the report that a recorder was killed, for a capture that a later recorder continues.
func (c Crash) Lost() Lost { return Lost{Reason: c.String(), Crash: &c} }

// String describes what may be missing.
func (c Crash) String() string {
	if c.After.IsZero() {
		return "the recorder was killed; traffic from the moment before that may be missing"
	}
	return fmt.Sprintf("the recorder was killed; up to %d ms of traffic before that, after %s, may be missing (more if it could not "+
		"write)", (c.Within+time.Millisecond-1)/time.Millisecond, c.After.UTC().Format("2006-01-02 15:04:05.000 UTC"))
}

// A Describer interprets the bytes of an exchange for later searches. The writer calls it, outside the path of the
// traffic: once when a request is complete, for each event, and once when a response is complete. It must not keep or
// change the exchange, and must accept any bytes.
//
// The message has the parsed form of the bytes, valid during the call. Its Head is the request's or the answer's, also
// for an event.
type Describer interface {
	Request(x *Exchange, m *Parsed) Description
	Event(x *Exchange, e *Event, m *Parsed) Description
	Response(x *Exchange, m *Parsed) Description
}

// A Description is the result of a Describer.
type Description struct {
	Keys []Key
	// JSON Pointers of string values to replace in this body or event data; "*" matches any one name or index
	Secrets []string
	Headers []string // names of request headers that carry credentials to this agent, learned here for later exchanges
	Query   []string // the same for query parameters
	Pieces  []Piece  // strings in event data that continue a JSON text
}

// A Piece is a string that continues a JSON text that arrives in pieces.
type Piece struct {
	Of   string // names the text among those of the exchange
	Text jsondoc.Value
}
