package capture

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/google/uuid"
)

// A Sink stores steps in the order in which they are given. It assigns their arrival numbers.
//
// Append takes the steps over, bytes included; the caller must not touch them again. It may keep them in memory for a
// moment (see the store's flush interval). An error means that these steps are not in the capture and will not be; the
// caller counts them as lost and goes on. Append is called by one goroutine at a time.
type Sink interface {
	Append(steps ...Step) error
	// Close writes out what is pending. The capture is complete when it returns nil.
	Close() error
}

// A Source reads a capture, finished or growing, in this process or in another one. All methods may be called
// concurrently. What they yield belongs to the caller.
type Source interface {
	// Info describes the capture as it is now.
	Info(ctx context.Context) (Info, error)

	// Steps yields the steps that are in the capture now, from arrival number from on (1 is the first), in order of
	// arrival.
	Steps(ctx context.Context, from uint64) iter.Seq2[Step, error]

	// Wait returns nil when a step with arrival number from or later is there, ErrEnded if none will come since the
	// recording has ended, or the context's error.
	Wait(ctx context.Context, from uint64) error

	// Exchanges yields the exchanges that are in the capture now, from sequence number from on (1 is the first), in
	// order of Seq, as far as they have come.
	Exchanges(ctx context.Context, from uint64) iter.Seq2[*Exchange, error]

	// Exchange returns one exchange as far as it has come, or an error that wraps ErrNotFound.
	Exchange(ctx context.Context, seq uint64) (*Exchange, error)

	// Ends yields what Exchanges does, but of a long stream only its first and its last n events for sure, n from 1.
	// What else was recorded while those between them passed may be missing too.
	Ends(ctx context.Context, from uint64, n int) iter.Seq2[*Exchange, error]

	// StepsOf yields the steps of one exchange that are in the capture now, from arrival number from on, in order. It
	// is how an exchange of any length is read in pieces. One that a killed recorder left open ends with a Closed that
	// says so and has arrival number 0, since it is not in the capture. An exchange that is not there yields an error
	// that wraps ErrNotFound. Where arrival numbers are made up, in a file of another format, those of StepsOf may
	// be others than those of Steps.
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
	ErrFuture   = errors.New("written by a later version") // returned where a capture's format is newer than ours
)

// Info describes a capture as a whole.
type Info struct {
	ID            uuid.UUID // of the capture; zero for a file that has none
	Name          string    // the file's name as the user gave it
	Created       time.Time
	Tool          string // name and version of the program that wrote it
	Format        int    // version of the file format, from 1; 0 where that means nothing
	Live          bool   // a recorder is writing it now
	Imported      bool   // it came from another format; what that format lacks is not known
	SecretsKept   bool   // redaction was turned off
	Unfinished    bool   // it is a copy of a capture that was still being recorded: see Provisional
	Insecure      bool   // agents on TLS were not verified: who answered need not be the agent that is named
	Exchanges     uint64 // how many there are, which is also the last sequence number
	Arrivals      uint64 // how many steps there are, which is also the last arrival number
	LostExchanges int64  // exchanges of which nothing was recorded
	LostBytes     int64  // bytes that passed unrecorded
	Crashes       uint64 // recorders of it that were killed: what passed in the moment before is missing
	Crash         Crash  // the last of those
}

// Provisional reports whether more of the traffic may be known elsewhere or later: the recording continues, or continued
// when the capture was copied.
func (i *Info) Provisional() bool { return i.Live || i.Unfinished }

// InsecureText says what Info.Insecure means, in words.
const InsecureText = "INSECURE: agents on TLS were not verified (--insecure), so another may have answered"

// A Crash is the end of a recorder that was killed.
type Crash struct {
	After  time.Time     // what passed before is in the capture; zero if that is not known
	Within time.Duration // how long before the end what passed may be missing
}

// String says what may be missing, in words.
func (c Crash) String() string {
	if c.After.IsZero() {
		return "the recorder was killed; what passed in the moment before that may be missing"
	}
	return fmt.Sprintf("the recorder was killed; up to %d ms before that, after %s, may be missing (more if it could not "+
		"write)", (c.Within+time.Millisecond-1)/time.Millisecond, c.After.UTC().Format("2006-01-02 15:04:05.000 UTC"))
}

// A Describer says what the bytes of an exchange mean to those who will look for it. It is asked in the writer, off the
// path of the traffic: once when a request is complete, for each event, and once when a response is complete. It must
// not keep or change the exchange, and it must not fail on any bytes.
//
// The message is what was read already of what it is asked about, valid during the call. Its Head is that of the
// request or of the answer, also for an event.
type Describer interface {
	Request(x *Exchange, m *Parsed) Description
	Event(x *Exchange, e *Event, m *Parsed) Description
	Response(x *Exchange, m *Parsed) Description
}

// A Description is what a Describer has to say.
type Description struct {
	Keys []Key
	// JSON Pointers of string values to be replaced in this body or event data; "*" stands for any one name or index
	Secrets []string
	Headers []string // names of request headers that carry credentials to this agent, learned here for later exchanges
	Query   []string // the same for query parameters
}
