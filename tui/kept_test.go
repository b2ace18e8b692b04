package tui

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/analyzer/track/workflow"
	"a2atap/analyzer/view"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui/internal/detail"
	"a2atap/tui/internal/tuitest"
	"a2atap/tui/load"
)

// readingOf returns the reading of a finished capture.
func readingOf(t *testing.T, src capture.Source) *snapshot.Results {
	t.Helper()
	shelf := &capture.MemoryShelf{}
	if _, w, err := snapshot.Judge(t.Context(), rules.All, src, shelf.Put, nil); err != nil || w.Err() != nil {
		t.Fatal(err, w.Err())
	}
	return openReading(t, shelf, rules.All)
}

func openReading(t *testing.T, shelf capture.Shelf, of []*analysis.Rule) *snapshot.Results {
	t.Helper()
	return must.Get(snapshot.Open(t.Context(), shelf, of))(t)
}

// viewOf returns a View that has results: stored ones if they are whole, and else those of a recorder. If the View runs
// an engine instead, it counts in own, which may be nil.
func viewOf(src capture.Source, r *snapshot.Results, own *atomic.Int64) *view.View {
	o := view.Options{Rules: rules.All, Store: func(context.Context) view.Store { return results{r} }}
	if own != nil {
		o.Engine = []engine.Option{engines(own)}
	}
	return view.Open(src, o)
}

// results is a store of given results.
type results struct{ of *snapshot.Results }

func (s results) Snapshot(context.Context) (*snapshot.Results, func() error, error) {
	if s.of.Head().Ended {
		return s.of, nil, nil
	}
	return nil, nil, nil
}

func (s results) Recorder(context.Context) *snapshot.Results { return s.of }

func (s results) Mark() []byte { return nil }

func (s results) Keep(context.Context, capture.Shelf) {}

// warmUp has what packs and unpacks readings be made outside of any bubble, since all tests share it.
func warmUp() {
	shelf := &capture.MemoryShelf{}
	if err := snapshot.NewWriter(nil, shelf.Put).Finish(&judgment.Result{}, nil); err != nil {
		panic(err)
	}
	r, err := snapshot.Open(context.Background(), shelf, nil)
	if err == nil {
		_, err = r.Result(context.Background())
	}
	if err != nil {
		panic(err)
	}
}

// With a reading each screen is what it is without, and nothing is judged.
func TestFramesWithAReading(t *testing.T) {
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var own atomic.Int64
				o := samples()
				src := journey(t)
				o.View = viewOf(src, readingOf(t, src), &own)
				u := newUI(t, src, s.size.width, s.size.height, o)
				u.follow(s.keys)
				if n := own.Load(); n > 0 {
					t.Errorf("%d engines judge what was checked", n)
				}
				if !*update { // that is for those without
					u.isKept(s.name)
				}
			})
		})
	}
}

// A rowsOnly is a capture of so many exchanges of which a few may be read.
type rowsOnly struct {
	capture.Source
	t         *testing.T
	exchanges uint64
	live      bool // it is being recorded, and nothing comes
	limit     atomic.Int64
	read      atomic.Int64
}

func (r *rowsOnly) Info(context.Context) (capture.Info, error) {
	return capture.Info{Name: "rows.a2atap", Exchanges: r.exchanges, Arrivals: 2 * r.exchanges, Live: r.live}, nil
}

func (r *rowsOnly) Steps(context.Context, uint64) iter.Seq2[capture.Step, error] {
	r.t.Error("the steps of a capture are read that was checked")
	return func(func(capture.Step, error) bool) {}
}

func (r *rowsOnly) Ends(_ context.Context, from uint64, _ int) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for seq := from; seq <= r.exchanges; seq++ {
			if n := r.read.Add(1); n > r.limit.Load() {
				r.t.Errorf("%d exchanges were read", n)
				return
			}
			var x *capture.Exchange
			for _, s := range rowSteps(seq) {
				x = capture.Assemble(x, s)
			}
			if !yield(x, nil) {
				return
			}
		}
	}
}

