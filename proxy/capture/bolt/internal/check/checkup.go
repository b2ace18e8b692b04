package check

import (
	"context"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
)

// MaxProblems is how many problems a Checkup lists before it only counts them.
const MaxProblems = 100

// A Checkup is the result of examining a capture: what was examined, and the problems found.
type Checkup struct {
	Files     []File        // the segments, in order
	Exchanges int           // of the whole capture
	Steps     uint64        // of the whole capture
	Ended     bool          // the last recorder ended normally; otherwise it was killed, which is not a problem
	Crash     capture.Crash // if it was
	Keys      []string      // fingerprints of the keys with which secrets were hidden
	KeyInside bool          // a file has the key itself, as captures of format 1 have until more is recorded into them
	Problems  []Problem     // at most 100
	More      int           // how many problems are not listed
}

// Sound reports whether nothing is wrong.
func (c *Checkup) Sound() bool { return len(c.Problems) == 0 }

// A File has what was checked in one file of a capture.
type File struct {
	Name      string `json:"file"`
	Bytes     int64  `json:"bytes"`
	Blocks    int    `json:"blocks"`
	Steps     int    `json:"steps"`
	Exchanges int    `json:"exchanges"` // that begin in it
	Open      int    `json:"open"`      // exchanges without an end at its end
	Entries   int    `json:"index"`     // of the index
}

// A Problem is one thing that is wrong with a capture.
type Problem struct {
	File   string `json:"file"`
	Bucket string `json:"bucket,omitempty"` // of the database; empty if it is about the file
	Key    string `json:"key,omitempty"`    // in the bucket, in the terms of docs/capture-format.md; empty for the whole bucket
	What   string `json:"what"`
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

// A Checker walks through segments. It keeps no list of exchanges: each pair of exchange and block is looked up, and at
// the end the pairs are counted.
type Checker struct {
	Checkup
	Ctx context.Context
	At  func(arrival, last uint64)

	shallow bool // excluding problems that bbolt reports

	state  layout.Totals // as they follow from the steps
	unsure bool          // how many steps the last block has is not known
	last   uint64        // arrival number, according to the state
	found  int           // problems, listed or not
}

// Problem notes a problem.
func (c *Checker) Problem(p Problem) {
	c.found++
	if len(c.Problems) < MaxProblems {
		c.Problems = append(c.Problems, p)
	} else {
		c.More++
	}
}
