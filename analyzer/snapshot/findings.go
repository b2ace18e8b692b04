package snapshot

import (
	"context"
	"iter"
	"math"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/capture"
)

// Findings yields the findings from a number on, in the order in which they were made, each with its number. It omits
// replaced findings. The caller fills in Capture, Workflow and ExchangeID. It yields no finding that was made after the
// last Refresh, since Row may not have the row of its exchange yet.
func (r *Results) Findings(ctx context.Context, from uint64) iter.Seq2[Numbered, error] {
	return func(yield func(Numbered, error) bool) {
		known := r.Head().Findings
		replaced, err := r.replaced(ctx, from)
		if err != nil {
			yield(Numbered{}, err)
			return
		}
		next := from / chunkFindings * chunkFindings
		for e, err := range r.shelf.KeptRange(ctx, chunkKey('f', from/chunkFindings), []byte{'f' + 1}) {
			var list []*analysis.Finding
			if err == nil {
				list, err = r.findingsOf(e)
			}
			if err == nil && numberOf(e.Key)*chunkFindings != next {
				if !r.Head().Ended { // more were added a moment later: they come next time
					return
				}
				err = damaged("findings from %d on are missing", next)
			}
			if err != nil {
				yield(Numbered{}, err)
				return
			}
			first := next
			next += uint64(len(list))
			for i, f := range list {
				number := first + uint64(i)
				if number >= known {
					return
				}
				if by, is := replaced[number]; is {
					f = by
				}
				if f != nil && number >= from && !yield(Numbered{number, f}, nil) {
					return
				}
			}
		}
		if head := r.Head(); next < head.Findings {
			yield(Numbered{}, damaged("findings from %d on are missing, but %d were found", next, head.Findings))
		}
	}
}

// A Numbered is a finding with its number.
type Numbered struct {
	Number uint64
	*analysis.Finding
}

func (r *Results) findingsOf(e capture.Entry) ([]*analysis.Finding, error) {
	d, err := reads(e, keySize, r.rules)
	if err != nil {
		return nil, err
	}
	var list []*analysis.Finding
	for range min(d.r.count(), chunkFindings) {
		f := &analysis.Finding{}
		d.finding(f)
		list = append(list, f)
	}
	return list, d.r.err
}

// replaced returns the replacements of findings from a number on; nil for findings without one.
func (r *Results) replaced(ctx context.Context, from uint64) (map[uint64]*analysis.Finding, error) {
	by := make(map[uint64]*analysis.Finding)
	for e, err := range r.shelf.KeptRange(ctx, chunkKey('g', from), []byte{'g' + 1}) {
		if err != nil {
			return nil, err
		}
		d, err := reads(e, keySize, r.rules)
		if err != nil {
			return nil, err
		}
		var there bool
		var f *analysis.Finding
		if d.flags(&there); there {
			f = &analysis.Finding{}
			d.finding(f)
		}
		if d.r.err != nil {
			return nil, d.r.err
		}
		by[numberOf(e.Key)] = f
	}
	return by, nil
}

// FindingsOf returns the findings in an exchange, in order of detection.
func (r *Results) FindingsOf(ctx context.Context, row *Row) ([]analysis.Finding, error) {
	if row == nil || len(row.Found) == 0 {
		return nil, nil
	}
	var list []analysis.Finding
	var chunk []*analysis.Finding
	at := uint64(math.MaxUint64)
	replaced, err := r.replaced(ctx, row.Found[0].Number)
	if err != nil {
		return nil, err
	}
	for i := range row.Found {
		number := row.Found[i].Number
		if number/chunkFindings != at {
			at = number / chunkFindings
			values, err := r.shelf.Kept(ctx, chunkKey('f', at))
			if err != nil {
				return nil, err
			}
			if values[0] == nil {
				return nil, damaged("findings from %d on are missing", at*chunkFindings)
			}
			if chunk, err = r.findingsOf(capture.Entry{Key: chunkKey('f', at), Value: values[0]}); err != nil {
				return nil, err
			}
		}
		f, is := replaced[number]
		if k := int(number % chunkFindings); !is && k < len(chunk) {
			f = chunk[k]
		}
		if f == nil || f.Place.Exchange != row.Seq {
			return nil, damaged("finding %d does not belong to exchange %d", number, row.Seq)
		}
		one := *f
		one.ExchangeID = row.ID
		list = append(list, one)
	}
	return list, nil
}
