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

// A mirror is the part of one capture that a stream has; mirrored presents it as a capture.Source. Its blocks are in a
// spool, unchanged. Missing steps become a gap: exchanges that were open there end as interrupted, and those whose
// beginning is missing are left out. Exchanges keep their numbers; steps get new ones.
//
// One goroutine adds to a mirror, and any number may read it.
type mirror struct {
	spool  *spool
	since  time.Time // exchanges that began earlier are left out; zero for none
	notice func(string)
	held   *atomic.Bool // a recording that has ended may continue

	presence presence

	mu        sync.RWMutex
	recorder  Recorder // from its latest message
	shipped   uint64   // last step that it reports as shipped
	entries   []entry
	arrivals  uint64          // number of steps
	known     map[uint64]span // exchanges that are not left out
	open      map[uint64]bool
	cut       map[uint64]uint64 // exchanges that a gap has ended, and the arrival number from which they are omitted
	next      uint64            // next expected arrival number; 0 before the first
	lastSeq   uint64            // highest number of an opened exchange
	lost      capture.Lost      // sum of the gaps
	carried   capture.Lost      // losses that received steps report
	ended     bool              // no more steps will come
	killed    bool              // its open exchanges were not seen to their end
	abandoned bool              // reported that more may have been recorded since its last message
	spoilt    bool              // the last message could not be read
	spoiled   bool              // and this was reported
	damages   int               // damaged blocks
	gaps      int               // runs of missing steps
	headless  bool              // retention may have removed wanted steps before the first
	beheaded  bool              // the first step is missing, and this was reported
	copied    string            // another host that ships a capture with the same id, or empty
	copyLost  bool              // reported that steps only that copy has are missing
	changed   chan struct{}     // closed when the mirror changes
}

// An entry is a run of steps: from a block in the spool, or made here.
type entry struct {
	first  uint64 // number of its first step in the mirror
	place  place  // of the block
	block  uint64 // arrival number of the block's first step in the capture
	after  uint64 // steps up to this arrival number are in earlier entries
	silent bool   // steps about the whole capture are left out
	made   []capture.Step
}

// A span is the range of entries that have steps of an exchange.
type span struct{ first, last int32 }

func newMirror(s *spool, since time.Time, notice func(string), held *atomic.Bool) *mirror {
	return &mirror{
		spool: s, since: since, notice: notice, held: held, known: make(map[uint64]span), open: make(map[uint64]bool),
		cut: make(map[uint64]uint64), changed: make(chan struct{}),
	}
}

// take adds a message's blocks; at is when the server stored it.
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
	m.recorder = msg.Recorder // messages are in order, even if the clocks disagree
	m.recorder.grow(&before)
	m.spoilt = false // losses show in the arrival numbers
	m.presence.message(at)
	m.ended, m.killed, m.abandoned = false, false, false
	for i := range blocks {
		if err := m.block(&blocks[i]); err != nil {
			return err
		}
	}
	if len(blocks) == 0 { // everything before it was shipped
		m.begin(msg.First)
		if msg.First > m.next {
			m.gap(m.next, msg.First-1, 0)
			m.next = msg.First
		}
	}
	m.wake()
	return nil
}

// begin notes the first step of the first message.
func (m *mirror) begin(first uint64) {
	switch {
	case m.next > 0:
	case m.since.IsZero() || m.headless:
		m.next = 1
	default:
		m.next = first // earlier steps are not wanted
	}
}

// maxBlockSteps bounds the steps of a block: recorders end one at 128 KiB.
const maxBlockSteps = 1 << 16

