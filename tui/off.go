package tui

// An explainer is a panel of which some keys do nothing now and then.
type explainer interface {
	why(a action) string // why an action has no effect now, or ""
}

// why returns why a key does nothing now, or "": in the top panel or, if it is not one of that, in the list.
func (m *inspector) why(k *key) string {
	in := m.top()
	if in.place()&k.in == 0 {
		in = m.list
	}
	switch k.needs {
	case askPanel:
		if e, ok := in.(explainer); ok {
			return e.why(k.do)
		}
	case needFindings:
		return m.shared.whyNoFindings()
	case needPattern:
		return unless(m.shared.pattern != nil, "nothing is searched for; s searches")
	case needPanes:
		return m.whyOnePane()
	case needRoom:
		if !m.panes.alone {
			return m.whyOnePane()
		}
	case needSender:
		switch {
		case m.options.Sender == nil:
			return "nothing can be sent from here"
		case m.doing.sending != nil:
			return "something is being sent; esc ends it"
		}
		return m.whyNoSelection()
	case needExporter:
		if m.options.Exporter == nil {
			return "export is not available here"
		}
		return m.whyNoSelection()
	case needSelection:
		return m.whyNoSelection()
	}
	return ""
}

func (m *inspector) whyNoSelection() string {
	return unless(m.top().target().Exchange > 0, "nothing is selected")
}

// whyOnePane says why there are not several panes.
func (m *inspector) whyOnePane() string {
	switch {
	case m.panes.alone:
		return "one pane is shown alone; z shows the others again"
	case m.paneCount() == 1:
		return "there is room for one pane only; two take 110 columns and 8 lines"
	case !m.split():
		return "this panel has the whole screen"
	}
	return ""
}

// whyNoFindings says why no finding is listed.
func (s *shared) whyNoFindings() string {
	switch {
	case s.found.total() > 0:
		return ""
	case s.judged.behind:
		return "no finding so far; " + s.running()
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

const nothingGrouped = "nothing is grouped; u groups"

func (l *list) why(a action) string {
	switch a {
	case goBack:
		return unless(l.search != nil || l.hunt != nil, "there is no filter; Q quits")
	case foldAll:
		return unless(l.sorting.now != nil && l.sorting.now.Grouped(), nothingGrouped)
	case toggleFollow:
		return unless(l.shared.info.Live, "the recording has ended; there is nothing to follow")
	}
	return ""
}

func (f *findingsPanel) why(a action) string {
	return unless(a != foldAll || f.by != findingsFlat, nothingGrouped)
}

func (w *workflowPanel) why(a action) string {
	return unless(a != showWorkflow, "this is the workflow of the exchange")
}

func (p *textPanel) why(a action) string {
	return unless(a != nextPane || p.shown == nil || p.shown.stream,
		"the answer is no stream: there are no events beside the text")
}

func (d *detail) why(a action) string {
	switch a {
	case foldNode, unfoldNode, foldAll:
		return d.whyNotFolding(a)
	case openIt:
		return unless(!d.ready || d.eventAtCursor() >= 0 || d.nodeUnderCursor() != noNode,
			"the selected line is neither an event nor an object or array")
	case loadMore:
		switch {
		case !d.doc.cut:
			return "all of the exchange is shown"
		case d.limit >= maxShown:
			return "no more is shown here; a2atap show prints all of it"
		}
	}
	return ""
}

func (d *detail) whyNotFolding(a action) string {
	switch {
	case d.mode != viewJSON:
		return "only JSON can be folded; v changes the view"
	case a == foldNode && d.ready && !d.canFold():
		return "the selected line is in no object or array"
	case a == unfoldNode && d.ready && d.nodeUnderCursor() != nodeFolded:
		return "the selected line is not folded"
	}
	return ""
}

// unless returns why something cannot be done, unless it can.
func unless(can bool, why string) string {
	if can {
		return ""
	}
	return why
}
