// Package transcript reads and writes the text form of exchanges. People write it, diffs show it, tests are made of
// it.
//
// A transcript is a txtar archive: N.request and N.response hold HTTP as text, N.meta what HTTP cannot say (offsets,
// peers, faults, bodies that are not text), gaps what the capture lacks, and want the findings that a test expects.
// [Parse] and [Format] are inverses of each other for every exchange that a Sink can have stored. [Writer] writes
// exchange by exchange.
//
// Errors name the file, the line and the section. A transcript is held in memory as a whole when it is read.
package transcript

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/capture"
)

// A Transcript is the text form of exchanges: a txtar archive for writing by hand, for diffs and for tests.
//
// Its sections are N.request and N.response, where N is the exchange's sequence number; N.meta for what HTTP does not
// carry; gaps for what is missing from the capture as a whole; and want for the expected findings. A message is its
// head, a blank line and its body. Lines of a head end with LF here, and with CRLF on the wire. The body is everything
// that follows, including the last line end. An event stream is its bytes. gRPC messages, which the head shows, are
// written as the equivalent JSON, one after another. A field that their type does not have is named by its number
// ("#9"). If a request or response is missing, it was not seen. An empty response is one without a head.
//
// A standard head has a name, as in "-- 1.request rpc-1.0 --" or "-- 1.response json --": then the section is the body
// alone. An unknown name is an error that lists the known ones; docs/CONTRIBUTING.md has their heads. Format writes
// every head. ReadDir reads a file of several scenarios: see Scenario.
//
//	The agent cancels and says nothing.
//	-- 1.request --
//	POST /rpc HTTP/1.1
//	Host: booker.example
//	Content-Type: application/json
//
//	{"jsonrpc": "2.0", "id": 1, "method": "tasks/cancel", "params": {"id": "t1"}}
//	-- 1.meta --
//	fault: reset agent "connection reset by peer"
//	-- want --
//
// # Meta
//
// A line of N.meta is a key, a colon and words. A word is bare or quoted as in Go. Blank lines and lines that begin
// with "#" are ignored. Offsets are durations as Go writes them (12.5ms), counted from the start of the exchange, or
// unknown. Every line may be omitted; its default is in brackets.
//
//	id: UUID                  [made of N]
//	conn: NUMBER              [0: not known]
//	stream: NUMBER            of HTTP/2, on that connection   [0: none]
//	client: NAME [addr ADDR] [url URL] [how HOW]              [client]
//	agent: NAME [addr ADDR] [url URL] [how HOW]               [agent url http://HOST, as the request names it]
//	started: TIME or +DURATION  RFC 3339, or since the exchange before started   [+1s, or when that one is over]
//	offsets: unknown          all offsets below are unknown unless they are given
//	request.head: base64      the section begins with the head in base64
//	request.body: FLAGS       any of: base64; crlf (each LF stands for CRLF); no-newline (the last LF is that of the
//	                          archive); decoded (the content coding is off already); missing (nothing was kept);
//	                          incomplete (its end is missing)                                    [none]
//	request.size: NUMBER or unknown     bytes on the wire     [what the section has]
//	request.dropped: NUMBER   bytes that were not kept        [0]
//	request.end: OFFSET       when its last byte came         [1ms]
//	request.trailer: "FIELDS"                                 [none]
//	response.at: OFFSET       when its head was complete      [9ms after the request]
//	response.informational: "HEAD"      a 1xx answer; may be repeated             [none]
//	response.stream: yes or no          the body is cut into events               [yes for text/event-stream, and gRPC]
//	response.blocks: K:LENGTH[+DROPPED][!] ...   blocks of the stream: number, bytes, bytes that were not kept, ! if
//	                          unterminated                    [as the stream itself says]
//	event[K]: OFFSET          when event K was complete       [10ms after the block before it, or the head]
//	comment[I]: OFFSET        the same for the I-th block of comments
//	response.head .body .size .dropped .end .trailer          as for the request  [end: 10ms after the block before]
//	state: open, closed or interrupted                        [closed if there is a response or a fault, else open]
//	ended: OFFSET             [100ms, or 10ms after the last byte; unknown unless closed]
//	fault: KIND SIDE "DETAIL"                                 [none]
//	ends: SIDE HOW OFFSET [REQUEST RESPONSE]   how a side ended its part before the answer was complete: fin, half-close,
//	                          close or reset; bytes of the bodies that had passed; one for a side      [none]
//	rewrite: PLACE "WAS" "NOW"          may be repeated       [none]
//	note: "TEXT"                        may be repeated       [none]
//	lost: NUMBER              bytes lost somewhere in between [0]
//	replayed: yes             an a2atap command sent it       [no]
//
// The section gaps has lines of the same kind:
//
//	lost: NUMBER              exchanges that passed without any record                      [0]
//	crashes: NUMBER           recorders of the capture that were killed                     [0]
//	crash: TIME DURATION      of the last: traffic before TIME, or unknown, is recorded; how long before the end
//	                          something may be missing                                      [none]
//	insecure: yes             agents on TLS were not verified                               [no]
//	secrets-kept: yes         redaction was turned off                                      [no]
//	unfinished: yes           it was copied while it was being recorded                     [no]
type Transcript struct {
	Comment   string // text before the first section
	Exchanges []*capture.Exchange
	Gaps      capture.Gaps
	Want      string // the section want, lines and all
	HasWant   bool   // the section exists; if empty, no finding is expected
}

