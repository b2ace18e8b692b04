// Package parts is how the judgement of a part of a capture travels: as JSON in the report of the part, from which the
// report on the whole is made. It has everything that an [analyzer.Result] has, so that nothing is lost on the way:
// texts that are not UTF-8 included, which plain JSON would change.
//
// What is read here was written by this program, but nobody knows what happened to it since: every name in it is looked
// up, and an error says what is not known.
package parts

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer"
)

// Format is the version of the JSON form.
const Format = 1

// A Judgement is what judging one part of some captures came to.
type Judgement struct {
	Format    int       `json:"format"`
	Selection Selection `json:"selection"`
	Captures  []Capture `json:"captures"` // in the order in which they were given
}

// A Selection is what is reported on, and with what it was judged: the same in all parts.
type Selection struct {
	Rules  string   `json:"rules"` // a checksum of all rules that there are
	Only   []string `json:"only,omitempty"`
	Not    []string `json:"not,omitempty"`
	Filter string   `json:"filter,omitempty"`
	Agent  string   `json:"agent,omitempty"`
	Keys   []string `json:"keys,omitempty"` // checksums of the files
}

// A Capture is what came of a part of one capture: all that was found in it, before anything is chosen.
type Capture struct {
	Name     text       `json:"name"`
	Steps    uint64     `json:"steps"` // of the whole capture
	Sum      string     `json:"sum"`   // a checksum of them
	Counts   counts     `json:"counts"`
	Findings []finding  `json:"findings"`
	Coverage []coverage `json:"coverage"`
	Calls    []calls    `json:"calls"`
	Agents   []agent    `json:"agents"`
	Crashes  []crash    `json:"crashes,omitempty"`
	Live     bool       `json:"live,omitempty"`
	Insecure bool       `json:"insecure,omitempty"`
	Chosen   *chosen    `json:"chosen,omitempty"` // absent if all is
}

// A Choice is what is reported on of one capture.
type Choice struct {
	Exchanges int // chosen
	Judged    int // of them, in this part
	Calls     []analyzer.Calls
	Nothing   string // why nothing is chosen; empty if something is

	LeftOut map[uint64]bool // exchanges with findings that are not chosen
}

type (
	chosen struct {
		Exchanges int     `json:"exchanges"`
		Judged    int     `json:"judged"`
		Calls     []calls `json:"calls"`
		Nothing   text    `json:"nothing"`
	}

	counts struct {
		Exchanges int   `json:"exchanges"`
		Judged    int   `json:"judged"`
		Lost      int64 `json:"lost"`
		Forgotten int   `json:"forgotten"`
		Streams   int   `json:"streams"`
		Events    int   `json:"events"`
		Calls     int   `json:"calls"`
		Failed    int   `json:"failed"`
		Unseen    int   `json:"unseen"`
		Made      int   `json:"made"`
		Unproved  int   `json:"unproved"`
	}

	finding struct {
		Step       uint64    `json:"step"` // that brought it, and its number there
		Index      int       `json:"index"`
		Rule       string    `json:"rule"`
		Severity   string    `json:"severity"`
		Side       string    `json:"side"`
		Dialects   string    `json:"dialects"`
		Binding    string    `json:"binding"`
		Operation  string    `json:"operation"`
		Link       link      `json:"link"`
		ExchangeID uuid.UUID `json:"exchangeId"`
		Place      place     `json:"place"`
		Seen       text      `json:"seen"`
		Expected   text      `json:"expected"`
		Message    text      `json:"message"`
		Also       []string  `json:"also,omitempty"`
		Weight     string    `json:"weight,omitempty"`
		Revises    bool      `json:"revises,omitempty"`
		Within     string    `json:"within,omitempty"`
		Workflow   uint64    `json:"workflow,omitempty"`
		Others     bool      `json:"others,omitempty"`  // there are more exchanges in the workflow
		LeftOut    bool      `json:"leftOut,omitempty"` // its exchange is not chosen
	}

	place struct {
		Exchange uint64 `json:"exchange"`
		Response bool   `json:"response,omitempty"`
		Part     text   `json:"part"`
		Pointer  *text  `json:"pointer,omitempty"`
	}

	link struct {
		Client text `json:"client"`
		Agent  text `json:"agent"`
	}

	coverage struct {
		Rule    string `json:"rule"`
		Link    link   `json:"link"`
		Applied int    `json:"applied"`
		Broken  int    `json:"broken"`
	}

	calls struct {
		Link      link    `json:"link"`
		Made      int     `json:"made"`
		Succeeded int     `json:"succeeded"`
		Failed    int     `json:"failed"`
		Failures  []count `json:"failures,omitempty"`
		Unheard   bool    `json:"unheard,omitempty"`
		Unproved  bool    `json:"unproved,omitempty"`
	}

	// A count is a name and how often it occurs.
	count struct {
		Name  text `json:"name"`
		Count int  `json:"count"`
	}

	agent struct {
		Link       text      `json:"link"`
		URL        text      `json:"url"`
		Name       text      `json:"name"`
		Version    text      `json:"version"`
		Streaming  bool      `json:"streaming,omitempty"`
		Push       bool      `json:"push,omitempty"`
		Operations []count   `json:"operations"`
		Completed  int       `json:"completed"`
		Refused    int       `json:"refused"`
		BadCard    text      `json:"badCard"`
		Contacts   []contact `json:"contacts"`
	}

	contact struct {
		Client     text    `json:"client"`
		Operations []count `json:"operations"`
		AtOnce     int     `json:"atOnce,omitempty"`
	}

	crash struct {
		After  time.Time     `json:"after"`
		Within time.Duration `json:"within"` // nanoseconds
	}
)

// Catalogue returns a checksum of rules, by which programs with different ones know each other.
func Catalogue(rules []*analyzer.Rule) string {
	h := sha256.New()
	for _, r := range rules {
		h.Write([]byte(r.ID + "\n")) //nolint:errcheck // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
