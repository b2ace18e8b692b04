package bolt

import (
	"context"
	"fmt"
	"strings"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// verify looks through the file of an open segment before anything is read of it: whether its pages make sense, and
// whether the buckets beside the blocks hold what the last commit left in them. The blocks have checksums of their own.
func (s *segment) verify(free bool) error {
	inv, err := takeInventory(s.handle(), free)
	if err != nil {
		return unsound(err)
	}
	s.found, s.readingErr = inv.tables, nil
	if inv.reading != nil {
		s.readingErr = fmt.Errorf("read %s: %w: %w", s.path, capture.ErrDamagedEntry, inv.reading)
	}
	if inv.state == nil {
		return nil // nothing was written yet
	}
	st, err := decodeState(inv.state)
	if err != nil {
		return unsound(err)
	}
	s.summed = st.summed
	if s.summed && st.tables != inv.tables {
		if err := view(s.db, func(tx *bbolt.Tx) error { _, err := readFormat(tx); return err }); err != nil {
			return err // a later format may have other sums
		}
		return unsound(fmt.Errorf("%s: %w", st.tables.differ(&inv.tables), errDamaged))
	}
	return nil
}

// unsound adds the next step.
func unsound(err error) error {
	return fmt.Errorf("%w; run a2atap doctor, which says more and can repair it", err)
}

// differ says which buckets are not as they were left.
func (t *tables) differ(found *tables) string {
	var words []string
	for i, name := range [...]string{"meta", "exchanges", "parts", "open", "index"} {
		was, is := t.all()[i], found.all()[i]
		switch {
		case *was == *is:
		case was.n != is.n:
			words = append(words, fmt.Sprintf("bucket %s has %d entries, and had %d", name, is.n, was.n))
		default:
			words = append(words, fmt.Sprintf("an entry of bucket %s was changed", name))
		}
	}
	return "the index does not match the blocks: " + strings.Join(words, ", ")
}

// verifyUnsummed goes through a set of which a segment comes from a program that left no sums.
func (set segmentSet) verifyUnsummed() error {
	summed := true
	for _, s := range set {
		summed = summed && s.summed
	}
	if summed {
		return nil
	}
	c := checker{ctx: context.Background(), shallow: true}
	c.check(set)
	if len(c.Problems) > 0 {
		return unsound(fmt.Errorf("the index does not match the blocks: %s: %w", c.Problems[0], errDamaged))
	}
	return nil
}

// whole reports an error if a later segment is missing: what there is of a capture must not pass for all of it.
func (set segmentSet) whole(path string) error {
	st, err := set.state()
	if err == nil && st.continued {
		err = fmt.Errorf("segment %s is missing; bring it back beside the others: %w",
			segmentName(path, uint64(len(set))+1), errDamaged)
	}
	return err
}
