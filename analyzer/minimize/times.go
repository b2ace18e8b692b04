package minimize

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
)

// plainTimes replaces the times with a transcript's default times, if that preserves the order of all steps.
func (j *judge) plainTimes() {
	list, err := unsaid(j.now, timeLine)
	if err != nil || slices.EqualFunc(j.now, list, sameTimes) {
		return
	}
	was, err := order(j.ctx, j.now)
	if err != nil {
		return
	}
	if is, err := order(j.ctx, list); err == nil && slices.Equal(was, is) {
		j.try(list)
	}
}

// Lines of meta with times, and the id of an exchange.
var (
	timeLine = regexp.MustCompile(`^(started|request\.end|response\.at|response\.end|ended|(event|comment)\[\d+\]): `)
	idLine   = regexp.MustCompile(`^id: `)
)

// newYear is when a transcript without times begins.
var newYear = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// unsaid returns the exchanges of a transcript without these lines of meta. Unmeasured values stay unmeasured.
func unsaid(list []*capture.Exchange, line *regexp.Regexp) ([]*capture.Exchange, error) {
	var text bytes.Buffer
	inMeta := false
	for l := range bytes.Lines(transcript.Format(&transcript.Transcript{Exchanges: list})) {
		if bytes.HasPrefix(l, []byte("-- ")) && bytes.HasSuffix(l, []byte(" --\n")) {
			inMeta = bytes.HasSuffix(l, []byte(".meta --\n"))
		}
		if !inMeta || !line.Match(l) || bytes.HasSuffix(l, []byte(": unknown\n")) {
			text.Write(l)
		}
	}
	t, err := transcript.Parse("", text.Bytes())
	if err != nil {
		return nil, err
	}
	return t.Exchanges, nil
}

// sameTimes reports whether two copies of an exchange have the same times.
func sameTimes(a, b *capture.Exchange) bool {
	return a.Started.Equal(b.Started) && slices.Equal(offsets(a), offsets(b))
}

func offsets(x *capture.Exchange) []time.Duration {
	list := []time.Duration{x.Ended, x.Request.Body.At}
	if r := x.Response; r != nil {
		list = append(list, r.At, r.Body.At)
		for i := range r.Events {
			list = append(list, r.Events[i].At)
		}
	}
	return list
}

// A piece is a step of an exchange, by its position.
type piece struct {
	seq uint64
	nth int
}

// order returns the order of all steps.
func order(ctx context.Context, list []*capture.Exchange) ([]piece, error) {
	m, err := memory(list)
	if err != nil {
		return nil, err
	}
	var pieces []piece
	count := make(map[uint64]int)
	for s, err := range m.Steps(ctx, 1) {
		if err != nil {
			return nil, err
		}
		count[s.Seq]++
		pieces = append(pieces, piece{s.Seq, count[s.Seq]})
	}
	return pieces, nil
}
