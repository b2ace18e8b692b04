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

// Shared is the state that all panels read: the capture as it is now, the findings, and how to show them. It is
// changed only in Update.
type Shared struct {
	Load      *load.Loader
	Info      capture.Info
	Opened    bool   // info was read
	WasLive   bool   // it was being recorded when it was opened
	Away      bool   // the server that it comes from does not answer
	FollowErr string // why the capture cannot be followed for now
	Found     load.Findings
	Notes     *notes.Notes // nil until they were read
	Judged    load.Judged
	Pattern   *find.Pattern // that was searched for last; nil for nothing
	Deltas    bool          // times are shown since the previous exchange or event
	Times     Times
	Location  *time.Location // nil is that of the machine
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

// Failure says, in the place of a panel's content, why that cannot be shown.
func Failure(err error, columns int) []style.Line {
	return style.Text(style.Error, "! "+text.Clean(err.Error())).WrapWords(max(columns-1, 8), 2)
}

// Ticket returns a new number for a command. A message that does not carry the number that its panel waits for is out
// of date.
func (s *Shared) Ticket() uint64 {
	s.Tickets++
	return s.Tickets
}

// CardsLearned says that cards were learned which exchanges up to one have brought.
type CardsLearned struct {
	UpTo uint64
	Any  bool
	Err  error
}

// LearnCards learns cards beside what is shown, where no reading says which there are.
func (s *Shared) LearnCards() tea.Cmd {
	l := s.Load
	if _, ok := l.Source.(capture.Index); !ok || s.Learning || !s.Opened || s.Info.Exchanges <= s.Learnt {
		return nil
	}
	if r := l.Reading.Now(); r != nil && !r.Head().MoreCards {
		return nil
	}
	s.Learning = true
	upTo := s.Info.Exchanges
	return func() tea.Msg {
		learned, err := l.ReadCards(upTo)
		return CardsLearned{upTo, learned, err}
	}
}

// Known says that it is known what of the capture is to be hidden.
type Known struct{}

// NeedKnown returns the command that finds out what of the capture is to be hidden, if that is not known.
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

// FirstStarted says when the first exchange began; it is zero if there is none yet.
type FirstStarted struct {
	At  time.Time
	Err error
}

// NeedFirst returns the command that reads when the first exchange began, if that is needed.
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

// RuleIDs returns the ids of the rules: those that were broken come first.
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

// Sign returns the sign of the worst finding in an exchange, a blank if it has none, and its style.
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

// WhyNoFindings says why no finding is listed.
func (s *Shared) WhyNoFindings() string {
	switch {
	case s.Found.Total() > 0:
		return ""
	case s.Judged.Behind:
		return "no finding so far; " + s.Running()
	}
	return "there is no finding"
}

// Running says what goes on while there is more to judge.
func (s *Shared) Running() string {
	if s.Judged.Reading {
		return "what was found is still being read"
	}
	return "the rules are still running"
}

// Times is how the inspector shows instants, the same in all panels.
type Times uint8

const (
	timesLocal Times = iota // of the clock on the wall
	timesUTC
	timesRelative // since the first exchange
	timesCount
)

// Clock writes an instant as people read it, in at most twelve columns.
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

// EventTime writes when an event came: by the clock, or how long after its exchange began.
func (s *Shared) EventTime(began time.Time, at time.Duration) string {
	switch {
	case at < 0:
		return "–"
	case s.Deltas:
		return "+" + text.Duration(at)
	}
	return s.Clock(began.Add(at))
}

// ClockIn is clock, without the fraction of the second where there is no room for it.
func (s *Shared) ClockIn(t time.Time, columns int) string {
	at := s.Clock(t)
	if columns < len(at) && s.Times != timesRelative {
		at, _, _ = strings.Cut(at, ".")
	}
	return at
}

// ClockName says which times clock writes at an instant, for a heading.
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

// zone is where local times are local.
func (s *Shared) zone() *time.Location {
	if s.Location == nil {
		return time.Local
	}
	return s.Location
}

// NextTimes changes to the next way to show instants, and returns what to say of it.
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
