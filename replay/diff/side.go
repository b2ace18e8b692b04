package diff

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
)

// seed makes the digests of one process.
var seed = maphash.MakeSeed()

// digest returns a number for words, never 0.
func digest(words ...string) uint64 { return max(1, maphash.String(seed, strings.Join(words, "\x00"))) }

// An exchange has the facts about an exchange that are needed to find its counterpart.
type exchange struct {
	seq     uint64
	agent   string
	client  string
	op      a2a.Operation
	asks    string // operation; else the JSON-RPC method or the route
	names   bool   // its request names a task
	task    string // that the request names, or else that the answer shows
	context string // likewise
	start   time.Time
	end     time.Time
	sent    uint64 // digest of the request without ids
	shape   uint64 // digest of the request without texts
	came    uint64 // digest of the outcome
	going   bool   // a complete answer shows a task that continues
	ahead   []a2a.State
	skip    string // why it is not compared; empty if it is

	polled  bool     // an equal one follows, and its task continued
	polls   []uint64 // numbers of the earlier equal polls
	overlap bool     // another one of its client and thread was in progress at the same time
	of      *thread
	pair    *exchange // its counterpart
}

// A side is one of the two captures.
type side struct {
	src       capture.Source
	info      capture.Info
	reader    *reading.Reader
	exchanges []*exchange
	chosen    map[uint64]bool // exchanges that were chosen, whether or not they are compared
	notices   []notice
	seen      []observation
}

// An observation is an observed state of a task, or, without a state, an operation on it.
type observation struct {
	at    time.Time
	task  string
	state a2a.State
}

// load reads a capture twice: a card's addresses also apply to the exchanges before the card.
func load(ctx context.Context, src capture.Source, keep func(*capture.Exchange) bool) (*side, error) {
	info, err := src.Info(ctx)
	if err != nil {
		return nil, err
	}
	s := &side{src: src, info: info, reader: &reading.Reader{}, chosen: map[uint64]bool{}}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return nil, err
		}
		s.reader.Answered(x, s.reader.Read(x))
	}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return nil, err
		}
		s.read(x, keep)
	}
	s.lookAhead()
	return s, nil
}

func (s *side) call(x *capture.Exchange) (a2a.Call, capture.Head) {
	target := capture.ParseRequestHead(x.Request.Head).Target
	call, head, _ := compare.ReadCall(x, s.reader.Known(x.Agent.URL, target))
	return call, head
}

func (s *side) read(x *capture.Exchange, keep func(*capture.Exchange) bool) {
	call, head := s.call(x)
	if call.Operation == a2a.Webhook {
		s.notices = append(s.notices, readNotices(x)...)
		return
	}
	reply := compare.ReadReply(&call, x)
	s.observe(x, &call, reply)
	if keep != nil && !keep(x) {
		return
	}
	s.chosen[x.Seq] = true
	e := &exchange{
		seq: x.Seq, agent: cmp.Or(x.Agent.Name, x.Agent.URL, head.Fields.Get("Host")), client: x.Client.Name,
		op: call.Operation, asks: compare.Asks(&call), names: call.TaskID != "", task: call.TaskID, context: call.ContextID,
		start: x.Started, end: x.Started.Add(max(0, x.Took())), skip: whyNot(x, &call),
	}
	e.asks = cmp.Or(e.asks, "request")
	for _, it := range reply.Items {
		if it.Kind == a2a.TaskListPayload {
			continue
		}
		e.task, e.context = cmp.Or(e.task, it.Task), cmp.Or(e.context, contextOf(it))
	}
	first := reply.First()
	e.going = !reply.Stream && first.Kind == a2a.TaskPayload && first.Err == nil && first.State.Active()
	e.sent, e.shape = asked(e.asks, &call)
	e.came = outcome(reply)
	s.exchanges = append(s.exchanges, e)
}

