package fleet

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"

	"github.com/google/uuid"
)

// A mirror is what a stream holds of one capture; mirrored is it as a capture.Source. Its blocks are in a spool, as they came. What is
// not in the stream is a gap that the mirror says: the exchanges that were open there end as interrupted, and those
// whose beginning is missing are left out. Exchanges keep their numbers; steps are numbered anew.
//
// One goroutine adds to it, and any number read.
type mirror struct {
	spool  *spool
	since  time.Time // exchanges that began earlier are left out; zero for none
	notice func(string)
	held   *atomic.Bool // also a recording that has ended may go on

	presence presence

	mu        sync.RWMutex
	recorder  Recorder // as the latest of its messages says
	shipped   uint64   // what it says is in the stream
	entries   []entry
	arrivals  uint64          // how many steps there are
	known     map[uint64]span // exchanges that are not left out
	open      map[uint64]bool
	cut       map[uint64]uint64 // exchanges that a gap has ended: from which arrival number on they are left out
	next      uint64            // arrival number that is expected; 0 if nothing has come
	lastSeq   uint64            // the highest number of an exchange that has been opened
	lost      capture.Lost      // what gaps have cost
	carried   capture.Lost      // what the steps that came say was lost
	ended     bool              // no step will come
	killed    bool              // what is open then was not seen to its end
	abandoned bool              // since it was last heard of, it was said that more may have been recorded
	spoilt    bool              // the last that came could not be read
	spoiled   bool              // and that this was so has been said
	damages   int               // blocks that were
	gaps      int               // runs of steps that were not there
	headless  bool              // retention may have removed steps that are asked for before the first that comes
	beheaded  bool              // the first step is missing, which was said
	copied    string            // another host that ships a capture of the same id; empty for none
	copyLost  bool              // it was said that what stands there alone is missing
	changed   chan struct{}     // closed when there is something new
}

// An entry is a run of steps: of a block in the spool, or made here.
type entry struct {
	first  uint64 // number of its first step in the mirror
	place  place  // of the block
	block  uint64 // arrival number of the block's first step in the capture
	after  uint64 // steps up to this arrival number came before
	silent bool   // steps about the whole capture are left out
	made   []capture.Step
}

// A span says in which entries the steps of an exchange are.
type span struct{ first, last int32 }

func newMirror(s *spool, since time.Time, notice func(string), held *atomic.Bool) *mirror {
	return &mirror{
		spool: s, since: since, notice: notice, held: held, known: make(map[uint64]span), open: make(map[uint64]bool),
		cut: make(map[uint64]uint64), changed: make(chan struct{}),
	}
}

