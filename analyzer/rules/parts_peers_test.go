//go:build peers

package rules_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"

	"a2atap/analyzer"
	"a2atap/analyzer/report/parts"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
)

// Four reports on the parts of a capture of 100,000 exchanges come to the report on the whole: with more contexts,
// tasks and endpoints than are remembered.
func TestPartsOfManyExchanges(t *testing.T) {
	t.Parallel()
	const n = 4
	src := conversations{contexts: 25_000}
	results := make([]*analyzer.Result, n+1)
	var work sync.WaitGroup
	for k := range results {
		work.Go(func() {
			p := analyzer.Part{Number: k, Of: n}
			if k == 0 {
				p = analyzer.Part{}
			}
			var err error
			if results[k], err = analyzer.Run(context.Background(), rules.All, src, nil, analyzer.InPart(p)); err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	if t.Failed() {
		return
	}
	whole := results[0]
	if len(whole.Findings) < 1_000 || whole.Counts.Exchanges != 100_000 || whole.Counts.Forgotten == 0 {
		t.Errorf("%d findings in %d exchanges, %d forgotten, show too little", len(whole.Findings), whole.Counts.Exchanges,
			whole.Counts.Forgotten)
	}
	var files []*parts.File
	for _, r := range results[1:] {
		if share := float64(r.Counts.Judged) / float64(whole.Counts.Judged); share < 0.2 || share > 0.3 {
			t.Errorf("part %s has %.0f %% of the exchanges", r.Portion, 100*share)
		}
		files = append(files, fileOf(t, r))
	}
	merged, err := parts.Merge(files, rules.All)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := asJSON(t, merged[0].Result, nil), asJSON(t, whole, nil); !bytes.Equal(got, want) {
		t.Error(firstDifference(got, want))
	}
}

// conversations is a capture of so many contexts, with four exchanges each: a task is made, asked for twice, and sent
// another message when it has ended. Each has an agent of its own among 12,000, and some agents do it wrong.
type conversations struct {
	capture.Source // for what nobody asks
	contexts       uint64
}

func (c conversations) Info(context.Context) (capture.Info, error) {
	return capture.Info{Name: "many", Exchanges: 4 * c.contexts}, nil
}

func (c conversations) Steps(_ context.Context, from uint64) iter.Seq2[capture.Step, error] {
	return func(yield func(capture.Step, error) bool) {
		arrival := uint64(0)
		for i := range 4 * c.contexts {
			for _, s := range turn(i) {
				if arrival++; arrival < from {
					continue
				}
				s.Arrival = arrival
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// turn returns the steps of exchange number i of conversations, from 0.
func turn(i uint64) []capture.Step {
	c := i / 4
	message := fmt.Sprintf(`"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"go"}]`, i)
	ask := fmt.Sprintf(`"method":"GetTask","params":{"id":"t%d"}`, c)
	state, context := "COMPLETED", c
	switch i % 4 {
	case 0:
		ask, state = `"method":"SendMessage","params":{"message":{`+message+`}}`, "WORKING"
	case 1:
		if c%50 == 0 {
			context++
		}
	case 2:
		if c%30 == 0 {
			state = "WORKING"
		}
	case 3:
		ask = fmt.Sprintf(`"method":"SendMessage","params":{"message":{"taskId":"t%d","contextId":"c%d",%s}}`, c, c, message)
	}
	task := fmt.Sprintf(`{"id":"t%d","contextId":"c%d","status":{"state":"TASK_STATE_%s"}}`, c, context, state)
	result := `"result":` + task
	switch {
	case i%4 == 0 || i%4 == 3 && c%20 == 0:
		result = `"result":{"task":` + task + `}`
	case i%4 == 3:
		result = `"error":{"code":-32004,"message":"it has ended"}`
	}
	steps := asked(i+1, "")
	opened := steps[0].What.(capture.Opened)
	opened.Agent = capture.Peer{Name: "booker", URL: fmt.Sprintf("http://booker-%d:9001", c%12_000)}
	steps[0].What = opened
	request := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,%s}`, i, ask)
	answer := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,%s}`, i, result)
	steps[1].What, steps[2].What = capture.RequestBody{Data: request}, capture.RequestEnd{Size: int64(len(request))}
	for _, what := range []capture.What{
		capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")},
		capture.ResponseBody{Data: answer},
		capture.ResponseEnd{Size: int64(len(answer))},
		capture.Closed{},
	} {
		steps = append(steps, capture.Step{Seq: i + 1, What: what})
	}
	return steps
}
