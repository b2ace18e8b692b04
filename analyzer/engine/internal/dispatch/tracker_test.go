package dispatch_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/expect"
)

// A notebook is the state of a tracker that writes down what it takes, and may make an observation of it.
type notebook struct {
	name  string
	pages *[]string
	takes func(p *analysis.Pass)
}

func (n *notebook) Take(p *analysis.Pass) {
	*n.pages = append(*n.pages, n.name+" takes "+kindNames[p.Kind])
	if n.takes != nil {
		n.takes(p)
	}
}

func (n *notebook) Forgotten() int { return 1 }

var kindNames = map[analysis.Kinds]string{
	analysis.RequestRead: "RequestRead", analysis.RequestSeen: "RequestSeen", analysis.RequestDone: "RequestDone",
	analysis.AnswerSeen:  "AnswerSeen",
	analysis.OutcomeSeen: "OutcomeSeen", analysis.SnapshotSeen: "SnapshotSeen", analysis.TaskSeen: "TaskSeen",
	analysis.AnswerDone: "AnswerDone",
	analysis.ConfigIdle: "ConfigIdle", analysis.ExchangeDone: "ExchangeDone", analysis.CaptureDone: "CaptureDone",
}

const everything = analysis.RequestRead | analysis.RequestSeen | analysis.RequestDone | analysis.AnswerSeen | analysis.OutcomeSeen |
	analysis.SnapshotSeen | analysis.TaskSeen | analysis.AnswerDone | analysis.ConfigIdle | analysis.ExchangeDone | analysis.CaptureDone

func noting(name string, pages *[]string, needs ...*analysis.Tracker) *analysis.Tracker {
	return &analysis.Tracker{
		Name: name, Doc: "d", Needs: needs, On: everything,
		New: func(*analysis.Setup) analysis.State { return &notebook{name: name, pages: pages} },
	}
}

// Of one exchange, everything comes in one order: of each observation the rules first, then the trackers, each after
// those that it needs.
func TestOrder(t *testing.T) {
	var pages []string
	first := noting("z", &pages)
	second := noting("a", &pages, first)
	kinds := everything &^ (analysis.RequestRead | analysis.RequestDone | analysis.AnswerDone | analysis.ConfigIdle | analysis.ExchangeDone | analysis.CaptureDone)
	rule := enginetest.Rule("r", kinds, func(p *analysis.Pass) { pages = append(pages, "rule sees "+kindNames[p.Kind]) })
	rule.Needs = []*analysis.Tracker{second}
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	e, _ := c.Judge(rule)
	var want []string
	for _, kind := range strings.Fields(
		"RequestRead RequestSeen RequestDone AnswerSeen OutcomeSeen SnapshotSeen TaskSeen AnswerDone ExchangeDone CaptureDone",
	) {
		if !strings.HasSuffix(kind, "Done") && kind != "RequestRead" {
			want = append(want, "rule sees "+kind)
		}
		want = append(want, "z takes "+kind, "a takes "+kind)
	}
	expect.Same(t, "order", want, pages)
	expect.Equal(t, "forgotten", 2, e.Counts().Forgotten)
}

// What a tracker observes is seen when all trackers have taken what it was made of.
func TestTrackersObserve(t *testing.T) {
	var pages []string
	maker := noting("a", &pages)
	maker.Makes = analysis.ConfigIdle
	maker.New = func(*analysis.Setup) analysis.State {
		return &notebook{name: "a", pages: &pages, takes: func(p *analysis.Pass) {
			if p.Kind == analysis.TaskSeen {
				p.Observe(
					analysis.Observation{
						Kind: analysis.ConfigIdle, Exchange: p.Exchange, Dialects: p.Dialects, Place: p.Place,
						Detail: "made",
					},
				)
			}
		}}
	}
	rule := enginetest.Rule("r", analysis.ConfigIdle|analysis.AnswerSeen, func(p *analysis.Pass) {
		if p.Kind == analysis.ConfigIdle {
			pages = append(pages, "rule sees what was "+p.Detail.(string))
		}
	})
	rule.Needs = []*analysis.Tracker{maker, noting("b", &pages)}
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	c.Judge(rule)
	want := "a takes TaskSeen, b takes TaskSeen, rule sees what was made, a takes ConfigIdle, b takes ConfigIdle, a takes AnswerDone"
	if got := strings.Join(pages, ", "); !strings.Contains(got, want) {
		t.Errorf("got %s; want in it %s", got, want)
	}
}

// A tracker has slots on each exchange, what its options returned, and the states that it needs. Engines share none of
// them.
func TestSetup(t *testing.T) {
	type numbers struct {
		*notebook
		slot  analysis.Slot[int]
		other analysis.Slot[string]
	}
	base := noting("base", new([]string))
	counter := &analysis.Tracker{
		Name: "counter", Doc: "d", Needs: []*analysis.Tracker{base},
		On: analysis.RequestRead | analysis.AnswerDone,
	}
	var read []int
	counter.New = func(s *analysis.Setup) analysis.State {
		n := &numbers{slot: analysis.NewSlot[int](s), other: analysis.NewSlot[string](s)}
		if s.State(base).(*notebook).name != "base" {
			t.Error("the tracker does not get the state that it needs")
		}
		n.notebook = &notebook{pages: new([]string), takes: func(p *analysis.Pass) {
			if p.Kind == analysis.RequestRead {
				for _, given := range s.Given() {
					n.slot.Put(p.Exchange, n.slot.Of(p.Exchange)+given.(int))
				}
				n.other.Put(p.Exchange, "beside it")
				return
			}
			read = append(read, n.slot.Of(p.Exchange), n.slot.Of(&analysis.Exchange{}))
		}}
		return n
	}
	rule := enginetest.Rule("r", analysis.AnswerSeen, func(p *analysis.Pass) {
		if p.State(counter).(*numbers).slot.Of(p.Exchange) == 0 {
			t.Error("the rule reads another state than the tracker's")
		}
	})
	rule.Needs = []*analysis.Tracker{counter}
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	for range 2 {
		e := engine.New([]*analysis.Rule{rule}, engine.Give(counter, 3), engine.Give(counter, 4))
		for _, s := range c.Steps {
			e.Step(s)
		}
	}
	expect.Same(t, "beside the exchanges and others", []int{7, 0, 7, 0}, read)
}

// To ask a tracker that is not named among the needs is our own mistake.
func TestAskingWhatIsNotNeeded(t *testing.T) {
	needed, other := noting("a", new([]string)), noting("b", new([]string))
	asks := enginetest.Rule("asks", analysis.AnswerSeen, func(p *analysis.Pass) { p.State(other) })
	asks.Needs = []*analysis.Tracker{needed}
	runs := enginetest.Rule("runs", analysis.AnswerSeen, enginetest.At(enginetest.Here))
	runs.Needs = []*analysis.Tracker{other}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "the tracker b is used without") {
			t.Errorf("recovered %q, want a word about tracker b", text)
		}
	}()
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	c.Judge(asks, runs)
}