// whyNot returns why an exchange is not compared; "" if it is.
func whyNot(x *capture.Exchange, call *a2a.Call) string {
	switch {
	case len(x.Request.Head) == 0:
		return "its request was not recorded"
	case !call.A2A():
		return "not an A2A request"
	case x.Lost > 0:
		return "parts of it were not recorded"
	case !x.Request.Body.Complete || x.Request.Body.Dropped > 0:
		return "its request was not recorded completely"
	}
	return ""
}

func contextOf(it compare.Item) string {
	v := it.Answer.Payload.Value
	switch it.Kind {
	case a2a.TaskPayload:
		return a2a.Task{Value: v}.ContextID()
	case a2a.StatusPayload:
		return a2a.StatusUpdate{Value: v}.ContextID()
	case a2a.ArtifactPayload:
		return a2a.ArtifactUpdate{Value: v}.ContextID()
	case a2a.MessagePayload:
		return a2a.Message{Value: v}.ContextID()
	}
	return ""
}

// asked digests the contents of a request regardless of its binding, dialect and ids: first with its texts, then
// without.
func asked(asks string, call *a2a.Call) (sent, shape uint64) {
	words := []string{asks, named(call.TaskID), named(call.ContextID), named(call.ConfigID)}
	var texts []string
	for _, p := range (a2a.Message{Value: call.Message}).Parts().All() {
		kind := p.PartKind()
		if kind == a2a.RawPart || kind == a2a.URLPart {
			kind = a2a.FilePart
		}
		words = append(words, string(rune('0'+kind)))
		text := p.Get("text").Text()
		if kind == a2a.DataPart {
			text = string(p.Get("data").Raw())
		}
		texts = append(texts, text)
	}
	if call.HasHistoryLength {
		words = append(words, "history")
	}
	if call.PushConfig.Exists() {
		words = append(words, "push")
	}
	return digest(append(slices.Clone(words), texts...)...), digest(words...)
}

func named(id string) string {
	if id == "" {
		return ""
	}
	return "named"
}

// outcome digests the outcome of an answer.
func outcome(r *compare.Reply) uint64 {
	if len(r.Items) == 0 {
		return digest("nothing")
	}
	last := r.Items[len(r.Items)-1]
	for _, it := range r.Items {
		if it.State != a2a.NoState {
			last = it
		}
	}
	return digest(r.First().Kind.String(), last.String())
}

// observe notes the task states that an exchange shows, and its effect on a task.
func (s *side) observe(x *capture.Exchange, call *a2a.Call, r *compare.Reply) {
	if call.TaskID != "" && (call.Operation.Sends() || call.Operation == a2a.CancelTask) {
		s.seen = append(s.seen, observation{at: x.Started, task: call.TaskID})
	}
	came := map[int]time.Duration{}
	if r.Stream {
		for i := range x.Response.Events {
			came[x.Response.Events[i].K] = x.Response.Events[i].At
		}
	}
	for _, it := range r.Items {
		if it.Task == "" || !it.State.Known() {
			continue
		}
		at := x.Started.Add(max(0, x.Ended))
		if it.Event > 0 {
			at = x.Started.Add(max(0, came[it.Event]))
		}
		s.seen = append(s.seen, observation{at, it.Task, it.State})
	}
}

// lookAhead finds the states that running tasks reached later without a request: in the other capture, they may have
// reached them earlier.
func (s *side) lookAhead() {
	slices.SortStableFunc(s.seen, func(a, b observation) int { return a.at.Compare(b.at) })
	byTask := map[string][]observation{}
	for _, o := range s.seen {
		byTask[o.task] = append(byTask[o.task], o)
	}
	for _, e := range s.exchanges {
		if !e.going {
			continue
		}
		later := byTask[e.task]
		from, _ := slices.BinarySearchFunc(later, e.end, func(o observation, t time.Time) int {
			return cmp.Or(o.at.Compare(t), -1) // after others of the same time
		})
		for _, o := range later[from:] {
			if o.state == a2a.NoState {
				break
			}
			if !slices.Contains(e.ahead, o.state) {
				e.ahead = append(e.ahead, o.state)
			}
		}
	}
}