// take adds what a message brought, which was stored at a time.
func (m *mirror) take(msg *Message, blocks []bolt.Block, at time.Time) error {
	for i := range blocks {
		if b := &blocks[i]; b.First < msg.First || b.First > msg.Last {
			return errMessage
		}
		blocks[i].Last = msg.Last
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.recorder
	m.recorder = msg.Recorder // each message follows the one before it, whatever the clocks say
	m.recorder.grow(&before)
	m.spoilt = false // what may have been lost shows in the numbers
	m.presence.message(at)
	m.ended, m.killed, m.abandoned = false, false, false
	for i := range blocks {
		if err := m.block(&blocks[i]); err != nil {
			return err
		}
	}
	if len(blocks) == 0 { // what came before it was shipped
		m.begin(msg.First)
		if msg.First > m.next {
			m.gap(m.next, msg.First-1, 0)
			m.next = msg.First
		}
	}
	m.wake()
	return nil
}

// begin takes notice of the first step that a message is about, unless one was before it.
func (m *mirror) begin(first uint64) {
	switch {
	case m.next > 0:
	case m.since.IsZero() || m.headless:
		m.next = 1
	default:
		m.next = first // what came before is not asked for
	}
}

// maxBlockSteps bounds the steps of a block: recorders end one at 128 KiB.
const maxBlockSteps = 1 << 16

// block adds a block. One that is damaged is left out: what comes after it shows the gap.
func (m *mirror) block(b *bolt.Block) error {
	var steps []capture.Step
	for s, err := range b.Steps() {
		if err != nil {
			return m.damaged(b, err)
		}
		if lost, is := s.What.(capture.Lost); is && !plausibleLost(lost) {
			return m.damaged(b, errMessage)
		}
		if steps = append(steps, s); len(steps) > maxBlockSteps || s.Arrival > b.Last {
			return m.damaged(b, errMessage)
		}
	}
	if len(steps) == 0 {
		return m.damaged(b, errMessage)
	}
	b.Last = steps[len(steps)-1].Arrival
	m.begin(b.First)
	if b.Last < m.next {
		return nil
	}
	if b.First > m.next {
		m.gap(m.next, b.First-1, firstOpened(steps))
	}
	return m.append(b, steps)
}

func (m *mirror) damaged(b *bolt.Block, err error) error {
	if errors.Is(err, capture.ErrFuture) {
		return fmt.Errorf("recorder %s (%s): %w", m.recorder.Host, m.recorder.Tool, err)
	}
	if m.damages++; m.damages == 1 {
		m.notice(fmt.Sprintf("%s: the block that begins with step %d is damaged, and left out (%v)", m.title(), b.First,
			err))
	}
	return nil
}

func firstOpened(steps []capture.Step) uint64 {
	for i := range steps {
		if _, is := steps[i].What.(capture.Opened); is {
			return steps[i].Seq
		}
	}
	return 0
}

// append adds the steps of a block that are new.
func (m *mirror) append(b *bolt.Block, steps []capture.Step) error {
	e := entry{first: m.arrivals + 1, block: b.First, after: m.next - 1}
	e.silent = !m.since.IsZero() && m.recorder.Sent.Before(m.since)
	before := m.arrivals
	for i := range steps {
		s := &steps[i]
		if s.Arrival < m.next {
			continue
		}
		m.note(s, int32(len(m.entries)))
		if m.keeps(s, &e) {
			m.arrivals++
		}
	}
	m.next = b.Last + 1
	if m.arrivals == before {
		return nil
	}
	var err error
	if e.place, err = m.spool.write(b.Packed); err != nil {
		m.arrivals = before
		return err
	}
	m.entries = append(m.entries, e)
	return nil
}

// note takes notice of a new step that will be in an entry.
func (m *mirror) note(s *capture.Step, entry int32) {
	switch what := s.What.(type) {
	case capture.Opened:
		m.lastSeq = max(m.lastSeq, s.Seq)
		if !what.Started.Before(m.since) {
			m.known[s.Seq], m.open[s.Seq] = span{entry, entry}, true
		}
		return
	case capture.Closed:
		delete(m.open, s.Seq)
	case capture.Lost:
		m.carried.Exchanges = capture.AddLost(m.carried.Exchanges, what.Exchanges)
		m.carried.Bytes = capture.AddLost(m.carried.Bytes, what.Bytes)
	}
	if x, ok := m.known[s.Seq]; ok {
		m.known[s.Seq] = span{x.first, entry}
	}
}

// keeps reports whether a step of an entry is in the mirror.
func (m *mirror) keeps(s *capture.Step, e *entry) bool {
	if s.Arrival <= e.after {
		return false
	}
	if s.Seq == 0 {
		return !e.silent
	}
	_, ok := m.known[s.Seq]
	if from, is := m.cut[s.Seq]; is && s.Arrival >= from {
		return false
	}
	return ok
}

// gap says that steps are missing. The next exchange that was opened after them has a number, if that is known.
func (m *mirror) gap(from, to, opened uint64) {
	why := fmt.Sprintf("steps %d to %d of %s are not in the stream", from, to, m.title())
	var missing int64
	if opened > m.lastSeq+1 {
		missing = int64(min(opened-m.lastSeq-1, to-from+1)) // each has a step of its own
		m.lastSeq = opened - 1
	}
	m.beheaded = m.beheaded || from == 1
	m.lose(from, capture.Lost{Exchanges: missing, Reason: why})
	if m.gaps++; m.gaps == 1 {
		m.notice(why)
	}
}

// lose adds the steps that say that something is missing from an arrival number on, and ends what is open there.
func (m *mirror) lose(from uint64, lost capture.Lost) {
	made := []capture.Step{{Offset: capture.NotKnown, What: lost}}
	for _, seq := range slices.Sorted(maps.Keys(m.open)) {
		made = append(made,
			capture.Step{Seq: seq, Offset: capture.NotKnown, What: capture.Lost{Reason: lost.Reason}},
			capture.Step{Seq: seq, Offset: capture.NotKnown, What: capture.Closed{Interrupted: true}})
		m.cut[seq] = from
		m.known[seq] = span{m.known[seq].first, int32(len(m.entries))}
	}
	clear(m.open)
	m.lost.Exchanges = capture.AddLost(m.lost.Exchanges, lost.Exchanges)
	m.entries = append(m.entries, entry{first: m.arrivals + 1, made: made})
	m.arrivals += uint64(len(made))
}

// end says that no step will come: the recording has ended, or nobody knows of it any more. Steps that were committed
// and did not come are a gap.
func (m *mirror) end(killed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return
	}
	from := max(m.next, 1)
	if m.next == 0 && !m.since.IsZero() {
		from = m.shipped + 1 // what is there is older
	}
	if last := m.recorder.Committed; last >= from {
		why := fmt.Sprintf("steps %d to %d of %s were not shipped; a2atap ship sends them", from, last, m.title())
		m.lose(from, capture.Lost{Reason: why})
		m.notice(why)
	}
	m.ended, m.killed = true, killed || m.recorder.Crashes > 0
	m.sayRest()
	m.wake()
}

