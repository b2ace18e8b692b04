package tui

import (
	"a2atap/tui/document"
	"a2atap/tui/keys"
	"a2atap/tui/panel"
)

// Why returns why a key does nothing now, or "": in the top panel or, if it is not one of that, in the list.
func (m *inspector) Why(k *keys.Key) string {
	in := m.top()
	if in.Scope()&k.In == 0 {
		in = m.list
	}
	switch k.Needs {
	case keys.AskPanel:
		if e, ok := in.(panel.Explainer); ok {
			return e.Why(k.Action)
		}
	case keys.NeedFindings:
		return m.shared.WhyNoFindings()
	case keys.NeedPattern:
		return panel.Unless(m.shared.Pattern != nil, "nothing is searched for; s searches")
	case keys.NeedPanes:
		return m.whyOnePane()
	case keys.NeedRoom:
		if !m.panes.alone {
			return m.whyOnePane()
		}
	case keys.NeedSender:
		switch {
		case m.options.Sender == nil:
			return "nothing can be sent from here"
		case m.doing.sending != nil:
			return "something is being sent; esc ends it"
		}
		return m.whyNoSelection()
	case keys.NeedExporter:
		if m.options.Exporter == nil {
			return "export is not available here"
		}
		return m.whyNoSelection()
	case keys.NeedSelection:
		return m.whyNoSelection()
	}
	return ""
}

func (m *inspector) whyNoSelection() string {
	return panel.Unless(m.top().Target().Exchange > 0, "nothing is selected")
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

func (l *list) Why(a keys.Action) string {
	switch a {
	case keys.Back:
		return panel.Unless(l.search != nil || l.hunt != nil, "there is no filter; Q quits")
	case keys.FoldAll:
		return panel.Unless(l.sorting.now != nil && l.sorting.now.Grouped(), panel.NothingGrouped)
	case keys.ToggleFollow:
		return panel.Unless(l.shared.Info.Live, "the recording has ended; there is nothing to follow")
	}
	return ""
}

func (f *findingsPanel) Why(a keys.Action) string {
	return panel.Unless(a != keys.FoldAll || f.by != findingsFlat, panel.NothingGrouped)
}

func (w *workflowPanel) Why(a keys.Action) string {
	return panel.Unless(a != keys.ShowWorkflow, "this is the workflow of the exchange")
}

func (p *textPanel) Why(a keys.Action) string {
	return panel.Unless(a != keys.NextPane || p.shown == nil || p.shown.stream,
		"the answer is no stream: there are no events beside the text")
}

func (d *detail) Why(a keys.Action) string {
	switch a {
	case keys.FoldNode, keys.UnfoldNode, keys.FoldAll:
		return d.whyNotFolding(a)
	case keys.Open:
		return panel.Unless(!d.ready || d.eventAtCursor() >= 0 || d.nodeUnderCursor() != document.NoNode,
			"the selected line is neither an event nor an object or array")
	case keys.LoadMore:
		switch {
		case !d.doc.Cut:
			return "all of the exchange is shown"
		case d.limit >= document.MaxShown:
			return "no more is shown here; a2atap show prints all of it"
		}
	}
	return ""
}

func (d *detail) whyNotFolding(a keys.Action) string {
	switch {
	case d.mode != document.JSON:
		return "only JSON can be folded; v changes the view"
	case a == keys.FoldNode && d.ready && !d.canFold():
		return "the selected line is in no object or array"
	case a == keys.UnfoldNode && d.ready && d.nodeUnderCursor() != document.NodeFolded:
		return "the selected line is not folded"
	}
	return ""
}
