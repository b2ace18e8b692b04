package exchanges

import (
	"context"
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// cuts counts the parts of exchanges that a page omits.
type cuts struct{ contents, bodies, events int }

// A shown is a capture that is shown.
type shown struct {
	Capture
	prefix string // prefix of the ids of its elements; empty without another capture
	all    int    // exchanges that may be shown
	found  map[uint64][]*finding
	items  []*item
}

// A finding is a finding with the id of its element.
type finding struct {
	*analysis.Finding
	id     string
	placed bool
}

// id returns the id of the element of an exchange: the beginning of its places.
func (sh *shown) id(seq uint64) string { return fmt.Sprintf("%s%d", sh.prefix, seq) }

// count finds out how many exchanges may be shown.
func (sh *shown) count(ctx context.Context) error {
	if _, ours := sh.Source.(capture.Index); !ours && sh.Chosen == nil {
		sh.Chosen = []uint64{} // files of other formats may be a part of a capture, with its numbers
		for x, err := range sh.Source.Ends(ctx, 1, 1) {
			if err != nil {
				return err
			}
			sh.Chosen = append(sh.Chosen, x.Seq)
		}
	}
	if sh.Chosen != nil {
		sh.all = len(sh.Chosen)
		return nil
	}
	info, err := sh.Source.Info(ctx)
	sh.all = int(info.Exchanges)
	return err
}

// candidate returns an exchange that may be shown, by its number from 0.
func (sh *shown) candidate(i int) uint64 {
	if sh.Chosen != nil {
		return sh.Chosen[i]
	}
	return uint64(i) + 1
}

// choose returns the exchanges that are shown, in order: those with errors first, with other findings, of the same
// workflow as one with findings, and others.
func (sh *shown) choose(most int) []uint64 {
	concerned := make(map[uint64]bool) // workflows
	for seq := range sh.found {
		concerned[sh.Links.Of(seq).Workflow] = true
	}
	var ranks [4][]uint64
	for i := range sh.all {
		seq := sh.candidate(i)
		rank := 3
		if found := sh.found[seq]; len(found) > 0 {
			rank = 1
			if slices.ContainsFunc(found, func(f *finding) bool { return f.Severity == analysis.Error }) {
				rank = 0
			}
		} else if concerned[sh.Links.Of(seq).Workflow] {
			rank = 2
		}
		if len(ranks[rank]) < most {
			ranks[rank] = append(ranks[rank], seq)
		}
	}
	chosen := slices.Concat(ranks[:]...)
	chosen = chosen[:min(len(chosen), most)]
	slices.Sort(chosen)
	return chosen
}

// few is how many exchanges are looked up one by one: more are found by reading the capture through.
const few = 50

// each calls f with exchanges, in order; of long streams there may be the ends alone.
func (sh *shown) each(ctx context.Context, chosen []uint64, f func(*capture.Exchange) error) error {
	if len(chosen) < few {
		for _, seq := range chosen {
			if err := sh.one(ctx, seq, f); err != nil {
				return err
			}
		}
		return nil
	}
	for x, err := range sh.Source.Ends(ctx, chosen[0], maxEvents) {
		if err != nil {
			return err
		}
		for len(chosen) > 0 && chosen[0] < x.Seq {
			chosen = chosen[1:]
		}
		if len(chosen) == 0 {
			return nil
		}
		if x.Seq == chosen[0] {
			if err := f(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// one calls f with the exchange that has a number, if there is one.
func (sh *shown) one(ctx context.Context, seq uint64, f func(*capture.Exchange) error) error {
	for x, err := range sh.Source.Ends(ctx, seq, maxEvents) {
		if err != nil {
			return err
		}
		if x.Seq == seq {
			return f(x)
		}
		return nil
	}
	return nil
}