// Format writes a transcript. Parse reads the same exchanges from it, if a Sink could have stored them, and if the
// comment and Want are complete lines of text without markers.
func Format(t *Transcript) []byte {
	var b bytes.Buffer
	b.WriteString(t.Comment)
	w := NewWriter(&b)
	w.Gaps(t.Gaps) //nolint:errcheck // memory takes all
	for _, x := range t.Exchanges {
		w.Write(x) //nolint:errcheck // memory takes all
	}
	if t.HasWant {
		b.WriteString("-- want --\n")
		b.WriteString(t.Want)
	}
	return b.Bytes()
}

// A Writer writes exchanges as a transcript, one at a time, and keeps none in memory.
type Writer struct {
	w      io.Writer
	before *capture.Exchange // what the next one's defaults are counted from: without bodies
}

// NewWriter returns a writer of transcripts without comment and want.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes an exchange. Exchanges must come in order of their numbers.
func (t *Writer) Write(x *capture.Exchange) error {
	var b bytes.Buffer
	meta := &metaWriter{}
	message := describe(meta, x, t.before)
	if message.request != nil {
		writeSection(&b, x.Seq, "request", message.request)
	}
	if message.response != nil {
		writeSection(&b, x.Seq, "response", message.response)
	}
	if meta.b.Len() > 0 || message.request == nil && message.response == nil {
		writeSection(&b, x.Seq, "meta", meta.b.Bytes())
	}
	t.before = &capture.Exchange{Started: x.Started, Ended: x.Ended}
	_, err := t.w.Write(b.Bytes())
	return err
}

// Gaps writes the gaps of the capture, if there are any. It may be called once.
func (t *Writer) Gaps(g capture.Gaps) error {
	text := gapsText(g)
	if len(text) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(t.w, "-- %s --\n%s", gapsName, text)
	return err
}

// gapsName is the name of the section of gaps.
const gapsName = "gaps"

// Close ends the transcript; it has nothing to write.
func (t *Writer) Close() error { return nil }

func writeSection(b *bytes.Buffer, seq uint64, kind string, content []byte) {
	fmt.Fprintf(b, "-- %d.%s --\n", seq, kind)
	b.Write(content)
}

// ReadFile reads a transcript from a file.
func ReadFile(path string) (*Transcript, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	return Parse(path, data)
}

