package panel

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
	"a2atap/tui/internal/find"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// Shared is the state that all panels read: the current capture, the findings, and how to show them. Only Update
// changes it.
type Shared struct {
	Load      *load.Loader
	Info      capture.Info
	Opened    bool   // info was read
	WasLive   bool   // it was being recorded when it was opened
	Away      bool   // the server that it comes from does not answer
	FollowErr string // why the capture cannot be followed for now
	Found     load.Findings
	Notes     *notes.Notes // nil until they have been read
	Judged    load.Judged
	Pattern   *find.Pattern // the last search; nil for none
	Deltas    bool          // times are shown since the previous exchange or event
	Times     Times
	Location  *time.Location // nil means the machine's
	First     time.Time      // when the first exchange began; zero until that is needed
	Theme     style.Theme
	Message   string // in the last line, until the next key
	Learning  bool   // cards are being learned
	Learnt    uint64 // those that exchanges up to this one have brought
	Tickets   uint64
}

// SayIf shows words in the last line, if a condition holds.
func (s *Shared) SayIf(holds bool, words string) {
	if holds {
		s.Message = words
	}
}

// Failure returns an error message instead of a panel's content.
func Failure(err error, columns int) []style.Line {
	return style.Text(style.Error, "! "+text.Clean(err.Error())).WrapWords(max(columns-1, 8), 2)
}

// Ticket returns a new number for a command. A message is out of date if it does not carry the number that its panel
// waits for.
func (s *Shared) Ticket() uint64 {
	s.Tickets++
	return s.Tickets
}

// CardsLearned reports that the cards in exchanges up to one have been read.
type CardsLearned struct {
	UpTo uint64
	Any  bool
	Err  error
}

// LearnCards reads cards in the background, if the View does not list those of all exchanges.
func (s *Shared) LearnCards() tea.Cmd {
	l := s.Load
	if _, ok := l.Source.(capture.Index); !ok || s.Learning || !s.Opened || s.Info.Exchanges <= s.Learnt {
		return nil
	}
	if l.View != nil {
		state, _ := l.View.Now()
		if r := state.Results; r == nil || !r.Head().MoreCards && !state.Checking {
			return nil
		}
	}
	s.Learning = true
	upTo := s.Info.Exchanges
	return func() tea.Msg {
		learned, err := l.ReadCards(upTo)
		return CardsLearned{upTo, learned, err}
	}
}

// Known reports that the values to hide in the capture are known.
type Known struct{}

// NeedKnown returns the command that finds the values to hide in the capture, if they are unknown.
func (s *Shared) NeedKnown() tea.Cmd {
	l := s.Load
	if l.Known() {
		return nil
	}
	return func() tea.Msg {
		l.Learn()
		return Known{}
	}
}

// FirstStarted has the start of the first exchange; zero without exchanges.
type FirstStarted struct {
	At  time.Time
	Err error
}

// NeedFirst returns the command that reads the start of the first exchange, if needed.
func (s *Shared) NeedFirst() tea.Cmd {
	if s.Times != timesRelative || !s.First.IsZero() || !s.Opened {
		return nil
	}
	l := s.Load
	return func() tea.Msg {
		for x, err := range l.Source.Ends(l.Context, 1, 1) {
			if err != nil {
				return FirstStarted{Err: err}
			}
			return FirstStarted{At: x.Started}
		}
		return FirstStarted{}
	}
}

// RuleIDs returns the ids of the rules, broken ones first.
func (s *Shared) RuleIDs() []string {
	var ids []string
	for i := range s.Found.List {
		if id := s.Found.List[i].Rule.ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, r := range s.Load.Rules {
		if !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// Sign returns the sign of the worst finding in an exchange, or a blank if it has none, and its style.
func (s *Shared) Sign(seq uint64) (string, style.Style) {
	if worst, found := s.Found.Worst(seq); found {
		return style.OfSeverity(worst)
	}
	return " ", style.Normal
}

// NoteSign returns the sign of a marked exchange, one column wide, and its comment as the list shows it.
func (s *Shared) NoteSign(seq uint64, id uuid.UUID) (mark, comment string) {
	note := s.Notes.Of(seq, id)
	mark = " "
	if note.Marked {
		mark = "*"
	}
	if note.Comment != "" {
		comment = "# " + note.Comment
	}
	return mark, comment
}

// WhyNoFindings explains why no findings are listed.
func (s *Shared) WhyNoFindings() string {
	switch {
	case s.Found.Total() > 0:
		return ""
	case s.Judged.Behind:
		return "no finding so far; " + s.Running()
	}
	return "there is no finding"
}

// Running describes the progress while checking is incomplete.
func (s *Shared) Running() string {
	if s.Judged.Reading {
		return "findings are still being read"
	}
	return "the rules are still running"
}

// Times is how the inspector shows instants, the same in all panels.
type Times uint8

const (
	timesLocal Times = iota // local clock time
	timesUTC
	timesRelative // since the first exchange
	timesCount
)

// Clock formats an instant for people, in at most twelve columns.
func (s *Shared) Clock(t time.Time) string {
	switch {
	case t.IsZero():
		return "–"
	case s.Times == timesUTC:
		return t.UTC().Format("15:04:05.000")
	case s.Times == timesLocal:
		return t.In(s.zone()).Format("15:04:05.000")
	case s.First.IsZero():
		return "…"
	}
	return text.Duration(t.Sub(s.First))
}

// EventTime formats the time of an event: clock time, or the offset from the start of its exchange.
func (s *Shared) EventTime(began time.Time, at time.Duration) string {
	switch {
	case at < 0:
		return "–"
	case s.Deltas:
		return "+" + text.Duration(at)
	}
	return s.Clock(began.Add(at))
}

// ClockIn is Clock, without the fraction of the second if there is no room for it.
func (s *Shared) ClockIn(t time.Time, columns int) string {
	at := s.Clock(t)
	if columns < len(at) && s.Times != timesRelative {
		at, _, _ = strings.Cut(at, ".")
	}
	return at
}

// ClockName names the kind of times that the clock column shows, for a heading.
func (s *Shared) ClockName(at time.Time, columns int) string {
	zone := "UTC"
	switch s.Times {
	case timesRelative:
		return "from 1st"
	case timesLocal:
		zone, _ = at.In(s.zone()).Zone()
	}
	if name := "time " + zone; len(name) <= columns {
		return name
	}
	return zone
}

// zone returns the time zone of local times.
func (s *Shared) zone() *time.Location {
	if s.Location == nil {
		return time.Local
	}
	return s.Location
}

// NextTimes switches to the next display of times, and returns a message about it.
func (s *Shared) NextTimes() string {
	s.Times = (s.Times + 1) % timesCount
	switch s.Times {
	case timesUTC:
		return "times: UTC"
	case timesRelative:
		return "times: since the first exchange"
	}
	return "times: local, " + s.ClockName(s.Info.Created, 0)
}