// complete reports whether the recording has ended and all of it has come.
func (m *mirror) complete() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return !m.recorder.Live && !m.spoilt && max(m.next, 1) > m.recorder.Committed
}

// title names the capture for people.
func (m *mirror) title() string { return fmt.Sprintf("%s (%s)", m.recorder.Host, m.recorder.Name) }

// wake lets those go on who wait for something new.
func (m *mirror) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// A spool is a file that holds blocks as they came from the stream. It may be used by several goroutines.
type spool struct {
	file *os.File

	mu  sync.Mutex
	end int64
}

// A place says where a block is in a spool.
type place struct {
	at   int64
	size int
}

func newSpool(path string) (*spool, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep what is read of the stream: %w", err)
	}
	return &spool{file: file}, nil
}

// write adds a block.
func (s *spool) write(data []byte) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := place{s.end, len(data)}
	if _, err := s.file.WriteAt(data, s.end); err != nil {
		return place{}, fmt.Errorf("keep what is read of the stream: %w; make room there, or set TMPDIR to a folder "+
			"with more of it", err)
	}
	s.end += int64(len(data))
	return p, nil
}

// read returns a block, in memory of its own.
func (s *spool) read(p place) ([]byte, error) {
	data := make([]byte, p.size)
	if _, err := s.file.ReadAt(data, p.at); err != nil {
		return nil, fmt.Errorf("read again what was read of the stream: %w", err)
	}
	return data, nil
}

// close gives up the file and removes it.
func (s *spool) close() error { return errors.Join(s.file.Close(), os.Remove(s.file.Name())) }

// sayRest says what could not be said as it came: that the last messages cannot be read, and how much else was missing.
func (m *mirror) sayRest() {
	if m.spoilt {
		m.spoilt, m.spoiled = false, true
		m.lose(max(m.next, 1), capture.Lost{
			Reason: "messages of " + m.title() + " cannot be read: they are damaged, or none of a recorder",
		})
	}
	if m.damages > 1 {
		m.notice(fmt.Sprintf("%s: %d blocks are damaged in all", m.title(), m.damages))
	}
	if m.gaps > 1 {
		m.notice(fmt.Sprintf("%s: %d gaps in all", m.title(), m.gaps))
	}
	m.damages, m.gaps = 0, 0
}

