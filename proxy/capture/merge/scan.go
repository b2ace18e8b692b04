package merge

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
)

// A recorder is a recording on its way into the merged capture.
type recorder struct {
	Recording
	all *recorders // that are merged

	info    capture.Info
	scanned uint64 // arrival number of the last step that was summarised
	settled uint64 // the same, of the last that is older than the newest by the window of Options
	recent  []seen // when it saw the later ones
	ended   bool   // no more steps will come

	exchanges map[uint64]*exchange // by the number there, that was opened last
	agents    map[agentKey]*agent
	fresh     map[uint64]struct{} // digests of ids that were carried so far
	losses    int64               // lost exchanges according to its steps
	gaps      bool                // something is missing in it
	machines  map[string]struct{} // on which it was recorded, according to its clients' homes
	said      capture.Info        // its losses as reported
	saidLost  int64
	ripe      []mark // reading positions over time, while it is followed

	out emission
}

// A seen is the arrival number of a step, and the latest time of the steps up to it, on the recorder's clock.
type seen struct {
	arrival uint64
	at      int64
}

func newRecorder(r Recording) *recorder {
	return &recorder{
		Recording: r, exchanges: make(map[uint64]*exchange), agents: make(map[agentKey]*agent),
		fresh: make(map[uint64]struct{}), machines: make(map[string]struct{}),
		out: emission{
			exchanges: make(map[uint64]*exchange), conns: make(map[uint64]uint64), headless: make(map[uint64]struct{}),
		},
	}
}

type (
	// A connection is a client's connection to a recorder.
	connection struct {
		r    *recorder
		conn uint64
	}

	// A part has the facts about a complete request or answer.
	part struct {
		exact, loose uint64 // digests of the bytes, and of those without secrets and URLs
		size         int64  // on the wire; NotKnown if not measured
		done         bool   // it was recorded to its end
		cut          bool   // bytes of it are missing
		decoded      bool
		rewritten    bool // the recorder changed it on the way
		hidden       bool // it contains placeholders
		secrets      []secret
	}

	// An exchange is the summary of one exchange, and the state of its pairing.
	exchange struct {
		r            *recorder
		seq, conn    uint64
		started      int64 // on the recorder's clock, in nanoseconds since 1970
		requestEnd   int64 // the same; unknown if it has not come
		answerHead   int64
		answerEnd    int64
		agent        *agent
		client       capture.Peer // as it was recorded last
		key          uint64       // digest of method, path and user agent
		host, to     uint64       // digests of the addresses at which it was received, and to which it was forwarded
		body         uint64       // of method and user agent, for notifications, whose paths the recorders change
		status       int
		request      part
		answer       part
		wordless     bool // the request has no body
		own          bool // the request carries an id that nothing before it carried
		closed       bool
		notified     bool // it arrived at an address that the recorder gave an agent for a webhook
		notifies     bool // it went to such an address of another recorder
		cardReplaced bool // URLs in the answer were replaced
		open         *reading

		up, down *exchange // the same, seen further from the agent and nearer to it
		apart    bool      // they differ too much, so both stay
		stays    *exchange // the view into which this one is folded; nil if it stays
		compared bool      // their answers were, to the end
		noted    bool
		out      uint64 // its number in the merged capture
		passed   passed
		original *original
		restores *exchange      // whose answer replaces this one's
		held     []capture.Step // of this one, in case it is incomplete
	}

	// A reading is the state of an exchange while its steps are read.
	reading struct {
		request, answer text
	}

	// A text is a body on its way into digests.
	text struct {
		kept         []byte
		long         bool
		exact, loose maphash.Hash
		secrets      []secret
	}
)

const (
	unknown = int64(-1 << 63)
	maxKept = 1 << 20 // held bytes of a body, to be compared without URLs and secrets
	hookTag = ".a2atap/"
)

// A scanner summarizes the exchanges in the recordings.
type scanner struct {
	seed   maphash.Seed
	ids    map[uuid.UUID]*recorder
	opened func(*exchange) // called for each
}

// scan summarizes the new part of a recording. With a window, it records what is older than that.
func (n *scanner) scan(ctx context.Context, r *recorder, window time.Duration) error {
	info, err := r.Source.Info(ctx)
	if err != nil {
		return err
	}
	r.info = info
	for s, err := range r.Source.Steps(ctx, r.scanned+1) {
		if err != nil {
			return err
		}
		r.scanned = max(r.scanned+1, s.Arrival)
		if err := n.take(r, s); err != nil {
			return err
		}
		if window > 0 {
			r.see(s, window)
		}
	}
	r.gaps = r.gaps || info.Crashes > 0 || info.LostExchanges > 0
	return nil
}

