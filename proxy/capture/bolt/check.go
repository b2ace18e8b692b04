package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"a2atap/proxy/capture"
)

// maxProblems is how many problems a Checkup lists before it only counts them.
const maxProblems = 100

// A Checkup is what was looked at in a capture, and what is wrong with it.
type Checkup struct {
	Files     []CheckedFile // the segments, in order
	Exchanges int           // of the whole capture
	Steps     uint64        // of the whole capture
	Ended     bool          // the last recorder came to its end; otherwise it was killed, which is no problem
	Crash     capture.Crash // if it was
	Keys      []string      // fingerprints of the keys with which secrets were hidden
	KeyInside bool          // a file has the key itself, as captures of format 1 have until more is recorded into them
	Problems  []Problem     // at most 100
	More      int           // how many problems are not listed
}

// Sound reports whether nothing is wrong.
func (c *Checkup) Sound() bool { return len(c.Problems) == 0 }

// A CheckedFile says what was looked at in one file of a capture.
type CheckedFile struct {
	Name      string
	Bytes     int64
	Blocks    int
	Steps     int
	Exchanges int // that begin in it
	Open      int // exchanges without an end at its end
	Entries   int // of the index
}

// A Problem is one thing that is wrong with a capture.
type Problem struct {
	File   string
	Bucket string // of the database; empty if it is about the file
	Key    string // in the bucket, in words of docs/capture-format.md; empty if it is about all of the bucket
	What   string
}

// String returns the place, and what is wrong there.
func (p Problem) String() string {
	place := p.File
	if p.Bucket != "" {
		place += ": " + p.Bucket
	}
	if p.Key != "" {
		place += " " + p.Key
	}
	return place + ": " + p.What
}

// A checker walks through segments. It keeps no list of exchanges: each pair of exchange and block is looked up, and at
// the end the pairs are counted.
type checker struct {
	Checkup
	ctx context.Context
	at  func(arrival, last uint64)

	shallow bool // without what bbolt has to say

	state  totals // as they follow from the steps
	unsure bool   // how many steps the last block has is not known
	last   uint64 // arrival number, as the state says
	found  int    // problems, listed or not
}

func (c *checker) problem(p Problem) {
	c.found++
	if len(c.Problems) < maxProblems {
		c.Problems = append(c.Problems, p)
	} else {
		c.More++
	}
}

func (c *checker) check(set segmentSet) {
	st, stErr := set.state()
	c.last = st.arrival
	for i, s := range set {
		if s.meta.arrivals != c.state.arrival && !c.unsure {
			c.problem(Problem{s.path, string(bucketMeta), string(metaSegment), fmt.Sprintf(
				"it begins after arrival %d, the segment before it ends with %d", s.meta.arrivals, c.state.arrival)})
		}
		c.state.arrival, c.unsure = s.meta.arrivals, false
		c.file(s)
		c.keys(s)
		if c.ctx.Err() != nil {
			return
		}
		c.Files[i].Bytes = sizeOf(s.path)
		c.Exchanges += c.Files[i].Exchanges
		c.Steps += uint64(c.Files[i].Steps)
	}
	if err := set.whole(set[0].path); err != nil && stErr == nil && !c.shallow {
		c.problem(Problem{File: set[0].path, What: err.Error()})
	}
	traffic := c.found
	for _, s := range set {
		c.reading(s)
	}
	c.Ended = st.ended
	_, c.Crash = st.crash(st.ended)
	switch name := set.last().path; {
	case stErr != nil:
		c.problem(Problem{name, string(bucketMeta), string(metaState), stErr.Error()})
	case traffic == 0 && st.totals != c.state:
		c.problem(Problem{
			name, string(bucketMeta), string(metaState),
			fmt.Sprintf("the state says %v, the steps say %v", st.totals, c.state),
		})
	}
}

// madeAnew is what is said of damage to what can be worked out again.
const madeAnew = "what judging came to is damaged there; it is made anew, and no traffic is missing for that"

// reading looks at what is kept beside the steps of a segment.
func (c *checker) reading(s *segment) {
	if c.shallow {
		return
	}
	err := s.shelf(func(b *bbolt.Bucket) {
		if b == nil {
			return
		}
		cursor := b.Cursor()
		for k, v := cursor.First(); k != nil && c.ctx.Err() == nil; k, v = cursor.Next() {
			if _, err := unsealEntry(k, v); err != nil {
				c.problem(Problem{s.path, string(bucketReading), fmt.Sprintf("%x", k), madeAnew})
			}
		}
	})
	if err != nil {
		c.problem(Problem{s.path, string(bucketReading), "", madeAnew + ": " + err.Error()})
	}
}

// keys notes with which keys secrets were hidden.
func (c *checker) keys(s *segment) {
	for _, key := range s.meta.keys {
		if !slices.Contains(c.Keys, key) {
			c.Keys = append(c.Keys, key)
		}
	}
	if key, err := s.keyInside(); err == nil && len(key) > 0 {
		c.KeyInside = true
	}
}

func sizeOf(path string) int64 {
	if info, err := os.Stat(path); err == nil {
		return info.Size()
	}
	return 0
}

// file checks one segment.
func (c *checker) file(s *segment) {
	before := c.found
	sc := segmentCheck{checker: c, name: s.path}
	sc.here.Name = s.path
	// bbolt checks in a goroutine of its own, where a fault would end the process: our own walk goes first.
	if err := s.view(sc.walk); err != nil && c.ctx.Err() == nil {
		c.problem(Problem{File: s.path, What: err.Error()})
	}
	c.Files = append(c.Files, sc.here)
	if c.found > before || c.ctx.Err() != nil || c.shallow {
		return
	}
	c.sums(s)
	if s.readingErr != nil {
		return // bbolt must not see these pages
	}
	if err := c.database(s); err != nil {
		c.problem(Problem{File: s.path, What: "database: " + err.Error()})
	}
}

// sums compares what the buckets hold with what the last commit left.
func (c *checker) sums(s *segment) {
	st, err := segmentSet([]*segment{s}).state()
	if err == nil && st.summed && st.tables != s.found {
		c.problem(Problem{s.path, string(bucketMeta), string(metaState), st.tables.differ(&s.found)})
	}
}

// database lets bbolt check a file. The list of free pages, which our walk has not met, is read here first.
func (c *checker) database(s *segment) error {
	if err := inspectFreelist(s.path); err != nil {
		return err
	}
	db, err := openDB(s.path,
		bbolt.Options{ReadOnly: true, PreLoadFreelist: true, Timeout: time.Nanosecond, NoStatistics: true})
	if err != nil {
		return err
	}
	return errors.Join(view(db, func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			c.problem(Problem{File: s.path, What: "database: " + err.Error()})
		}
		return nil
	}), db.Close())
}
