package merge

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// An ask is one request to an agent, at one recorder.
type ask struct {
	agent   capture.Peer
	client  capture.Peer
	method  string
	host    string
	path    string
	body    string
	status  int
	answer  string
	facts   []capture.Fact
	conn    uint64
	at      time.Duration // when it begins
	took    time.Duration
	without bool // its beginning is lost
}

// message is a request with an id of its own.
func message(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"params":{"messageId":"7c9e6679-7425-40de-944b-%012d"}}`, n)
}

// outerAsk and innerAsk are the same request before and behind the network.
func outerAsk(n int) ask {
	return ask{
		agent:  capture.Peer{Name: "billing", URL: "http://east.example:9001"},
		client: capture.Peer{Name: "shop", How: "default"},
		host:   "127.0.0.1:9000", body: message(n), answer: `{"result":1}`, conn: 1, at: time.Duration(n) * time.Second,
		took: 10 * time.Millisecond,
	}
}

func innerAsk(n int) ask {
	return ask{
		agent:  capture.Peer{Name: "invoices", URL: "http://127.0.0.1:8000"},
		client: capture.Peer{Name: "python", How: "user-agent"},
		host:   "east.example:9001", body: message(n), answer: `{"result":1}`, conn: 1,
		at: time.Duration(n)*time.Second + 2*time.Millisecond, took: 4 * time.Millisecond,
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// steps returns what a recorder writes of a request, on a clock that begins at noon.
func (a ask) steps(seq uint64, noon time.Time) []capture.Step {
	method, path, status := a.method, a.path, a.status
	if method == "" {
		method = "POST"
	}
	if path == "" {
		path = "/rpc"
	}
	if status == 0 {
		status = 200
	}
	var steps []capture.Step
	add := func(offset time.Duration, what capture.What) {
		steps = append(steps, capture.Step{Seq: seq, Offset: offset, What: what})
	}
	if !a.without {
		add(0, capture.Opened{
			ID: uuid.New(), Conn: a.conn, Started: noon.Add(a.at), Client: a.client, Agent: a.agent,
			Head: []byte(method + " " + path + " HTTP/1.1\r\nHost: " + a.host + "\r\n\r\n"),
		})
	}
	for _, f := range a.facts {
		add(capture.NotKnown, f)
	}
	if a.body != "" {
		add(0, capture.RequestBody{Data: []byte(a.body)})
	}
	add(0, capture.RequestEnd{Size: int64(len(a.body))})
	add(a.took, capture.ResponseHead{Head: fmt.Appendf(nil, "HTTP/1.1 %d X\r\n\r\n", status)})
	add(a.took, capture.ResponseBody{Data: []byte(a.answer)})
	add(a.took, capture.ResponseEnd{Size: int64(len(a.answer))})
	add(a.took, capture.Closed{})
	return steps
}

// recorded is the recording of a host of these requests.
func recorded(t *testing.T, host string, info capture.Info, noon time.Time, asks ...ask) Recording {
	t.Helper()
	info.ID = uuid.New()
	memory := capture.NewMemory(info)
	for i, a := range asks {
		must.Do(t, memory.Append(a.steps(uint64(i)+1, noon)...))
	}
	must.Do(t, memory.Close())
	return Recording{Host: host, Name: host + ".a2atap", Source: memory}
}

func TestOneOfTwoViews(t *testing.T) {
	inner := innerAsk(1)
	inner.facts = []capture.Fact{{Note: capture.FaultMadeHere + "late"}, {Note: "the card is signed"}}
	_, merged := run(t, []Recording{
		recorded(t, "west", capture.Info{}, noon, outerAsk(1)),
		recorded(t, "east", capture.Info{}, noon.Add(-time.Hour), inner),
	})
	all := capturetest.ReadAll(t, merged)
	if len(all) != 1 {
		t.Fatalf("got %d exchanges, want one", len(all))
	}
	x := all[0]
	if x.Client.Name != "shop" || x.Agent.Name != "invoices" || x.Agent.URL != "http://127.0.0.1:8000" {
		t.Errorf("got %+v to %+v; want the outer client and the inner agent", x.Client, x.Agent)
	}
	expect.Equal(t, fmt.Sprintf("the fault that the inner recorder made is not said: %q", x.Notes),
		"late", x.FaultMade())
	want := capture.SeenAlso + "at east as exchange 1 of east.a2atap, where the request arrived 3ms later and the " +
		"answer ended 3ms earlier"
	notes := strings.Join(x.Notes, "\n")
	if !strings.Contains(notes, want) || !strings.Contains(notes, "at east: the card") {
		t.Errorf("got notes %q, want %q", x.Notes, want)
	}
}

func TestAnotherAnswerStaysTwo(t *testing.T) {
	inner := innerAsk(1)
	inner.status = 502
	m, merged := run(t, []Recording{
		recorded(t, "west", capture.Info{}, noon, outerAsk(1)), recorded(t, "east", capture.Info{}, noon, inner),
	})
	all := capturetest.ReadAll(t, merged)
	if len(all) != 2 || m.Summary().Seen != 0 {
		t.Fatalf("got %d exchanges, want two", len(all))
	}
	for i, want := range []string{"at east", "at west"} {
		if len(all[i].Notes) != 1 || !strings.HasPrefix(all[i].Notes[0], capture.SeenOtherwise+want) ||
			!strings.Contains(all[i].Notes[0], "another answer: status") {
			t.Errorf("exchange %d has notes %q", i+1, all[i].Notes)
		}
	}
}

func TestClocksAreCompared(t *testing.T) {
	var told []string
	merged := capture.NewMemory(capture.Info{})
	m := New(merged, Options{OnNotice: func(s string) { told = append(told, s) }})
	m.Add(recorded(t, "west", capture.Info{}, noon, outerAsk(1), outerAsk(2), outerAsk(3)))
	m.Add(recorded(t, "east", capture.Info{}, noon.Add(time.Hour), innerAsk(1), innerAsk(2), innerAsk(3)))
	m.Add(recorded(t, "north", capture.Info{}, noon, ask{body: "{}", at: time.Second}))
	must.Do(t, m.Run(context.Background()))
	all := strings.Join(told, "\n")
	for _, want := range []string{
		"of west: 59m59.999s behind the clock of east, according to 3 exchanges; its times are corrected (within 3ms)",
		"clock of north: not compared",
	} {
		expect.Contains(t, "notices", want, all)
	}
	expect.Equal(t, "exchanges", 4, len(capturetest.ReadAll(t, merged)))
}

// A clock that is set in the midst is compared before and after.
func TestClockThatIsSet(t *testing.T) {
	var outer, inner []ask
	for n := 1; n <= 20; n++ {
		outer, inner = append(outer, outerAsk(n)), append(inner, innerAsk(n))
		if n > 10 {
			inner[n-1].at += time.Minute
		}
	}
	m, merged := run(t, []Recording{
		recorded(t, "west", capture.Info{}, noon, outer...), recorded(t, "east", capture.Info{}, noon, inner...),
	})
	expect.Equal(t, "exchanges", 20, len(capturetest.ReadAll(t, merged)))
	if c := m.Summary().Clocks; c[1].Changes+c[0].Changes != 1 {
		t.Errorf("got clocks %+v, want one that changed once", c)
	}
}

func TestSameCaptureTwice(t *testing.T) {
	one := recorded(t, "west", capture.Info{}, noon, outerAsk(1))
	two := one
	two.Host, two.Name = "copy", "copy.a2atap"
	m := New(capture.NewMemory(capture.Info{}), Options{})
	m.Add(one)
	m.Add(two)
	err := m.Run(context.Background())
	expect.ErrorHas(t, "", "copy.a2atap and west.a2atap are copies of the same capture", err)
}

func TestCardAsTheAgentSentIt(t *testing.T) {
	outer, inner := outerAsk(1), innerAsk(1)
	inner.answer = `{"name":"i","url":"http://127.0.0.1:8000"}`
	outer.answer = `{"name":"i","url":"http://east.example:9001"}`
	inner.facts = []capture.Fact{{Rewrites: []capture.Rewrite{{
		Place: "response.body#/url", Was: "http://127.0.0.1:8000", Now: "http://east.example:9001",
	}}}}
	_, merged := run(t, []Recording{
		recorded(t, "west", capture.Info{}, noon, outer), recorded(t, "east", capture.Info{}, noon, inner),
	})
	all := capturetest.ReadAll(t, merged)
	if len(all) != 1 {
		t.Fatalf("got %d exchanges, want one", len(all))
	}
	if got := string(all[0].Response.Body.Data); got != inner.answer || all[0].Response.Body.Size != int64(len(got)) {
		t.Errorf("got %s, want what the agent sent", got)
	}
	expect.Equal(t, all[0].Rewrites, 1, len(all[0].Rewrites))
}

func TestAgentsOfOneNameAreToldApart(t *testing.T) {
	local := func(n int) ask {
		a := innerAsk(n)
		a.agent = capture.Peer{Name: "helper", URL: "http://127.0.0.1:7000"}
		a.client = capture.Peer{Name: "helper", How: "socket of the agent's process"}
		return a
	}
	public := func(n int) ask {
		a := innerAsk(n)
		a.agent = capture.Peer{Name: "bank", URL: "http://bank.example/rpc"}
		return a
	}
	_, merged := run(t, []Recording{
		recorded(t, "west", capture.Info{}, noon, local(1), public(2)),
		recorded(t, "east", capture.Info{}, noon, local(3), public(4)),
	})
	want := []string{"helper@west helper@west", "python bank", "helper@east helper@east", "python bank"}
	for i, x := range capturetest.ReadAll(t, merged) {
		expect.Equal(t, fmt.Sprintf("exchange %d", i+1), want[i], x.Client.Name+" "+x.Agent.Name)
	}
}

func TestGapsAreSaid(t *testing.T) {
	headless := innerAsk(2)
	headless.without = true
	m, merged := run(t, []Recording{
		recorded(t, "west", capture.Info{LostExchanges: 3, Crashes: 1}, noon, innerAsk(1)),
		recorded(t, "east", capture.Info{}, noon, headless),
	})
	info := must.Get(merged.Info(context.Background()))(t)
	if info.LostExchanges != 4 || info.Exchanges != 1 || m.Summary().Lost != 1 {
		t.Errorf("got %d lost and %d exchanges, want 4 and 1", info.LostExchanges, info.Exchanges)
	}
	all := printed(t, merged)
	for _, want := range []string{"west: lost, as", "west: the recorder was killed", "east: their beginning"} {
		expect.Contains(t, fmt.Sprintf("nothing says %q", want), want, all)
	}
}

// A notification goes the other way: the recorder next to the webhook knows where it went.
func TestNotificationOfTwoRecorders(t *testing.T) {
	first, second := innerAsk(1), innerAsk(1)
	first.agent, first.path = capture.Peer{Name: "web", URL: "http://west.example:9001"}, "/.a2atap/webhook/abc"
	first.took = 10 * time.Millisecond
	second.agent, second.path = capture.Peer{Name: "shop", URL: "http://127.0.0.1:5000"}, "/hook"
	second.client = capture.Peer{Name: "billing", How: "webhook"}
	second.host, second.at = "127.0.0.1:5000", second.at+time.Millisecond
	_, merged := run(t, []Recording{
		recorded(t, "east", capture.Info{}, noon, first), recorded(t, "west", capture.Info{}, noon, second),
	})
	all := capturetest.ReadAll(t, merged)
	if len(all) != 1 || all[0].Agent.Name != "shop" || len(all[0].Notes) != 1 {
		t.Errorf("got %+v, want the notification as it came to the webhook", all)
	}
}

func TestGaps(t *testing.T) {
	early, late := capture.Crash{After: noon}, capture.Crash{After: noon.Add(time.Second), Within: time.Millisecond}
	gaps, err := GapsOf(t.Context(), recorded(t, "a", capture.Info{Insecure: true, Crashes: 2, Crash: late}, noon),
		recorded(t, "b", capture.Info{SecretsKept: true, Crashes: 1, Crash: early, LostExchanges: 3}, noon))
	if err != nil || gaps != (capture.Gaps{Secrets: true, Insecure: true, Crashes: 3, Crash: late}) {
		t.Errorf("got %+v, %v", gaps, err)
	}
}
