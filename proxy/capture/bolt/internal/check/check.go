package check

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// Check checks the segments of a capture.
func (c *Checker) Check(set segments.Set) {
	st, stErr := set.State()
	c.last = st.Arrival
	for i, s := range set {
		if s.Meta.Arrivals != c.state.Arrival && !c.unsure {
			c.Problem(Problem{s.Path, string(layout.BucketMeta), string(layout.MetaSegment), fmt.Sprintf(
				"it begins after arrival %d, but the segment before it ends with %d", s.Meta.Arrivals, c.state.Arrival)})
		}
		c.state.Arrival, c.unsure = s.Meta.Arrivals, false
		c.file(s)
		c.keys(s)
		if c.Ctx.Err() != nil {
			return
		}
		c.Files[i].Bytes = SizeOf(s.Path)
		c.Exchanges += c.Files[i].Exchanges
		c.Steps += uint64(c.Files[i].Steps)
	}
	if err := set.Whole(set[0].Path); err != nil && stErr == nil && !c.shallow {
		c.Problem(Problem{File: set[0].Path, What: err.Error()})
	}
	traffic := c.found
	for _, s := range set {
		c.reading(s)
	}
	c.Ended = st.Ended
	_, c.Crash = st.Crash(st.Ended)
	switch name := set.Last().Path; {
	case stErr != nil:
		c.Problem(Problem{name, string(layout.BucketMeta), string(layout.MetaState), stErr.Error()})
	case traffic == 0 && st.Totals != c.state:
		c.Problem(Problem{
			name, string(layout.BucketMeta), string(layout.MetaState),
			fmt.Sprintf("the state has %v, but the steps have %v", st.Totals, c.state),
		})
	}
}

// MadeAnew is the message for damage to values that can be computed again.
const MadeAnew = "the stored check result is damaged; it will be computed again, and no traffic is missing"

// reading checks the results that a segment stores alongside its steps.
func (c *Checker) reading(s *segments.Segment) {
	if c.shallow {
		return
	}
	err := s.Shelf(func(b *bbolt.Bucket) {
		if b == nil {
			return
		}
		cursor := b.Cursor()
		for k, v := cursor.First(); k != nil && c.Ctx.Err() == nil; k, v = cursor.Next() {
			if _, err := layout.UnsealEntry(k, v); err != nil {
				c.Problem(Problem{s.Path, string(layout.BucketReading), fmt.Sprintf("%x", k), MadeAnew})
			}
		}
	})
	if err != nil {
		c.Problem(Problem{s.Path, string(layout.BucketReading), "", MadeAnew + ": " + err.Error()})
	}
}

// keys notes with which keys secrets were hidden.
func (c *Checker) keys(s *segments.Segment) {
	for _, key := range s.Meta.Keys {
		if !slices.Contains(c.Keys, key) {
			c.Keys = append(c.Keys, key)
		}
	}
	if key, err := s.KeyInside(); err == nil && len(key) > 0 {
		c.KeyInside = true
	}
}

// SizeOf returns the size of a file, 0 if it does not exist.
func SizeOf(path string) int64 {
	if info, err := os.Stat(path); err == nil {
		return info.Size()
	}
	return 0
}

// file checks one segment.
func (c *Checker) file(s *segments.Segment) {
	before := c.found
	sc := segmentCheck{Checker: c, name: s.Path}
	sc.here.Name = s.Path
	// bbolt checks in a separate goroutine, where a fault would crash the process, so our own walk runs first.
	if err := s.View(sc.walk); err != nil && c.Ctx.Err() == nil {
		c.Problem(Problem{File: s.Path, What: err.Error()})
	}
	c.Files = append(c.Files, sc.here)
	if c.found > before || c.Ctx.Err() != nil || c.shallow {
		return
	}
	c.sums(s)
	if s.ReadingErr != nil {
		return // bbolt must not see these pages
	}
	if err := c.database(s); err != nil {
		c.Problem(Problem{File: s.Path, What: "database: " + err.Error()})
	}
}

// sums compares the contents of the buckets with the sums of the last commit.
func (c *Checker) sums(s *segments.Segment) {
	st, err := segments.Set([]*segments.Segment{s}).State()
	if err == nil && st.Summed && st.Tables != s.Found {
		c.Problem(Problem{s.Path, string(layout.BucketMeta), string(layout.MetaState), st.Tables.Differ(&s.Found)})
	}
}

// database lets bbolt check a file. The list of free pages, which our walk has not met, is read here first.
func (c *Checker) database(s *segments.Segment) error {
	if err := pages.InspectFreelist(s.Path); err != nil {
		return err
	}
	db, err := segments.OpenDB(s.Path,
		bbolt.Options{ReadOnly: true, PreLoadFreelist: true, Timeout: time.Nanosecond, NoStatistics: true})
	if err != nil {
		return err
	}
	return errors.Join(db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			text, panicked := strings.CutPrefix(err.Error(), "panic: ")
			if panicked {
				text = "its pages are inconsistent: " + strings.TrimPrefix(text, "assertion failed: ")
			}
			c.Problem(Problem{File: s.Path, What: "database: " + text})
		}
		return nil
	}), db.Close())
}
