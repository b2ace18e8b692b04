package load

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/snapshot"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/filter"
)

// deciding returns the exchanges of a sorted list that match a filter. It decides by their rows, and reads exchanges
// whose rows cannot decide.
func (l *Loader) deciding(f *filter.Filter, seqs []uint64, found map[uint64][]analysis.Finding) ([]uint64, error) {
	var chosen, unsure []uint64
	mine := make(map[uint64][]analysis.Finding)
	marks := l.Notes.Now()
	for _, seq := range seqs {
		row := l.Reading.Row(l.Context, seq)
		if row == nil {
			if !l.Reading.Whole() || l.Reading.Behind(seq) {
				unsure, mine[seq] = append(unsure, seq), found[seq]
			}
			continue
		}
		facts := snapshot.Facts{
			Row: row, Workflow: l.Links.Index.Of(seq).Workflow, Marked: marks.Of(seq, row.ID).Marked,
		}
		switch match, certain := facts.Decide(f); {
		case !certain:
			unsure = append(unsure, seq)
			if len(row.Found) > 0 && f.Asks(snapshot.FindingKeys...) {
				mine[seq] = l.Reading.FindingsOf(l.Context, seq)
			}
		case match:
			chosen = append(chosen, seq)
		}
	}
	if len(unsure) == 0 {
		return chosen, nil
	}
	read, err := readMatching(l, f, unsure, mine)
	chosen = append(chosen, read...)
	slices.Sort(chosen)
	return chosen, err
}

// readMatching returns the exchanges of a sorted list that match a filter. It reads them all.
func readMatching(l *Loader, f *filter.Filter, seqs []uint64, found map[uint64][]analysis.Finding) ([]uint64, error) {
	if err := l.NeedCards(); err != nil {
		return nil, err
	}
	var chosen []uint64
	_, err := l.Each(seqs, 0, time.Now().Add(time.Hour), func(seq uint64, x *capture.Exchange) {
		if x != nil && l.matches(f, x, found) {
			chosen = append(chosen, seq)
		}
	})
	return chosen, err
}

// ScanRows tests exchanges by their rows within a time limit, from the newest below a number to the oldest. It tests
// all of them, or only those in a sorted list.
func (l *Loader) ScanRows(
	ticket uint64, f *filter.Filter, list []uint64, all bool, below uint64, found map[uint64][]analysis.Finding,
) Scanned {
	answer := Scanned{Ticket: ticket, From: below, below: below}
	var pages [][]uint64 // of matches, the newest first
	for end := time.Now().Add(BatchTime / 2); answer.From > 1; {
		page, from := pageBefore(list, all, answer.From)
		matches, err := l.deciding(f, page, found)
		if answer.Err = err; err != nil {
			break
		}
		pages = append(pages, matches)
		answer.From = from
		if time.Now().After(end) || l.Context.Err() != nil {
			break
		}
	}
	slices.Reverse(pages)
	answer.Matches = slices.Concat(pages...)
	return answer
}

// pageBefore returns the last exchanges before one, in order, and the number from which the page is complete: of all
// exchanges, or of a sorted list.
func pageBefore(list []uint64, all bool, below uint64) (page []uint64, from uint64) {
	if !all {
		i, _ := slices.BinarySearch(list, below)
		page = list[max(i-ScanPage, 0):i]
		if i <= ScanPage {
			return page, 1
		}
		return page, page[0]
	}
	from = (below-2)/ScanPage*ScanPage + 1 // rows are stored in such groups
	for seq := from; seq < below; seq++ {
		page = append(page, seq)
	}
	return page, from
}

// narrowToFindings removes exchanges from the pool without the findings that a filter needs. If the filter has no other
// terms, this decides the match.
func (l *Loader) narrowToFindings(answer *Narrowed, r *snapshot.Results, f *filter.Filter) error {
	info, err := l.Source.Info(l.Context)
	if err != nil {
		return err
	}
	only := f.AsksOnly(snapshot.FindingKeys...) && l.Reading.covers(info.Exchanges)
	if !only {
		if f = f.Part(snapshot.FindingKeys...); f == nil {
			return nil
		}
	}
	seqs, known, err := r.Matching(l.Context, f)
	if err != nil {
		l.Reading.doubt(l.Context, r, err)
		return nil
	}
	if known {
		answer.Pool, answer.All, answer.Decided = seqs, false, only
	}
	return nil
}

