package dispatch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/internal/enginetest"
)

// A notebook is the state of a tracker that writes down what it takes, and may make an observation of it.
type notebook struct {
	name  string
	pages *[]string
	takes func(p *analyzer.Pass)
}

func (n *notebook) Take(p *analyzer.Pass) {
	*n.pages = append(*n.pages, n.name+" takes "+kindNames[p.Kind])
	if n.takes != nil {
		n.takes(p)
	}
}

func (n *notebook) Forgotten() int { return 1 }

var kindNames = map[analyzer.Kinds]string{
	analyzer.RequestRead: "RequestRead", analyzer.RequestSeen: "RequestSeen", analyzer.RequestDone: "RequestDone",
	analyzer.AnswerSeen:  "AnswerSeen",
	analyzer.OutcomeSeen: "OutcomeSeen", analyzer.SnapshotSeen: "SnapshotSeen", analyzer.TaskSeen: "TaskSeen",
	analyzer.AnswerDone: "AnswerDone",
	analyzer.ConfigIdle: "ConfigIdle", analyzer.ExchangeDone: "ExchangeDone", analyzer.CaptureDone: "CaptureDone",
}

const everything = analyzer.RequestRead | analyzer.RequestSeen | analyzer.RequestDone | analyzer.AnswerSeen | analyzer.OutcomeSeen |
	analyzer.SnapshotSeen | analyzer.TaskSeen | analyzer.AnswerDone | analyzer.ConfigIdle | analyzer.ExchangeDone | analyzer.CaptureDone

func noting(name string, pages *[]string, needs ...*analyzer.Tracker) *analyzer.Tracker {
	return &analyzer.Tracker{
		Name: name, Doc: "d", Needs: needs, On: everything,
		New: func(*analyzer.Setup) analyzer.State { return &notebook{name: name, pages: pages} },
	}
}

// Of one exchange, everything comes in one order: of each observation the rules first, then the trackers, each after
// those that it needs.
func TestOrder(t *testing.T) {
	var pages []string
	first := noting("z", &pages)
	second := noting("a", &pages, first)
	kinds := everything &^ (analyzer.RequestRead | analyzer.RequestDone | analyzer.AnswerDone | analyzer.ConfigIdle | analyzer.ExchangeDone | analyzer.CaptureDone)
	rule := enginetest.Rule("r", kinds, func(p *analyzer.Pass) { pages = append(pages, "rule sees "+kindNames[p.Kind]) })
	rule.Needs = []*analyzer.Tracker{second}
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
	if diff := cmp.Diff(want, pages); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if got := e.Counts().Forgotten; got != 2 {
		t.Errorf("%d are forgotten, want what both trackers say", got)
	}
}

// What a tracker observes is seen when all trackers have taken what it was made of.
func TestTrackersObserve(t *testing.T) {
	var pages []string
	maker := noting("a", &pages)
	maker.Makes = analyzer.ConfigIdle
	maker.New = func(*analyzer.Setup) analyzer.State {
		return &notebook{name: "a", pages: &pages, takes: func(p *analyzer.Pass) {
			if p.Kind == analyzer.TaskSeen {
				p.Observe(
					analyzer.Observation{
						Kind: analyzer.ConfigIdle, Exchange: p.Exchange, Dialects: p.Dialects, Place: p.Place,
						Detail: "made",
					},
				)
			}
		}}
	}
	rule := enginetest.Rule("r", analyzer.ConfigIdle|analyzer.AnswerSeen, func(p *analyzer.Pass) {
		if p.Kind == analyzer.ConfigIdle {
			pages = append(pages, "rule sees what was "+p.Detail.(string))
		}
	})
	rule.Needs = []*analyzer.Tracker{maker, noting("b", &pages)}
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	c.Judge(rule)
	want := "a takes TaskSeen, b takes TaskSeen, rule sees what was made, a takes ConfigIdle, b takes ConfigIdle, a takes AnswerDone"
	if got := strings.Join(pages, ", "); !strings.Contains(got, want) {
		t.Errorf("got %s; want in it %s", got, want)
	}
}

// A tracker has slots beside each exchange, what options gave, and the states that it needs; no two engines share any.
func TestSetup(t *testing.T) {
	type numbers struct {
		*notebook
		slot  analyzer.Slot[int]
		other analyzer.Slot[string]
	}
	base := noting("base", new([]string))
	counter := &analyzer.Tracker{
		Name: "counter", Doc: "d", Needs: []*analyzer.Tracker{base},
		On: analyzer.RequestRead | analyzer.AnswerDone,
	}
	var read []int
	counter.New = func(s *analyzer.Setup) analyzer.State {
		n := &numbers{slot: analyzer.NewSlot[int](s), other: analyzer.NewSlot[string](s)}
		if s.State(base).(*notebook).name != "base" {
			t.Error("the tracker does not get the state that it needs")
		}
		n.notebook = &notebook{pages: new([]string), takes: func(p *analyzer.Pass) {
			if p.Kind == analyzer.RequestRead {
				for _, given := range s.Given() {
					n.slot.Put(p.Exchange, n.slot.Of(p.Exchange)+given.(int))
				}
				n.other.Put(p.Exchange, "beside it")
				return
			}
			read = append(read, n.slot.Of(p.Exchange), n.slot.Of(&analyzer.Exchange{}))
		}}
		return n
	}
	rule := enginetest.Rule("r", analyzer.AnswerSeen, func(p *analyzer.Pass) {
		if p.State(counter).(*numbers).slot.Of(p.Exchange) == 0 {
			t.Error("the rule reads another state than the tracker's")
		}
	})
	rule.Needs = []*analyzer.Tracker{counter}
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	for range 2 {
		e := engine.New([]*analyzer.Rule{rule}, engine.Give(counter, 3), engine.Give(counter, 4))
		for _, s := range c.Steps {
			e.Step(s)
		}
	}
	if diff := cmp.Diff([]int{7, 0, 7, 0}, read); diff != "" {
		t.Errorf("beside the exchanges and others (-want +got):\n%s", diff)
	}
}

// To ask a tracker that is not named among the needs is our own mistake.
func TestAskingWhatIsNotNeeded(t *testing.T) {
	needed, other := noting("a", new([]string)), noting("b", new([]string))
	asks := enginetest.Rule("asks", analyzer.AnswerSeen, func(p *analyzer.Pass) { p.State(other) })
	asks.Needs = []*analyzer.Tracker{needed}
	runs := enginetest.Rule("runs", analyzer.AnswerSeen, enginetest.At(enginetest.Here))
	runs.Needs = []*analyzer.Tracker{other}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "the tracker b is asked") {
			t.Errorf("recovered %q, want a word about tracker b", text)
		}
	}()
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send, enginetest.Working)
	c.Judge(asks, runs)
}
