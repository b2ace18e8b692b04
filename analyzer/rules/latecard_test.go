package rules_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/capture"
)

// The same is found whether a client reads the card before it calls or somebody does afterwards: of each transcript the
// cards that come first are put behind the rest.
func TestCardsMayComeLate(t *testing.T) {
	t.Parallel()
	moved := 0
	for _, path := range transcripts(t) {
		exchanges, before := cardsLast(parse(t, filepath.Join("testdata", path)).Exchanges)
		if exchanges == nil {
			continue
		}
		moved++
		want := inOrder(judgeFile(t, path), func(seq uint64) uint64 { return seq })
		got := inOrder(judge(t, exchanges), func(seq uint64) uint64 { return before[seq] })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: with the card last (-want +got):\n%s", path, diff)
		}
	}
	t.Log(moved)
}

// cardsLast returns exchanges with the cards that come first behind the rest, and the number that each of them had; nil
// if no card comes first, or nothing but cards.
func cardsLast(exchanges []*capture.Exchange) (list []*capture.Exchange, before map[uint64]uint64) {
	n := 0
	for n < len(exchanges) && exchanges[n].Response != nil && bearsCard(exchanges[n]) {
		n++
	}
	if n == 0 || n == len(exchanges) {
		return nil, nil
	}
	before = make(map[uint64]uint64)
	var end time.Time
	for _, x := range exchanges {
		if over := x.Started.Add(max(x.Ended, 0)); over.After(end) {
			end = over
		}
	}
	for i, x := range append(exchanges[n:len(exchanges):len(exchanges)], exchanges[:n]...) {
		moved := *x
		moved.Seq = exchanges[i].Seq
		before[moved.Seq] = x.Seq
		if i >= len(exchanges)-n {
			end = end.Add(time.Second)
			moved.Started = end
		}
		list = append(list, &moved)
	}
	return list, before
}