// ScanPage is the number of exchanges that one command tests.
const ScanPage = 256

// Messages of a search.
type (
	// Narrowed has the exchanges that can match according to the capture's index.
	Narrowed struct {
		Ticket  uint64
		Pool    []uint64
		All     bool
		Decided bool // everything in the pool matches
		Linked  Linked
		Err     error
	}
	// Scanned has the exchanges from..below that match.
	Scanned struct {
		Ticket      uint64
		From, below uint64
		Matches     []uint64
		Err         error
	}
	// Retested has the exchanges of a list that match.
	Retested struct {
		Ticket        uint64
		Seqs, Matches []uint64
		Err           error
	}
)

// Narrow asks the capture's index, if it has one, which exchanges can match.
func (l *Loader) Narrow(ticket uint64, f *filter.Filter) tea.Cmd {
	return func() tea.Msg {
		answer := Narrowed{Ticket: ticket, All: true}
		if f.Asks("workflow") {
			if answer.Err = l.narrowToWorkflows(&answer, f); answer.Err != nil {
				return answer
			}
		}
		index, ok := l.Source.(capture.Index)
		keys := f.Keys()
		if r := l.Reading.Now(); r != nil && answer.All && len(keys) == 0 {
			answer.Err = l.narrowToFindings(&answer, r, f)
			return answer
		}
		if !ok || len(keys) == 0 || !answer.All {
			return answer
		}
		answer.All = false
		key := keys[0]
		if key.Kind == "operation" {
			key.Value = reading.Facts{Reading: &reading.Reading{}}.Normalize("op", key.Value)
		}
		for seq, err := range index.Find(l.Context, key, 1) {
			if err != nil {
				answer.Err = err
				return answer
			}
			answer.Pool = append(answer.Pool, seq)
		}
		return answer
	}
}

// Scan tests the exchanges from up to below, or only those of a list among them.
func (l *Loader) Scan(
	ticket uint64, f *filter.Filter, list []uint64, from, below uint64, found map[uint64][]analysis.Finding,
) tea.Cmd {
	return func() tea.Msg {
		answer := Scanned{Ticket: ticket, From: from, below: below}
		if list != nil {
			answer.Matches, answer.Err = l.Matching(f, list, found)
			return answer
		}
		if from >= below {
			return answer
		}
		if answer.Err = l.NeedCards(); answer.Err != nil {
			return answer
		}
		for x, err := range l.Source.Exchanges(l.Context, from) {
			if err != nil {
				answer.Err = err
				break
			}
			if x.Seq >= below {
				break
			}
			if l.matches(f, x, found) {
				answer.Matches = append(answer.Matches, x.Seq)
			}
		}
		return answer
	}
}

// Matching returns the exchanges of a sorted list that match a filter.
func (l *Loader) Matching(f *filter.Filter, seqs []uint64, found map[uint64][]analysis.Finding) ([]uint64, error) {
	if l.Reading.Now() != nil {
		return l.deciding(f, seqs, found)
	}
	return readMatching(l, f, seqs, found)
}

func (l *Loader) matches(f *filter.Filter, x *capture.Exchange, found map[uint64][]analysis.Finding) bool {
	return f.Match(x, reading.Facts{
		Reading: l.Reader.Read(x), Findings: found[x.Seq], Workflow: l.Links.Index.Of(x.Seq).Workflow,
		Marked: l.Notes.Now().Of(x.Seq, x.ID).Marked, Failed: f.Asks("is") && l.failed(x),
	})
}

// failed reports whether an exchange without a row in the reading failed.
func (l *Loader) failed(x *capture.Exchange) bool {
	s := l.Summarize(x)
	return s.Failed()
}

// narrowToWorkflows removes exchanges from the pool whose workflow cannot match the filter, if the filter names
// workflows.
func (l *Loader) narrowToWorkflows(answer *Narrowed, f *filter.Filter) error {
	info, err := l.Source.Info(l.Context)
	if err != nil {
		return err
	}
	l.NeedLinks()
	answer.Linked = l.Links.Now(info.Exchanges)
	pool := []uint64{}
	for i, began := range answer.Linked.Begins {
		if f.MayMatch("workflow", int64(began)) {
			pool = append(pool, uint64(i)+1)
		}
	}
	if len(pool) < len(answer.Linked.Begins) {
		answer.Pool, answer.All = pool, false
	}
	return nil
}
