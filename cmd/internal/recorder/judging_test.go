package recorder

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/proxy"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// stuck is a rule that judges nothing before it is released.
func stuck(release <-chan struct{}) *analysis.Rule {
	return &analysis.Rule{
		ID: "stuck", Title: "nothing", Family: "test", Category: analysis.Interop, Level: analysis.Advice, Side: a2a.Client,
		On: analysis.RequestSeen, Bindings: analysis.OnJSONRPC, Cites: []a2a.Cite{{In: a2a.V1_0, Section: "1"}},
		Doc: "Nothing.", Fix: "Nothing.", Silent: "Always.",
		Check: func(p *analysis.Pass) {
			<-release
			p.Applied()
		},
	}
}

// However slow the rules are, traffic passes, all of it is recorded, and the verdict is on all of it.
func TestSlowRulesDelayNothing(t *testing.T) {
	const calls, clients = 240, 8
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}`)
	}))
	defer agent.Close()
	address := must.Get(url.Parse(agent.URL))(t)
	release := make(chan struct{})
	said := make(chan string, 1)
	path := filepath.Join(t.TempDir(), "c.a2atap")
	r, err := Start(Options{
		Output: path, Proxy: proxy.Options{Taps: []proxy.TapSpec{{Name: "a", Agent: address, Listen: "127.0.0.1:0"}}},
		Rules: []*analysis.Rule{stuck(release)}, Listener: hears{tell: func(text string) {
			said <- text
			close(release)
		}},
	})
	must.Do(t, err)
	client := &http.Client{Timeout: must.Patience}
	defer client.CloseIdleConnections()
	var load sync.WaitGroup
	for range clients {
		load.Go(func() {
			for range calls / clients {
				if err := cmdtest.GetTask(client, r.Taps()[0].URL()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	load.Wait()
	for _, ended := r.Passed(); ended < calls; _, ended = r.Passed() {
		<-r.Changed()
	}
	r.store.Flush()
	if info, err := r.store.Info(t.Context()); err != nil || info.Exchanges != calls || info.LostExchanges != 0 {
		t.Errorf("recorded while the rules were stuck: %+v, error %v; want %d exchanges", info, err, calls)
	}
	left := r.throttle.exchanges()
	if left < calls-clients { // those that were under way when the rules got stuck have begun
		t.Errorf("judging is %d exchanges behind, want about %d", left, calls)
	}
	r.patience = time.Millisecond
	result := cmdtest.Stop(t, r)
	var n uint64
	got := <-said
	if _, err := fmt.Sscanf(got, "everything is recorded; %d exchanges left to check before the verdict", &n); err != nil ||
		n < 1 || n > left { // judging went on since then
		t.Errorf("the end says %q, want at most %d exchanges left (%v)", got, left, err)
	}
	if result.Counts.Exchanges != calls || result.Counts.Judged != calls {
		t.Errorf("the verdict is on %d exchanges, %d judged; want %d", result.Counts.Exchanges, result.Counts.Judged, calls)
	}
}

// A testThrottle is a throttle of which the test says how busy everything is.
type testThrottle struct {
	*throttle
	isBusy  bool
	at      bolt.Position // what is stored
	notices []string
}

func newTestThrottle() *testThrottle {
	p := &testThrottle{}
	p.throttle = &throttle{
		lifted: make(chan struct{}),
		busy:   func() bool { return p.isBusy },
		stored: func() bolt.Position { return p.at },
		onLag:  func(l lag) { p.notices = append(p.notices, l.String()) },
	}
	return p
}

// judge takes so much of the bubble's time to judge a step, and returns how long judging pauses then.
func (p *testThrottle) judge(takes time.Duration, s capture.Step) time.Duration {
	p.begin()
	time.Sleep(takes)
	done := time.Now()
	p.judged(s.Seq)
	p.pauseIfDue(s.Arrival)
	return time.Since(done)
}

func TestThrottlePauses(t *testing.T) {
	for name, c := range map[string]struct {
		busy   bool
		takes  time.Duration
		behind uint64 // exchanges
		pause  time.Duration
	}{
		"time to spare":            {false, judgeSlice, 5, 0},
		"no time to spare":         {true, judgeSlice, 5, judgePause},
		"a slice that is not over": {true, judgeSlice - 1, 5, 0},
		"a long step":              {true, time.Second, 5, judgePause},
		"too far behind":           {true, judgeSlice, lagMax, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTestThrottle()
				p.isBusy = c.busy
				p.at = bolt.Position{Seq: 7 + c.behind, Arrival: 100}
				expect.Equal(t, "it pauses for", c.pause, p.judge(c.takes, capture.Step{Seq: 7, Arrival: 100}))
				if got := p.arrival.Load(); (got == 100) != (c.takes >= judgeSlice) {
					t.Errorf("after %v of judging it has come to step %d", c.takes, got)
				}
			})
		})
	}
}

// When there is no more traffic, judging does not pause, and does not say how far it is behind: the end does.
func TestThrottleIsLifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestThrottle()
		p.isBusy = true
		go func() {
			time.Sleep(judgeSlice + judgePause/2)
			p.lift()
		}()
		if got := p.judge(judgeSlice, capture.Step{}); got != judgePause/2 {
			t.Errorf("lifted in the middle of a pause it pauses for %v", got)
		}
		p.at = bolt.Position{Seq: lagNotice}
		if got := p.judge(judgeSlice, capture.Step{}); got != 0 || p.notices != nil {
			t.Errorf("lifted it pauses for %v, and says %q", got, p.notices)
		}
	})
}

// A large lag of checking is reported once, in exchanges or in events.
func TestFarBehindIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		stored bolt.Position
		says   string
	}{
		"a little":          {bolt.Position{Seq: 1 + lagNotice - 1, Arrival: 8 * lagNotice}, ""},
		"exchanges":         {bolt.Position{Seq: 1 + lagNotice, Arrival: 8 * lagNotice}, "1000 exchanges"},
		"a stream":          {bolt.Position{Seq: 2, Arrival: 1 + 20_000}, "20000 events"},
		"ahead of the word": {bolt.Position{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTestThrottle()
				p.at = c.stored
				for range 3 {
					p.judge(judgeSlice, capture.Step{Seq: 1, Arrival: 1})
				}
				expect.Equal(t, "it says", c.says, strings.Join(p.notices, ", "))
			})
		})
	}
}
