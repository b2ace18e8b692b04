package tui

// The functions that say why a key does nothing now, for the table of keys.

func offNothing(m *inspector) string {
	if m.top().target().Exchange == 0 {
		return "nothing is selected"
	}
	return ""
}

func offShown(*inspector) string { return "this is the workflow of the exchange" }

func offNoFilter(m *inspector) string {
	if m.list.search == nil && m.list.hunt == nil {
		return "there is no filter; Q quits"
	}
	return ""
}

func offNoEvent(m *inspector) string {
	if d, ok := m.shownDetail(); ok && d.ready && d.eventAtCursor() < 0 && d.nodeUnderCursor() == noNode {
		return "the selected line is neither an event nor an object or array"
	}
	return ""
}

func offNoSearch(m *inspector) string {
	if m.shared.pattern == nil {
		return "nothing is searched for; s searches"
	}
	return ""
}

func offNotJSON(m *inspector) string {
	if d, ok := m.shownDetail(); ok && d.mode != viewJSON {
		return "only JSON can be folded; v changes the view"
	}
	return ""
}

func offNoNode(m *inspector) string {
	why := offNotJSON(m)
	if d, ok := m.shownDetail(); ok && why == "" && d.ready && !d.canFold() {
		return "the selected line is in no object or array"
	}
	return why
}

func offNotFolded(m *inspector) string {
	why := offNotJSON(m)
	if d, ok := m.shownDetail(); ok && why == "" && d.ready && d.nodeUnderCursor() != nodeFolded {
		return "the selected line is not folded"
	}
	return why
}

func offNoFindings(m *inspector) string {
	switch {
	case m.shared.found.total() > 0:
		return ""
	case m.shared.judged.behind:
		return "no finding so far; " + m.shared.running()
	}
	return "there is no finding"
}

// running says what goes on while there is more to judge.
func (s *shared) running() string {
	if s.judged.reading {
		return "what was found is still being read"
	}
	return "the rules are still running"
}

func offNotGrouped(m *inspector) string {
	if _, is := m.top().(*coveragePanel); is {
		return ""
	}
	grouped := m.list.sorting.now != nil && m.list.sorting.now.Grouped()
	if f, is := m.top().(*findingsPanel); is {
		grouped = f.by != findingsFlat
	}
	if !grouped {
		return "nothing is grouped; u groups"
	}
	return ""
}

func offNotLive(m *inspector) string {
	if !m.shared.info.Live {
		return "the recording has ended; there is nothing to follow"
	}
	return ""
}

func offNotCut(m *inspector) string {
	d, ok := m.shownDetail()
	switch {
	case !ok || !d.doc.cut:
		return "all of the exchange is shown"
	case d.limit >= maxShown:
		return "no more is shown here; a2atap show prints all of it"
	}
	return ""
}

func offOnlyText(m *inspector) string {
	if p, ok := m.top().(*textPanel); ok && p.shown != nil && !p.shown.stream {
		return "the answer is not a stream: it has no events beside the text"
	}
	return ""
}