// Parse reads a transcript. Errors begin with the file's name and the number of the line, and name the
// section. The exchanges come in the order of their numbers.
func Parse(file string, data []byte) (*Transcript, error) { return parse(file, data, 1) }

// parse reads a transcript whose text begins in a line of the file.
func parse(file string, data []byte, line int) (*Transcript, error) {
	comment, sections := parseArchive(data)
	if len(sections) > 0 && comment == "" && strings.HasPrefix(sections[0].name, scenarioMark) {
		comment, sections = string(sections[0].content), sections[1:]
	}
	for i := range sections {
		sections[i].line += line - 1
	}
	t := &Transcript{Comment: comment}
	groups := map[uint64]*messages{}
	hasGaps := false
	for _, s := range sections {
		if s.name == "want" && !t.HasWant {
			t.Want, t.HasWant = string(s.content), true
			continue
		}
		if s.name == gapsName && !hasGaps {
			gaps, err := readGaps(s)
			if err != nil {
				return nil, fmt.Errorf("%s:%w", file, err)
			}
			t.Gaps = gaps
			hasGaps = true
			continue
		}
		if err := group(groups, s); err != nil {
			return nil, fmt.Errorf("%s:%d: section %q: %w", file, s.line, s.name, err)
		}
	}
	var before *capture.Exchange
	for _, m := range slices.SortedFunc(mapValues(groups),
		func(a, b *messages) int { return cmp.Compare(a.seq, b.seq) }) {
		r, err := newMetaReader(m)
		x := &capture.Exchange{Seq: m.seq}
		if err == nil {
			describe(r, x, before)
			err = r.finish()
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%w", file, err)
		}
		t.Exchanges = append(t.Exchanges, x)
		before = x
	}
	return t, nil
}

func mapValues(groups map[uint64]*messages) func(func(*messages) bool) {
	return func(yield func(*messages) bool) {
		for _, m := range groups {
			if !yield(m) {
				return
			}
		}
	}
}

// messages has the sections of one exchange. A message is nil if its section is missing.
type messages struct {
	seq               uint64
	request, response []byte
	requestLine       int // where the section begins, as the number of a line in the file
	responseLine      int
	meta              []byte
	metaLine          int
}

// Sniff reports whether a file begins like a transcript, with one of its sections, and whether it is a txtar archive
// at all.
func Sniff(begin []byte) (isTranscript, isArchive bool) {
	_, sections := parseArchive(begin)
	fits := func(s section) bool { return group(map[uint64]*messages{}, s) == nil }
	return slices.ContainsFunc(sections, fits), len(sections) > 0
}

var errSection = errors.New("unknown section; use N.request, N.response or N.meta, with N from 1, gaps or want")

// group puts a section where it belongs.
func group(groups map[uint64]*messages, s section) error {
	if s.name == "want" || s.name == gapsName {
		return errors.New("there is already such a section; combine them")
	}
	if strings.HasPrefix(s.name, scenarioMark) {
		return errors.New("another scenario begins here, but a capture is one scenario; copy it into a separate file")
	}
	number, kind, _ := strings.Cut(s.name, ".")
	kind, head, _ := strings.Cut(kind, " ")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil || seq == 0 || number[0] == '0' || number[0] == '+' {
		return errSection
	}
	m := groups[seq]
	if m == nil {
		m = &messages{seq: seq}
		groups[seq] = m
	}
	var content *[]byte
	var line *int
	switch kind {
	case "request":
		content, line = &m.request, &m.requestLine
	case "response":
		content, line = &m.response, &m.responseLine
	case "meta":
		content, line = &m.meta, &m.metaLine
	default:
		return errSection
	}
	if *content != nil {
		return fmt.Errorf("the section already exists, in line %d", *line)
	}
	text, err := withHead(kind, head, s.content)
	*content, *line = text, s.line
	return err
}
