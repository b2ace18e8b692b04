package injection

import (
	"math"
	"strconv"
	"time"

	"a2atap/proxy/capture"
)

// An action is what follows a piece of a changed stream.
type action uint8

const (
	goOn     action = iota
	breakOff        // the connection breaks
	endHere         // the stream ends in good form
	hang            // nothing more is delivered
)

// delayed is data that comes some time after the data before it.
type delayed struct {
	bytes []byte
	wait  time.Duration
}

// events changes the content of an event stream. A chunked stream gets new chunks, one for each block.
type events struct {
	fault    *Fault
	chunked  bool
	splitter splitter
	k        int    // number of the last event that has passed
	trailer  []byte // field lines behind the last chunk
}

func newEvents(f *Fault, chunked bool) *events {
	return &events{fault: f, chunked: chunked, splitter: &capture.Splitter{Limit: math.MaxInt}}
}

// A splitter cuts a stream into its events.
type splitter interface {
	Write(p []byte) []capture.Event
	Flush() []capture.Event
}

// write returns the pieces to send for a piece of the content. After an action other than goOn, the rest is dropped.
func (s *events) write(p []byte) ([]delayed, action) { return s.pass(s.splitter.Write(p)) }

// flush returns the rest when the content ends.
func (s *events) flush() ([]delayed, action) { return s.pass(s.splitter.Flush()) }

func (s *events) pass(blocks []capture.Event) (out []delayed, then action) {
	for _, b := range blocks {
		piece := delayed{bytes: s.framed(b.Raw)}
		if b.K > 0 && s.fault.Kind == DelayEvents {
			piece.wait = s.fault.Delay
		}
		out = append(out, piece)
		if b.K == 0 {
			continue
		}
		s.k = b.K
		if s.fault.Kind == DuplicateEvent && s.k == s.fault.Event {
			out = append(out, piece)
		}
		if then = s.then(); then != goOn {
			break
		}
	}
	return out, then
}

// then returns the action after the last event that has passed.
func (s *events) then() action {
	if s.k < s.fault.Event {
		return goOn
	}
	switch s.fault.Kind {
	case CutStream:
		return breakOff
	case EndStream:
		return endHere
	case StallStream:
		return hang
	}
	return goOn
}

// framed returns content as it is sent.
func (s *events) framed(p []byte) []byte {
	if !s.chunked || len(p) == 0 {
		return p
	}
	out := strconv.AppendInt(nil, int64(len(p)), 16)
	out = append(out, "\r\n"...)
	out = append(out, p...)
	return append(out, "\r\n"...)
}

// end returns the bytes that end the content here.
func (s *events) end() []byte {
	if !s.chunked {
		return nil
	}
	out := append([]byte("0\r\n"), s.trailer...)
	return append(out, "\r\n"...)
}