// block adds a block. A damaged one is left out; the next block shows the gap.
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
		m.notice(fmt.Sprintf("%s: the block that begins with step %d is damaged and left out (%v)", m.title(), b.First,
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

// append adds the new steps of a block.
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

// note updates the mirror for a new step of an entry.
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

// keeps reports whether a step of an entry belongs to the mirror.
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

// gap records missing steps; opened is the number of the first exchange opened after them, 0 if unknown.
func (m *mirror) gap(from, to, opened uint64) {
	why := fmt.Sprintf("steps %d to %d of %s are not in the stream", from, to, m.title())
	var missing int64
	if opened > m.lastSeq+1 {
		missing = int64(min(opened-m.lastSeq-1, to-from+1)) // each has at least one step
		m.lastSeq = opened - 1
	}
	m.beheaded = m.beheaded || from == 1
	m.lose(from, capture.Lost{Exchanges: missing, Reason: why})
	if m.gaps++; m.gaps == 1 {
		m.notice(why)
	}
}

// lose adds steps that report a loss from an arrival number on, and ends the exchanges that are open at that point.
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

// end declares that no more steps will come: the recording has ended, or its recorder is gone. Committed steps that did
// not arrive are a gap.
func (m *mirror) end(killed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return
	}
	from := max(m.next, 1)
	if m.next == 0 && !m.since.IsZero() {
		from = m.shipped + 1 // the spool has only older steps
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

// complete reports whether the recording has ended and has arrived completely.
func (m *mirror) complete() bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return !m.recorder.Live && !m.spoilt && max(m.next, 1) > m.recorder.Committed
}

// title returns the capture's name for users.
func (m *mirror) title() string { return fmt.Sprintf("%s (%s)", m.recorder.Host, m.recorder.Name) }

// wake wakes goroutines that wait for a change.
func (m *mirror) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// A spool is a file of blocks as the stream had them. It is safe for concurrent use.
type spool struct {
	file *os.File

	mu  sync.Mutex
	end int64
}

// A place locates a block in a spool.
type place struct {
	at   int64
	size int
}

func newSpool(path string) (*spool, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store the traffic from the stream: %w", err)
	}
	return &spool{file: file}, nil
}

// write adds a block.
func (s *spool) write(data []byte) (place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := place{s.end, len(data)}
	if _, err := s.file.WriteAt(data, s.end); err != nil {
		return place{}, fmt.Errorf("store the traffic from the stream: %w; free some space, or set TMPDIR to a directory "+
			"with more space", err)
	}
	s.end += int64(len(data))
	return p, nil
}

// read returns a new copy of a block.
func (s *spool) read(p place) ([]byte, error) {
	data := make([]byte, p.size)
	if _, err := s.file.ReadAt(data, p.at); err != nil {
		return nil, fmt.Errorf("read the stored traffic from the stream: %w", err)
	}
	return data, nil
}

// close closes and removes the file.
func (s *spool) close() error { return errors.Join(s.file.Close(), os.Remove(s.file.Name())) }

// sayRest reports what could not be reported earlier: that the last messages are unreadable, and the sum of the gaps.
func (m *mirror) sayRest() {
	if m.spoilt {
		m.spoilt, m.spoiled = false, true
		m.lose(max(m.next, 1), capture.Lost{
			Reason: "messages of " + m.title() + " cannot be read: they are damaged, or not from a recorder",
		})
	}
	if m.damages > 1 {
		m.notice(fmt.Sprintf("%s: %d damaged blocks in total", m.title(), m.damages))
	}
	if m.gaps > 1 {
		m.notice(fmt.Sprintf("%s: %d gaps in total", m.title(), m.gaps))
	}
	m.damages, m.gaps = 0, 0
}

// abandon reports that a capture may have more steps: its recorder has not ended and does not answer, or the stream has
// several copies of the capture, only one of which was read.
func (m *mirror) abandon() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended && m.recorder.Live && !m.abandoned {
		m.abandoned = true
		heard, _ := m.presence.last()
		m.lose(m.next, capture.Lost{
			Reason: m.title() + " has not reported its end, and does not answer: traffic that it recorded after " +
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

// isCopy reports whether a message belongs to a copy of the capture that another host ships.
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
	return fmt.Sprintf("%s is also in the stream from host %s; that copy is left out, with anything that only it contains: "+
		"--host %[2]s reads only the copy", m.title(), m.copied)
}

// heardFormat formats the time of a recorder's last message.
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
	return fmt.Sprintf("%s does not answer; its last message was at %s", m.title(), heard.UTC().Format(heardFormat))
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

// mend undoes spoil: a later message can be read.
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

// miss adds a step that reports a loss, which may concern other captures.
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

// precede adds a step before all others that reports a loss of other captures.
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

// answered handles a recorder's answer. Nothing is missing from a recorder that lags, unless it reports why it cannot
// ship, or the stream has nothing from it.
func (m *mirror) answered(a *Answer, nothing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recorder.grow(&a.Recorder)
	from, last := max(m.next, 1), a.Recorder.Committed
	if !nothing {
		from = max(from, a.Shipped+1) // steps after the last message that was read
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
