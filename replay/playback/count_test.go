package playback_test

import (
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/replay/playback"
)

// A request that is too large to be compared is a miss, like any other request without an answer.
func TestARequestThatIsTooLargeIsMissed(t *testing.T) {
	t.Parallel()
	c := playCalls(t, recordCalls(t, nil, says("a", "1")), playback.Options{})
	expect.Equal(t, "status", http.StatusRequestEntityTooLarge, c.do(recordedCall{ask: strings.Repeat(" ", 16<<20+1)}).status)
	r := c.player.Report()
	expect.Equal(t, "report", "0 answered (0 exactly, 0 by meaning, 0 repeated), 1 missed, 1 never asked for, 0 live", r.Whole(0))
	expect.Equal(t, "miss", "POST "+chatPath+": the request is larger than 16 MiB", r.Misses[0].String())
}

// How often a program polls depends on time. How often it sends does not, even if answers may be repeated.
func TestOnlyPollsNeedNotBeAskedForAgain(t *testing.T) {
	t.Parallel()
	const agent = "http://127.0.0.1:9009"
	ask := func(method, params, result string) recordedCall {
		return recordedCall{
			to: agent, path: "/", fields: "A2A-Version: 1.0\r\n", ask: rpc(method, 1, params),
			answer: `{"jsonrpc":"2.0","id":1,"result":` + result + `}`,
		}
	}
	const task = `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}`
	sent := ask("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}`, `{"task":`+task+`}`)
	polled := ask("GetTask", `{"id":"t-1"}`, task)
	for used, unused := range map[playback.UsedUp]string{playback.RepeatLast: "1 never", "": "1 never", playback.Refuse: "3 never"} {
		c := playCalls(t, recordCalls(t, nil, sent, polled, polled, polled, sent), playback.Options{UsedUp: used, Match: playback.ByValue})
		for _, q := range []recordedCall{sent, polled} {
			expect.Equal(t, "status", http.StatusOK, c.do(q).status)
		}
		if report := c.player.Report(); !strings.Contains(report.Whole(0), ", 0 missed, "+unused) {
			t.Errorf("used up %q: %s", used, report.Whole(0))
		}
	}
}

// Recorded calls that cannot be played are counted with the reason, unless they are not chosen.
func TestWhatCannotBePlayedIsCounted(t *testing.T) {
	t.Parallel()
	memory := recordCalls(t, nil, says("a", "1"), recordedCall{
		to: "http://127.0.0.1:9009", path: "/", ask: `[{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}]`, answer: `[]`,
	})
	for seq := 3; seq <= 4; seq++ {
		call := says("b", "")
		x := call.exchange(seq)
		if x.Response = nil; seq == 3 {
			x.Request.Body.Data, x.Request.Body.Dropped = nil, x.Request.Body.Size
		}
		if err := memory.Append(capture.Steps(x)...); err != nil {
			t.Fatal(err)
		}
	}
	c := playCalls(t, memory, playback.Options{})
	c.ask("a")
	r := c.player.Report()
	expect.Equal(t, "report", "1 answered (1 exactly, 0 by meaning, 0 repeated), 0 missed, 0 never asked for, 0 live, 3 not playable", r.Whole(0))
	expect.Equal(t, "reasons", "recorded calls that cannot be played, since the recording lacks their bodies: 1\n"+
		"recorded calls that cannot be played, since the recording has no answer to them: 1\n"+
		"recorded calls that cannot be played, since they are JSON-RPC batches: 1", strings.Join(r.NotPlayable(), "\n"))
}
