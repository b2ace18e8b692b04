package snapshot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
)

// Bounds on data that is held to assemble a whole result.
const (
	maxPresized = 1 << 18 // findings
	maxBriefs   = 512     // chunks
	maxTexts    = 1 << 14
)

// lookedUp are the briefs of exchanges that have findings, most of them consecutive. It is for one goroutine.
type lookedUp struct {
	reading *Results
	chunks  map[uint64][]brief
}

// of returns the brief of an exchange; its seq is 0 if it is unknown.
func (b *lookedUp) of(ctx context.Context, seq uint64) (brief, error) {
	number := chunkOf(seq)
	list, known := b.chunks[number]
	if !known {
		var err error
		if list, err = b.reading.briefs(ctx, number); err != nil {
			return brief{}, err
		}
		if b.chunks == nil {
			b.chunks = make(map[uint64][]brief)
		}
		if len(b.chunks) >= maxBriefs {
			delete(b.chunks, slices.Min(slices.Collect(maps.Keys(b.chunks))))
		}
		b.chunks[number] = list
	}
	i, found := slices.BinarySearchFunc(list, seq, func(b brief, seq uint64) int { return cmp.Compare(b.seq, seq) })
	if !found {
		return brief{}, nil
	}
	return list[i], nil
}

// workflow returns the workflow of an exchange.
func (b *lookedUp) workflow(ctx context.Context, seq uint64) (analysis.Workflow, error) {
	const maxWalk = 10_000
	at, err := b.of(ctx, seq)
	if err != nil || at.seq == 0 {
		return analysis.Workflow{Number: seq}, err
	}
	caused := false
	for range maxWalk {
		if at.parent == 0 {
			break
		}
		caused = caused || at.by.ByAgent()
		next, err := b.of(ctx, at.parent)
		if err != nil {
			return analysis.Workflow{}, err
		}
		if next.seq == 0 {
			return analysis.Workflow{Number: at.parent, Caused: caused}, nil
		}
		at = next
	}
	return analysis.Workflow{Number: at.seq, Caused: caused}, nil
}

// texts are texts that many findings share: each is one string for all of them, and keeps no larger text alive.
type texts map[string]string

func (t texts) of(text string) string {
	if text == "" {
		return ""
	}
	if known, ok := t[text]; ok {
		return known
	}
	own := strings.Clone(text)
	if len(t) < maxTexts {
		t[own] = own
	}
	return own
}

func (t texts) share(f *analysis.Finding) {
	f.Link.Client, f.Link.Agent = t.of(f.Link.Client), t.of(f.Link.Agent)
	f.Place.Part, f.Place.Pointer = t.of(f.Place.Part), t.of(f.Place.Pointer)
	f.Seen, f.Expected = t.of(f.Seen), t.of(f.Expected)
	for i := range f.Also {
		f.Also[i] = t.of(f.Also[i])
	}
}