func (r *rowsOnly) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return r.Ends(ctx, from, 0)
}

func (r *rowsOnly) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	for x := range r.Ends(ctx, seq, 0) {
		return x, nil
	}
	return nil, capture.ErrNotFound
}

func (r *rowsOnly) StepsOf(_ context.Context, seq, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		for _, s := range rowSteps(seq) {
			if s.Arrival >= from && !yield(s, nil) {
				return
			}
		}
	}
}

func (r *rowsOnly) Wait(ctx context.Context, _ uint64) error {
	if r.live {
		<-ctx.Done()
		return ctx.Err()
	}
	return capture.ErrEnded
}

// Find says that each exchange may have brought a card.
func (r *rowsOnly) Find(_ context.Context, key capture.Key, from uint64) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		for seq := from; key.Kind == "operation" && seq <= r.exchanges && yield(seq, nil); seq++ {
		}
	}
}

// rowSteps are the steps of an exchange with one of seven agents.
func rowSteps(seq uint64) []capture.Step {
	return []capture.Step{
		{Seq: seq, Arrival: 2*seq - 1, What: capture.Opened{
			Started: tuitest.Dawn.Add(time.Duration(seq) * time.Millisecond), Client: capture.Peer{Name: "traveller"},
			Agent: capture.Peer{Name: fmt.Sprint("agent-", seq%7)}, Head: []byte("GET /rooms HTTP/1.1\r\n\r\n"),
		}},
		{Seq: seq, Arrival: 2 * seq, Offset: time.Millisecond, What: capture.Closed{}},
	}
}

// rowsOf returns the reading of a capture of so many exchanges, a hundred of which have findings, or one that grows.
func rowsOf(t *testing.T, exchanges uint64, grows bool) *snapshot.Results {
	t.Helper()
	shelf := &capture.MemoryShelf{}
	w := snapshot.NewWriter(rules.All, shelf.Put)
	e := engine.New(nil, w.Options()...)
	result := &judgment.Result{Counts: judgment.Counts{Exchanges: int(exchanges), Judged: int(exchanges)}}
	for seq := uint64(1); seq <= exchanges; seq++ {
		for _, s := range rowSteps(seq) {
			e.Step(s)
		}
		if seq%(exchanges/100) == 0 {
			w.Found(analysis.Finding{
				Rule: rules.All[0], Severity: analysis.Error, Place: analysis.Place{Exchange: seq}, Seen: "what is wrong",
			})
			result.Found[analysis.Error]++
		}
	}
	if grows {
		w.Judged(2 * exchanges)
		w.Flush()
	} else if err := w.Finish(result, nil); err != nil {
		t.Fatal(err)
	}
	return openReading(t, shelf, rules.All)
}

// Of a capture that another process records nothing is read either before it is to be shown.
func TestGrowingReadingCostsWhatIsSeen(t *testing.T) {
	const exchanges = 20_000
	src := &rowsOnly{t: t, exchanges: exchanges, live: true}
	u := startUI(t, src, 80, 24, Options{View: viewOf(src, rowsOf(t, exchanges, true), nil)})
	defer u.cancel()
	drawn := func(n string) func() bool {
		return func() bool {
			return strings.Contains(u.cursorLine(), n+" ") && strings.Contains(u.cursorLine(), "agent-")
		}
	}
	u.until("the newest exchange", drawn("20000"))
	u.strike("g")
	u.until("the oldest", drawn(" 1"))
	u.until("the findings", func() bool { return u.m.shared.Found.Total() == 100 && !u.m.shared.Judged.Behind })
	if n := src.read.Load(); n > 0 {
		t.Errorf("%d exchanges were read for a list", n)
	}
}

