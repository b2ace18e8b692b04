package rules_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
)

// Checking a card with ten times as many faults costs about as much as checking ten cards.
func TestCardsAreJudgedInLinearTime(t *testing.T) {
	const skills, quadratic, tick = 2000, 10, 20 * time.Millisecond // the system may count time in ticks of 10 ms
	var ratios []float64
	for range 3 { // a collection of garbage may fall into one
		ten := time.Duration(0)
		for range 10 {
			ten += judgeSkills(skills)
		}
		ratio := judgeSkills(10*skills).Seconds() / max(ten, tick).Seconds()
		if ratios = append(ratios, ratio); ratio < quadratic/3. {
			return
		}
	}
	t.Errorf("one large card costs %.1f times as much as ten small ones", ratios)
}

// judgeSkills returns how long this thread has the processor to judge a card with so many skills that lack members.
func judgeSkills(n int) time.Duration {
	card := `{"name":"H","description":"d","version":"1","supportedInterfaces":[{"url":"http://booker:9001","protocolVersion":"1.0",` +
		`"protocolBinding":"JSONRPC"}],"capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[` +
		strings.TrimSuffix(strings.Repeat(`{"id":"s","description":"d"},`, n), ",") + `]}`
	steps := []capture.Step{
		{Seq: 1, What: capture.Opened{
			Agent: capture.Peer{Name: "booker", URL: "http://booker:9001"},
			Head:  []byte("GET /.well-known/agent-card.json HTTP/1.1\r\nHost: booker:9001\r\n\r\n"),
		}},
		{Seq: 1, What: capture.RequestEnd{}},
		{Seq: 1, What: capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")}},
		{Seq: 1, What: capture.ResponseBody{Data: []byte(card)}},
		{Seq: 1, What: capture.ResponseEnd{Size: int64(len(card))}},
		{Seq: 1, What: capture.Closed{}},
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	used := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(1, &u) //nolint:errcheck // RUSAGE_THREAD is known
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	e, before := engine.New(rules.All), used()
	for i, s := range steps {
		s.Arrival = uint64(i + 1)
		e.Step(s)
	}
	return used() - before
}