// see notes when a step was seen that was taken.
func (r *recorder) see(s capture.Step, window time.Duration) {
	x := r.exchanges[s.Seq]
	if x == nil {
		return
	}
	at := x.at(s.Offset)
	if n := len(r.recent); at == unknown || n > 0 && at <= r.recent[n-1].at {
		return
	}
	r.recent = append(r.recent, seen{r.scanned, at})
	for len(r.recent) > 1 && at-r.recent[0].at >= int64(window) {
		r.recent = r.recent[1:]
	}
	r.settled = r.recent[0].arrival - 1
}

// take summarises one step.
func (n *scanner) take(r *recorder, s capture.Step) error {
	if opened, is := s.What.(capture.Opened); is && s.Seq != 0 {
		return n.open(r, s.Seq, opened)
	}
	if lost, is := s.What.(capture.Lost); is {
		r.gaps = true
		r.losses = capture.AddLost(r.losses, lost.Exchanges)
	}
	x := r.exchanges[s.Seq]
	if x == nil || s.Seq == 0 {
		r.gaps = r.gaps || s.Seq != 0
		return nil
	}
	switch what := s.What.(type) {
	case capture.RequestBody:
		x.request.add(x.reading(n.seed).request.add, what.Data, what.Dropped, what.Decoded)
	case capture.RequestEnd:
		x.requestEnd = x.at(s.Offset)
		n.endRequest(x, what.Size)
	case capture.ResponseHead:
		x.answerHead = x.at(s.Offset)
		x.status = capture.ParseResponseHead(what.Head).Status
	case capture.ResponseBody:
		x.answer.add(x.reading(n.seed).answer.add, what.Data, what.Dropped, what.Decoded)
	case capture.ResponseEvent:
		x.answer.add(x.reading(n.seed).answer.event, what.Event.Raw, what.Event.Dropped, false)
	case capture.ResponseEnd:
		x.answerEnd = x.at(s.Offset)
		x.answer.end(&x.reading(n.seed).answer, what.Size)
		n.learn(r, x.open.answer.kept)
		x.open.answer = text{}
	case capture.Fact:
		x.learn(what)
	case capture.Closed:
		x.closed, x.open = true, nil
	case capture.Lost:
		x.request.cut, x.answer.cut = true, true
	}
	return nil
}

// A SameError means that two recordings have the same exchange.
type SameError struct{ One, Other Recording }

func (e *SameError) Error() string {
	return fmt.Sprintf("%s and %s are copies of the same capture; leave one of them out", e.One.Name, e.Other.Name)
}

func (n *scanner) open(r *recorder, seq uint64, opened capture.Opened) error {
	if other := n.ids[opened.ID]; opened.ID != uuid.Nil {
		if other != nil && other != r {
			return &SameError{other.Recording, r.Recording}
		}
		n.ids[opened.ID] = r
	}
	head := capture.ParseRequestHead(opened.Head)
	host, path := head.Fields.Get("Host"), head.Target
	forwarded := ""
	if u, err := url.Parse(head.Target); err == nil && u.Host != "" { // the absolute form, to a forward proxy
		path, forwarded = u.RequestURI(), u.Host
	}
	sent := forwarded
	if u, err := url.Parse(opened.Agent.URL); err == nil && sent == "" {
		sent = u.Host
	}
	agentName := head.Fields.Get("User-Agent")
	x := &exchange{
		r: r, seq: seq, conn: opened.Conn, started: opened.Started.UnixNano(),
		requestEnd: unknown, answerHead: unknown, answerEnd: unknown,
		agent: r.agent(opened.Agent), client: opened.Client,
		key: n.digest(head.Method, path, agentName), body: n.digest(head.Method, agentName),
		host: n.digest(normal(host)), to: n.digest(normal(sent)),
		request: part{size: capture.NotKnown}, answer: part{size: capture.NotKnown},
		notified: opened.Client.How == "webhook", notifies: strings.Contains(path, hookTag),
	}
	x.agent.called = x.agent.called || !x.notified
	if home, ok := opened.Client.Home(); ok {
		r.machines[home.Machine] = struct{}{}
	}
	r.exchanges[seq] = x
	r.out.opened = append(r.out.opened, x)
	n.opened(x)
	return nil
}

func (x *exchange) reading(seed maphash.Seed) *reading {
	if x.open == nil {
		x.open = &reading{}
		for _, h := range []*maphash.Hash{
			&x.open.request.exact, &x.open.request.loose, &x.open.answer.exact, &x.open.answer.loose,
		} {
			h.SetSeed(seed)
		}
	}
	return x.open
}