// Of a capture that was checked no exchange is read before one is to be shown, however many there are.
func TestReadingCostsWhatIsSeen(t *testing.T) {
	const exchanges = 20_000
	src := &rowsOnly{t: t, exchanges: exchanges}
	u := startUI(t, src, 80, 24, Options{View: viewOf(src, rowsOf(t, exchanges, false), nil)})
	defer u.cancel()
	drawn := func(seq int) func() bool {
		return func() bool {
			line := u.cursorLine()
			return strings.Contains(line, fmt.Sprintf(" %d ", seq)) && strings.Contains(line, "agent-") &&
				!strings.Contains(u.screen(), " …\n")
		}
	}
	u.until("the first exchange", drawn(1))
	u.strike("G")
	u.until("the newest", func() bool {
		return strings.Contains(u.cursorLine(), "20000 ") && !strings.Contains(u.screen(), " …\n")
	})
	u.strike("g")
	u.until("the findings", func() bool { return u.m.shared.Found.Total() == 100 })
	u.strike("n")
	u.until("the first finding", drawn(exchanges/100))
	for _, c := range []struct {
		filter  string
		matches int
	}{
		{"agent:agent-3", (exchanges + 4) / 7},
		{"rule:" + rules.All[0].ID + " n:>10000", 50},
		{"severity:error", 100},
		{"not path:/rooms", 0},
		{"workflow:7", 1},
	} {
		u.run(u.m.list.Filter.Apply(c.filter))
		u.until(c.filter, func() bool { return u.m.list.Idle() && len(u.matches()) == c.matches })
	}
	u.run(u.m.list.Filter.Apply(""))
	for range 2 { // by workflow
		u.strike("u")
	}
	u.strike("o")
	u.until("the list in groups", func() bool { return u.m.list.Idle() })
	if n := src.read.Load(); n > 0 {
		t.Errorf("%d exchanges were read for a list", n)
	}
	u.run(u.m.openDetail(analysis.Place{Exchange: 7}))
	d, is := u.m.top().(*detail.Panel)
	if !is {
		t.Fatalf("what is open is\n%s", u.screen())
	}
	u.until("an exchange", func() bool { return d.Ready })
}

// keyed are filters that use each key.
var keyed = []string{
	"n:2", "n:>1", "time:>=2000-01-01T00:00:00Z", "op:SendMessage", "op:*Task*", "method:POST", "path:*card*", "host:*",
	"agent:booker", "client:*", "link:*->booker", "dialect:1.0", "binding:jsonrpc", "task:book-*", "context:trip-1",
	"message:*", "state:completed", "role:user", "event:*", "status:200", "code:*", "rule:*", "severity:error",
	"not severity:error", "side:agent", "rule:stream-closed-on-terminal or op:GetTask", "dur:>1ms", "gap:<5s", "size:>100",
	"trace:*", "workflow:1", "is:open", "is:interrupted", "is:stream", "is:error", "is:failed", "is:card", "is:faulted", "kyoto",
	"header:Content-Type=*json*", "header:Content-Type=*json* severity:error", "not (is:error or is:card) state:*",
}

// What a filter lets through is the same with a reading and without.
func TestFiltersOnRows(t *testing.T) {
	for _, expr := range keyed {
		t.Run(strings.ReplaceAll(expr, "/", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := journey(t)
				matches := func(o Options) []uint64 {
					o.Filter = expr
					u := newUI(t, src, 80, 24, o)
					if _, filtered := u.m.list.Matches(); !filtered || !u.m.list.Idle() {
						t.Fatalf("the filter has not come to its end:\n%s", u.screen())
					}
					return append([]uint64{}, u.matches()...)
				}
				want := matches(Options{})
				if diff := cmp.Diff(want, matches(Options{View: viewOf(src, readingOf(t, src), nil)})); diff != "" {
					t.Errorf("-without +with a reading:\n%s", diff)
				}
			})
		})
	}
}

// A judging is the recorder of another process: it records, checks, and stores the results.
type judging struct {
	t      *testing.T
	m      *capture.Memory
	engine *engine.Engine
	writer *snapshot.Writer
	shelf  *capture.MemoryShelf
	next   uint64
}