// abandon says of a recorder that did not say that it has ended, and does not answer, that it may have recorded more,
// and so of a capture that is there in several copies, of which one was read.
func (m *mirror) abandon() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended && m.recorder.Live && !m.abandoned {
		m.abandoned = true
		heard, _ := m.presence.last()
		m.lose(m.next, capture.Lost{
			Reason: m.title() + " has not said that it ended, and does not answer: what it recorded after " +
				heard.UTC().Format(heardFormat) + " is not in the stream",
		})
		m.wake()
	}
	m.sayRest()
	if m.copied != "" && !m.copyLost {
		m.copyLost = true
		m.lose(m.next, capture.Lost{Reason: m.copyText()})
		m.wake()
	}
}

// isCopy reports whether a message is of a copy of the capture that another host ships.
func (m *mirror) isCopy(msg *Message) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if msg.Recorder.Host == m.recorder.Host {
		return false
	}
	if m.copied == "" {
		m.copied = msg.Recorder.Host
		m.notice(m.copyText())
	}
	return true
}

func (m *mirror) copyText() string {
	return fmt.Sprintf("%s is in the stream as of host %s too; that copy is left out, and what may stand in it alone: "+
		"--host %[2]s reads it alone", m.title(), m.copied)
}

// heardFormat is how it is said when a recorder was heard of.
const heardFormat = "2006-01-02 15:04:05 UTC"

func (m *mirror) id() uuid.UUID {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.recorder.Capture
}

func (m *mirror) lives() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.recorder.Live
}

func (m *mirror) isEnded() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.ended
}

func (m *mirror) silence() string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	heard, _ := m.presence.last()
	return fmt.Sprintf("%s does not answer; it was last heard of at %s", m.title(), heard.UTC().Format(heardFormat))
}

func (m *mirror) host() string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.recorder.Host
}

func (m *mirror) spoil() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.presence.appears()
	if !m.spoiled {
		m.spoilt, m.ended = true, false
	}
}

// mend takes back what spoil has noted: what came after it can be read.
func (m *mirror) mend() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spoilt = false
}

func (m *mirror) recorded() Recorded {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return Recorded{Host: m.recorder.Host, Name: m.recorder.Name, Source: mirrored{m}}
}

// miss adds a step that says that something is missing that need not be of this capture.
func (m *mirror) miss(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	made := []capture.Step{{Offset: capture.NotKnown, What: capture.Lost{Reason: why}}}
	m.entries = append(m.entries, entry{first: m.arrivals + 1, made: made})
	m.arrivals++
	m.wake()
}

func (m *mirror) lacksHead() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.beheaded
}

// precede adds a step before all others, which says that something is missing that is not of this capture.
func (m *mirror) precede(lost capture.Lost) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entries := []entry{{first: 1, made: []capture.Step{{Offset: capture.NotKnown, What: lost}}}}
	for _, e := range m.entries {
		e.first++
		entries = append(entries, e)
	}
	m.entries = entries
	m.arrivals++
	for seq, x := range m.known {
		m.known[seq] = span{x.first + 1, x.last + 1}
	}
	m.wake()
}

// answered takes note of what a recorder says of itself. That a recorder is behind is nothing missing, unless it says
// what keeps it from shipping, or nothing of it is there at all.
func (m *mirror) answered(a *Answer, nothing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recorder.grow(&a.Recorder)
	from, last := max(m.next, 1), a.Recorder.Committed
	if !nothing {
		from = max(from, a.Shipped+1) // what came after the last message that is read
	}
	if last < from || !nothing && a.Error == "" {
		return
	}
	why := fmt.Sprintf("steps %d to %d of %s are not in the stream", from, last, m.title())
	if a.Error != "" {
		why += ", since it cannot ship them: " + nameOf(a.Error)
	}
	m.lose(from, capture.Lost{Reason: why})
	m.notice(why)
	m.next = last + 1
}
