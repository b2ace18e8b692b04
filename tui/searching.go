package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"a2atap/tui/find"
	"a2atap/tui/panel"
)

// editSearch asks what to search for in the top panel.
func (m *inspector) editSearch() tea.Cmd {
	in, ok := m.top().(panel.Searcher)
	if !ok {
		return nil
	}
	before := ""
	if m.shared.Pattern != nil {
		before = m.shared.Pattern.String()
	}
	m.prompt = newPrompt("search", before, func(value string) (tea.Cmd, error) {
		if value == "" {
			return m.searchFor(in, nil), nil
		}
		p, err := find.Parse(value)
		if err != nil {
			return nil, err
		}
		return m.searchFor(in, p), nil
	})
	return nil
}

// searchWords searches the top panel or, if that has nothing to search, the list.
func searchWords(m *inspector, words string) (tea.Cmd, error) {
	p, err := find.Parse(words)
	if err != nil {
		return nil, err
	}
	if in, ok := m.top().(panel.Searcher); ok {
		return m.searchFor(in, p), nil
	}
	return tea.Batch(m.home(), m.searchFor(m.list, p)), nil
}

// searchFor searches a panel, and has the detail beside it show the matches, too; nil ends the search.
func (m *inspector) searchFor(in panel.Searcher, p *find.Pattern) tea.Cmd {
	m.shared.Pattern = p
	cmd := in.LookFor(p)
	if d := m.panes.detail; d != nil && in != panel.Searcher(d) {
		return tea.Batch(cmd, d.Light(p))
	}
	return cmd
}