func (x *exchange) at(offset time.Duration) int64 {
	if offset == capture.NotKnown {
		return unknown
	}
	return x.started + int64(offset)
}

func (x *exchange) learn(fact capture.Fact) {
	if fact.Client.Name != "" {
		x.client = fact.Client
	}
	if name := fact.AgentName(); name != "" {
		called := x.agent.called
		x.agent = x.r.agent(capture.Peer{Name: name, URL: x.agent.url})
		x.agent.called = x.agent.called || called
	}
	for _, w := range fact.Rewrites {
		if strings.HasPrefix(w.Place, "request.body") {
			x.request.rewritten = true
		}
		if strings.HasPrefix(w.Place, "response.body") {
			x.answer.rewritten = true
			x.cardReplaced = x.cardReplaced || strings.HasPrefix(w.Place, "response.body#")
		}
	}
}

// add takes a piece of a body.
func (p *part) add(write func([]byte), data []byte, dropped int64, decoded bool) {
	p.cut = p.cut || dropped > 0
	p.decoded = p.decoded || decoded
	p.hidden = p.hidden || bytes.Contains(data, []byte(placeholder))
	write(data)
}

func (n *scanner) endRequest(x *exchange, size int64) {
	t := &x.reading(n.seed).request
	x.request.end(t, size)
	x.wordless = len(t.kept) == 0
	x.own = n.learn(x.r, t.kept)
	x.open.request = text{}
}

// learn remembers the ids in a body, and reports whether one of them is new.
func (n *scanner) learn(r *recorder, body []byte) (own bool) {
	for id := range longIDs(body) {
		d := maphash.Bytes(n.seed, id)
		if _, known := r.fresh[d]; !known {
			r.fresh[d] = struct{}{}
			own = true
		}
	}
	return own
}

func (n *scanner) digest(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(n.seed)
	for _, t := range texts {
		h.WriteString(t)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// add takes a piece of a body.
func (t *text) add(data []byte) {
	t.exact.Write(data)
	if len(t.kept)+len(data) > maxKept {
		t.long = true
	}
	if !t.long {
		t.kept = append(t.kept, data...)
	}
}

// event takes an event of a stream.
func (t *text) event(raw []byte) {
	t.exact.Write(raw)
	t.loose.Write(withoutNames(raw, t.hide))
}

func (p *part) end(t *text, size int64) {
	p.done, p.size = true, size
	p.exact = t.exact.Sum64()
	t.loose.Write(withoutNames(t.kept, t.hide))
	p.loose, p.secrets = t.loose.Sum64(), t.secrets
	if t.long {
		p.loose = p.exact
	}
}

// A Recording is one of the captures that are merged.
type Recording struct {
	Host   string         // the machine whose clock it uses; recordings of one host share a clock
	Name   string         // the name of the capture in notes and messages, such as its file
	Source capture.Source // read by Info, Steps and StepsOf; closed by the caller
}

// An emission is the progress of writing a recording's steps.
type emission struct {
	read      uint64               // arrival number of the last step that was taken
	limit     uint64               // of the last that may be
	due       uint64               // of the last step that is due, even if it has to wait; while following
	exchanges map[uint64]*exchange // by the number there, that have been opened
	opened    []*exchange          // summaries that are still to be opened, in order
	conns     map[uint64]uint64    // their numbers in the merged capture
	headless  map[uint64]struct{}  // exchanges whose beginning is not there
	missing   int64                // those not yet reported
	bytes     int64                // that were recorded of them
	time      int64                // of the last step, corrected

	next func() (capture.Step, error, bool)
	stop func()
	head *capture.Step // the next step; nil if it has not arrived yet
	at   int64         // its time
	x    *exchange     // its exchange, or nil
}

// passed is the progress of an exchange's steps in the merged order.
type passed struct {
	opened, head, end, closed bool
	blocks                    uint32
}

// An original is the answer of an agent whose card the inner recorder replaced URLs in.
type original struct {
	head *capture.ResponseHead
	body []capture.Step
	end  *capture.ResponseEnd
}

// A mark is a reading position at a time.
type mark struct {
	at      time.Time
	scanned uint64
}

// An agentKey is a recorder's name and address for an agent.
type agentKey struct{ name, url string }

// An agent is one as a recorder sees it.
type agent struct {
	agentKey
	r      *recorder
	behind *agent // the same agent as seen by the recorder nearer to it; nil if no recorder is
	port   uint16 // where it lives on loopback; 0 if it does not
	called bool   // it was not only notified
	split  bool   // there were several
	label  string // its name in the merged capture
}

// exhausted reports whether nothing that may be written is left of a recording.
func (r *recorder) exhausted() bool { return r.out.head == nil && r.out.read >= r.out.limit }
