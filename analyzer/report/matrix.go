package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
)

// A matrix has the results for each pair of client and agent: a row for each client, a column for each agent.
type matrix struct {
	clients, agents []string
	cells           map[analysis.Link]*cell
}

// A cell is the result for one link.
type cell struct {
	observed map[*analysis.Rule]bool // rules that applied
	found    [analysis.Error + 1]int
	unproved bool // no call is known to have succeeded
}

func newMatrix(r *judgment.Result) *matrix {
	m := &matrix{cells: make(map[analysis.Link]*cell)}
	clients, agents := make(map[string]bool), make(map[string]bool)
	at := func(l analysis.Link) *cell {
		if m.cells[l] == nil {
			m.cells[l] = &cell{observed: make(map[*analysis.Rule]bool)}
			clients[l.Client], agents[l.Agent] = true, true
		}
		return m.cells[l]
	}
	for _, c := range r.Coverage {
		if c.Link.Agent != "" && c.Applied > 0 {
			at(c.Link).observed[c.Rule] = true
		}
	}
	counted := r.Counted()
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Link.Agent != "" {
			at(counted(f.Link)).found[f.Severity]++
		}
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		if known := m.cells[c.Link] != nil || counted(c.Link) != c.Link; known && !c.Proved() {
			at(c.Link).unproved = true
		}
	}
	m.clients, m.agents = slices.Sorted(maps.Keys(clients)), slices.Sorted(maps.Keys(agents))
	return m
}

// text returns the text of a cell: the findings, that no call succeeded, "ok" with the number of rules observed, or a
// dash if there was no traffic.
func (m *matrix) text(client, agent string) string {
	c := m.cells[analysis.Link{Client: client, Agent: agent}]
	if c == nil {
		return "-"
	}
	var found []string
	for _, s := range analysis.WorstFirst {
		if n := c.found[s]; n > 0 {
			found = append(found, analysis.Plural(n, s.String()))
		}
	}
	if c.unproved {
		found = append(found, "no call succeeded")
	}
	if found == nil {
		return fmt.Sprintf("ok (%d)", len(c.observed))
	}
	return strings.Join(found, ", ")
}

// rows returns the matrix as a table: first the heads, then a row a client.
func (m *matrix) rows() [][]string {
	head := []string{"client \\ agent"}
	for _, a := range m.agents {
		head = append(head, analysis.Clean(a))
	}
	rows := [][]string{head}
	for _, c := range m.clients {
		row := []string{analysis.Clean(c)}
		for _, a := range m.agents {
			row = append(row, m.text(c, a))
		}
		rows = append(rows, row)
	}
	return rows
}

// table writes rows in columns of equal width.
func table(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, text := range row {
			width[i] = max(width[i], len([]rune(text)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, text := range row {
			fmt.Fprintf(&line, "%-*s  ", width[i], text)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
