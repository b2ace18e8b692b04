package transcript

import (
	"slices"

	"a2atap/proxy/capture"
)

// Source returns a finished capture with the transcript's exchanges and gaps, in order of arrival: see
// capture.Interleave. The file's name is for messages.
func (t *Transcript) Source(name string) (*capture.Memory, error) {
	info := capture.Info{Name: name, Imported: true}
	t.Gaps.Describe(&info)
	info.LostExchanges = 0 // the step counts them
	m := capture.NewMemory(info)
	if n := t.Gaps.Exchanges; n > 0 { // their place is unknown, so they come first
		if err := m.Append(capture.Step{Offset: capture.NotKnown, What: capture.Lost{Exchanges: n}}); err != nil {
			return nil, err
		}
	}
	byStart := slices.Clone(t.Exchanges)
	slices.SortStableFunc(byStart, func(a, b *capture.Exchange) int { return a.Started.Compare(b.Started) })
	for s, err := range capture.Interleave(capture.Each(byStart...)) {
		if err != nil {
			return nil, err
		}
		if err := m.Append(s); err != nil {
			return nil, err
		}
	}
	return m, m.Close()
}