func newJudging(t *testing.T) *judging {
	t.Helper()
	return judgingOf(t, capture.NewMemory(capture.Info{Name: "live.a2atap"}), rules.All)
}

// judgingOf returns what records into a capture and checks it by some rules.
func judgingOf(t *testing.T, m *capture.Memory, by []*analysis.Rule) *judging {
	t.Helper()
	r := &judging{t: t, m: m, shelf: &capture.MemoryShelf{}, next: 1}
	r.writer = snapshot.NewWriter(rules.All, r.shelf.Put)
	r.engine = engine.New(by, r.writer.Options()...)
	r.writer.Flush()
	return r
}

// view returns a View of the recording, which counts the engines that it runs itself in own.
func (r *judging) view(own *atomic.Int64) *view.View {
	return viewOf(r.m.Reader(), openReading(r.t, r.shelf, rules.All), own)
}

// judge judges what was recorded, and writes it down.
func (r *judging) judge() {
	r.t.Helper()
	for s, err := range r.m.Reader().Steps(r.t.Context(), r.next) {
		must.Do(r.t, err)
		r.next = s.Arrival + 1
		for _, f := range r.engine.Step(s) {
			r.writer.Found(f)
		}
		r.writer.Judged(s.Arrival)
	}
	r.writer.Flush()
}

// link judges what was recorded, and then writes down other causes.
func (r *judging) link(links ...workflow.Link) {
	r.t.Helper()
	r.judge()
	for _, l := range links {
		r.writer.Linked(l)
	}
	r.writer.Flush()
}

// end ends the recording.
func (r *judging) end() {
	r.t.Helper()
	r.close()
	r.finish()
}

// close ends the recording, before it is judged to its end.
func (r *judging) close() {
	r.t.Helper()
	must.Do(r.t, r.m.Close())
}

// finish stores the final results.
func (r *judging) finish() {
	r.t.Helper()
	for _, f := range r.engine.End(false) {
		r.writer.Found(f)
	}
	err := r.writer.Finish(&judgment.Result{
		Coverage: r.engine.Coverage(), Counts: r.engine.Counts(), Calls: r.engine.Calls(), Agents: r.engine.Agents(),
	}, nil)
	must.Do(r.t, err)
}

// The reading of a capture that another process records is followed, and nothing is judged here.
func TestReadingGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newJudging(t)
		tuitest.Record(t, r.m, tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
		r.judge()
		var own atomic.Int64
		u := newUI(t, r.m.Reader(), 100, 24, Options{
			View: r.view(&own), Filter: "op:GetTask",
		})
		u.sees("1 of 1 exchange")
		time.Sleep(3 * time.Second) // of the bubble: the result is written again
		tuitest.Record(t, r.m, tuitest.Call(2, "t-1", "TASK_STATE_WORKING"))
		u.pass(time.Second)
		u.sees("2 of 2 exchanges") // the exchange exists, although it is not checked yet
		u.sees("t-1 working")
		u.hides("error")
		r.judge()
		u.pass(time.Second)
		u.sees("! 1 error, live")
		u.press("g", "n", "e")
		u.sees("state-terminal-immutable")
		u.press("esc")
		tuitest.Record(t, r.m, tuitest.Subscribed(3, "t-3"))
		r.judge()
		u.pass(2 * time.Second)
		tuitest.Record(t, r.m, []capture.Step{tuitest.Status(3, 1, "t-3", "TASK_STATE_WORKING")})
		u.run(u.m.list.Filter.Apply("is:open"))
		u.pass(2 * time.Second)
		u.sees("1 of 3 exchanges", "t-3 working, 1 event, open")
		r.judge()
		u.pass(time.Minute) // nothing comes, which is not a sign of anything
		r.end()
		u.pass(5 * time.Second)
		u.sees("ended")
		u.press("g")
		expect.Equal(t, "engines judge what somebody else judges", 0, own.Load())
	})
}

