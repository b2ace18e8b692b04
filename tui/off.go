package tui

import (
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
