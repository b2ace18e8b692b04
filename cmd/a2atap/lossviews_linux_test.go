package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/tui"
)

// A loss is a kind of traffic that passed and is not in a capture, or not whole.
type loss struct {
	name  string
	steps []capture.Step // behind one exchange that is whole
	lost  int            // exchanges of which nothing is recorded
	part  int            // exchanges of which a part is recorded
	seen  bool           // nothing is missing
}

// goodCall returns a call that succeeds, as an exchange of a number.
func goodCall(seq uint64, more ...capture.What) []capture.Step {
	const body = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`
	const answer = `{"jsonrpc":"2.0","id":1,"result":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`
	whats := []capture.What{
		capture.Opened{
			Started: time.Unix(int64(seq), 0), Agent: capture.Peer{Name: "a"},
			Head: []byte("POST / HTTP/1.1\r\nHost: x\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\n\r\n"),
		},
		capture.RequestBody{Data: []byte(body)},
		capture.RequestEnd{Size: int64(len(body))},
		capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
	}
	if len(more) == 0 {
		more = []capture.What{capture.ResponseBody{Data: []byte(answer)}, capture.ResponseEnd{Size: int64(len(answer))}, capture.Closed{}}
	}
	return about(seq, append(whats, more...)...)
}

func about(seq uint64, whats ...capture.What) (steps []capture.Step) {
	for _, what := range whats {
		steps = append(steps, capture.Step{Seq: seq, Offset: capture.NotKnown, What: what})
	}
	return steps
}

func stray(bytes int64, side string) []capture.What {
	return []capture.What{
		capture.Opened{Started: time.Unix(9, 0), Agent: capture.Peer{Name: "a"}},
		capture.Closed{Fault: &capture.TransportFault{Kind: "unsolicited", Side: side, Detail: "bytes that are no message"}, Dropped: bytes},
	}
}

const full = "the disk was full"

var losses = []loss{
	{name: "nothing", seen: true},
	{name: "behind", steps: about(0, capture.Lost{Exchanges: 3, Bytes: 100, Reason: "the recorder was behind"}), lost: 3},
	{
		name:  "twice",
		steps: about(0, capture.Lost{Exchanges: 3, Bytes: 100, Reason: full}, capture.Lost{Exchanges: 2, Reason: full}), lost: 5,
	},
	{
		name:  "later bytes of exchanges that are counted",
		steps: about(0, capture.Lost{Exchanges: 3, Bytes: 100, Reason: full}, capture.Lost{Bytes: 50, Reason: full}), lost: 3,
	},
	{
		name:  "facts about exchanges that are counted",
		steps: append(about(0, capture.Lost{Exchanges: 1, Reason: full}), about(2, capture.Fact{Note: "x"})...), lost: 1,
	},
	{name: "bytes alone", steps: about(0, capture.Lost{Bytes: 50, Reason: full})},
	{name: "a reason alone", steps: about(0, capture.Lost{Reason: "the recorder was killed"})},
	{name: "a part", steps: goodCall(2, capture.Lost{Bytes: 10, Reason: full}, capture.Closed{Dropped: 10}), part: 1},
	{
		name: "several parts of one", part: 1,
		steps: goodCall(2, capture.Lost{Bytes: 10, Reason: full}, capture.Lost{Bytes: 20, Reason: full}, capture.Closed{Dropped: 30}),
	},
	{
		name: "parts of two, and others", part: 2, lost: 16,
		steps: append(append(goodCall(2, capture.Lost{Bytes: 10, Reason: full}, capture.Closed{Dropped: 10}),
			goodCall(3, capture.Lost{Bytes: 10, Reason: full}, capture.Closed{Dropped: 10})...),
			about(0, capture.Lost{Exchanges: 16, Bytes: 1000, Reason: full})...),
	},
	{name: "frames that belong to no request", steps: about(2, stray(10, "client")...), part: 1},
	{name: "bytes that answer no request", steps: about(2, stray(10, "agent")...), part: 1},
}

// However traffic is missing, each view of the capture says the same number.
func TestLossesInEveryView(t *testing.T) {
	s := newShell(t)
	for i, loss := range losses {
		t.Run(loss.name, func(t *testing.T) {
			file := filepath.Join(s.dir, fmt.Sprintf("c%d.a2atap", i))
			store := must.Get(bolt.Open(file, bolt.Options{}))(t)
			must.Do(t, errors.Join(store.Append(append(goodCall(1), loss.steps...)...), store.Close()))
			count := ""
			switch {
			case loss.lost == 1:
				count = "1 exchange"
			case loss.lost > 1:
				count = fmt.Sprintf("%d exchanges", loss.lost)
			}
			states := func(view, text, before, after string) {
				t.Helper()
				got := regexp.MustCompile(before + `(\d+ exchanges?)` + after).FindStringSubmatch(text)
				if want := []string{before + count + after, count}; count == "" && got != nil || count != "" && !slices.Equal(got, want) {
					t.Errorf("%s states %q, want %q", view, got, want)
				}
			}
			out, errs, code := s.execute("a2atap check " + file + " --format json")
			var doc report.Document
			must.Do(t, json.Unmarshal([]byte(out), &doc))
			expect.Equal(t, "JSON: lost", int64(loss.lost), doc.Verdict.Lost)
			part := 0
			for _, gap := range doc.Verdict.NotSeen {
				if gap.What == "exchange" {
					part += gap.Count
				}
			}
			expect.Equal(t, "JSON: seen in part", loss.part, part)
			if clean := doc.Verdict.Status == "clean"; clean != loss.seen {
				t.Errorf("the verdict is %q, exit %d", doc.Verdict.Status, code)
			}
			states("the verdict", errs, "not seen: ", " not recorded")
			for _, format := range report.Formats() {
				out, _, _ := s.execute("a2atap check " + file + " --format " + format)
				switch format {
				case "junit", "markdown", "html", "text":
					states(format, out+errs, "", " not recorded")
				}
			}
			_, errs, _ = s.execute("a2atap show " + file)
			states("show", errs, " lacks ", " that were forwarded and could not be recorded")
			src := must.Get(bolt.Read(file))(t)
			defer src.Close()
			screen, ended := inspectSource(t, src, tui.Options{Rules: rules.All}, 24, 80)
			screen.shows(t, "a")
			if count != "" {
				screen.shows(t, count+" not recorded")
			}
			screen.keys.Write([]byte("qq"))
			must.Do(t, <-ended)
			page := start(t, "web", file)
			address := page.line("")
			answers(t, address, "api/list?n=50", "GetTask")
			answers(t, address, "api/part?name=verdict", cmp.Or(count, "exchange"))
			expect.Equal(t, "web: exit", cli.ExitOK, page.end())
		})
	}
}
