package merge

import "context"

// Run merges what is in the recordings now. What it writes depends on nothing but them: not on the order in which they
// were added, nor on the time. Two recordings of the same capture are a [SameError]. Nothing may be run or
// followed after it.
func (m *Merger) Run(ctx context.Context) error {
	if err := m.history(ctx, false); err != nil {
		return err
	}
	return m.finish()
}

// history merges what is there at the beginning; with more to come, all but what others may still say more of.
func (m *Merger) history(ctx context.Context, more bool) error {
	if err := m.scan(ctx); err != nil {
		return err
	}
	for _, r := range m.recorders {
		r.out.limit = r.scanned
		if more && r.info.Live {
			r.out.limit = r.settled
		}
	}
	m.matcher.match(m.hosts(), false)
	m.name()
	if err := m.tellLosses(); err != nil {
		return err
	}
	return m.emit(ctx, more)
}

// finish says what is still to be said.
func (m *Merger) finish() error {
	for _, x := range m.matcher.found {
		if err := m.out.note(x); err != nil {
			return err
		}
	}
	m.matcher.found = nil
	for _, r := range m.recorders {
		if err := m.out.tellHeadless(r); err != nil {
			return err
		}
	}
	m.tellClocks(true)
	return nil
}