// If the recorder stops updating its reading, the inspector checks the capture, and reports that.
func TestReadingStandsStill(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(r *judging)
		says string
	}{
		{"while the capture grows", func(r *judging) {
			tuitest.Record(r.t, r.m, tuitest.Call(2, "t-1", "TASK_STATE_WORKING"))
		}, "the check result is not being saved any more; the capture is checked again"},
		{"the recorder is killed", func(r *judging) {
			tuitest.Record(r.t, r.m, tuitest.Call(2, "t-1", "TASK_STATE_WORKING"))
			r.judge()
			r.close()
		}, "the check result was not saved completely; the capture is checked again"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newJudging(t)
				tuitest.Record(t, r.m, tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
				r.judge()
				u := newUI(t, r.m.Reader(), 120, 24, Options{View: r.view(nil)})
				c.then(r)
				u.pass(20 * time.Second) // longer than the limit for a reading without updates
				u.sees(c.says)
				u.sees("! 1 error")
				u.press("g", "n", "e")
				u.sees("state-terminal-immutable")
			})
		})
	}
}

// passed returns the steps of a call on which another call follows, with what caused it in the same trace.
func passed(seq uint64) []capture.Step {
	trace, task := fmt.Sprintf("%032x", seq), fmt.Sprint("t-", seq)
	ask := func(seq uint64, client, agent, span string) []capture.Step {
		steps := tuitest.Asked(seq, "POST /a2a HTTP/1.1\r\nHost: a\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nTraceparent: "+
			"00-"+trace+"-"+span+"-01\r\n\r\n", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"`+task+`"}}`)
		opened := steps[0].What.(capture.Opened)
		opened.Client, opened.Agent = capture.Peer{Name: client}, capture.Peer{Name: agent, URL: "http://" + agent + ".example/a2a"}
		steps[0].What = opened
		return steps
	}
	answer := `{"jsonrpc":"2.0","id":1,"result":{"id":"` + task + `","contextId":"` + task + `","status":{"state":"TASK_STATE_WORKING"}}}`
	return slices.Concat(ask(seq, "traveller", "planner", "00f067aa0ba902b7"), ask(seq+1, "planner", "booker", "00f067aa0ba902b8"),
		tuitest.Answered(seq+1, answer), tuitest.Answered(seq, answer))
}

// Causes are computed within a few seconds even if no exchange follows, and when the recording ends.
func TestLinksOfAReadingThatGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newJudging(t)
		tuitest.Record(t, r.m, passed(1))
		r.judge()
		u := newUI(t, r.m.Reader(), 100, 24, Options{View: r.view(nil)})
		l := u.m.shared.Load
		l.NeedLinks()
		parent := func(seq uint64) uint64 { return l.Links.Index.Of(seq).Parent }
		if parent(2) != 1 {
			t.Fatalf("exchange 2 was caused by %d", parent(2))
		}
		tuitest.Record(t, r.m, passed(3))
		r.judge()
		u.pass(5 * time.Second)
		expect.Equal(t, "exchange 4 was caused by", 3, parent(4))
		tuitest.Record(t, r.m, passed(5))
		r.judge()
		r.end()
		u.pass(time.Second)
		expect.Equal(t, "at the end exchange 6 was caused by", 5, parent(6))
	})
}

// A recorder that lags behind says nothing of what it has not judged, and the screen says that there is more to judge.
func TestReadingLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newJudging(t)
		tuitest.Record(t, r.m, tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
		r.judge()
		u := newUI(t, r.m.Reader(), 100, 24, Options{View: r.view(nil)})
		u.sees("no finding, live")
		tuitest.Record(t, r.m, tuitest.Call(2, "t-2", "TASK_STATE_COMPLETED"))
		u.pass(3 * time.Second)
		if u.sees("checking 57 %, live"); strings.Contains(u.screen(), "no finding") {
			t.Errorf("nothing is said to be found in what nobody has judged:\n%s", u.screen())
		}
		r.judge()
		u.pass(time.Second)
		u.sees("no finding, live")
		tuitest.Record(t, r.m, tuitest.Call(3, "t-1", "TASK_STATE_WORKING"))
		r.close() // judging it takes longer
		u.pass(5 * time.Second)
		u.sees("checking 71 %, ended")
		r.judge()
		r.finish()
		u.pass(time.Second)
		u.sees("! 1 error, ended")
		if state, _ := u.m.options.View.Now(); state.Notice != "" {
			t.Errorf("the recorder's results were given up: %s", state.Notice)
		}
	})
}

// A hiding source hides something from some time on.
type hiding struct {
	capture.Source
	hides atomic.Bool
}

func (s *hiding) Hides(context.Context) bool { return s.hides.Load() }

// Where something is to be hidden, what the recorder makes of it is not read: the capture is judged as it is shown.
func TestReadingHasWhatIsHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newJudging(t)
		tuitest.Record(t, r.m, tuitest.Call(1, "t-1", "TASK_STATE_COMPLETED"))
		r.judge()
		src := &hiding{Source: r.m.Reader()}
		var own atomic.Int64
		u := newUI(t, src, 120, 24, Options{
			View: viewOf(src, openReading(t, r.shelf, rules.All), &own),
		})
		src.hides.Store(true)
		u.pass(2 * time.Second)
		u.sees("a card has named secrets that occur in earlier exchanges; the capture is checked again")
		expect.Equal(t, "engines that judge", 1, own.Load())
	})
}

// A veiled source does not know what is to be hidden until it was told.
type veiled struct {
	capture.Source
	told  chan struct{}
	known atomic.Bool
}

func (s *veiled) Known() bool { return s.known.Load() }

func (s *veiled) Learn(ctx context.Context) {
	select {
	case <-s.told:
		s.known.Store(true)
	case <-ctx.Done():
	}
}

func (s *veiled) Steps(ctx context.Context, from uint64) iter.Seq2[capture.Step, error] {
	s.Learn(ctx)
	return s.Source.Steps(ctx, from)
}

func (s *veiled) Ends(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	s.Learn(ctx)
	return s.Source.Ends(ctx, from, n)
}

func (s *veiled) Glance(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for x, err := range s.Source.Ends(ctx, from, n) {
			if x != nil && !s.Known() {
				x.Request.Head = []byte("GET /veiled HTTP/1.1\r\n\r\n")
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

// The first screen does not wait until it is known what is to be hidden. Then it shows what is not.
func TestFirstScreenIsAGlance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := capture.NewMemory(capture.Info{Name: "c.a2atap"})
		for seq := uint64(1); seq <= 100; seq++ {
			tuitest.Record(t, m, rowSteps(seq))
		}
		end(t, m)
		src := &veiled{Source: m.Reader(), told: make(chan struct{})}
		u := newUI(t, src, 100, 24, Options{})
		if !strings.Contains(u.cursorLine(), "  1 ") || !strings.Contains(u.cursorLine(), "GET /veiled") {
			t.Errorf("the first screen waits:\n%s", u.screen())
		}
		close(src.told)
		u.pass(5 * time.Second)
		if !strings.Contains(u.cursorLine(), "GET /rooms") || strings.Contains(u.screen(), "veiled") {
			t.Errorf("it is known, and the screen is\n%s", u.screen())
		}
		u.press("g")
		expect.Contains(t, "the first exchange", "GET /rooms", u.cursorLine())
	})
}

// A torn shelf is damaged from a key on, once damage is switched on.
type torn struct {
	capture.Shelf
	from string
	now  *atomic.Bool
}

func (s torn) bad(key []byte) bool {
	return s.now.Load() && key[0] == s.from[0] && string(key) >= s.from
}

func (s torn) Kept(ctx context.Context, keys ...[]byte) ([][]byte, error) {
	for _, key := range keys {
		if s.bad(key) {
			return nil, capture.ErrDamagedEntry
		}
	}
	return s.Shelf.Kept(ctx, keys...)
}

func (s torn) KeptRange(ctx context.Context, from, to []byte) iter.Seq2[capture.Entry, error] {
	return func(yield func(capture.Entry, error) bool) {
		for e, err := range s.Shelf.KeptRange(ctx, from, to) {
			if err == nil && s.bad(e.Key) {
				err = capture.ErrDamagedEntry
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// If the reading is damaged in its middle, the inspector checks the capture, and the last line reports that. The rest
// of the screen looks the same as without damage.
func TestReadingIsDamaged(t *testing.T) {
	const second = "s\x00\x00\x00\x00\x00\x00\x00\x01" // rows from the 257th exchange on
	for _, c := range []struct {
		name, from string
		keys       []string // that have it read; none: it is when the inspector opens
	}{
		{"its result", "r", nil},
		{"a finding", "f", nil},
		{"a row", second, []string{"G"}},
		{"a row that a filter asks for", second, []string{"/", "agent:booker", "enter"}},
		{"links", second, []string{"W"}},
		{"a row for groups", second, []string{"u"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := tuitest.Growing(t, 300)
				for seq := uint64(301); seq <= 700; seq++ {
					tuitest.Record(t, m, tuitest.Call(seq, fmt.Sprint("t-", seq%300+1), "TASK_STATE_WORKING"))
				}
				end(t, m)
				shelf, now := &capture.MemoryShelf{}, &atomic.Bool{}
				if _, _, err := snapshot.Judge(t.Context(), rules.All, m.Reader(), shelf.Put, nil); err != nil {
					t.Fatal(err)
				}
				reading := openReading(t, torn{shelf, c.from, now}, rules.All)
				now.Store(true)
				plain := newUI(t, m.Reader(), 120, 24, Options{})
				defer plain.close()
				u := newUI(t, m.Reader(), 120, 24, Options{View: viewOf(m.Reader(), reading, nil)})
				for _, w := range []*ui{u, plain} {
					w.follow(c.keys)
					w.pass(10 * time.Second)
				}
				if state, _ := u.m.options.View.Now(); state.Notice == "" || state.Results == reading {
					t.Error("the reading is believed")
				}
				if c.keys == nil {
					u.sees("damaged; the capture is checked again")
				}
				for _, w := range []*ui{u, plain} {
					w.press("esc", "esc", "g", "n")
				}
				if diff := cmp.Diff(plain.screen(), u.screen()); diff != "" {
					t.Errorf("-without +with a damaged reading:\n%s", diff)
				}
				if u.m.shared.Found.Total() == 0 {
					t.Error("nothing is found")
				}
			})
		})
	}
}

// The last line says that a reading was let go, until the next key.
func TestDamageIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 700)
		end(t, m)
		shelf, now := &capture.MemoryShelf{}, &atomic.Bool{}
		if _, _, err := snapshot.Judge(t.Context(), rules.All, m.Reader(), shelf.Put, nil); err != nil {
			t.Fatal(err)
		}
		const second = "s\x00\x00\x00\x00\x00\x00\x00\x01"
		u := newUI(t, m.Reader(), 100, 24, Options{View: viewOf(m.Reader(), openReading(t, torn{shelf, second, now}, rules.All), nil)})
		now.Store(true)
		u.press("G")
		u.pass(10 * time.Second)
		u.sees("damaged; the capture is checked again")
		if !strings.Contains(u.cursorLine(), "t-700 completed") { // the last exchange is there
			t.Errorf("the last row is %q", u.cursorLine())
		}
		u.press("k")
		u.hides("is damaged")
	})
}

// The reason for dropping a reading is shown even after the recording has ended, which is when readings are dropped.
func TestLossIsSaidAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := tuitest.Growing(t, 3)
		u := newUI(t, m.Reader(), 100, 24, Options{})
		u.send(load.Judged{Notice: "it is judged anew", Restarted: true, Behind: true})
		end(t, m)
		u.pass(time.Second)
		u.sees("it is judged anew", "ended")
	})
}
